//! What the journal is told of a run of an agent, beside its calls: that it began, what is kept of it, how it ended, and which
//! grants were given in it.

use approval::Grant;
use call::{Principal, Shown};
use journal::{Event, Kind, Payload, Who};

use crate::Gate;
use crate::desk::{GrantChange, grant_event};

/// Something that happened to a run.
#[derive(Debug, Clone)]
pub struct RunEvent<'a> {
    /// What: one of the kinds of runs.
    pub kind: Kind,
    /// The run.
    pub run: &'a str,
    /// Its session.
    pub session: &'a str,
    /// On whose behalf.
    pub principal: &'a Principal,
    /// What there is to say.
    pub facts: Payload,
}

impl Gate {
    /// Writes down what happened to a run.
    ///
    /// # Errors
    /// It cannot be written: the run does not go on.
    pub fn record_run(&self, event: RunEvent<'_>) -> Result<(), String> {
        let name = |text: &str| Some(Shown::identifier(text, &self.digest_key));
        let soon = event.kind == Kind::RunSaved;
        let event = Event::new(event.kind, event.facts)
            .in_run(name(event.run))
            .in_session(name(event.session))
            .by(Some(Who::of(event.principal)));
        self.write_event(&event, !soon)
    }

    /// Writes down that a grant was given or taken back.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn record_grant(&self, change: GrantChange, grant: &Grant) -> Result<(), String> {
        self.write_event(&grant_event(change, grant, &self.digest_key), true)
    }

    /// A run's name as the journal has it.
    #[must_use]
    pub fn recorded_name(&self, run: &str) -> String {
        Shown::identifier(run, &self.digest_key).as_str().to_owned()
    }

    fn write_event(&self, event: &Event, durable: bool) -> Result<(), String> {
        let office = self.office().ok_or("there is no journal")?;
        office
            .write(std::slice::from_ref(event), durable)
            .map(drop)
            .map_err(|unavailable| format!("journal_unavailable: {unavailable}"))
    }
}
