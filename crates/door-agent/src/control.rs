//! How an agent is told to stop, and what it is told to do next.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

/// How many messages may wait to be heard.
const MOST: usize = 64;

/// Whether an agent is to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Halt {
    /// It goes on.
    No,
    /// It stops what it does and waits.
    Interrupt,
    /// It ends.
    Cancel,
}

/// The reins of one agent.
pub(crate) struct Control {
    halt: watch::Sender<Halt>,
    heard: watch::Sender<u64>,
    inbox: Mutex<Inbox>,
}

#[derive(Default)]
struct Inbox {
    messages: VecDeque<String>,
    finishing: bool,
}

/// What comes next for an agent that waits.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Somebody said something.
    Said(Vec<String>),
    /// Nobody will.
    Finish,
    /// It ends.
    Cancel,
}

impl Control {
    pub(crate) fn new() -> Control {
        Control { halt: watch::Sender::new(Halt::No), heard: watch::Sender::new(0), inbox: Mutex::default() }
    }

    /// Says something to it. Too many messages that were not heard are refused.
    pub(crate) fn say(&self, text: String) -> bool {
        let mut inbox = self.inbox();
        let room = inbox.messages.len() < MOST;
        if room {
            inbox.messages.push_back(text);
        }
        drop(inbox);
        self.heard.send_modify(|count| *count = count.wrapping_add(1));
        room
    }

    pub(crate) fn finish(&self) {
        self.inbox().finishing = true;
        self.heard.send_modify(|count| *count = count.wrapping_add(1));
    }

    pub(crate) fn interrupt(&self) {
        self.halt.send_modify(|halt| {
            if *halt == Halt::No {
                *halt = Halt::Interrupt;
            }
        });
    }

    pub(crate) fn cancel(&self) {
        self.halt.send_replace(Halt::Cancel);
    }

    /// An ended agent is taken up again.
    pub(crate) fn revive(&self) {
        self.halt.send_replace(Halt::No);
        self.inbox().finishing = false;
    }

    pub(crate) fn halt(&self) -> Halt {
        *self.halt.borrow()
    }

    /// The interruption was heard.
    pub(crate) fn go_on(&self) {
        self.halt.send_modify(|halt| {
            if *halt == Halt::Interrupt {
                *halt = Halt::No;
            }
        });
    }

    /// Comes back when it is to stop.
    pub(crate) async fn halted(&self) -> Halt {
        let mut halt = self.halt.subscribe();
        // The sender lives as long as this: it cannot fail.
        halt.wait_for(|halt| *halt != Halt::No).await.map_or(Halt::Cancel, |halt| *halt)
    }

    /// Something was said that it has not heard.
    pub(crate) fn has_mail(&self) -> bool {
        !self.inbox().messages.is_empty()
    }

    /// What was said since.
    pub(crate) fn take(&self) -> Vec<String> {
        self.inbox().messages.drain(..).collect()
    }

    /// Waits for what comes next.
    pub(crate) async fn next(&self) -> Next {
        let mut heard = self.heard.subscribe();
        let mut halt = self.halt.subscribe();
        loop {
            heard.borrow_and_update();
            if *halt.borrow_and_update() == Halt::Cancel {
                return Next::Cancel;
            }
            {
                let mut inbox = self.inbox();
                if !inbox.messages.is_empty() {
                    return Next::Said(inbox.messages.drain(..).collect());
                }
                if inbox.finishing {
                    return Next::Finish;
                }
            }
            tokio::select! {
                _ = heard.changed() => {}
                _ = halt.changed() => {}
            }
        }
    }

    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
