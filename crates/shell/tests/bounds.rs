//! Bounds: any text is answered, quickly, without a panic; what is too large or too deep is refused. Keeps SHL-1.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::time::Duration;

use proptest::prelude::*;
use shell::{Dialect, Given, MAX_BYTES, MAX_COMMANDS, MAX_REDIRECTS, MAX_WORDS, read};

const GIVEN: Given<'_> = Given { cwd: Some("/w"), home: Some("/home/me"), user: Some("me") };

fn reason(text: &str) -> Option<String> {
    read(text, Dialect::Bash, &GIVEN).err().map(|refusal| refusal.reason)
}

#[test]
fn text_that_is_too_long_or_has_control_characters_is_refused() {
    assert!(reason(&"a".repeat(MAX_BYTES + 1)).is_some_and(|reason| reason.contains("longer")));
    assert_eq!(reason(&"a".repeat(MAX_BYTES)), None);
    for (text, part) in [
        ("ls\0", "NUL"),
        ("ls\r\n", "carriage return"),
        ("ls \u{1b}[31m", "control"),
        ("ls \u{7f}", "control"),
        ("ls \u{85}", "control"),
        ("ls \u{202e}x", "invisible"),
        ("l\u{200b}s", "invisible"),
        ("ls # \u{2066}", "invisible"),
        ("ls\u{a0}-la", "invisible"),
        ("Get-ChildItem -Path .", "PowerShell"),
        ("$env:X = 1", "PowerShell"),
        ("%COMSPEC% /c dir", "cmd"),
    ] {
        assert!(reason(text).is_some_and(|reason| reason.contains(part)), "{text:?}: {:?}", reason(text));
    }
    for text in ["echo 'a\u{202e}b'", "echo \"\u{200b}\"", "echo é", "ls\t-la\n"] {
        assert_eq!(reason(text), None, "{text:?}");
    }
}

#[test]
fn nesting_beyond_the_bound_is_refused() {
    for (open, close) in [
        ("(", ")"),
        ("{ ", "; }"),
        ("$(", ")"),
        ("\"$(", ")\""),
        ("${x:-", "}"),
        ("$((", "))"),
        ("if a; then ", "; fi"),
        ("[[ ( ", " ) ]]"),
        ("<(", ")"),
        ("f() { ", "; }"),
        ("f()", "{ a; }"),
        ("while a; do ", "; done"),
        ("case x in x) ", ";; esac"),
    ] {
        for count in [100, 100_000 / open.len()] {
            for start in ["", "echo "] {
                let text = format!("{start}{}a{}", open.repeat(count), close.repeat(count));
                let text = text.get(..text.len().min(MAX_BYTES)).unwrap_or_default();
                assert!(read(text, Dialect::Bash, &GIVEN).is_err(), "{start}{open}");
            }
        }
    }
    // The control: what stays below the bound is read.
    let shallow = format!("{}a{}", "( ".repeat(60), ")".repeat(60));
    assert!(read(&shallow, Dialect::Bash, &GIVEN).is_ok());
}

#[test]
fn a_refusal_inside_functions_inside_branches_is_a_refusal() {
    for text in [
        "a() { b; }; b() { a; }; x",
        "a() { b; }; b() { a; }; if a; then b; else a; fi",
        "a() { b; }; b() { a; }; case x in x) a;; esac",
        "a() { b; }; b() { a; }; while a; do b; done",
    ] {
        assert!(reason(text).is_some_and(|reason| reason.contains("calls itself")), "{text}");
    }
}

/// Texts that try to make the reading slow, each a unit to repeat.
const UNITS: &[&str] = &[
    "(",
    "{",
    "$(",
    "`",
    "\"",
    "'",
    "${",
    "{{",
    "{a,",
    "{a,b}",
    "a;",
    "a|",
    "a&&",
    "a ",
    "$a ",
    "x=1;",
    "<<a ",
    "<<E\n",
    "cat <<E\na\nE\n",
    "[[ a ]];",
    "$((1+",
    "((1));",
    "\\\n",
    "\\",
    "#",
    "\n",
    "a=(",
    "[",
    "*",
    "~",
    "$'a'",
    "a>b ",
    "a 2>&1;",
    "if a; then b; fi;",
    "(a);",
    "f(){ a; };",
    "f(){ f; };f;",
    "for i in a b; do c; done;",
    "case a in b) c;; esac;",
    "x=$x$x;",
    "x=a$x;",
    "echo $x;",
    "cd a;",
    "cd a||b;",
    "x=aaaaaaaa;echo ${x//a*/b};",
    "${x:-",
    "${x:-a}",
    "a|{ b; };",
    "{ a;a;a; }|{ b;b;b; };",
    "eval a;",
    "read a;",
    "a<(b) ",
    "`a` ",
    "$(a)",
    "\"$(a)\"",
    "while read x; do x=a$x; done;",
    "export a=b;",
    "IFS=:;$x;",
    "é",
    "a\u{301}",
    "!",
    "&",
    "x=({a,b});",
    "{1..200}",
    "$x{1..200} ",
    "if a;then x=1;else x=2;fi;echo $x$x$x$x$x$x;",
    "alias a=b;",
    "declare -i a=1;",
    "set -- a b;",
    "echo \"$@\";",
    "a\\\n",
    "$((a=1));",
    "x1=1;for i in a;do x=$i;done;",
    "f(){ g;g; };g(){ h;h; };h(){ i;i; };f;",
    "((((",
    "[[ a && ",
    "[[ a =~ (",
    "\t",
    "cat <<-E\n\ta\n\tE\n",
];

/// The shortest of a few runs, as the machine may be busy.
#[expect(clippy::disallowed_methods, reason = "the bound is on time")]
fn time(text: &str, dialect: Dialect) -> Duration {
    (0..5)
        .map(|_| {
            let start = std::time::Instant::now();
            let _ = std::hint::black_box(read(std::hint::black_box(text), dialect, &GIVEN));
            start.elapsed()
        })
        .min()
        .unwrap()
}

#[test]
fn more_than_the_bounds_is_refused_and_as_much_is_not() {
    for (unit, most, reason) in [
        ("a;", MAX_COMMANDS, "more commands than are looked at"),
        ("f a\n", MAX_COMMANDS, "more commands than are looked at"),
    ] {
        assert!(read(&unit.repeat(most), Dialect::Bash, &GIVEN).is_ok(), "{unit:?}");
        let refusal = read(&unit.repeat(most + 1), Dialect::Bash, &GIVEN).unwrap_err();
        assert_eq!(refusal.reason, reason, "{unit:?}");
    }
    for (unit, most, reason) in [
        (" a", MAX_WORDS - 1, "more words than are looked at"),
        (" >f", MAX_REDIRECTS, "more redirections than are looked at"),
    ] {
        assert!(read(&format!("a{}", unit.repeat(most)), Dialect::Bash, &GIVEN).is_ok(), "{unit:?}");
        let refusal = read(&format!("a{}", unit.repeat(most + 1)), Dialect::Bash, &GIVEN).unwrap_err();
        assert_eq!(refusal.reason, reason, "{unit:?}");
    }
    // Words that an expansion makes are counted too, and so are commands that a function runs again.
    let refusal = read("echo {1..60}{1..60}", Dialect::Bash, &GIVEN);
    assert!(refusal.is_err() || refusal.is_ok_and(|program| program.commands[0].words.len() <= MAX_WORDS));
    assert!(read(&format!("f() {{ a; b; c; }};{}", "f;".repeat(400)), Dialect::Bash, &GIVEN).is_err());
}

#[test]
fn time_grows_with_the_text_and_no_faster() {
    let mut worst = (Duration::ZERO, "");
    for unit in UNITS {
        for dialect in [Dialect::Bash, Dialect::Posix] {
            let whole: String = unit.repeat(MAX_BYTES / unit.len());
            let half: String = unit.repeat(MAX_BYTES / unit.len() / 2);
            let (long, short) = (time(&whole, dialect), time(&half, dialect));
            if long > worst.0 {
                worst = (long, unit);
            }
            // Tests are not built as releases are; the bound there is 5 ms.
            assert!(long < Duration::from_millis(25), "{unit:?} took {long:?}");
            let floor = Duration::from_micros(300);
            assert!(long < floor + short * 4, "{unit:?}: {short:?} for half, {long:?} for all");
        }
    }
    println!("slowest: {worst:?}");
}

fn shellish() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "a",
        "b",
        "rm",
        "cd",
        "echo",
        " ",
        " ",
        " ",
        "\n",
        ";",
        "&",
        "|",
        "&&",
        "||",
        "(",
        ")",
        "{",
        "}",
        "{ ",
        "; }",
        "$",
        "$x",
        "${",
        "${x:-",
        "$(",
        "$((",
        "))",
        "`",
        "'",
        "\"",
        "\\",
        "\\\n",
        "<",
        ">",
        ">>",
        "<<E\n",
        "\nE\n",
        "<<<",
        "2>&1",
        "<(",
        "#",
        "!",
        "~",
        "*",
        "[",
        "]",
        "[[ ",
        " ]]",
        "=",
        "x=",
        "x+=",
        "a=(",
        "if ",
        "then ",
        "else ",
        "fi",
        "for i in ",
        "do ",
        "done",
        "while ",
        "case x in ",
        "esac",
        ";;",
        "f() ",
        "function f ",
        "time ",
        "é",
        "$'",
        "$\"",
        "..",
        ",",
        ":",
        "/",
        "%",
        "^",
        "@",
        "-",
        "1",
        "export ",
        "local ",
        "read ",
        "set -- ",
        "eval ",
        "alias ",
        "unset ",
        "return",
        "exit",
        "break",
        "IFS=",
        "\u{200b}",
        "\t",
        "𝒳",
    ]);
    prop::collection::vec(pieces, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn no_text_makes_the_reading_panic_and_spans_lie_in_the_text(text in shellish()) {
        for dialect in [Dialect::Bash, Dialect::Posix] {
            let inside = |span: shell::Span| {
                text.get(span.start as usize..span.end as usize).is_some()
            };
            match read(&text, dialect, &GIVEN) {
                Err(refusal) => prop_assert!(inside(refusal.span), "{refusal:?}"),
                Ok(program) => {
                    let count = program.commands.len();
                    for command in &program.commands {
                        prop_assert!(inside(command.span));
                        prop_assert!(command.words.iter().all(|word| inside(word.span)));
                        prop_assert!(command.redirects.iter().all(|redirect| inside(redirect.span)));
                        prop_assert!(command.assignments.iter().all(|assignment| inside(assignment.span)));
                        prop_assert!(command.feeds.iter().all(|id| (id.0 as usize) < count));
                    }
                }
            }
        }
    }

    #[test]
    fn no_characters_at_all_make_the_reading_panic(text in any::<String>()) {
        let _ = read(&text, Dialect::Bash, &GIVEN);
        let _ = read(&text, Dialect::Posix, &GIVEN);
    }
}
