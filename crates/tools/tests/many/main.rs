//! Two hundred sessions at once: alone in its process, whose memory is measured.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "tests start processes, look at them and wait"
)]

#[path = "../exec/stage.rs"]
mod stage;

use std::time::{Duration, Instant};

use tools::{Ask, Cancel, Ended, SessionBounds, Sessions, Size, Start};

use crate::stage::{Stage, memory, processes, until};

const MANY: u64 = 200;
const OWNER: &str = "an agent's session";

#[test]
fn two_hundred_sessions_are_alive_at_once_in_little_memory() {
    let stage = Stage::new();
    let mark = format!("many-{}", std::process::id());
    let before = memory();
    let bounds = SessionBounds { most: 200, ..SessionBounds::default() };
    let sessions = Sessions::new(bounds).expect("sessions");
    let ask = Ask { yield_time: Duration::ZERO, max_output_tokens: None };
    let start = Start { tty: Some(Size::default()), ask };
    let begun = Instant::now();
    // Each has more to say than is kept, and nobody asks.
    let text = format!("seq 1 60000; echo ready; read -r x; echo \"<$x>\"; : {mark}");
    let ids: Vec<u64> = (0..MANY)
        .map(|_| {
            let said = sessions.start(OWNER, stage.shell(&text), &start, &Cancel::new()).expect("it starts");
            said.session.expect("it runs")
        })
        .collect();
    let started = begun.elapsed();
    until("all are ready", || {
        let ready = ids.iter().filter(|id| {
            sessions.screen(OWNER, **id).is_ok_and(|screen| screen.text.ends_with("60000\nready"))
        });
        let ready = ready.count();
        if ready == ids.len() {
            Ok(())
        } else {
            Err(format!("{ready} are, the first: {:?}", sessions.screen(OWNER, ids[0])))
        }
    });
    let used = memory().saturating_sub(before);
    println!("{MANY} sessions: {} KiB of our memory, started in {started:?}", used / 1024);
    assert_eq!(processes(&mark).len(), ids.len());
    assert!(used <= 200 << 20, "{used} bytes");
    let full = sessions.start(OWNER, stage.shell("true"), &start, &Cancel::new());
    assert!(full.is_err_and(|error| error.retryable()));
    for (number, id) in ids.iter().enumerate().filter(|(number, _)| number % 10 == 0) {
        let ask = Ask { yield_time: Duration::from_secs(15), max_output_tokens: Some(100) };
        let said = sessions.write(OWNER, *id, format!("{number}\n").as_bytes(), ask, &Cancel::new());
        let said = said.expect("it answers");
        assert_eq!(said.end, Some(Ended::Code(0)));
        assert!(said.stdout.text.contains(&format!("<{number}>")), "{said:?}");
    }
    drop(sessions);
    assert_eq!(processes(&mark), Vec::<u32>::new());
}
