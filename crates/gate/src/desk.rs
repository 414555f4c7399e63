//! Where Bailiwick keeps its own on this machine: keys, grants, journal. From here a gate gets its [`Office`], and a person
//! looks at grants and changes them, which the journal learns.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use approval::{
    Approver, Clock, ConsoleLock, Coordinator, Elsewhere, Grant, GrantKind, Grants, Limits, Provider,
    RunGuard, SystemClock,
};
use call::{DigestKey, RawCall, Shown};
use journal::{Event, Journal, Keys, Kind, Payload, Settings, Sync};
use policy::{Config, JournalSync};

use crate::Gate;
use crate::lately;
use crate::load::{Wanted, load};
use crate::machine::Machine;
use crate::office::{Fenced, Office};
use crate::pins::Pins;
use crate::world::World;

/// Where Bailiwick keeps its own.
#[derive(Debug, Clone)]
pub struct Desk {
    journal: PathBuf,
    grants: PathBuf,
    console: PathBuf,
    keys: PathBuf,
    sync: Sync,
    rotate_bytes: u64,
    grants_last: Duration,
    auto_lasts: Duration,
}

/// What became of a grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrantChange {
    /// It was given.
    Added,
    /// It was taken back.
    Revoked,
}

impl Desk {
    /// Where it is, by the environment and the configuration.
    ///
    /// # Errors
    /// There is no home directory, and nothing else says where.
    pub fn of(world: &World, config: &Config) -> Result<Desk, String> {
        let missing = "there is no home directory to keep the journal in; set HOME or XDG_STATE_HOME";
        let state = world.state.clone().ok_or(missing)?;
        let keys = world.keys.clone().ok_or(missing)?.join("keys");
        let (journal, approval) = (config.journal(), config.approval());
        let directory = journal.directory.as_ref().map(|directory| PathBuf::from(&directory.value));
        let sync = match journal.sync.value {
            JournalSync::Always => Sync::Always,
            JournalSync::Os => Sync::Os,
            JournalSync::Group => Sync::Group,
        };
        Ok(Desk {
            journal: directory.unwrap_or_else(|| state.join("journal")),
            grants: state.join("grants"),
            console: state.join("console.lock"),
            keys,
            sync,
            rotate_bytes: journal.rotate_mb.value.saturating_mul(1024 * 1024),
            grants_last: Duration::from_secs(approval.session_grants_ttl_s.value),
            auto_lasts: Duration::from_secs(approval.auto_approve_max_s.value),
        })
    }

    /// Whether the journal has it that this command was asked about under this call's id, in its session, by its asker.
    ///
    /// # Errors
    /// The keys, by which names are told, cannot be opened.
    pub fn has_been_asked(&self, raw: &RawCall, command: &str) -> Result<bool, String> {
        let keys = self.keys()?;
        let name = |text: &String| Shown::identifier(text, &keys.digest_key());
        let (Some(id), session) = (raw.id.as_ref().map(name), raw.session.as_ref().map(name)) else {
            return Ok(false);
        };
        let (by, command) = (Shown::of(&raw.principal.id), Shown::of(command).cut());
        Ok(lately::any(&self.journal, |record| {
            let theirs = record.principal.as_ref().and_then(|principal| principal.get("id")?.as_str());
            let asked = record.payload.get("request").and_then(|request| request.get("command")?.as_str());
            record.kind == Kind::ToolCallRequested
                && record.call_id.as_deref() == Some(id.as_str())
                && record.session_id.as_deref() == session.as_ref().map(Shown::as_str)
                && theirs == Some(by.as_str())
                && asked == Some(command.as_str())
        }))
    }

    /// The directory of the journal.
    #[must_use]
    pub fn journal_directory(&self) -> &Path {
        &self.journal
    }

    /// The lock that is held while somebody is at a console.
    #[must_use]
    pub fn console(&self) -> &Path {
        &self.console
    }

    /// Whoever is at a console of another process.
    ///
    /// # Errors
    /// The keys cannot be read or made.
    pub fn elsewhere(&self) -> Result<Elsewhere, String> {
        let (grants, console) = (self.grants(self.keys()?.digest_key()), self.console.clone());
        Ok(Elsewhere::new(grants, move || ConsoleLock::is_held(&console)))
    }

    /// The keys; made where there are none.
    ///
    /// # Errors
    /// They cannot be read or made.
    pub fn keys(&self) -> Result<Keys, String> {
        Keys::open(&self.keys).map_err(|unavailable| unavailable.to_string())
    }

    /// The journal, to be written.
    ///
    /// # Errors
    /// It cannot be.
    pub fn journal(&self, keys: Keys) -> Result<Journal, String> {
        let settings = Settings { sync: self.sync, rotate_bytes: self.rotate_bytes, ..Settings::default() };
        let (journal, _opened) = Journal::open(&self.journal, keys, settings)
            .map_err(|unavailable| format!("journal_unavailable: {unavailable}"))?;
        Ok(journal)
    }

    /// What was granted.
    #[must_use]
    pub fn grants(&self, key: DigestKey) -> Arc<Grants> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        Arc::new(
            Grants::in_directory(self.grants.clone(), Arc::new(key), clock)
                .lasting(self.grants_last, self.auto_lasts),
        )
    }

    /// What other people's tools looked like when they were first seen.
    #[must_use]
    pub fn pins(&self, key: DigestKey) -> Pins {
        Pins::new(self.grants.with_file_name("mcp"), key)
    }

    /// Everything that a gate needs to let calls run. `providers` are asked in order.
    ///
    /// # Errors
    /// Keys or journal cannot be opened: then nothing runs.
    pub fn office(
        &self,
        config: &Config,
        providers: Vec<Box<dyn Provider>>,
    ) -> Result<(Office, DigestKey), String> {
        let keys = self.keys()?;
        let (digest_key, grants) = (keys.digest_key(), self.grants(keys.digest_key()));
        let of_session = usize::try_from(config.approval().max_pending.value).unwrap_or(usize::MAX);
        let limits = Limits { pending_of_session: of_session, ..Limits::default() };
        let coordinator = Coordinator::new(Arc::new(SystemClock), limits);
        let patience = Duration::from_millis(config.approval_timeout_ms());
        let mut approver = Approver::new(coordinator, patience).with_grants(Arc::clone(&grants));
        for provider in providers {
            approver = approver.with(provider);
        }
        let journal = self.journal(keys)?;
        let names = Box::new(|| Machine::random().unwrap_or_default());
        let (runner, guard) = (Box::new(Fenced), RunGuard::default());
        let office = Office { approver, grants, journal, runner, guard, keeper: None, names };
        Ok((office, digest_key))
    }

    /// Writes down that a grant was given or taken back by a person.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn record(&self, change: GrantChange, grant: &Grant) -> Result<(), String> {
        let keys = self.keys()?;
        let event = grant_event(change, grant, &keys.digest_key());
        let journal = self.journal(keys)?;
        journal.append(&event).map(drop).map_err(|unavailable| format!("journal_unavailable: {unavailable}"))
    }
}

/// That a grant was given or taken back, as the journal learns it.
pub(crate) fn grant_event(change: GrantChange, grant: &Grant, key: &DigestKey) -> Event {
    let kind = match change {
        GrantChange::Added => Kind::GrantAdded,
        GrantChange::Revoked => Kind::GrantRevoked,
    };
    let payload = Payload::new()
        .with("grant_id", grant.id.shown())
        .with("kind", kind_name(&grant.kind))
        .with("tool", Shown::of(&grant.tool))
        .with("what", &grant.shown)
        .with("approval_key", grant.key.as_ref())
        .with("by", &grant.by)
        .with("seconds_left", grant.left.as_secs());
    Event::new(kind, payload).in_session(Some(Shown::identifier(&grant.session, key)))
}

fn kind_name(kind: &GrantKind) -> &'static str {
    match kind {
        GrantKind::Session => "session",
        GrantKind::Once => "once",
        GrantKind::Cover(_) => "typing",
        GrantKind::Auto(_) => "auto",
        GrantKind::Waiting { .. } => "waiting",
    }
}

impl Gate {
    /// A gate for calls in this directory of this machine, ready to run them: with the user's configuration, keys, grants and
    /// journal. `yaml` is configuration above all files; `providers` are asked in order.
    ///
    /// # Errors
    /// The configuration is wrong, or keys or journal cannot be opened: then nothing runs.
    pub fn of_this_machine(
        directory: &Path,
        yaml: Option<&str>,
        providers: Vec<Box<dyn Provider>>,
    ) -> Result<Gate, String> {
        let mut world = Machine::world()?;
        world.cwd = world.cwd.join(directory);
        let workspace = world.workspace(&world.cwd);
        let wanted = Wanted { flags: yaml.map(str::to_owned), workspace: workspace.clone(), config: None };
        let config = load(&world, &wanted).map_err(|error| error.to_string())?;
        let (office, key) = Desk::of(&world, &config)?.office(&config, providers)?;
        let gate = Gate::new(config, world, workspace, Machine::digest_key()?);
        Ok(gate.running().with_office(office, key))
    }
}
