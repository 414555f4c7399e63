//! The forms in which a path can be written, evened out in one place: what is compared with a pattern and what is opened
//! come from here.
//!
//! | written | form | evened out |
//! |---|---|---|
//! | `/etc/../etc/shadow` | Unix, absolute | `/etc/shadow` |
//! | `C:\proj\File.py`, `C:/proj/File.py`, `\\?\C:\proj\File.py` | drive | `c:/proj/File.py` |
//! | `\\server\share\file` | UNC | `//server/share/file` |
//! | `src/app.py`, `.` | relative to the working directory | `/work/src/app.py` |
//! | `~`, `~/notes` | relative to the home directory | `/home/user/notes` |
//!
//! `.` and `..` are taken out by their letters, as the analysis of effects takes them out: what was judged is what is opened.
//! A `..` above the top stays at the top. Paths that depend on something that is not known (`C:file`, which is relative to the
//! current directory of a drive; `\\.\device`; `~user`) are refused.

use std::path::{Path, PathBuf};

/// Which form a path was written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `/x`
    Unix,
    /// `C:\x`
    Drive,
    /// `\\server\share\x`
    Unc,
    /// `x`, `~/x`
    Relative,
}

/// A path, evened out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evened {
    /// With slashes, a lowercase drive, and neither `.` nor `..`.
    pub text: String,
    /// How it was written.
    pub form: Form,
    /// It was written with a backslash, which a Unix machine would take for a character of a name.
    pub backslash: bool,
}

/// Evens a path out.
///
/// # Errors
/// Why it cannot be told what is meant.
pub fn even(path: &str, cwd: &Path, home: Option<&Path>) -> Result<Evened, String> {
    let backslash = path.contains('\\');
    let slashed = path.replace('\\', "/");
    // Windows' own prefix for paths that are to be taken literally says nothing about where they lead.
    let (slashed, verbatim) = match (path.starts_with(r"\\?\"), slashed.strip_prefix("//?/")) {
        (true, Some(rest)) => {
            (rest.strip_prefix("UNC/").map_or(rest.to_owned(), |unc| format!("//{unc}")), true)
        }
        _ => (slashed, false),
    };
    let evened = |text: String, form| Ok(Evened { text, form, backslash });
    if path.starts_with(r"\\.\") {
        return Err(format!("`{path}` is a device"));
    }
    let mut characters = slashed.chars();
    if let (Some(drive), Some(':')) = (characters.next(), characters.next())
        && drive.is_ascii_alphabetic()
    {
        let rest = characters.as_str();
        // `a:b` is a name on a Unix machine; with one letter and no slash it is anybody's guess.
        if !rest.starts_with('/') {
            return Err(format!(
                "`{path}` is relative to the current directory of a drive, which is not known"
            ));
        }
        return evened(format!("{}:{}", drive.to_ascii_lowercase(), walked("", rest)), Form::Drive);
    }
    if (path.starts_with(r"\\") || verbatim) && slashed.starts_with("//") {
        let rest = slashed.trim_start_matches('/');
        let mut parts = rest.splitn(3, '/');
        let (server, share) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let dots = |name: &str| name.is_empty() || name == "." || name == "..";
        if dots(server) || dots(share) {
            return Err(format!("`{path}` names no server and share"));
        }
        let below = walked("", parts.next().unwrap_or_default());
        let below = if below == "/" { "" } else { &below };
        return evened(format!("//{server}/{share}{below}"), Form::Unc);
    }
    if verbatim {
        return Err(format!("`{path}` names neither a drive nor a server"));
    }
    if slashed.starts_with('/') {
        return evened(walked("", &slashed), Form::Unix);
    }
    if let Some(rest) = slashed.strip_prefix('~') {
        return match home.and_then(Path::to_str) {
            _ if !rest.is_empty() && !rest.starts_with('/') => {
                Err(format!("`{path}` may be below another user's home: write the whole path, or `./{path}`"))
            }
            None => Err(format!("`{path}` is below the home directory, which is not known")),
            Some(home) => evened(walked(home, rest), Form::Relative),
        };
    }
    match cwd.to_str() {
        Some(cwd) => evened(walked(cwd, &slashed), Form::Relative),
        None => Err("the working directory has a name that is not UTF-8: write the whole path".into()),
    }
}

/// A path of this machine, to be opened.
///
/// # Errors
/// It is another machine's, or cannot be told.
pub fn of_this_machine(path: &str, cwd: &Path, home: Option<&Path>) -> Result<PathBuf, String> {
    let evened = even(path, cwd, home)?;
    match evened.form {
        Form::Drive | Form::Unc => Err(format!("`{path}` is a path of Windows, and this is not Windows")),
        // FAIL-CLOSED: it was judged as a name with a backslash in it, and may have been meant as a path.
        Form::Unix | Form::Relative if evened.backslash => {
            Err(format!("`{path}` has a backslash, which is not a separator here: write `/`"))
        }
        Form::Unix | Form::Relative => Ok(evened.text.into()),
    }
}

/// Joins and takes out `.`, `..` and doubled slashes.
fn walked(base: &str, rest: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in base.split('/').chain(rest.split('/')) {
        match name {
            "" | "." => {}
            ".." => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    format!("/{}", names.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_evened_out_as_the_table_says() {
        let (cwd, home) = (Path::new("/work/project"), Some(Path::new("/home/user")));
        for (written, expected, form) in [
            ("/etc/shadow", "/etc/shadow", Form::Unix),
            ("/etc/../etc/passwd", "/etc/passwd", Form::Unix),
            ("/etc/./x//y/", "/etc/x/y", Form::Unix),
            ("/../../etc/passwd", "/etc/passwd", Form::Unix),
            ("//etc/passwd", "/etc/passwd", Form::Unix),
            (r"/etc\shadow", "/etc/shadow", Form::Unix),
            (r"\etc\shadow", "/etc/shadow", Form::Unix),
            ("/", "/", Form::Unix),
            (r"C:\proj\File.py", "c:/proj/File.py", Form::Drive),
            ("C:/proj/file.py", "c:/proj/file.py", Form::Drive),
            (r"c:\proj\..\..\x", "c:/x", Form::Drive),
            (r"Z:\", "z:/", Form::Drive),
            (r"\\?\C:\proj\x", "c:/proj/x", Form::Drive),
            (r"\\server\share\file", "//server/share/file", Form::Unc),
            (r"\\server\share\a\..\..\..\b", "//server/share/b", Form::Unc),
            (r"\\server\share", "//server/share", Form::Unc),
            (r"\\?\UNC\server\share\x", "//server/share/x", Form::Unc),
            ("src/app.py", "/work/project/src/app.py", Form::Relative),
            (r"src\app.py", "/work/project/src/app.py", Form::Relative),
            (".", "/work/project", Form::Relative),
            ("README.md", "/work/project/README.md", Form::Relative),
            ("../../../etc/passwd", "/etc/passwd", Form::Relative),
            ("~", "/home/user", Form::Relative),
            ("~/.ssh/../x", "/home/user/x", Form::Relative),
            ("./~/x", "/work/project/~/x", Form::Relative),
            ("ab:c", "/work/project/ab:c", Form::Relative),
        ] {
            let evened = even(written, cwd, home).unwrap_or_else(|why| panic!("{written}: {why}"));
            assert_eq!((evened.text.as_str(), evened.form), (expected, form), "{written}");
        }
    }

    #[test]
    fn what_cannot_be_told_is_refused_with_its_reason() {
        let (cwd, home) = (Path::new("/work/project"), Some(Path::new("/home/user")));
        for (written, reason) in [
            ("C:file", "current directory of a drive"),
            (r"\\.\PhysicalDrive0", "is a device"),
            (r"\\server", "no server and share"),
            (r"\\server\..\x", "no server and share"),
            (r"\\?\odd", "neither a drive nor a server"),
            ("~root/x", "another user's home"),
            (r"C:\proj\x", "this is not Windows"),
            (r"\\server\share\x", "this is not Windows"),
            (r"src\app.py", "write `/`"),
            (r"/etc\shadow", "write `/`"),
        ] {
            let why = of_this_machine(written, cwd, home).expect_err(written);
            assert!(why.contains(reason), "{written}: {why}");
        }
        assert!(of_this_machine("~/x", cwd, None).unwrap_err().contains("not known"));
        assert_eq!(of_this_machine("../x", cwd, home), Ok("/work/x".into()));
    }
}
