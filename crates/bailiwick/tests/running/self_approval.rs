//! APR-8: from inside the fence nobody can say yes. Every attempt is a small script; each has a control that succeeds without
//! the fence, so that a script that cannot work proves nothing.

use crate::home::Home;

/// What is tried: a name, and a script that ends with code 0 only if it reached something. `$STATE`, `$KEYS`, `$CONFIG` and `$BAILIWICK` say where
/// things are; `$PARENT` is a process of the approver's side.
const ATTEMPTS: &[(&str, &str)] = &[
    ("read the digest key", "test -s $KEYS/keys/digest.key"),
    ("read the signing key", "test -s $KEYS/keys/signing.key"),
    (
        "replace the digest key",
        "echo x >> $KEYS/keys/planted && test -s $KEYS/keys/planted && test -s $KEYS/keys/digest.key",
    ),
    ("list the grants", "test -n \"$(ls $STATE/grants)\""),
    (
        "write a grant",
        "echo '{}' >> $STATE/grants/0123456789abcdef0123456789abcdef.jsonl && test -e $STATE/grants/lock",
    ),
    ("remove the grants' lock", "rm $STATE/grants/lock"),
    ("read the journal", "test -n \"$(cat $STATE/journal/*.jsonl)\""),
    (
        "append to the journal",
        "test -s $STATE/journal/00000001.jsonl && echo >> $STATE/journal/00000001.jsonl",
    ),
    ("cut the journal", "test -s $STATE/journal/00000001.jsonl && : > $STATE/journal/00000001.jsonl"),
    ("remove the journal", "rm $STATE/journal/00000001.jsonl"),
    ("move the state away", "mv $STATE $STATE.away"),
    ("read the configuration", "grep -q profile $CONFIG/config.yaml"),
    ("write the configuration", "test -s $CONFIG/config.yaml && echo '# planted' >> $CONFIG/config.yaml"),
    ("approve by the binary", "$BAILIWICK grants approve $QUESTION"),
    (
        "switch automatic approval on",
        "$BAILIWICK grants auto --session $SESSION --for 5m && test -s $STATE/grants/lock -o -e $STATE/grants/lock",
    ),
    ("list what waits by the binary", "$BAILIWICK grants | grep -q waiting"),
    ("see the approver's process", "test -d /proc/$PARENT/fd"),
    ("signal the approver's process", "kill -0 $PARENT"),
    ("read the approver's memory", "head -c 1 /proc/$PARENT/mem >/dev/null || test -r /proc/$PARENT/maps"),
    ("type into the approver's terminal", "exec 3<>$TERMINAL"),
    (
        "reach the state through the process",
        "test -s /proc/$PARENT/cwd/../.local/state/bailiwick/journal/00000001.jsonl",
    ),
    ("reach the state through a link", "ln -s $STATE link && test -e link/journal"),
    ("reach the state through a hard link", "ln $STATE/journal/00000001.jsonl hard && test -s hard"),
];

#[test]
fn nothing_behind_the_fence_reaches_the_approver() {
    assert!(ATTEMPTS.len() >= 20);
    let mut broken = Vec::new();
    for (name, script) in ATTEMPTS {
        for fenced in [true, false] {
            let home = Home::new();
            home.configure("profile: dev\n");
            let reached = home.attempt(script, fenced);
            match (fenced, reached) {
                (true, true) => broken.push(format!("{name}: reached from behind the fence")),
                (false, false) => broken.push(format!("{name}: the control does not work")),
                _ => {}
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}
