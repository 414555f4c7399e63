//! FNC-4: nothing survives whoever started it, however that ends.

use std::process::{Command, Stdio};
use std::time::Duration;

use tools::{Ask, Cancel, SessionBounds, Sessions, Size, Start};

use crate::stage::{Stage, processes, until};

const OWNER: &str = "an agent's session";
/// Set for the process that is killed: the mark of its programs.
const MARK: &str = "TOOLS_TEST_MARK";

/// Forks twice, makes a session of its own, ignores what it can.
fn stubborn(mark: &str) -> String {
    format!(
        "trap '' TERM INT HUP; (setsid sh -c 'trap \"\" TERM INT HUP; sleep 48; : {mark}' </dev/null >/dev/null 2>&1 &); \
         sleep 48; : {mark}"
    )
}

fn start(stage: &Stage, sessions: &Sessions, mark: &str) {
    for tty in [Some(Size::default()), None] {
        let ask = Ask { yield_time: Duration::ZERO, max_output_tokens: None };
        let said = sessions.start(OWNER, stage.shell(&stubborn(mark)), &Start { tty, ask }, &Cancel::new());
        assert!(said.expect("it starts").session.is_some());
    }
    until("all have started", || match processes(mark).len() {
        4.. => Ok(()),
        count => Err(format!("{count} processes")),
    });
}

#[test]
fn when_the_sessions_are_dropped_nothing_is_left() {
    let stage = Stage::new();
    let mark = format!("dropped-{}", std::process::id());
    let sessions = Sessions::new(SessionBounds::default()).expect("sessions");
    start(&stage, &sessions, &mark);
    drop(sessions);
    assert_eq!(processes(&mark), Vec::<u32>::new());
}

/// Not a test by itself: the process that the next one kills.
#[test]
fn a_process_with_sessions() {
    let Ok(mark) = std::env::var(MARK) else { return };
    let stage = Stage::new();
    let sessions = Sessions::new(SessionBounds::default()).expect("sessions");
    start(&stage, &sessions, &mark);
    std::thread::sleep(Duration::from_secs(30));
}

#[test]
fn when_our_process_is_killed_nothing_is_left() {
    let mark = format!("killed-{}", std::process::id());
    let own = std::env::current_exe().expect("a test");
    let mut child = Command::new(own)
        .args(["--exact", "endings::a_process_with_sessions"])
        .env(MARK, &mark)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts");
    until("all have started", || match processes(&mark).len() {
        4.. => Ok(()),
        count => Err(format!("{count} processes")),
    });
    child.kill().expect("a child of ours");
    child.wait().expect("a child of ours");
    let killed = std::time::Instant::now();
    until("all have ended", || match processes(&mark).len() {
        0 => Ok(()),
        count => Err(format!("{count} processes")),
    });
    assert!(killed.elapsed() < Duration::from_secs(2), "{:?}", killed.elapsed());
}
