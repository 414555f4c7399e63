//! A Windows path on a drive, read as words: no file is looked at. Windows has many spellings for one file, and some that lead
//! to a device or to a stream beside the file; what is not plainly a path on a drive is refused.

use std::fmt;

/// An absolute path on a drive, in one spelling.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DrivePath {
    letter: char,
    parts: Vec<String>,
}

/// The longest path in UTF-16 units that Windows takes.
const LONGEST: usize = 32_000;

/// Names that are devices in every directory, with any extension.
const DEVICES: [&str; 6] = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"];

impl DrivePath {
    /// Reads `C:\…`, with either separator, in any case of the letter, with or without `\\?\`.
    ///
    /// # Errors
    /// Why it is no such path.
    pub fn parse(text: &str) -> Result<DrivePath, String> {
        let wrong = |why: &str| format!("`{}` {why}", text.escape_debug());
        if text.encode_utf16().count() > LONGEST {
            return Err("a path is longer than Windows takes".into());
        }
        let (rest, verbatim) = match text.strip_prefix("\\\\?\\") {
            Some(rest) => (rest, true),
            None => (text, false),
        };
        let mut letters = rest.chars();
        let letter = letters.next().filter(char::is_ascii_alphabetic);
        let Some(letter) = letter.filter(|_| letters.next() == Some(':')) else {
            return Err(wrong("is not on a drive"));
        };
        let rest = letters.as_str();
        if !rest.starts_with(['\\', '/']) {
            return Err(wrong("depends on the directory that the drive is in"));
        }
        // After `\\?\` Windows takes every character as it is: nothing is left that could be meant otherwise.
        if verbatim && (rest.contains('/') || rest.split('\\').skip(1).any(|part| matches!(part, "." | "..")))
        {
            return Err(wrong("has `/`, `.` or `..` where Windows takes them for names"));
        }
        let mut parts = Vec::new();
        for part in rest.split(['\\', '/']) {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop().ok_or_else(|| wrong("leads above its drive"))?;
                }
                name => {
                    plain(name).map_err(|why| wrong(&format!("has `{}`, {why}", name.escape_debug())))?;
                    parts.push(name.to_owned());
                }
            }
        }
        Ok(DrivePath { letter: letter.to_ascii_uppercase(), parts })
    }

    /// From a letter and names.
    ///
    /// # Errors
    /// Why these are none.
    pub fn from_parts(letter: char, names: &[&str]) -> Result<DrivePath, String> {
        if !letter.is_ascii_alphabetic() {
            return Err(format!("`{}` is no drive", letter.escape_debug()));
        }
        for name in names {
            plain(name).map_err(|why| format!("`{}` is {why}", name.escape_debug()))?;
        }
        let parts = names.iter().map(|name| (*name).to_owned()).collect();
        Ok(DrivePath { letter: letter.to_ascii_uppercase(), parts })
    }

    /// The drive, in upper case.
    #[must_use]
    pub fn letter(&self) -> char {
        self.letter
    }

    /// The names below the drive.
    #[must_use]
    pub fn parts(&self) -> &[String] {
        &self.parts
    }
}

impl fmt::Display for DrivePath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:\\{}", self.letter, self.parts.join("\\"))
    }
}

/// Whether a name means one file of its directory and nothing else.
///
/// # Errors
/// What else it could mean.
pub fn plain(name: &str) -> Result<(), &'static str> {
    if name.is_empty() || name == "." || name == ".." {
        return Err("which is no name");
    }
    if name.chars().any(|letter| letter.is_control() || "<>\"|?*\\/".contains(letter)) {
        return Err("which has a character that no file name has");
    }
    if name.contains(':') {
        return Err("which names a stream beside a file");
    }
    if name.ends_with(['.', ' ']) {
        return Err("whose end Windows cuts off");
    }
    if name.encode_utf16().count() > 255 {
        return Err("which is longer than a file name");
    }
    let stem = name.split('.').next().unwrap_or(name).trim_end().to_uppercase();
    let port = stem.strip_prefix("COM").or_else(|| stem.strip_prefix("LPT"));
    let port = port.is_some_and(|rest| {
        let mut digits = rest.chars();
        let digit = digits.next().is_some_and(|digit| digit.is_ascii_digit() || "¹²³".contains(digit));
        digit && digits.next().is_none()
    });
    if port || DEVICES.contains(&stem.as_str()) {
        return Err("which is a device");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_a_path_on_a_drive_become_one() {
        let rows = [
            ("C:\\Users\\x", "C:\\Users\\x"),
            ("c:/Users/x", "C:\\Users\\x"),
            ("c:\\Users/x\\", "C:\\Users\\x"),
            ("C:\\\\Users\\.\\x", "C:\\Users\\x"),
            ("C:\\Users\\y\\..\\x", "C:\\Users\\x"),
            ("\\\\?\\C:\\Users\\x", "C:\\Users\\x"),
            ("z:\\", "Z:\\"),
            ("C:\\a b\\ünï", "C:\\a b\\ünï"),
            ("C:\\console", "C:\\console"),
            ("C:\\com10", "C:\\com10"),
            ("C:\\.git", "C:\\.git"),
        ];
        for (text, expected) in rows {
            let found = DrivePath::parse(text).map(|path| path.to_string());
            assert_eq!(found.as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_could_mean_something_else_is_refused() {
        for text in [
            "",
            "x",
            "Users\\x",
            "\\Users\\x",
            "/Users/x",
            "C:",
            "C:x",
            "1:\\x",
            "É:\\x",
            "\\\\server\\share\\x",
            "//server/share/x",
            "\\\\.\\C:\\x",
            "\\\\.\\PhysicalDrive0",
            "\\\\?\\UNC\\server\\share",
            "\\\\?\\GLOBALROOT\\Device\\x",
            "\\??\\C:\\x",
            "\\\\?\\C:\\a\\..\\b",
            "\\\\?\\C:\\a/b",
            "C:\\..",
            "C:\\a\\..\\..\\b",
            "C:\\con",
            "C:\\a\\NUL.txt",
            "C:\\a\\aux .c",
            "C:\\Com1",
            "C:\\lpt².x",
            "C:\\a\\conin$",
            "C:\\a.",
            "C:\\a ",
            "C:\\a...\\b",
            "C:\\a:b",
            "C:\\.git::$INDEX_ALLOCATION",
            "C:\\a\0b",
            "C:\\a\nb",
            "C:\\a*",
            "C:\\a?b",
            "C:\\a\"b",
        ] {
            assert!(DrivePath::parse(text).is_err(), "{text:?}");
        }
        assert!(DrivePath::parse(&format!("C:\\{}", "a".repeat(256))).is_err());
        assert!(DrivePath::parse(&format!("C:\\{}", "a\\".repeat(20_000))).is_err());
    }
}
