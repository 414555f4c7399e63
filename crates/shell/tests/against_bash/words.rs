//! For commands whose words we call constant, the words are what the shell itself makes of them.

use shell::{Dialect, Given, Program, RedirectKind, Value, read};

use crate::chance::Chance;
use crate::shells::{empty_directory, in_two, quote, run};

/// Pieces of words. All names are ones that no machine has as a command.
const PIECES: &[&str] = &[
    "a",
    "b",
    "-x",
    "abx",
    "1",
    "'a b'",
    "\"a b\"",
    "\"\"",
    "''",
    "\\ ",
    "\\a",
    "\\$",
    "\"\\$\"",
    "\"\\a\"",
    "'\\'",
    "\"\\\\\"",
    "\"a'b\"",
    "'a\"b'",
    "$'a\\tb'",
    "$'\\x61'",
    "$'\\''",
    "$'\\101\\n'",
    "{a,b}",
    "{1..3}",
    "{a..c}",
    "{a,{b,c}}",
    "{}",
    "{a}",
    "{,x}",
    "{3..1}",
    "{01..03}",
    "x{a,b}y",
    "\"{a,b}\"",
    "{a,\"b c\"}",
    "{a,$v}",
    "{1..5..2}",
    "\\{a,b\\}",
    "~",
    "~/a",
    "\"~\"",
    "a~",
    "~root/x",
    "a=~/x",
    "a:~",
    "--o=~/x",
    "a=b:~/y",
    "$v",
    "\"$v\"",
    "${v}",
    "${v}x",
    "$w",
    "\"$w\"",
    "$e",
    "\"$e\"",
    "$w$v",
    "a$w",
    "$w\"b\"",
    "${v:-d}",
    "${e:-d f}",
    "\"${e:-d f}\"",
    "${u:-~/a}",
    "${p#~}",
    "${p/a/~}",
    "${u-d}",
    "${e-d}",
    "${v:+y z}",
    "\"${v:+y z}\"",
    "${e:+y}",
    "${#w}",
    "${w%b}",
    "${w#a}",
    "${w%% *}",
    "${p##*/}",
    "${p%/*}",
    "${p%%/*}",
    "${p#*/}",
    "${p//\\//_}",
    "${p/a/X}",
    "${w/a/}",
    "${v:0:1}",
    "${v:1}",
    "${p: -2}",
    "${p:1:2}",
    "${v^^}",
    "${v^}",
    "${v,,}",
    "\"${p%.c}\"",
    "${p%\"$v\"}",
    "$(printf %s a)",
    "$(echo a b)",
    "\"$(echo a b)\"",
    "$(echo 'a  b')",
    "`echo a`",
    "\"`echo \"a  b\"`\"",
    "$(printf 'a\\nb\\n')",
    "$(echo YWI= | base64 -d)",
    "$(echo abc | rev)",
    "$(echo abc | tr a-c x-z)",
    "$(echo abc | tr -d b)",
    "$(echo -n x)",
    "$(echo $w)",
    "$(pwd)/x",
    "$((1+2))",
    "$((2*(3+4)))",
    "$((7/2%3))",
    "$((-5+1))",
    "$((1<2))",
    "$((n+1))",
    "$PWD/a",
    "$HOME",
    "\"$HOME/x\"",
    "$1",
    "\"$1\"",
    "$@",
    "\"$@\"",
    "$*",
    "\"$*\"",
    "$#",
    "\"x$@y\"",
    "${1:-z}",
    "${3-z}",
    "a#b",
    "#",
    "!",
    "a!b",
    "=",
    "a=b",
    "$",
    "$%",
    "a$",
    "\"$\"",
    "%",
    "+",
    "@",
    ",",
    ":",
    "]",
    "a]",
    "^",
    "é",
    "\"é\"",
    "${x_}",
    "\\\\",
    "\"\\\"\"",
    "\\'",
    "\\\"",
    "$(cat <<E\na  b\nE\n)",
    "\"$(cat <<'E'\n$v \"q\"\nE\n)\"",
    "$(cat <<E\n$v \\$v \"q\"\nE\n)",
    "$c",
    "\"$c\"",
    "x$c$v",
    "${a[0]}",
    "\"${a[@]}\"",
    "${a[@]}",
    "${#a[@]}",
    "\"${a[1]}\"",
    "\"${a[*]}\"",
    "$a",
    "'a\nb'",
    "\"a\nb\"",
    "\\\n",
    " \\\n ",
];

const SETTINGS: &[&str] = &[
    "v=ab",
    "w='a b'",
    "e=",
    "p=a/b/x.c",
    "c='a  b'",
    "n=4",
    "unset u",
    "set -- x 'y z'",
    "set --",
    "IFS=:",
    "IFS=",
    "IFS=', '",
    "unset IFS",
    "v='a:b::c'",
    "w=' a '",
    "c=':a: b,c'",
    "v=$w",
    "v=\"$w$v\"",
    "v+=x",
    "export v=cd",
    "export w=$v",
    "a=(1 '2 3')",
    "a=()",
    "v=~/q",
    "v=~/q:~/r",
    "v={a,b}",
    "v='*'",
    "HOME=/hh",
    "readonly k=1",
    "cd /",
    "cd /tmp",
    "if true; then v=z; fi",
    "{ v=g; }",
    "(v=h)",
    "f() { v=i; }; f",
    "g() { local v=j; }; g",
    "v=$(echo k)",
    "unset v",
    "unset w",
    ": ${u:=def}",
    "v=${p%.*}",
    "v=\"a\nb\"",
    "w=$'a\\tb'",
    "true && v=l",
    "v=1 :",
    "false || w=m",
];

fn script(chance: &mut Chance) -> String {
    let mut text =
        String::from("v=ab w='a b' e= p=a/b/x.c c='a  b' n=4; a=(1 '2 3'); unset u; set -- x 'y z'\n");
    for _ in 0..chance.below(4) {
        text.push_str(chance.pick(SETTINGS));
        text.push_str(if chance.below(2) == 0 { "; " } else { "\n" });
    }
    text.push_str("args");
    for _ in 0..=chance.below(4) {
        text.push(' ');
        for _ in 0..=chance.below(3) {
            text.push_str(chance.pick(PIECES));
        }
    }
    text
}

/// What a POSIX shell can be given: the same, without arrays at the start.
fn posix(text: &str) -> String {
    text.replace("; a=(1 '2 3')", "")
}

/// The arguments of every `args` that certainly runs; nothing where anything is not certain.
fn expected(program: &Program) -> Option<Vec<Vec<String>>> {
    let mut all = Vec::new();
    for command in &program.commands {
        if command.standing.conditional || command.standing.background || command.standing.uncalled {
            if matches!(command.words.first().map(|word| &word.value), Some(Value::Text(name)) if name != "args")
            {
                continue;
            }
            if command.words.is_empty() {
                continue;
            }
            return None;
        }
        if !command.feeds.is_empty() && !command.standing.substituted {
            return None;
        }
        if command.redirects.iter().any(|redirect| redirect.kind != RedirectKind::Text) {
            return None;
        }
        let words: Vec<String> = command
            .words
            .iter()
            .map(|word| if let Value::Text(text) = &word.value { Some(text.clone()) } else { None })
            .collect::<Option<_>>()?;
        match words.split_first() {
            Some((name, rest)) if name == "args" => {
                if command.standing.substituted {
                    return None;
                }
                all.push(rest.to_vec());
            }
            Some((name, _))
                if [
                    "echo", "printf", "cat", "base64", "rev", "tr", "pwd", "set", "unset", "export",
                    "readonly", "cd", "local", ":", "true", "false",
                ]
                .contains(&name.as_str()) => {}
            None => {}
            Some(_) => return None,
        }
    }
    (!all.is_empty()).then_some(all)
}

fn compare(
    shell: &str,
    dialect: Dialect,
    texts: &[String],
    directory: &std::path::Path,
) -> Vec<Result<(), String>> {
    let cwd = directory.to_str().unwrap();
    let given = Given { cwd: Some(cwd), home: Some("/root"), user: Some("root") };
    let certain: Vec<(&String, Vec<Vec<String>>)> =
        texts.iter().filter_map(|text| Some((text, expected(&read(text, dialect, &given).ok()?)?))).collect();
    in_two(&certain, |part| {
        let mut results = Vec::new();
        for batch in part.chunks(500) {
            let mut driver = String::from("args() { printf '%s\\0' \"#$#\" \"$@\"; }\n");
            for (text, _) in batch {
                driver.push_str(&format!(
                    "( ulimit -t 1; eval {} ) </dev/null; printf '!end\\0'\n",
                    quote(text)
                ));
            }
            let printed = run(shell, &driver, directory);
            let mut fields =
                printed.split(|&byte| byte == 0).map(|field| String::from_utf8_lossy(field).into_owned());
            for (text, wanted) in batch {
                let mut got = Vec::new();
                let mut odd = false;
                while let Some(field) = fields.next() {
                    if field == "!end" {
                        break;
                    }
                    match field.strip_prefix('#').and_then(|count| count.parse::<usize>().ok()) {
                        Some(count) => got.push(fields.by_ref().take(count).collect::<Vec<_>>()),
                        None => {
                            // Output of something else than `args`; it may hold the mark.
                            odd = true;
                            if field.ends_with("!end") {
                                break;
                            }
                        }
                    }
                }
                results.push(if got == *wanted || odd && got.is_empty() && wanted.is_empty() {
                    Ok(())
                } else {
                    Err(format!("{shell}: {text}\n   ours {wanted:?}\n   got  {got:?}"))
                });
            }
        }
        results
    })
}

fn texts(seed: u64, count: usize) -> Vec<String> {
    let mut chance = Chance::new(seed);
    (0..count)
        .map(|index| {
            let text = script(&mut chance);
            if index % 3 == 0 {
                let (head, tail) = text.split_at(text.find("args").unwrap());
                format!("{head}{}", chance.mutate(tail))
            } else {
                text
            }
        })
        .collect()
}

fn check(shell: &str, dialect: Dialect, texts: &[String], least: usize) {
    let directory = empty_directory(if dialect == Dialect::Bash { "words-bash" } else { "words-dash" });
    let results = compare(shell, dialect, texts, &directory);
    let _ = std::fs::remove_dir_all(&directory);
    let wrong: Vec<&String> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    println!("{shell}: {} compared of {}", results.len(), texts.len());
    for case in wrong.iter().take(40) {
        println!("{case}");
    }
    assert!(wrong.is_empty(), "{} of {} wrong", wrong.len(), results.len());
    assert!(results.len() >= least, "only {} compared", results.len());
}

#[test]
fn constant_words_are_those_of_bash() {
    check("/bin/bash", Dialect::Bash, &texts(3, 14_000), 5_000);
}

#[test]
fn constant_words_are_those_of_dash() {
    let texts: Vec<String> = texts(5, 30_000).iter().map(|text| posix(text)).collect();
    check("/bin/dash", Dialect::Posix, &texts, 5_000);
}
