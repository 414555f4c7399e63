//! A command is planted in every construct, and in constructs inside constructs. Wherever bash is seen to run it,
//! our reading must list it, or refuse the text.

use std::collections::HashSet;

use shell::{Dialect, Given, Value, read};

use crate::chance::Chance;
use crate::shells::{empty_directory, in_two, quote, run};

/// Where a command can stand: `@` is the place.
const PLACES: &[&str] = &[
    "@",
    "true; @",
    "true && @",
    "false || @",
    "! @",
    "@ | cat",
    "true | @",
    "true | cat | @",
    "@ & wait",
    "( @ )",
    "(@)",
    "{ @; }",
    "{ @\n}",
    "if @; then :; fi",
    "if true; then @; fi",
    "if true\nthen\n@\nfi",
    "if false; then :; elif @; then :; fi",
    "if false; then :; else @; fi",
    "for i in 1; do @; done",
    "for i in 1 2\ndo @\ndone",
    "for i in $(@); do :; done",
    "for i in $(@)x; do :; done",
    "while @; do break; done",
    "until @; do break; done",
    "while true; do @; break; done",
    "case x in x) @;; esac",
    "case x in (x) @ ;; esac",
    "case x in a|x)\n@\n;;\nesac",
    "case x in a) :;; *) @; esac",
    "case $(@) in *) :;; esac",
    "case x in $(@)) :;; *) :;; esac",
    "case x in x) :;;& *) @;; esac",
    "case x in x) :;& y) @;; esac",
    "select i in a; do @; break; done <<< 1",
    "f() { @; }; f",
    "f() ( @ ); f",
    "function f { @; }; f",
    "function f() { @; }\nf",
    "f () if true; then @; fi; f",
    "f() { @; } > /dev/null; f",
    "f() { g; }; g() { @; }; f",
    "echo $(@)",
    "echo \"$(@)\"",
    "echo `@`",
    "echo \"`@`\"",
    "echo a$(@)b",
    "echo \"a $(@) b\"",
    "echo $(@)$(:)",
    "cat <(@)",
    "cat < <(@)",
    "echo x > >(@)",
    "x=$(@)",
    "x=\"$(@)\"",
    "x=$(@) true",
    "x=`@`",
    "export x=$(@)",
    "declare x=$(@)",
    "declare -a x=($(@))",
    "readonly x=$(@)",
    "a=($(@))",
    "a=(1 $(@) 2)",
    "a=([0]=$(@))",
    "a[$(@)0]=1",
    "a+=($(@))",
    "x+=$(@)",
    "echo ${x:-$(@)}",
    "echo \"${x:-$(@)}\"",
    "echo ${x:=$(@)}",
    "x=1; echo ${x:+$(@)}",
    "echo ${x-`@`}",
    "x=abc; echo ${x%$(@)}",
    "x=abc; echo ${x##$(@)}",
    "x=abc; echo ${x/$(@)/b}",
    "x=abc; echo ${x//a/$(@)}",
    "x=abc; echo ${x:$(@)0}",
    "x=abc; echo ${x:0:$(@)1}",
    "a=(1); echo ${a[$(@)0]}",
    "echo \"${x:-\"$(@)\"}\"",
    "echo ${x:-${y:-$(@)}}",
    "echo $(( $(@) 1 ))",
    "(( $(@) 1 ))",
    "echo $((1+$(@)1))",
    "for (( i=0$(@); i<1; i++ )); do :; done",
    "for (( i=0; i<1; i++ )); do @; done",
    "[[ $(@) == x ]]",
    "[[ -n $(@) ]]",
    "[[ x =~ $(@) ]]",
    "[[ x && $(@) ]]",
    "[[ ! ( a == \"$(@)\" ) ]]",
    "[ x = \"$(@)\" ]",
    "[[ 1 -eq 1$(@) ]]",
    "cat <<EOF\n$(@)\nEOF",
    "cat <<EOF\n`@`\nEOF",
    "cat <<EOF\n${x:-$(@)}\nEOF",
    "cat <<EOF\n\"$(@)\" '\nEOF",
    "cat <<-EOF\n\t$(@)\n\tEOF",
    "cat <<EOF | cat\n$(( $(@) 1 ))\nEOF",
    "cat <<< $(@)",
    "cat <<< \"$(@)\"",
    "echo x > /dev/null$(@)",
    "echo x &> /dev/null$(@)",
    "echo x 2> \"/dev/null$(@)\"",
    "cat < /dev/null$(@)",
    "echo {a,$(@)}",
    "echo x{1..2}$(@)",
    "echo ~$(@)",
    "echo *$(@)",
    "echo $(echo $(@))",
    "echo $(cat <<EOF\n$(@)\nEOF\n)",
    "time @",
    "time -p @",
    "time { @; }",
    "true |& @",
    "@ |& cat",
    "@ 2>&1",
    "x=1 @",
    "@ > /dev/null",
    "@ &> /dev/null",
    "@ < /dev/null",
    "> /dev/null @",
    "2>&1 @",
    "{fd}>/dev/null @",
    "\\\n@",
    "true \\\n&& @",
    "true &&\\\n @",
    "true |\\\n@",
    "# comment\n@",
    "true # it's\n@",
    "@ # comment",
    "\n\n  @",
    "\t@",
    "true;\n\n@",
    "true &\n@",
    "while read l; do @; done <<< x",
    "echo a | while read l; do @; done",
    "echo $(if true; then @; fi)",
    "echo $(case x in x) @;; esac)",
    "echo $(case x in (x) @;; esac)",
    "echo \"$(echo \"$(@)\")\"",
    "echo $(: # comment )\n@)",
    "echo $(\n@\n)",
    "echo \"$(\n@ # \"\n)\"",
    "echo `echo \\`@\\``",
    "if ( @ ); then :; fi",
    "! { @; }",
    "f() { local x=$(@); }; f",
    "echo $'a'$(@)",
    "echo '$(fake)'; @",
    "\"quoted;\" || @",
    "echo \"a\\\"b\" ; @",
    "echo \\; ; @",
    "echo a#b; @",
    "echo ${x#a}; @",
    "echo $#; @",
    "echo \\\"; @",
    "echo '\\'; @",
    "echo \"\\\\\"; @",
    "echo $'\\''; @",
    "echo \"$'\"; @ #'\"",
    "cat <<'EOF'\n$(fake)\nEOF\n@",
    "cat <<EOF; @\nbody\nEOF",
    "cat <<A <<B; @\na\nA\nb\nB",
    "cat <<\\EOF\n'\nEOF\n@",
    "cat <<E\"O\"F\n\"\nEOF\n@",
    "cat <<EOF\n\\$(fake)\nEOF\n@",
    "cat <<EOF && @\n`:`\nEOF",
    "[[ a < b ]]; @",
    "[[ ( a ) ]]; @",
    "[[ a =~ (x|y) ]]; @",
    "[[ a =~ ^[[:alpha:]]$ ]] && @",
    "echo `echo '#'`; @",
    "echo $(echo ')'); @",
    "echo \"${x:-)}\"; @",
    "echo ${x:-'}'}; @",
    "echo \\\\; @",
    "echo \"`echo \"a\"`\"; @",
    "exec 3>/dev/null; @",
    "set -e; @",
    "set -euo pipefail\n@",
    "cd /; @",
    "cd / && @",
    "cd /nowhere || @",
    "X=canary_cmd; : $X; @",
    "alias q=true; @",
    "trap : EXIT; @",
    "shopt -s nullglob; @",
    "unset x; @",
    "x=; $x @",
    "$() @",
    "if [ -f /x ]; then :; else @; fi",
    "let x=1; @",
    "declare -i n=1; @",
    "coproc @",
    "echo \"${x:-$(echo '}')}\"; @",
    "echo $(echo \\)); @",
    "{ @; } 2>/dev/null | cat",
    "for i; do :; done; @",
    "while false; do :; done; @",
    "[ $(@) ] || :",
    "test -z \"$(@)\"",
    "echo \"$((1))$(@)\"",
    "echo \\\n$(@)",
    "echo \"\\\n$(@)\"",
    "echo ${x:-\"$(@)\"}",
    "echo ${x:-'q'$(@)}",
    "printf %s \"$(@)\"",
    "echo ${#x}$(@)",
    "return 0 2>/dev/null; @",
    "f() { return; }; f; @",
    "(exit 1) || @",
    "true && { @; }",
    "echo $(<(@))",
    "echo $(@ | cat)",
    "echo $(@; echo x)",
    "echo $({ @; })",
    "echo $( (@) )",
    "x=$(y=$(@))",
    "readonly r=1; @",
    "eval :; @",
    ". /dev/null; @",
];

#[test]
fn no_planted_command_is_missed() {
    let mut scripts: Vec<String> = PLACES.iter().map(|place| (*place).to_owned()).collect();
    for outer in PLACES {
        for inner in PLACES {
            // Every third pair keeps the time in bounds; the choice is the same on every run.
            if (outer.len() * 31 + inner.len() * 17).is_multiple_of(3) {
                scripts.push(outer.replace('@', inner));
            }
        }
    }
    let mut chance = Chance::new(7);
    for _ in 0..6_000 {
        let (one, two, three) = (chance.pick(PLACES), chance.pick(PLACES), chance.pick(PLACES));
        scripts.push(one.replace('@', two).replace('@', three));
    }
    let numbered: Vec<(usize, String)> = scripts
        .into_iter()
        .enumerate()
        .map(|(number, script)| (number, script.replace('@', &format!("canary_cmd n{number}"))))
        .collect();

    let directory = empty_directory("canary");
    let ran: HashSet<usize> = in_two(&numbered, |part| {
        let mut ran = Vec::new();
        for batch in part.chunks(500) {
            let mut driver = String::from("exec 9>&1\ncanary_cmd() { printf 'ran %s\\n' \"$1\" >&9; }\n");
            for (_, script) in batch {
                driver.push_str(&format!(
                    "( ulimit -t 1; eval {} ) >/dev/null 2>&1 </dev/null\n",
                    quote(script)
                ));
            }
            let printed = String::from_utf8_lossy(&run("/bin/bash", &driver, &directory)).into_owned();
            ran.extend(printed.lines().filter_map(|line| line.strip_prefix("ran n")?.parse::<usize>().ok()));
        }
        ran
    })
    .into_iter()
    .collect();
    let _ = std::fs::remove_dir_all(&directory);

    let given = Given { cwd: Some("/w"), home: Some("/home/me"), user: Some("me") };
    let mut refused = 0;
    let mut missed = Vec::new();
    for (number, script) in numbered.iter().filter(|(number, _)| ran.contains(number)) {
        let wanted = [Value::Text("canary_cmd".into()), Value::Text(format!("n{number}"))];
        match read(script, Dialect::Bash, &given) {
            Err(_) => refused += 1,
            Ok(program) => {
                let found = program.commands.iter().any(|command| {
                    // What may vanish in front of it is an unknown name to whoever judges.
                    let words = command.words.iter().map(|word| &word.value);
                    let vanishes =
                        |value: &&Value| matches!(value, Value::Unknown(unknown) if unknown.splits);
                    words.skip_while(vanishes).take(2).eq(&wanted)
                });
                if !found {
                    missed.push(script.clone());
                }
            }
        }
    }
    println!("{} scripts, {} ran the canary, {refused} refused", numbered.len(), ran.len());
    assert!(missed.is_empty(), "{} missed, such as {:#?}", missed.len(), &missed[..missed.len().min(10)]);
    assert!(ran.len() >= 20_000, "bash ran only {}", ran.len());
    assert!(refused * 10 < ran.len() * 3, "{refused} of {} refused", ran.len());
}
