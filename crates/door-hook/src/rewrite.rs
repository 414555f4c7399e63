//! A shell command, rewritten so that it runs behind the fence: `BAILIWICK exec … -- /bin/bash -c 'ORIGINAL'`.
//!
//! Output, exit code and working directory are those of the original. One thing needs care: some hosts keep the working
//! directory from one call to the next. Claude Code says that the directory persists and the rest of the shell's state does
//! not, so it can only learn it from the shell that it started itself; the shells of Copilot CLI and VS Code live on. A `cd`
//! inside the fenced shell, which is a child of that one, would be gone with it. So:
//!
//! - a command that only changes the directory is left alone: there is nothing in it to fence;
//! - a command that starts with `cd WORD`, the form that agents use, runs behind the fence as a whole, and afterwards the
//!   shell outside goes to the same place, quietly, and keeps the exit code;
//! - any other change of directory (`make && cd x`, `cd "$dir"`, `pushd`) stays inside: the next call starts where this one
//!   did. So do variables and functions, in the hosts whose shell lives on.

/// The words in front of the command's text.
#[must_use]
pub fn exec_prefix(binary: &str, flags: &[&str]) -> Vec<String> {
    let start = [binary, "exec"];
    let end = ["--", "/bin/bash", "-c"];
    start.iter().chain(flags).chain(&end).map(|word| (*word).to_owned()).collect()
}

/// The command behind the fence, or nothing where it is to be left as it is.
#[must_use]
pub fn rewrite(command: &str, prefix: &[String]) -> Option<String> {
    let start: Vec<String> = prefix.iter().map(|word| quote(word)).collect();
    let fenced = format!("{} {}", start.join(" "), always_quote(command));
    match leading_cd(command) {
        Some(Cd { then: "", .. }) => None,
        Some(Cd { word, then }) if !moves_on(then) => Some(format!(
            "{fenced}; {{ bailiwick_code=$?; cd {word} >/dev/null 2>&1; (exit \"$bailiwick_code\"); }}"
        )),
        Some(_) | None => Some(fenced),
    }
}

/// The original of a command that [`rewrite`] made with the same prefix: a host may ask about it once more.
#[must_use]
pub fn unwrap(command: &str, prefix: &[String]) -> Option<String> {
    let start: Vec<String> = prefix.iter().map(|word| quote(word)).collect();
    let mut rest = command.strip_prefix(&start.join(" "))?.strip_prefix(" '")?;
    let mut original = String::new();
    loop {
        let (piece, after) = rest.split_once('\'')?;
        original.push_str(piece);
        match after.strip_prefix("\\''") {
            Some(more) => {
                original.push('\'');
                rest = more;
            }
            None => break,
        }
    }
    // INVARIANT: only what would be written here again is taken apart, so nothing can hide behind the quoted text.
    (rewrite(&original, prefix).as_deref() == Some(command)).then_some(original)
}

/// A word for a shell, in quotes where it needs them.
#[must_use]
pub fn quote(word: &str) -> String {
    let plain = |b: u8| {
        b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'/' | b'+' | b',' | b'@' | b'%')
    };
    if !word.is_empty() && word.bytes().all(plain) { word.to_owned() } else { always_quote(word) }
}

/// Between single quotes everything stands for itself but the single quote, which leaves them for a moment.
fn always_quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// A command that starts by changing the directory, to a word that means itself.
struct Cd<'a> {
    word: &'a str,
    then: &'a str,
}

fn leading_cd(command: &str) -> Option<Cd<'_>> {
    let after = command.trim_start_matches([' ', '\t', '\n']).strip_prefix("cd")?;
    let blank = |text: &str| text.starts_with([' ', '\t']);
    if after.trim_matches([' ', '\t', '\n']).is_empty() {
        return Some(Cd { word: "", then: "" });
    }
    if !blank(after) {
        return None;
    }
    let at_word = after.trim_start_matches([' ', '\t']);
    let length = literal_word(at_word)?;
    let (word, rest) = at_word.split_at_checked(length)?;
    let rest = rest.trim_start_matches([' ', '\t']);
    let then = match rest.strip_prefix("&&") {
        Some(then) => then,
        None if rest.is_empty() => "",
        None => rest.strip_prefix([';', '\n'])?,
    };
    // `cd x &&` and nothing is no command; `cd x;` and nothing is one.
    let then = then.trim_matches([' ', '\t', '\n']);
    if then.is_empty() && rest.starts_with("&&") {
        return None;
    }
    Some(Cd { word, then })
}

/// How long the word at the start of the text is, if it is one that means itself in every shell.
fn literal_word(text: &str) -> Option<usize> {
    let length = match text.bytes().next()? {
        b'\'' => text.get(1..)?.find('\'')?.checked_add(2)?,
        b'"' => {
            let end = text.get(1..)?.find('"')?;
            if text.get(1..)?.get(..end)?.contains(['$', '`', '\\', '!']) {
                return None;
            }
            end.checked_add(2)?
        }
        // Options, and the directory before this one.
        b'-' => return None,
        _ => {
            let plain = |b: u8| {
                b.is_ascii_alphanumeric()
                    || matches!(b, b'/' | b'.' | b'_' | b'-' | b'+' | b'@' | b'%' | b',')
            };
            let body = text.strip_prefix("~/").unwrap_or(text);
            let tilde = text.len().saturating_sub(body.len());
            tilde.checked_add(body.bytes().take_while(|b| plain(*b)).count())?
        }
    };
    let rest = text.get(length..)?;
    let ends = rest.is_empty() || rest.starts_with([' ', '\t', '\n', ';', '&']);
    (length > 0 && ends).then_some(length)
}

/// Whether the rest of a command may change the directory again, or runs beside the shell that changed it.
fn moves_on(then: &str) -> bool {
    let in_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    if then.split(|c: char| !in_word(c)).any(|word| matches!(word, "cd" | "pushd" | "popd" | "exec")) {
        return true;
    }
    let bytes = then.as_bytes();
    let at = |index: Option<usize>| index.and_then(|index| bytes.get(index)).copied();
    bytes.iter().enumerate().any(|(index, byte)| {
        let before = at(index.checked_sub(1));
        let after = at(index.checked_add(1));
        *byte == b'&'
            && !matches!(before, Some(b'&' | b'>' | b'<' | b'|'))
            && !matches!(after, Some(b'&' | b'>'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix() -> Vec<String> {
        exec_prefix("/opt/my tools/bailiwick", &["--workspace", "/w"])
    }

    #[test]
    fn words_are_quoted_only_where_they_need_it() {
        let table = [
            ("/usr/bin/bailiwick", "/usr/bin/bailiwick"),
            ("--", "--"),
            ("a b", "'a b'"),
            ("", "''"),
            ("it's", "'it'\\''s'"),
            ("~", "'~'"),
            ("a\nb\\", "'a\nb\\'"),
        ];
        for (word, expected) in table {
            assert_eq!(quote(word), expected);
        }
    }

    #[test]
    fn commands_are_rewritten_left_alone_or_followed_by_their_directory() {
        const FENCED: &str = "'/opt/my tools/bailiwick' exec --workspace /w -- /bin/bash -c ";
        let plain = |command: &str| Some(format!("{FENCED}{}", always_quote(command)));
        let moved = |command: &str, word: &str| {
            Some(format!(
                "{FENCED}{}; {{ bailiwick_code=$?; cd {word} >/dev/null 2>&1; (exit \"$bailiwick_code\"); }}",
                always_quote(command)
            ))
        };
        let table = [
            ("ls -la", plain("ls -la")),
            ("echo 'it'", plain("echo 'it'")),
            ("cd", None),
            ("cd src", None),
            (" cd 'a b' ", None),
            ("cd src;", None),
            ("cd ~/x", None),
            ("cdx y", plain("cdx y")),
            ("cd src && make", moved("cd src && make", "src")),
            ("cd \"a b\" && make 2>&1", moved("cd \"a b\" && make 2>&1", "\"a b\"")),
            ("cd ~/x; make", moved("cd ~/x; make", "~/x")),
            ("cd a\nmake", moved("cd a\nmake", "a")),
            ("cd a && make &> log", moved("cd a && make &> log", "a")),
            // Where they would end is not known, or they do not end anywhere else.
            ("cd a && make && cd b", plain("cd a && make && cd b")),
            ("cd a && serve &", plain("cd a && serve &")),
            ("cd a &", plain("cd a &")),
            ("cd a | b", plain("cd a | b")),
            ("cd \"$x\" && make", plain("cd \"$x\" && make")),
            ("cd $(rm x)", plain("cd $(rm x)")),
            ("cd a'b'", plain("cd a'b'")),
            ("cd a b", plain("cd a b")),
            ("cd - && make", plain("cd - && make")),
            ("cd a>b", plain("cd a>b")),
            ("cd a &&", plain("cd a &&")),
            ("cd a || rm x", plain("cd a || rm x")),
            ("cd a && pushd b", plain("cd a && pushd b")),
        ];
        for (command, expected) in table {
            assert_eq!(rewrite(command, &prefix()), expected, "{command}");
        }
    }

    #[test]
    fn what_was_rewritten_can_be_taken_apart_and_nothing_else() {
        for command in ["ls", "it's", "''", "a\\", "cd a && make", "x; y", "\n", "'\\''"] {
            let rewritten = rewrite(command, &prefix()).unwrap();
            assert_eq!(unwrap(&rewritten, &prefix()).as_deref(), Some(command));
            assert_eq!(unwrap(&format!("{rewritten}; rm x"), &prefix()), None);
            assert_eq!(unwrap(&format!("rm x; {rewritten}"), &prefix()), None);
            assert_eq!(unwrap(&rewritten, &exec_prefix("/other", &[])), None);
        }
        assert_eq!(unwrap("ls", &prefix()), None);
    }
}
