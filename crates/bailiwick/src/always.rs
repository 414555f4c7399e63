//! A yes for always: what else the rule would allow, and the way into the user's configuration.

use std::path::PathBuf;

use gate::approval::{Proposal, Provenance, add_rule};
use gate::call::{RawCall, Shown, visible};
use gate::journal::{Filter, Going, Kind, Reader};
use gate::policy::Decision;
use gate::{Keeper, Machine};

use crate::cli::Setup;
use crate::replace::replace;

/// So many questions of the past are looked at.
const HISTORY: usize = 2_000;

/// Keeps rules in the user's configuration file.
pub(crate) struct InConfiguration {
    setup: Setup,
    terms: Vec<String>,
    journal: PathBuf,
    file: PathBuf,
}

impl InConfiguration {
    pub(crate) fn new(setup: &Setup, terms: &[String], journal: PathBuf, directory: PathBuf) -> Self {
        let names = ["config.yaml", "config.yml"];
        let existing = names.iter().map(|name| directory.join(name)).find(|path| path.exists());
        let file = existing.unwrap_or_else(|| directory.join("config.yaml"));
        InConfiguration { setup: setup.clone(), terms: terms.to_vec(), journal, file }
    }

    /// Where they are kept.
    pub(crate) fn file(&self) -> &std::path::Path {
        &self.file
    }

    /// Commands of the past that somebody was asked about, the latest first.
    fn history(&self) -> Vec<String> {
        let mut commands = Vec::new();
        let Ok(reader) = Reader::open(&self.journal) else { return commands };
        let read = reader.backward(&Filter::default(), |record| {
            if record.kind == Kind::ToolCallRequested && record.text("decision") == Some("ask") {
                let request = record.payload.get("request");
                let words = request.and_then(|request| request.get("argv")).and_then(|argv| argv.as_array());
                let text = request.and_then(|request| request.get("command")).and_then(|text| text.as_str());
                commands.extend(match words {
                    Some(words) => Some(
                        words
                            .iter()
                            .filter_map(|word| word.as_str())
                            .map(quoted)
                            .collect::<Vec<_>>()
                            .join(" "),
                    ),
                    None => text.map(str::to_owned),
                });
            }
            if commands.len() < HISTORY { Going::On } else { Going::Stop }
        });
        // A journal that cannot be read shows nothing of the past; what the rule would allow is shown by examples all the same.
        if read.is_err() {
            commands.clear();
        }
        commands
    }
}

fn quoted(word: &str) -> String {
    if word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=:@%+,".contains(c)) && !word.is_empty() {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

impl Keeper for InConfiguration {
    fn weigh(&self, proposal: Proposal) -> Proposal {
        let Ok(gate) = self.setup.gate_with_rule(&self.terms, &proposal.document()) else { return proposal };
        let allows = |command: &str| {
            gate.judge(RawCall::command(command))
                .is_ok_and(|judgement| judgement.ruling.decision == Decision::Allow)
        };
        let history = self.history();
        proposal.with_radius(allows, history.iter().map(String::as_str))
    }

    fn save(&self, proposal: &Proposal, who: &str, when: &str, why: &str) -> Result<Shown, String> {
        let world = Machine::world()?;
        let text = world.disk.read(&self.file)?.unwrap_or_default();
        let new =
            add_rule(&text, proposal, &Provenance { who, when, why }).map_err(|error| error.to_string())?;
        replace(&self.file, &new).map_err(|error| format!("{}: {error}", self.file.display()))?;
        Machine::tell(format_args!(
            "bailiwick: saved as `{}` in {}",
            visible(proposal.name()),
            self.file.display()
        ));
        Ok(Shown::of(&self.file.display().to_string()))
    }
}
