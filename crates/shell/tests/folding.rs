//! What words become: tables of texts and of what is certain about them.

use shell::{Dialect, Given, Program, Value, read};

const GIVEN: Given<'_> = Given { cwd: Some("/w"), home: Some("/home/me"), user: Some("me") };

fn show(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Pattern(pattern) => format!("glob({pattern})"),
        Value::OneOf(members) => format!("one({})", members.iter().map(show).collect::<Vec<_>>().join("|")),
        Value::Process { reads, commands } => {
            format!(
                "{}({})",
                if *reads { "<" } else { ">" },
                commands.iter().map(|id| id.0.to_string()).collect::<Vec<_>>().join(",")
            )
        }
        Value::Unknown(unknown) => {
            format!("{}?{}{}", unknown.prefix, unknown.suffix, if unknown.splits { "*" } else { "" })
        }
    }
}

fn commands(program: &Program) -> Vec<String> {
    program
        .commands
        .iter()
        .map(|command| command.words.iter().map(|word| show(&word.value)).collect::<Vec<_>>().join(" "))
        .collect()
}

fn folded(text: &str, dialect: Dialect) -> String {
    match read(text, dialect, &GIVEN) {
        Ok(program) => commands(&program).join(" ; "),
        Err(refusal) => format!("refused: {}", refusal.reason),
    }
}

#[test]
fn what_a_later_round_or_another_shell_may_change_is_not_certain() {
    for (text, expected) in [
        ("x=a; while c; do $x; x=rm; done", " ; c ; ?* ; "),
        ("x=a; for i in 1 2; do $x; x=rm; done; $x", " ; ?* ;  ; ?*"),
        ("x=a; for i in 1 2; do $x $i; done", " ; a one(1|2)"),
        ("x=a; (x=b); $x", " ;  ; a"),
        ("x=a; echo | x=b; $x", " ; echo ;  ; a"),
        ("x=a; y=$(x=b); $x", " ;  ;  ; a"),
        ("x=a; x=b & $x", " ;  ; a"),
        ("x=a; c && x=b; $x", " ; c ;  ; one(b|a)"),
        ("x=a; if c; then x=b; fi; $x", " ; c ;  ; one(a|b)"),
        ("x=a; case c in d) x=b;; esac; $x", " ;  ; one(a|b)"),
        ("x=a; if c; then x=b; exit; fi; $x", " ; c ;  ; exit ; a"),
        ("x=a; read x; $x", " ; read x ; ?*"),
        ("x=a; printf -v x rm; $x", " ; printf -v x rm ; ?*"),
        ("x=a; eval c; $x", " ; eval c ; ?*"),
        ("x=a; . ./f; $x", " ; . ./f ; ?*"),
        ("x=a; $c; $x", " ; ?* ; ?*"),
        ("x=a; ((x=1)); $x", " ; (( ; ?*"),
        ("x=a; f() { x=b; }; f; $x", " ;  ; b"),
        ("x=a; f() { local x=b; $x; }; f; $x", " ; local x=b ; b ; a"),
        ("x=a; f() { c && return; x=b; }; f; $x", " ; c ; return ;  ; one(b|a)"),
        ("x=rm $x", "?*"),
        ("export y=x; export $y=rm; $x", "export y=x ; export x=rm ; rm"),
        ("declare -u x=rm; $x", "declare -u x=rm ; ?*"),
        ("c=(rm -rf /); \"${c[@]}\"", " ; rm -rf /"),
        ("x='*'; rm $x \"$x\"", " ; rm glob(*) *"),
        ("set -f; rm *", "set -f ; rm one(glob(*)|?*)"),
        ("f() { echo \"$@\"; }; f a 'b c'", "echo a b c"),
        ("f() { shift; echo $1 $#; }; f a b", "shift ; echo b 1"),
        ("{ f() { rm x; }; }; f", "rm x"),
        ("HOME=/; rm -rf ~", " ; rm -rf /"),
        ("cd /a && rm -rf $PWD/x", "cd /a ; rm -rf /a/x"),
        ("echo ${!x} ${x@Q}", "echo ?* ?*"),
        ("$(printf '\\x72m') /", "printf \\x72m ; rm /"),
    ] {
        assert_eq!(folded(text, Dialect::Bash), expected, "{text}");
    }
    assert_eq!(folded("$(printf '\\x72m') /", Dialect::Posix), "printf \\x72m ; ?* /");
}

#[test]
fn words_are_resolved_where_that_is_certain() {
    for (text, expected) in [
        ("ls -la", "ls -la"),
        ("r''m -r\"f\" /", "rm -rf /"),
        ("$'\\x72m' -rf /", "rm -rf /"),
        ("X=rm; $X -rf /", " ; rm -rf /"),
        ("X='rm -rf'; $X /", " ; rm -rf /"),
        ("X='rm -rf'; \"$X\" /", " ; rm -rf /"),
        ("rm${IFS}-rf${IFS}/", "rm -rf /"),
        ("echo {a,b}{1..3}", "echo a1 a2 a3 b1 b2 b3"),
        ("cat ~/x ~me/y ~root/z \"~\"", "cat /home/me/x /home/me/y ?/z ~"),
        ("echo $HOME/x $USER $UNSET", "echo /home/me/x me ?*"),
        ("rm *.txt \"*\"", "rm glob(*.txt) *"),
        ("x=$(echo rm); $x", "echo rm ;  ; rm"),
        ("$(echo cm0gLXJm | base64 -d) /", "echo cm0gLXJm ; base64 -d ; rm -rf /"),
        ("$(echo mr | rev) /", "echo mr ; rev ; rm /"),
        ("$(echo 726d | xxd -r -p) /", "echo 726d ; xxd -r -p ; rm /"),
        ("$(echo sn | tr 's' 'r' | tr n m) /", "echo sn ; tr s r ; tr n m ; rm /"),
        ("echo $(date)", "date ; echo ?*"),
        ("echo \"$(date)\"", "date ; echo ?"),
        ("f() { rm -rf \"$1\"; }; f /x", "rm -rf /x"),
        ("ls() { rm -rf /; }; ls", "rm -rf /"),
        ("f() { rm x; }", "rm x"),
        (":(){ :|:& };:", "refused: a function that calls itself: `:`"),
        ("for f in a b; do rm $f; done", "rm one(a|b)"),
        ("for f in *.c; do rm \"$f\"; done", "rm glob(*.c)"),
        ("while read x; do rm \"$x\"; done", "read x ; rm ?"),
        ("if a; then X=1; else X=2; fi; echo $X", "a ;  ;  ; echo one(1|2)"),
        ("(X=1); echo $X", " ; echo ?*"),
        ("echo ${X:-a b} ${#HOME}", "echo ?* 8"),
        ("X=abc; echo ${X%c} ${X#a} ${X/b/z} ${X:1:1} ${X^^} ${Y:-d}", " ; echo ab bc azc b ABC ?*"),
        ("unset Y; echo ${Y:-d e} \"${Y:-d e}\" ${Y:+x} end", "unset Y ; echo d e d e end"),
        ("[[ -f x && $y == z* ]]", "[[ -f x && ? == z*"),
        ("echo $((1+2*3)) $((x))", "echo 7 ?*"),
        ("diff <(a) <(b)", "a ; b ; diff <(0) <(1)"),
        ("set -- a b; echo \"$@\" $# $2", "set -- a b ; echo a b 2 b"),
        ("eval x=1; echo $HOME", "eval x=1 ; echo ?*"),
        ("a=(x y); echo \"${a[@]}\" ${a[1]} ${#a[@]}", " ; echo x y y 2"),
        ("cat <<EOF\n$HOME $(id)\nEOF", "id ; cat"),
    ] {
        assert_eq!(folded(text, Dialect::Bash), expected, "{text}");
    }
}

#[test]
fn what_is_evaluated_as_arithmetic_must_not_hold_code() {
    let code = "x='a[$(rm -rf src)]'";
    for (form, refused) in [
        ("echo $((x))", true),
        ("y[x]=1", true),
        ("y=([x]=1)", true),
        ("echo \"${y[x]}\"", true),
        ("echo ${y[x+1]}", true),
        ("read 'y[x]'", true),
        ("unset 'y[x]'", true),
        ("printf -v 'y[x]' 1", true),
        ("declare 'y[x]=1'", true),
        ("let y=x", true),
        ("[[ x -eq 1 ]]", true),
        ("[[ -v y[x] ]]", true),
        ("z=x; echo $((z))", true),
        ("z=x; y[z]=1", true),
        ("y[1]=1", false),
        ("y[i]=1", false),
        ("echo \"${y[@]}\" ${y[*]} ${y[0]}", false),
        ("[[ x == 1 ]]", false),
        ("[[ $n -eq 1 ]]", false),
        ("let n=1", false),
        ("z=i; y[z]=1", false),
    ] {
        let text = format!("{code}; i=3; {form}");
        assert_eq!(folded(&text, Dialect::Bash).starts_with("refused"), refused, "{form}");
    }
}

#[test]
fn a_loop_over_a_variable_that_others_may_know_sets_it() {
    for (text, expected) in [
        ("for PATH in /tmp; do ls; done", vec!["PATH"]),
        ("select LD_PRELOAD in ./x.so; do ls; done", vec!["LD_PRELOAD"]),
        ("for i in 1 2; do ls; done", vec![]),
    ] {
        let program = read(text, Dialect::Bash, &GIVEN).expect("it can be read");
        let set: Vec<&str> = program
            .commands
            .iter()
            .flat_map(|command| command.assignments.iter().map(|assignment| assignment.name.as_str()))
            .collect();
        assert_eq!(set, expected, "{text}");
    }
}
