//! The conversation of a run, kept so that the run can be taken up again: a file outside the workspace that only its owner can
//! read, one message a line. The journal knows its digest after every step; what the journal does not know is not taken up.
//!
//! It holds what was said, tools' outputs included, and never what was granted.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use gate::Gate;
use gate::call::Shown;
use gate::journal::{Filter, Going, Kind, Reader};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::conversation::{Conversation, Message};

/// The largest file that is taken up.
const LARGEST: u64 = 512 * 1024 * 1024;

/// A kept conversation, to be added to.
pub struct Kept {
    path: PathBuf,
    file: std::fs::File,
    hasher: Sha256,
}

#[derive(Serialize, Deserialize)]
struct Head {
    version: u32,
    run: String,
}

impl Kept {
    /// Where the conversations of runs are.
    ///
    /// # Errors
    /// There is no home directory to keep them in.
    pub fn directory(gate: &Gate) -> Result<PathBuf, String> {
        let state = gate.world().state.clone();
        Ok(state.ok_or("there is no home directory to keep the conversation in")?.join("runs"))
    }

    /// A new file for a run.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn create(gate: &Gate, run: &str) -> Result<Kept, String> {
        let directory = Kept::directory(gate)?;
        let failed = |error: std::io::Error| format!("the conversation cannot be kept: {error}");
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&directory).map_err(failed)?;
        let path = file_of(&directory, run)?;
        let file = std::fs::OpenOptions::new()
            .append(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .map_err(failed)?;
        let mut kept = Kept { path, file, hasher: Sha256::new() };
        kept.line(&Head { version: 1, run: run.to_owned() })?;
        Ok(kept)
    }

    /// Takes the conversation of a run up again, as far as the journal knows it.
    ///
    /// # Errors
    /// There is none, or it is not what the journal knows.
    pub fn take_up(gate: &Gate, journal: &Path, run: &str) -> Result<(Kept, Conversation), String> {
        let path = file_of(&Kept::directory(gate)?, run)?;
        let known = recorded(gate, journal, run)?;
        let failed =
            |error: std::io::Error| format!("there is no conversation of `{run}` to take up: {error}");
        let mut file = std::fs::OpenOptions::new().read(true).append(true).open(&path).map_err(failed)?;
        let mut text = Vec::new();
        (&mut file).take(LARGEST + 1).read_to_end(&mut text).map_err(failed)?;
        if text.len() as u64 > LARGEST {
            return Err(format!("the conversation of `{run}` is too large"));
        }
        // A process that was killed may have left lines behind that the journal never learnt of: they are cut off.
        let (mut hasher, mut messages, mut read) = (Sha256::new(), Vec::new(), 0);
        let mut good: Option<(Sha256, usize, u64)> = None;
        for (number, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
            hasher.update(line);
            read += line.len() as u64;
            match (number, serde_json::from_slice::<Head>(line), serde_json::from_slice::<Message>(line)) {
                (0, Ok(head), _) if head.version == 1 && head.run == run => {}
                (0, _, _) => return Err(format!("{} is not the conversation of `{run}`", path.display())),
                (_, _, Ok(message)) => messages.push(message),
                (_, _, Err(_)) => break,
            }
            if known.contains(&digest(&hasher)) {
                good = Some((hasher.clone(), messages.len(), read));
            }
        }
        let Some((hasher, count, length)) = good else {
            return Err(format!("the conversation of `{run}` is not the one that the journal knows"));
        };
        file.set_len(length).map_err(failed)?;
        messages.truncate(count);
        let mut conversation = Conversation { messages };
        let mut kept = Kept { path, file, hasher };
        let before = conversation.messages.len();
        conversation.mend();
        kept.add(conversation.messages.get(before..).unwrap_or_default())?;
        Ok((kept, conversation))
    }

    /// Adds what was said since.
    pub(crate) fn add(&mut self, messages: &[Message]) -> Result<(), String> {
        messages.iter().try_for_each(|message| self.line(message))
    }

    /// Writes everything anew: it was shortened.
    pub(crate) fn replace(&mut self, run: &str, conversation: &Conversation) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("the conversation cannot be kept: {error}");
        let fresh = self.path.with_extension("new");
        let _left_over = std::fs::remove_file(&fresh);
        let file = std::fs::OpenOptions::new()
            .append(true)
            .create_new(true)
            .mode(0o600)
            .open(&fresh)
            .map_err(failed)?;
        let mut kept = Kept { path: self.path.clone(), file, hasher: Sha256::new() };
        kept.line(&Head { version: 1, run: run.to_owned() })?;
        kept.add(&conversation.messages)?;
        std::fs::rename(&fresh, &self.path).map_err(failed)?;
        *self = kept;
        Ok(())
    }

    /// The digest of all that is kept, for the journal.
    pub(crate) fn digest(&self) -> Shown {
        Shown::digest(self.hasher.clone().finalize().into())
    }

    fn line(&mut self, value: &impl Serialize) -> Result<(), String> {
        let mut line = serde_json::to_vec(value).map_err(|error| error.to_string())?;
        line.push(b'\n');
        self.file.write_all(&line).map_err(|error| format!("the conversation cannot be kept: {error}"))?;
        self.hasher.update(&line);
        Ok(())
    }
}

/// A run's name becomes a file's name only if it is nothing else.
fn file_of(directory: &Path, run: &str) -> Result<PathBuf, String> {
    let plain =
        !run.is_empty() && run.len() <= 64 && run.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    if plain { Ok(directory.join(format!("{run}.jsonl"))) } else { Err(format!("`{run}` is no run")) }
}

fn digest(hasher: &Sha256) -> String {
    let bytes: [u8; 32] = hasher.clone().finalize().into();
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _never = write!(text, "{byte:02x}");
        text
    })
}

/// Every digest that the journal has of a run's conversation.
fn recorded(gate: &Gate, journal: &Path, run: &str) -> Result<BTreeSet<String>, String> {
    let name = gate.recorded_name(run);
    let unreadable = |why: &dyn std::fmt::Display| format!("the journal cannot be read: {why}");
    let reader = Reader::open(journal).map_err(|error| unreadable(&error))?;
    let mut known = BTreeSet::new();
    let mut begun = false;
    let read = reader.backward(&Filter::default(), |record| {
        if record.run_id.as_deref() == Some(&name) {
            if let Some(digest) = record.text("conversation_sha256") {
                known.insert(digest.trim_start_matches("sha256:").to_owned());
            }
            begun = record.kind == Kind::RunStarted && record.text("resumed").is_none();
        }
        if begun { Going::Stop } else { Going::On }
    });
    read.map_err(|error| unreadable(&error))?;
    if known.is_empty() { Err(format!("the journal knows no run `{run}`")) } else { Ok(known) }
}
