//! How careful a run is where neither a flag nor a configuration file says: one row for each way to run an agent.
//!
//! A row counts only as long as nobody has said how careful to be. A file or flag that names a profile, or sets one of these keys,
//! has.

use gate::Machine;
use gate::policy::{Base, Config, anchored};

use crate::cli::{SafetyArgs, Setup};

/// A way to run an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transport {
    /// `bailiwick chat`
    Chat,
    /// `bailiwick run`
    Run,
    /// `bailiwick tui`
    Tui,
    /// `bailiwick serve`
    Serve,
}

/// One row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Defaults {
    /// Ask before everything that writes or executes.
    pub(crate) require_approval: bool,
    /// Nothing outside the working directory is touched.
    pub(crate) restrict_to_cwd: bool,
    /// A person can be asked in place.
    pub(crate) asks_in_place: bool,
}

impl Transport {
    /// The table.
    pub(crate) const fn defaults(self) -> Defaults {
        let (require_approval, restrict_to_cwd, asks_in_place) = match self {
            Transport::Chat | Transport::Tui => (true, true, true),
            // The same, but nobody is there: what is asked is answered by rules or a program, or denied.
            Transport::Run => (true, true, false),
            // Whoever sends a request says how careful to be in it.
            Transport::Serve => (false, false, false),
        };
        Defaults { require_approval, restrict_to_cwd, asks_in_place }
    }
}

impl SafetyArgs {
    /// The flags with everything that they, and the table of defaults, stand for.
    pub(crate) fn setup(&self, transport: Transport) -> Result<Setup, String> {
        let mut setup = self.setup.clone();
        let here = match transport {
            Transport::Serve => Some(here(&setup)?),
            Transport::Chat | Transport::Run | Transport::Tui => None,
        };
        setup.more.safety = self.said(here.as_ref())?;
        if setup.profile.is_none() {
            let unsaid = self.unsaid(transport, setup.gate(None)?.config());
            setup.more.safety.extend(unsaid);
        }
        Ok(setup)
    }

    /// What the flags say, as entries of `safety`. Where requests name directories of their own, the flags still mean those
    /// below `here`.
    fn said(&self, here: Option<&Base>) -> Result<Vec<String>, String> {
        let list = |patterns: &[String]| list(patterns, here);
        let mut entries = Vec::new();
        if self.require_approval || self.no_require_approval {
            entries.extend(approval(self.require_approval));
        }
        if !self.allowed_paths.is_empty() {
            entries.push(format!("allowed_paths: {}", list(&self.allowed_paths)?));
        } else if self.restrict_to_cwd {
            entries.push(format!("allowed_paths: {}", list(&[WITHIN.to_owned()])?));
        } else if self.no_restrict_to_cwd {
            entries.push("allowed_paths: []".to_owned());
        }
        if !self.denied_paths.is_empty() {
            entries.push(format!("denied_paths: {}", list(&self.denied_paths)?));
        }
        Ok(entries)
    }

    /// What is added to it for want of anybody's word. `config` is what holds without.
    fn unsaid(&self, transport: Transport, config: &Config) -> Vec<String> {
        let defaults = transport.defaults();
        let shown = config.shown();
        let set =
            |key: &str| shown.iter().any(|line| line.key == key && !line.at.file.starts_with("built-in"));
        let mut entries = Vec::new();
        if set("profile") {
            return entries;
        }
        let flagged = self.require_approval || self.no_require_approval;
        let said = set("safety.require_approval_for_writes") || set("safety.require_approval_for_execute");
        if defaults.require_approval && !flagged && !said {
            entries.extend(approval(true));
        }
        let flagged = self.restrict_to_cwd || self.no_restrict_to_cwd || !self.allowed_paths.is_empty();
        if defaults.restrict_to_cwd && !flagged && !set("safety.allowed_paths") {
            entries.push(format!("allowed_paths: [\"{WITHIN}\"]"));
        }
        entries
    }
}

const WITHIN: &str = "<cwd>/**";

/// What the words of the flags' patterns stand for.
fn here(setup: &Setup) -> Result<Base, String> {
    let world = Machine::world()?;
    let cwd = setup.cwd.as_ref().map_or_else(|| world.cwd.clone(), |cwd| world.cwd.join(cwd));
    let home = world.home.as_ref().map(|home| home.to_string_lossy().into_owned());
    let cwd = cwd.into_os_string().into_string();
    Ok(Base { cwd: cwd.map_err(|_| "the working directory's name is not text")?, home })
}

fn approval(wanted: bool) -> [String; 2] {
    ["writes", "execute"].map(|what| format!("require_approval_for_{what}: {wanted}"))
}

fn list(patterns: &[String], here: Option<&Base>) -> Result<String, String> {
    let given = patterns.iter().map(|pattern| pattern.trim());
    // FAIL-CLOSED: a variable that turns out empty (`--allowed-paths "$X"`) would otherwise lift the boundary.
    if given.clone().any(str::is_empty) {
        return Err("an empty pattern in `--allowed-paths` or `--denied-paths` means nothing".into());
    }
    let patterns: Vec<String> = match here {
        Some(here) => given.map(|pattern| anchored(pattern, here)).collect::<Result<_, _>>()?,
        None => given.map(str::to_owned).collect(),
    };
    serde_json::to_string(&patterns).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RUN-7: the table of docs/agent.md.
    #[test]
    fn the_defaults_are_the_documented_ones() {
        let table = [
            (Transport::Chat, (true, true, true)),
            (Transport::Tui, (true, true, true)),
            (Transport::Run, (true, true, false)),
            (Transport::Serve, (false, false, false)),
        ];
        for (transport, expected) in table {
            let Defaults { require_approval, restrict_to_cwd, asks_in_place } = transport.defaults();
            assert_eq!((require_approval, restrict_to_cwd, asks_in_place), expected, "{transport:?}");
        }
    }
}
