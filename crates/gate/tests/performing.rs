//! Tools that leave programs running, through the whole gate on this machine: started, typed into, ended; and what a yes to the
//! start covers.
#![expect(clippy::expect_used, reason = "a test says what is wrong by stopping")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gate::approval::{Answer, Callback, Decision, Provider, Reply};
use gate::call::RawCall;
use gate::{Desk, Gate, Hands, Machine, Terms, Wanted, load};
use serde_json::{Value, json};

/// Code that is typed is asked about, too.
const ASKING: &str = "{profile: dev, safety: {effects: {code: ask}}}";

/// A gate in a directory of its own, whose questions a function answers and counts.
fn gate(name: &str, yaml: &str, said: Decision) -> (Gate, Arc<AtomicUsize>) {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _left_over = std::fs::remove_dir_all(&home);
    let work = home.join("work");
    std::fs::create_dir_all(&work).expect("a workspace");
    let mut world = Machine::world().expect("a world");
    world.cwd.clone_from(&work);
    world.home = Some(home.clone());
    world.managed = None;
    world.configuration = Some(home.join(".config/bailiwick"));
    world.state = Some(home.join(".local/state/bailiwick"));
    world.keys = Some(home.join(".local/share/bailiwick"));
    let wanted = Wanted { flags: Some(yaml.into()), ..Wanted::default() };
    let config = load(&world, &wanted).expect("a configuration");
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let callback: Box<dyn Provider> = Box::new(Callback::new(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        Reply::Answer(Answer::new(said, "a test"))
    }));
    let (office, key) =
        Desk::of(&world, &config).expect("a desk").office(&config, vec![callback]).expect("an office");
    let gate = Gate::new(config, world, Some(work), Machine::digest_key().expect("a key"));
    (gate.running().with_office(office, key), asked)
}

fn call(gate: &Gate, hands: &Hands, session: &str, tool: &str, args: Value) -> gate::tools::Outcome {
    let mut raw = RawCall::new(tool, args);
    raw.session = Some(session.into());
    let environment = vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())];
    gate.perform(raw, Terms { environment, ..Terms::default() }, hands)
}

#[test]
fn a_yes_to_a_start_covers_typing_into_it_and_nothing_else() {
    let (gate, asked) = gate("performing-cover", ASKING, Decision::Approved);
    let hands = Hands::new().expect("hands");
    let started =
        call(&gate, &hands, "one", "exec_command", json!({"cmd": "python3 -i -q", "yield_time_ms": 3000}));
    assert!(started.ok, "{started:?}");
    assert_eq!(asked.load(Ordering::SeqCst), 1, "a program that reads code is asked about");
    let id = started.data.as_ref().expect("data")["session_id"].clone();
    let typed = |session: &str, text: &str| {
        let args = json!({"session_id": id, "chars": text, "yield_time_ms": 3000});
        call(&gate, &hands, session, "write_stdin", args)
    };
    let mut seen = String::new();
    for _ in 0..10 {
        seen.push_str(&typed("one", if seen.is_empty() { "print(6 * 7)\n" } else { "" }).stdout);
        if seen.contains("42") {
            break;
        }
    }
    assert!(seen.contains("42"), "{seen}");
    assert_eq!(asked.load(Ordering::SeqCst), 1, "typing into what was approved is covered");
    let other = typed("two", "print(1)\n");
    assert!(!other.ok, "another session has no part in it: {other:?}");
    let end = typed("one", "exit()\n");
    assert!(end.ok, "{end:?}");
}

#[test]
fn a_no_starts_nothing() {
    let (gate, asked) = gate("performing-no", ASKING, Decision::Denied);
    let hands = Hands::new().expect("hands");
    let started = call(&gate, &hands, "one", "exec_command", json!({"cmd": "python3 -i -q"}));
    assert!(
        !started.ok && started.data.as_ref().is_none_or(|data| data.get("session_id").is_none()),
        "{started:?}"
    );
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    let twice = call(&gate, &hands, "one", "file_write", json!({"path": ".git/hooks/x", "content": "x"}));
    assert!(!twice.ok, "{twice:?}");
    let path: PathBuf = gate.world().cwd.join(".git/hooks/x");
    assert!(!path.exists());
}

#[test]
fn many_calls_at_once_are_each_written_down_once() {
    let (gate, _) = gate("performing-many", "profile: dev", Decision::Denied);
    let hands = Hands::new().expect("hands");
    std::thread::scope(|scope| {
        for number in 0..8 {
            let (gate, hands) = (&gate, &hands);
            scope.spawn(move || {
                for turn in 0..5 {
                    let text = format!("echo {number}-{turn}");
                    let outcome = call(gate, hands, "many", "shell_command", json!({ "command": text }));
                    assert_eq!(outcome.stdout, format!("{number}-{turn}\n"), "{outcome:?}");
                }
            });
        }
    });
    let office = gate.office().expect("an office");
    office.journal.seal().expect("a seal");
    let directory = gate.world().state.as_ref().expect("a state").join("journal");
    let reader = gate::journal::Reader::open(&directory).expect("a journal");
    let mut finished = 0;
    reader
        .forward(&gate::journal::Filter::default(), |record| {
            finished += usize::from(record.kind == gate::journal::Kind::ToolCallFinished);
            gate::journal::Going::On
        })
        .expect("a journal that can be read");
    assert_eq!(finished, 40);
}

/// The kinds of what is in the journal, and how calls ended.
fn written(gate: &Gate) -> (Vec<gate::journal::Kind>, Vec<String>) {
    let directory = gate.world().state.as_ref().expect("a state").join("journal");
    let reader = gate::journal::Reader::open(&directory).expect("a journal");
    let (mut kinds, mut ends) = (Vec::new(), Vec::new());
    reader
        .forward(&gate::journal::Filter::default(), |record| {
            kinds.push(record.kind);
            ends.extend(record.payload.get("outcome").and_then(Value::as_str).map(str::to_owned));
            gate::journal::Going::On
        })
        .expect("a journal that can be read");
    (kinds, ends)
}

#[test]
fn what_the_policy_allows_is_entrusted_once_it_is_written_and_nothing_else_is() {
    use gate::journal::Kind::{ToolCallFinished, ToolCallRequested, ToolCallStarted};
    let yaml = "{profile: dev, safety: {tool_allowlist: [mcp__x__echo], tool_denylist: [mcp__x__rm]}}";
    let (gate, asked) = gate("performing-entrusted", yaml, Decision::Approved);
    let doubted = gate::Caveat { doubt: Some("it has changed".into()), ..gate::Caveat::default() };
    let plain = gate::Caveat::default();
    let raw = |tool: &str| RawCall::new(tool, json!({"command": "ls"}));
    let before = written(&gate).0.len();
    // Asked about, denied, in doubt, a tool of our own.
    for (tool, caveat) in [
        ("mcp__x__other", &plain),
        ("mcp__x__rm", &plain),
        ("mcp__x__echo", &doubted),
        ("shell_command", &plain),
    ] {
        assert!(gate.entrust(raw(tool), caveat).is_none(), "{tool}");
    }
    assert_eq!((written(&gate).0.len(), asked.load(Ordering::SeqCst)), (before, 0), "nothing has happened");

    let entrusted = gate.entrust(raw("mcp__x__echo"), &plain).expect("it is allowed");
    let entrusted = entrusted.unwrap_or_else(|stopped| panic!("{stopped:?}"));
    let kinds = written(&gate).0;
    assert_eq!(
        kinds.get(before..),
        Some(&[ToolCallRequested, ToolCallStarted][..]),
        "on disk before it runs"
    );
    entrusted.ended(&gate::tools::Outcome::success(String::new(), Value::Null));
    assert_eq!(written(&gate).0.last(), Some(&ToolCallFinished));

    drop(gate.entrust(raw("mcp__x__echo"), &plain));
    assert_eq!(written(&gate).1, ["finished", "aborted"], "what is dropped was broken off");
}
