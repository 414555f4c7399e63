//! Checkpoints: signatures over the chain as far as it goes.
//!
//! A hash chain alone shows neither that its tail was cut nor that it was computed anew from some record on. A checkpoint signs
//! for the journal's identity, how many records there are, and the hash of the last: since that hash covers all before, one good
//! signature vouches for everything that precedes it.

use serde::{Deserialize, Serialize};

use crate::event::{Kind, own_body};
use crate::keys::{Keys, PublicKey};
use crate::line::Hash;
use crate::payload::{Own, Payload};
use crate::time::Timestamp;

/// A checkpoint; as JSON, what is exported to find a cut tail later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// The identity of the journal.
    pub journal: String,
    /// The number of the checkpoint's own record.
    pub seq: u64,
    /// How many records precede it.
    pub records: u64,
    /// The hash of the record before it.
    pub head: String,
    /// When it was signed.
    pub timestamp: String,
    /// Which key signed.
    pub key: String,
    /// Ed25519, in hex.
    pub signature: String,
}

impl Head {
    /// Reads what [`Head::to_json`] gives.
    ///
    /// # Errors
    /// It is something else.
    pub fn from_json(text: &str) -> Result<Head, String> {
        serde_json::from_str(text.trim()).map_err(|error| format!("this is no head of a journal: {error}"))
    }

    /// One line of JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// One of these keys signed it.
    #[must_use]
    pub fn is_signed_by(&self, keys: &[PublicKey]) -> bool {
        let message = message(&self.journal, self.seq, self.records, &self.head, &self.timestamp);
        keys.iter().any(|key| key.id() == self.key && key.holds(message.as_bytes(), &self.signature))
    }
}

/// The body of a checkpoint's line.
pub(crate) fn body(keys: &Keys, journal: &str, seq: u64, head: &Hash, at: Timestamp, last: bool) -> String {
    let timestamp = at.to_string();
    let signature = keys.sign(message(journal, seq, seq - 1, head.as_str(), &timestamp).as_bytes());
    let payload = Payload::new()
        .with("journal", Own(journal.to_owned()))
        .with("records", seq - 1)
        .with("head", Own(head.as_str().to_owned()))
        .with("key", Own(keys.public().id()))
        .with("signature", Own(signature))
        .with("last", last.then_some(true));
    own_body(Kind::Checkpoint, at, "", &payload)
}

fn message(journal: &str, seq: u64, records: u64, head: &str, timestamp: &str) -> String {
    format!("bailiwick journal checkpoint 1\n{journal}\n{seq}\n{records}\n{head}\n{timestamp}\n")
}
