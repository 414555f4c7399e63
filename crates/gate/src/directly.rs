//! A shell text that is one plain command needs no shell: its program is started as the shell would have started it. What runs is
//! then exactly what was read, and a shell's start, which takes longer than a fence, is saved.

use std::ffi::OsString;
use std::path::Path;

use call::Shell;
use fence::Plan;

/// What a shell does itself, or does not take for the name of a program.
const OWN: [&str; 81] = [
    ".",
    ":",
    "[",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "case",
    "cd",
    "chdir",
    "command",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "coproc",
    "declare",
    "dirs",
    "disown",
    "do",
    "done",
    "echo",
    "elif",
    "else",
    "enable",
    "esac",
    "eval",
    "exec",
    "exit",
    "export",
    "false",
    "fc",
    "fg",
    "fi",
    "for",
    "function",
    "getopts",
    "hash",
    "help",
    "history",
    "if",
    "in",
    "jobs",
    "kill",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "printf",
    "pushd",
    "pwd",
    "read",
    "readarray",
    "readonly",
    "return",
    "select",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "test",
    "then",
    "time",
    "times",
    "trap",
    "true",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "until",
    "wait",
    "while",
    "{",
    "}",
];

/// The words of a text, where a shell would do nothing with it but take it apart at spaces and quotes, and look for the program along
/// `PATH`. `read` are its words as they were judged.
pub(crate) fn words<'a>(text: &str, read: Option<&'a [String]>) -> Option<&'a [String]> {
    let words = read?;
    let name = words.first()?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b" _./,:@%+=-'\"".contains(&byte);
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_.+-".contains(&byte);
    // A name without quotes, at the start: whatever was taken off before it would be missed.
    let rest = text.trim_start_matches(' ').strip_prefix(name.as_str())?;
    let direct = (rest.is_empty() || rest.starts_with(' '))
        && text.bytes().all(is_plain)
        && name.bytes().all(is_name)
        && !OWN.contains(&name.as_str());
    direct.then_some(words)
}

/// What bash would have told the program of itself.
pub(crate) fn tell(plan: &mut Plan, shell: Shell, program: &Path) {
    if shell == Shell::Bash {
        plan.environment.entry(OsString::from("SHLVL")).or_insert_with(|| OsString::from("0"));
        plan.environment.insert(OsString::from("_"), program.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_shell_would_only_take_apart_goes_without_one() {
        let rows = [
            ("ls -la", &["ls", "-la"][..], true),
            ("  git status --short", &["git", "status", "--short"], true),
            ("grep -n 'a b' \"c d\"", &["grep", "-n", "a b", "c d"], true),
            ("make CC=gcc", &["make", "CC=gcc"], true),
            ("echo a", &["echo", "a"], false),
            ("time ls", &["time", "ls"], false),
            ("'ls' -la", &["ls", "-la"], false),
            ("sh -c ls", &["ls"], false),
            ("command ls", &["ls"], false),
            ("A=b ls", &["ls"], false),
            ("./run", &["./run"], false),
            ("ls *", &["ls", "*"], false),
            ("ls ~", &["ls", "/home/user"], false),
            ("ls $HOME", &["ls", "/home/user"], false),
            ("ls a\\ b", &["ls", "a b"], false),
            ("ls a;", &["ls", "a"], false),
            ("ls # all", &["ls"], false),
            ("ls {a,b}", &["ls", "a", "b"], false),
            ("ls\n", &["ls"], false),
            ("lsof", &["ls"], false),
        ];
        for (text, read, direct) in rows {
            let read: Vec<String> = read.iter().map(|word| (*word).to_owned()).collect();
            let expected = direct.then_some(read.as_slice());
            assert_eq!(words(text, Some(&read)), expected, "{text}");
            assert_eq!(words(text, None), None, "{text}");
        }
    }

    #[test]
    fn what_a_shell_does_itself_is_listed_once_and_in_order() {
        assert!(OWN.is_sorted_by(|one, next| one < next));
    }
}
