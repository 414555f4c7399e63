//! APR-1, exhaustively: every interleaving of two who answer, the time-out, a cancel and a shutdown settles a question exactly
//! once, and everybody learns the same outcome.
//!
//! The board and its slots are the crate's own text, over a model checker's locks.

#![expect(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../src/board.rs"]
#[expect(dead_code, reason = "a part of it is under test")]
mod board;
#[path = "../src/slot.rs"]
#[expect(dead_code, reason = "a part of it is under test")]
mod slot;

mod sync {
    pub(crate) use loom::sync::{Arc, Condvar, Mutex};
}

use std::time::Duration;

use board::{Board, Settled, Wanted};
use loom::thread;
use sync::Arc;

const DEADLINE: Duration = Duration::from_secs(60);

type Questions = Board<&'static str, &'static str>;

/// What each actor is told came of the question.
type Actor = fn(&Questions) -> &'static str;

fn settle(board: &Questions, word: &'static str) -> &'static str {
    match board.settle(1, |_, _| Ok::<_, ()>(word)) {
        Settled::Won(outcome) | Settled::Lost(outcome) => outcome,
        Settled::Unknown => "unknown",
        Settled::Refused(()) => "refused",
    }
}

fn yes(board: &Questions) -> &'static str {
    settle(board, "yes")
}

fn no(board: &Questions) -> &'static str {
    settle(board, "no")
}

fn cancel(board: &Questions) -> &'static str {
    settle(board, "cancelled")
}

fn time_out(board: &Questions) -> &'static str {
    board.expire(DEADLINE, |_| "timed out");
    settle(board, "too late")
}

fn shut(board: &Questions) -> &'static str {
    board.shut(|_| "shut down");
    settle(board, "too late")
}

fn question(board: &Questions) -> Arc<slot::Slot<&'static str>> {
    let wanted =
        Wanted { id: 1, asked: Arc::new("question"), group: "session".to_owned(), deadline: DEADLINE };
    board.open(wanted, 10, 10).unwrap_or_else(|_| panic!("a place"))
}

/// Every interleaving, without a bound.
fn every_order_of(actors: &'static [Actor]) {
    loom::model(move || {
        let board: Arc<Questions> = Arc::new(Board::new());
        let slot = question(&board);
        let threads: Vec<_> = actors
            .iter()
            .map(|actor| {
                let board = Arc::clone(&board);
                thread::spawn(move || actor(&board))
            })
            .collect();
        let told: Vec<&str> = threads.into_iter().map(|thread| thread.join().expect("no panic")).collect();
        let outcome = slot.outcome().expect("settled");
        assert!(told.iter().all(|word| *word == outcome), "{outcome}: {told:?}");
        assert_ne!(outcome, "too late");
        assert_eq!((board.len(), board.next_deadline()), (0, None));
    });
}

#[test]
fn whoever_asked_wakes_up_and_learns_the_same() {
    // Waiting takes many steps, so these interleavings are those with at most three interruptions.
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let board: Arc<Questions> = Arc::new(Board::new());
        let slot = question(&board);
        let threads = [yes as Actor, time_out as Actor].map(|actor| {
            let board = Arc::clone(&board);
            thread::spawn(move || actor(&board))
        });
        let outcome = loop {
            if let Some(outcome) = slot.wait(DEADLINE) {
                break outcome;
            }
        };
        for thread in threads {
            assert_eq!(thread.join().expect("no panic"), outcome);
        }
    });
}

#[test]
fn two_who_answer_and_the_time_out() {
    every_order_of(&[yes, no, time_out]);
}

#[test]
fn two_who_answer_and_a_cancel() {
    every_order_of(&[yes, no, cancel]);
}

#[test]
fn two_who_answer_and_a_shutdown() {
    every_order_of(&[yes, no, shut]);
}

#[test]
fn an_answer_a_cancel_and_a_shutdown() {
    every_order_of(&[yes, cancel, shut]);
}

#[test]
fn a_time_out_and_a_shutdown() {
    every_order_of(&[time_out, shut]);
}

#[test]
fn nothing_is_put_up_after_a_shutdown_that_nobody_would_settle() {
    loom::model(|| {
        let board: Arc<Questions> = Arc::new(Board::new());
        let other = Arc::clone(&board);
        let closing = thread::spawn(move || other.shut(|_| "shut down"));
        let wanted =
            Wanted { id: 1, asked: Arc::new("question"), group: "session".to_owned(), deadline: DEADLINE };
        let opened = board.open(wanted, 10, 10).ok();
        closing.join().expect("no panic");
        // Either it was refused, or it was put up in time to be settled.
        if let Some(slot) = opened {
            assert_eq!(slot.outcome(), Some("shut down"));
        }
        assert_eq!(board.len(), 0);
    });
}
