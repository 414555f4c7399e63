//! Where events go.

use std::sync::Arc;

use tokio::sync::mpsc;

use crate::event::{Event, What};

/// How many events wait for a front end before the run waits for it.
pub(crate) const WAITING: usize = 4096;

/// Tells a front end what happens to one agent.
#[derive(Clone)]
pub(crate) struct Sink {
    sender: mpsc::Sender<Event>,
    agent: Arc<str>,
}

impl Sink {
    pub(crate) fn new(sender: mpsc::Sender<Event>, agent: &str) -> Sink {
        Sink { sender, agent: agent.into() }
    }

    /// The same front end, for another agent.
    pub(crate) fn of(&self, agent: &str) -> Sink {
        Sink { sender: self.sender.clone(), agent: agent.into() }
    }

    /// Tells it. A front end that has gone away hears nothing; the run ends by other means.
    pub(crate) async fn tell(&self, what: What) {
        let _gone = self.sender.send(Event { agent: Arc::clone(&self.agent), what }).await;
    }

    /// Tells it from a thread that may wait.
    pub(crate) fn tell_waiting(&self, what: What) {
        let _gone = self.sender.blocking_send(Event { agent: Arc::clone(&self.agent), what });
    }

    pub(crate) fn agent(&self) -> &str {
        &self.agent
    }

    /// Comes back when nobody listens any more.
    pub(crate) async fn closed(&self) {
        self.sender.closed().await;
    }
}
