//! What we accept, bash accepts: on generated and on mutated texts.

use shell::{Dialect, parse};

use crate::chance::Chance;
use crate::shells::{accepts, in_two};

const SEEDS: &[&str] = &[
    "ls -la | grep x > out 2>&1",
    "if [ -f a ]; then b; else c; fi",
    "for i in a b c; do echo $i; done",
    "case $x in a|b) c;; *) d;; esac",
    "f() { a; b; }; f x",
    "function f { a; }",
    "while read x; do echo \"$x\"; done < f",
    "cat <<EOF\n$x $(a)\nEOF",
    "cat <<-'E'\n\ta\n\tE\n",
    "a && b || c; d & e",
    "[[ -f a && $b == c* || ! ( d < e ) ]]",
    "[[ $a =~ ^(x|y)$ ]]",
    "(( a + 1 )) && echo $((b * 2))",
    "for ((i=0; i<3; i++)); do a; done",
    "a=(1 2 [3]=4) b+=c",
    "echo ${a:-b} ${a%%.*} ${a//x/y} ${#a} ${a[0]} ${a:1:2}",
    "echo {a,b}{1..3} ~/x *.c [ab]?",
    "{ a; b; } 2>/dev/null | c |& d",
    "( a; b ) &",
    "time -p a",
    "! a | b",
    "echo `a b` \"`c`\" $'d\\n' $\"e\"",
    "select x in a b; do c; done",
    "diff <(a) >(b)",
    "a <<< \"b\" 3>&1 {fd}<c &>d",
    "until a; do b; done; echo a#b # c",
    "export A=b C=(d)",
    "if a; then b; elif c; then d; fi",
    "x=1 y=$(a \"$(b 'c)')\") z",
    "case a in (b) c ;; esac",
];

#[test]
fn what_is_accepted_is_accepted_by_bash() {
    let mut chance = Chance::new(11);
    let mut texts: Vec<String> = SEEDS.iter().map(|text| (*text).to_owned()).collect();
    while texts.len() < 24_000 {
        let mut text = chance.pick(SEEDS).to_owned();
        match chance.below(4) {
            0 => text = format!("{text}\n{}", chance.pick(SEEDS)),
            1 => text = format!("$({text}\n) {}", chance.pick(SEEDS)),
            2 => text = format!("{{ {text}\n}} ; {}", chance.pick(SEEDS)),
            _ => {}
        }
        texts.push(chance.mutate(&text));
    }
    let accepted: Vec<&String> = texts.iter().filter(|text| parse(text, Dialect::Bash).is_ok()).collect();
    let accepted = &accepted[..accepted.len().min(6_000)];
    let wrong = in_two(accepted, |part| {
        part.iter().filter(|text| !accepts(text)).map(|text| (*text).clone()).collect()
    });
    println!("{} texts accepted, {} of them not by bash", accepted.len(), wrong.len());
    assert!(wrong.is_empty(), "bash rejects {:#?}", &wrong[..wrong.len().min(10)]);
    assert!(accepted.len() >= 5_000, "only {} were accepted", accepted.len());
}
