//! How commands stand to each other: directories, links, branches, dialects, refusals.

#![expect(clippy::panic, reason = "a test that cannot go on fails")]

use shell::{Command, Dialect, Given, Program, Redirect, RedirectKind, Source, Value, read};

const GIVEN: Given<'_> = Given { cwd: Some("/w"), home: Some("/home/me"), user: Some("me") };

fn bash(text: &str) -> Program {
    read(text, Dialect::Bash, &GIVEN).unwrap_or_else(|refusal| panic!("{text}: {}", refusal.reason))
}

fn show(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Pattern(pattern) => format!("glob({pattern})"),
        Value::OneOf(members) => format!("one({})", members.iter().map(show).collect::<Vec<_>>().join("|")),
        Value::Process { commands, .. } => format!("process({})", commands.len()),
        Value::Unknown(_) => "?".into(),
    }
}

fn name(command: &Command) -> String {
    command.words.first().map(|word| show(&word.value)).unwrap_or_default()
}

fn named<'p>(program: &'p Program, wanted: &str) -> &'p Command {
    program
        .commands
        .iter()
        .find(|command| name(command) == wanted)
        .unwrap_or_else(|| panic!("no {wanted} in {program:?}"))
}

fn directory(text: &str) -> String {
    show(&named(&bash(text), "x").cwd)
}

#[test]
fn the_directory_is_followed() {
    for (text, expected) in [
        ("x", "/w"),
        ("cd a && x", "/w/a"),
        ("cd a; x", "one(/w/a|/w)"),
        ("cd a || exit; x", "/w/a"),
        ("cd a || exit 1\nx", "/w/a"),
        ("cd a || { echo no; exit 1; }; x", "/w/a"),
        ("cd a || x", "one(/w/a|/w)"),
        ("cd a || echo no; x", "one(/w/a|/w)"),
        ("set -e; cd a; x", "/w/a"),
        ("cd /b/../c && x", "/c"),
        ("cd ..; cd ..; x", "one(/|/w)"),
        ("cd a && cd .. && x", "/w"),
        ("cd && x", "/home/me"),
        ("cd ~/p && x", "/home/me/p"),
        ("cd /t && cd - && x", "/w"),
        ("cd $y && x", "?"),
        ("cd -P a && x", "?"),
        ("CDPATH=/; cd a && x", "?"),
        ("pushd a && x", "?"),
        ("(cd a); x", "/w"),
        ("(cd a && x)", "/w/a"),
        ("cd a | cat; x", "/w"),
        ("cd a & x", "/w"),
        ("echo $(cd a && x)", "/w/a"),
        ("{ cd a && b; }; x", "one(/w/a|/w)"),
        ("if cd a; then x; fi", "one(/w/a|/w)"),
        ("for d in p q; do (cd $d && x); done", "one(/w/p|/w/q)"),
        ("for d in p q; do cd $d && x; done", "?"),
        ("cd src/* && x", "glob(/w/src/*)"),
        ("f() { cd a; }; f; x", "one(/w/a|/w)"),
        ("cd() { :; }; cd a && x", "/w"),
        ("command cd a && x", "/w/a"),
        ("$y; x", "one(/w|?)"),
        ("eval y; x", "one(/w|?)"),
        ("! cd a && x", "one(/w/a|/w)"),
        ("cd a && b || c; x", "one(/w/a|/w)"),
        ("while read y; do cd a || continue; x; break; done", "?"),
    ] {
        assert_eq!(directory(text), expected, "{text}");
    }
}

#[test]
fn input_comes_from_where_the_text_says() {
    let input = |text: &str| {
        named(&bash(text), "x")
            .input
            .iter()
            .map(|source| match source {
                Source::Pipe(ids) => format!("pipe{:?}", ids.iter().map(|id| id.0).collect::<Vec<_>>()),
                Source::Text(value) => format!("text({})", show(value).trim_end()),
                Source::File(value) => format!("file({})", show(value)),
            })
            .collect::<Vec<_>>()
            .join(" ")
    };
    for (text, expected) in [
        ("x", ""),
        ("a | x", "pipe[0]"),
        ("a | b | x", "pipe[1]"),
        ("{ a; b; } | x", "pipe[0, 1]"),
        ("a | { b; x; }", "pipe[0]"),
        ("a | if b; then x; fi", "pipe[0]"),
        ("if a; then b; fi | x", "pipe[0, 1]"),
        ("echo hi | x", "pipe[0] text(hi)"),
        ("echo cm0= | base64 -d | x", "pipe[1] text(rm)"),
        ("x < f", "file(f)"),
        ("a | x < f", "file(f) pipe[0]"),
        ("x <<< hi", "text(hi)"),
        ("x <<E\n$HOME\nE", "text(/home/me)"),
        ("x <<'E'\n$HOME\nE", "text($HOME)"),
        ("while read l; do x; done < f", "file(f)"),
        ("{ x; } <<< hi", "text(hi)"),
        ("x <&3", "file(?)"),
        ("x < <(a)", "file(process(1))"),
        ("f() { x; }; a | f", "pipe[0]"),
        ("f() { x; }; f < g", "file(g)"),
        ("a | b $(x)", "pipe[0]"),
        ("x 3< f", ""),
        ("a |& x", "pipe[0]"),
    ] {
        assert_eq!(input(text), expected, "{text}");
    }
    let program = bash("{ a; b; } | { c; d; }");
    let feeds = |wanted: &str| named(&program, wanted).feeds.iter().map(|id| id.0).collect::<Vec<_>>();
    assert_eq!((feeds("a"), feeds("b"), feeds("c")), (vec![2, 3], vec![2, 3], vec![]));
}

#[test]
fn redirections_reach_every_command_inside() {
    let redirects = |text: &str| {
        let short = |redirect: &Redirect| {
            let kind = match redirect.kind {
                RedirectKind::Read => "<",
                RedirectKind::Write => ">",
                RedirectKind::Append => ">>",
                RedirectKind::ReadWrite => "<>",
                RedirectKind::Duplicate => "&",
                RedirectKind::Text => "<<",
            };
            let descriptor = redirect.descriptor.map_or("?".to_owned(), |number| number.to_string());
            format!("{descriptor}{kind}{}", show(&redirect.target).trim_end())
        };
        named(&bash(text), "x").redirects.iter().map(short).collect::<Vec<_>>().join(" ")
    };
    for (text, expected) in [
        ("x > f 2>&1", "1>f 2&1"),
        ("x >> f", "1>>f"),
        ("x &> f", "1>f"),
        ("x &>> f", "1>>f"),
        ("x >& f", "1>f"),
        ("x >| f", "1>f"),
        ("x <> f", "0<>f"),
        ("x {fd}> f", "?>f"),
        ("x 2>&-", "2&-"),
        ("{ x > a; } > b", "1>a 1>b"),
        ("( { x; } 2> a ) > b", "2>a 1>b"),
        ("for i in 1; do x; done >> log", "1>>log"),
        ("f() { x; } > a; f > b", "1>a 1>b"),
        ("x |& cat", "2&1"),
        ("x > *.c", "1>glob(*.c)"),
        ("x > ~/f", "1>/home/me/f"),
        ("x > $y", "1>?"),
        ("x > {a,b}", "1>?"),
    ] {
        assert_eq!(redirects(text), expected, "{text}");
    }
}

#[test]
fn standing_says_whether_a_command_certainly_runs() {
    for (text, conditional, background, substituted, uncalled) in [
        ("x", false, false, false, false),
        ("a; x", false, false, false, false),
        ("a && x", true, false, false, false),
        ("if x; then a; fi", false, false, false, false),
        ("if a; then x; fi", true, false, false, false),
        ("while a; do x; done", true, false, false, false),
        ("x &", false, true, false, false),
        ("echo $(x)", false, false, true, false),
        ("cat <(x)", false, false, true, false),
        ("f() { x; }", true, false, false, true),
        ("f() { x; }; f", true, false, false, false),
        ("echo ${y:-$(x)}", true, false, true, false),
        ("case a in a) x;; esac", true, false, false, false),
    ] {
        let program = bash(text);
        let standing = named(&program, "x").standing;
        assert_eq!(
            (standing.conditional, standing.background, standing.substituted, standing.uncalled),
            (conditional, background, substituted, uncalled),
            "{text}"
        );
    }
}

#[test]
fn what_the_shells_read_differently_is_never_resolved_one_way() {
    for text in [
        "a &> f",
        "[[ a ]]",
        "cat <(a)",
        "echo $'a'",
        "echo $\"a\"",
        "function f { a; }; f",
        "cat <<< a",
        "a=(b)",
        "a |& b",
        "(( 1 ))",
        "echo ${a/b/c}",
        "echo ${a:1}",
        "echo ${a^}",
        "echo ${!a}",
        "a+=b",
        "for ((;;)); do a; done",
        "select a in b; do c; done",
        "a >& f",
        "echo ${a[0]}",
        "a[1]=b",
        "{fd}> f a",
        "case a in a) b;& c) d;; esac",
        "12> f a",
        "f-g() { a; }; f-g",
    ] {
        assert!(read(text, Dialect::Posix, &GIVEN).is_err(), "{text}");
        // The control: it is the dialect that matters.
        assert!(read(text, Dialect::Bash, &GIVEN).is_ok(), "{text}");
    }
    for text in [
        "echo {a,b}",
        "echo {1..3}",
        "echo a=~/b",
        "echo ~+",
        "echo $(echo 'a\\nb')",
        "x=a; : x=$y; export z=$y",
    ] {
        let program = read(text, Dialect::Posix, &GIVEN).unwrap();
        let last = program.commands.last().and_then(|command| command.words.last()).map(|word| &word.value);
        assert!(matches!(last, Some(Value::Unknown(_))), "{text}: {last:?}");
    }
}

#[test]
fn what_is_not_modelled_is_refused() {
    for text in [
        "coproc a",
        "echo $[1+1]",
        "echo a?(b)",
        "echo !(a)",
        "((a[$(b)]))",
        "echo $((a[0]))",
        "a() { b",
        "cat <<E\na",
        "alias ls=rm\nls",
        "alias 'a b'=c",
        "shopt -s extglob",
        "set -n",
        "enable -n cd",
        "hash -p /bin/rm ls",
        "trap a DEBUG",
        "exec < f",
        "echo \"${a:-'b'}\"",
        "x='a[$(b)]'; echo $((x))",
        "read 'a[$(b)]'",
        "unset 'a[$(b)]'",
        "declare -n a=b",
        "readonly a=1; a=2",
        "echo `echo \\`a\\``",
        "f() { f; }; f",
        "f() { g; }; g() { f; }; f",
        "if a; then f() { b; }; fi; f",
        "PWD=/",
        "UID=0",
        "a $(",
        "a )",
        "; a",
        "a ;; b",
        "a | | b",
        "a &&",
        "{ a }",
        "if a; fi",
        "for in a; do b; done",
        "a 2\\\n>f",
        "i\\\nf a; then b; fi",
        "$\\\n(a)",
        "eval 'ls() { rm; }'; ls",
    ] {
        assert!(
            read(text, Dialect::Bash, &GIVEN).is_err(),
            "{text}: {:?}",
            read(text, Dialect::Bash, &GIVEN)
        );
    }
}

#[test]
fn shape_names_the_constructs() {
    let shape = |text: &str| {
        let shape = bash(text).shape;
        [
            (shape.pipes, "pipes"),
            (shape.chains, "chains"),
            (shape.subshells, "subshells"),
            (shape.redirects, "redirects"),
            (shape.control, "control"),
            (shape.expansions, "expansions"),
        ]
        .into_iter()
        .filter_map(|(set, name)| set.then_some(name))
        .collect::<Vec<_>>()
        .join(" ")
    };
    for (text, expected) in [
        ("ls -la", ""),
        ("echo 'a|b;c'", ""),
        ("a | b", "pipes"),
        ("a; b", "chains"),
        ("a &", "chains"),
        ("a && b", "chains"),
        ("a\nb", "chains"),
        ("(a)", "subshells"),
        ("echo $(a)", "subshells expansions"),
        ("a > f", "redirects"),
        ("a 2>&1", ""),
        ("if a; then b; fi", "control"),
        ("[[ a ]]", "control"),
        ("echo $x", "expansions"),
        ("echo *.c", "expansions"),
        ("echo {a,b}", "expansions"),
        ("echo ~", "expansions"),
    ] {
        assert_eq!(shape(text), expected, "{text}");
    }
}
