//! Where records are kept: in memory, or wherever several short-lived processes meet.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::record::Record;

/// How many sessions are kept in memory.
const MAX_SESSIONS: usize = 10_000;

/// What was read, and what was wrong with the rest.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) records: Vec<Record>,
    pub(crate) complaints: Vec<String>,
}

/// Records by session.
pub(crate) trait Store: Send + Sync {
    /// The records of a session. FAIL-CLOSED: what cannot be read is not there.
    fn read(&self, session: &str) -> Found;

    /// The records of all sessions.
    fn read_all(&self) -> Found;

    /// Whether so much is kept that what no longer holds should go.
    fn is_crowded(&self) -> bool;

    /// Changes the records of a session, alone. What was wrong with them comes back; an error means that nothing changed.
    fn change(&self, session: &str, change: &mut dyn FnMut(&mut Vec<Record>)) -> Result<Vec<String>, String>;
}

/// In this process only.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    sessions: Mutex<BTreeMap<String, Vec<Record>>>,
}

impl Store for Memory {
    fn read(&self, session: &str) -> Found {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        Found { records: sessions.get(session).cloned().unwrap_or_default(), complaints: Vec::new() }
    }

    fn read_all(&self) -> Found {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        Found { records: sessions.values().flatten().cloned().collect(), complaints: Vec::new() }
    }

    fn is_crowded(&self) -> bool {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).len() >= MAX_SESSIONS
    }

    fn change(&self, session: &str, change: &mut dyn FnMut(&mut Vec<Record>)) -> Result<Vec<String>, String> {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if sessions.len() >= MAX_SESSIONS && !sessions.contains_key(session) {
            return Err(format!("grants of {MAX_SESSIONS} sessions are kept already"));
        }
        let mut records = sessions.remove(session).unwrap_or_default();
        change(&mut records);
        if !records.is_empty() {
            sessions.insert(session.to_owned(), records);
        }
        Ok(Vec::new())
    }
}
