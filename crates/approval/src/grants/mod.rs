//! What was granted before: for a session, for once, for what a call started, or to everything for a while.
//!
//! A grant belongs to one session and one approval key, so it covers no other fence plan, environment, directory or content. It
//! ends by the clock that a restart resets. It is looked up anew for each call, so that taking it back counts at once, also
//! from another process.

mod files;
mod record;
mod store;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use call::{ApprovalKey, DigestKey, Shown};

use crate::asked::{AskId, Asked};
use crate::clock::{Clock, Moment};
use files::Files;
pub use record::About;
use record::{Record, What};
use store::{Memory, Store};

/// How many records one session may have; the oldest question gives way first, a grant is then refused.
const MAX_RECORDS: usize = 1000;
/// How many unasked questions of one session are kept, and for how long.
const MAX_ASKS: usize = 64;
const ASKS_LAST: Duration = Duration::from_secs(3600);
/// How long a yes for once waits to be used.
const ONCE_LASTS: Duration = Duration::from_secs(900);
/// How many complaints are kept until somebody reads them.
const MAX_COMPLAINTS: usize = 100;
/// How long the text of a call may be that is kept whole, and how many of its effects are kept.
const LONGEST: usize = 6_000;
const MOST_EFFECTS: usize = 16;

/// What was granted, by session.
pub struct Grants {
    store: Box<dyn Store>,
    clock: Arc<dyn Clock>,
    lifetime: Duration,
    longest_auto: Duration,
    complaints: Mutex<Vec<String>>,
}

/// One grant, or one question that waits to be granted, fit to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Its name: that of the question that it came from.
    pub id: AskId,
    /// What it is.
    pub kind: GrantKind,
    /// The session that it belongs to.
    pub session: String,
    /// What it is bound to; none for auto-approve.
    pub key: Option<ApprovalKey>,
    /// The tool.
    pub tool: String,
    /// The call, masked: of a command its whole text.
    pub shown: Shown,
    /// What it would do, where, and how risky that is.
    pub about: About,
    /// Who gave it.
    pub by: Shown,
    /// When, as a date in milliseconds.
    pub date_ms: u64,
    /// How long it still holds.
    pub left: Duration,
}

/// What became of a question that waits for somebody in another process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deferred {
    /// Nobody has said anything.
    Waiting,
    /// Somebody said yes. A yes for once is used up by having asked.
    Approved(Extent, Shown),
    /// It was denied, or taken back.
    Gone,
}

/// What a grant is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GrantKind {
    /// The same call again.
    Session,
    /// One call, once.
    Once,
    /// Typing into this exec session.
    Cover(u64),
    /// Everything that would be asked about, of this tool or (`None`) of all.
    Auto(Option<String>),
    /// A question that nobody could be asked; `typed`: a yes needs the typed words.
    Waiting {
        /// A yes needs the typed words.
        typed: bool,
    },
}

/// What auto-approve is set to for a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AutoStatus {
    /// For everything, for this long still.
    pub blanket: Option<Duration>,
    /// For single tools, for this long still.
    pub tools: Vec<(String, Duration)>,
}

/// How long a yes to a waiting question holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// For one call.
    Once,
    /// For the session.
    Session,
}

/// Why nothing was granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotGranted {
    /// No question or grant of this name.
    Unknown,
    /// A yes needs these typed words.
    NotTyped(&'static str),
    /// It may be granted once, and not for the session.
    OnlyOnce,
    /// It could not be kept.
    NotKept(String),
}

impl std::fmt::Display for NotGranted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NotGranted::Unknown => f.write_str("there is no such question, or it is too old"),
            NotGranted::NotTyped(words) => write!(f, "a yes to this needs the typed words `{words}`"),
            NotGranted::OnlyOnce => f.write_str("this can be approved once, but not for the session"),
            NotGranted::NotKept(why) => write!(f, "the grant could not be kept: {why}"),
        }
    }
}

impl std::error::Error for NotGranted {}

impl Grants {
    /// Grants of this process.
    #[must_use]
    pub fn in_memory(clock: Arc<dyn Clock>) -> Self {
        Grants::over(Box::new(Memory::default()), clock)
    }

    /// Grants that processes share by a directory of the user's, which no agent can write.
    #[must_use]
    pub fn in_directory(directory: PathBuf, digest_key: Arc<DigestKey>, clock: Arc<dyn Clock>) -> Self {
        Grants::over(Box::new(Files::new(directory, digest_key)), clock)
    }

    fn over(store: Box<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        Grants {
            store,
            clock,
            lifetime: Duration::from_secs(8 * 3600),
            longest_auto: Duration::from_secs(3600),
            complaints: Mutex::default(),
        }
    }

    /// How long a grant for the session holds at most, and how long auto-approve does.
    #[must_use]
    pub fn lasting(mut self, lifetime: Duration, longest_auto: Duration) -> Self {
        self.lifetime = lifetime;
        self.longest_auto = longest_auto;
        self
    }

    /// The grant that covers a question. One that holds for once is used up by this.
    #[must_use]
    pub fn covering(&self, asked: &Asked) -> Option<Grant> {
        let now = self.clock.moment()?;
        let records = self.records(&asked.session);
        let standing = records
            .iter()
            .find(|record| record.holds(&now) && asked.confirmation.is_none() && stands_for(record, asked));
        if let Some(record) = standing {
            return Some(record.shown(&now));
        }
        records.iter().any(|record| is_once(record, asked, &now)).then(|| self.use_up(asked, &now)).flatten()
    }

    /// Takes the first that fits out, alone: two that come at once get one yes between them.
    fn use_up(&self, asked: &Asked, now: &Moment) -> Option<Grant> {
        let mut used = None;
        let kept = self.change(&asked.session, &mut |records| {
            if let Some(index) = records.iter().position(|record| is_once(record, asked, now)) {
                used = Some(records.remove(index).shown(now));
            }
        });
        // FAIL-CLOSED: what could not be taken out was not used up, and would be there again.
        kept.ok().and(used)
    }

    /// The auto-approve that answers a question. What must be typed is never answered by it.
    #[must_use]
    pub fn auto_approving(&self, asked: &Asked) -> Option<Grant> {
        if asked.confirmation.is_some() {
            return None;
        }
        let now = self.clock.moment()?;
        self.records(&asked.session)
            .iter()
            .find(|record| {
                record.holds(&now)
                    && match &record.what {
                        What::Auto { tool: None } => true,
                        What::Auto { tool: Some(tool) } => *tool == asked.tool,
                        What::Session { .. } | What::Once { .. } | What::Cover { .. } | What::Ask { .. } => {
                            false
                        }
                    }
            })
            .map(|record| record.shown(&now))
    }

    /// Remembers a yes for the session.
    ///
    /// # Errors
    /// It may not be remembered, or could not be.
    pub fn remember(&self, asked: &Asked, by: &Shown) -> Result<(), NotGranted> {
        if !asked.may_grant_session() {
            return Err(NotGranted::OnlyOnce);
        }
        let what = What::Session { key: asked.key.clone() };
        self.keep(asked, what, by, self.lifetime).map(drop)
    }

    /// Lets what was approved as this question be typed into: its exec session, in the same session, and no other.
    ///
    /// # Errors
    /// It could not be kept.
    pub fn cover(&self, asked: &Asked, exec_session: u64, by: &Shown) -> Result<(), NotGranted> {
        let what = What::Cover { key: asked.key.clone(), exec_session };
        self.keep(asked, what, by, self.lifetime).map(drop)
    }

    /// Hands a yes that was used up on to whoever runs the call in its place: once, for exactly this question's key.
    ///
    /// # Errors
    /// It could not be kept.
    pub fn hand_on(&self, asked: &Asked, by: &Shown) -> Result<(), NotGranted> {
        let what = What::Once { key: asked.key.clone(), typed: asked.confirmation.is_some() };
        self.keep(asked, what, by, ONCE_LASTS).map(drop)
    }

    /// The exec session is over: nothing covers it any more.
    ///
    /// # Errors
    /// It could not be written down.
    pub fn uncover(&self, session: &str, exec_session: u64) -> Result<(), NotGranted> {
        self.change(session, &mut |records| {
            records.retain(
                |record| !matches!(record.what, What::Cover { exec_session: known, .. } if known == exec_session),
            );
        })
    }

    /// Keeps a question that nobody could be asked, so that somebody can say yes to exactly this later. The name under which it
    /// waits comes back: one that was asked before keeps the name that a person may be about to type.
    ///
    /// # Errors
    /// It could not be kept.
    pub fn defer(&self, asked: &Asked) -> Result<AskId, NotGranted> {
        self.defer_for(asked, ASKS_LAST)
    }

    /// The same, for at most this long.
    ///
    /// # Errors
    /// It could not be kept.
    pub fn defer_for(&self, asked: &Asked, lasts: Duration) -> Result<AskId, NotGranted> {
        let what = What::Ask {
            key: asked.key.clone(),
            typed: asked.confirmation.is_some(),
            session_grant: asked.may_grant_session(),
        };
        self.keep(asked, what, &Shown::word("nobody"), lasts.min(ASKS_LAST))
    }

    /// What became of a question that was [deferred](Grants::defer_for). FAIL-CLOSED: what cannot be found was not approved.
    #[must_use]
    pub fn deferred(&self, asked: &Asked) -> Deferred {
        let Some(now) = self.clock.moment() else { return Deferred::Gone };
        let records = self.records(&asked.session);
        let of_this = |record: &&Record| {
            record.holds(&now)
                && matches!(&record.what, What::Ask { key, .. } | What::Session { key } | What::Once { key, .. } if *key == asked.key)
        };
        match records.iter().find(of_this).map(|record| (&record.what, record.by.clone())) {
            Some((What::Ask { .. }, _)) => Deferred::Waiting,
            Some((What::Session { .. }, by)) => Deferred::Approved(Extent::Session, by),
            Some((What::Once { .. }, _)) => self
                .use_up(asked, &now)
                .map_or(Deferred::Gone, |grant| Deferred::Approved(Extent::Once, grant.by)),
            _ => Deferred::Gone,
        }
    }

    /// Says yes to a question that waits, for exactly its session and key.
    ///
    /// # Errors
    /// There is no such question, it needs typed words, or the grant could not be kept.
    pub fn approve(
        &self,
        id: AskId,
        extent: Extent,
        by: &Shown,
        typed: Option<&str>,
    ) -> Result<Grant, NotGranted> {
        let now = self.moment()?;
        let waits = |record: &Record| {
            record.id == id && record.holds(&now) && matches!(record.what, What::Ask { .. })
        };
        let found = self.all().into_iter().find(waits).ok_or(NotGranted::Unknown)?;
        let mut result = Err(NotGranted::Unknown);
        self.change(&found.session, &mut |records| {
            let Some(index) = records.iter().position(waits) else { return };
            let Some(record) = records.get_mut(index) else { return };
            let What::Ask { key, typed: needed, session_grant } = record.what.clone() else { return };
            if needed && typed.map(str::trim) != Some(crate::CONFIRMATION) {
                result = Err(NotGranted::NotTyped(crate::CONFIRMATION));
                return;
            }
            let lasts = match extent {
                Extent::Once => {
                    record.what = What::Once { key, typed: needed };
                    ONCE_LASTS
                }
                Extent::Session if session_grant && !needed => {
                    record.what = What::Session { key };
                    self.lifetime
                }
                Extent::Session => {
                    result = Err(NotGranted::OnlyOnce);
                    return;
                }
            };
            record.made = now.clone();
            record.until = now.at.saturating_add(lasts);
            record.date_ms = self.clock.date_ms();
            record.by = by.clone();
            result = Ok(record.shown(&now));
        })?;
        result
    }

    /// Answers what would be asked about with yes for a while: everything of a session, or one tool's calls.
    ///
    /// # Errors
    /// It could not be kept.
    pub fn auto_approve(
        &self,
        id: AskId,
        session: &str,
        tool: Option<&str>,
        lasts: Duration,
        by: &Shown,
    ) -> Result<Grant, NotGranted> {
        let now = self.moment()?;
        let record = Record {
            id,
            what: What::Auto { tool: tool.map(str::to_owned) },
            session: session.to_owned(),
            until: now.at.saturating_add(lasts.min(self.longest_auto)),
            made: now.clone(),
            date_ms: self.clock.date_ms(),
            by: by.clone(),
            tool: tool.unwrap_or_default().to_owned(),
            shown: Shown::word("everything that is asked about"),
            about: About::default(),
        };
        let shown = record.shown(&now);
        self.insert(record, &now)?;
        Ok(shown)
    }

    /// What auto-approve is set to.
    #[must_use]
    pub fn auto_status(&self, session: &str) -> AutoStatus {
        let mut status = AutoStatus::default();
        let Some(now) = self.clock.moment() else { return status };
        for record in self.records(session).iter().filter(|record| record.holds(&now)) {
            match &record.what {
                What::Auto { tool: None } => status.blanket = status.blanket.max(Some(record.left(&now))),
                What::Auto { tool: Some(tool) } => status.tools.push((tool.clone(), record.left(&now))),
                What::Session { .. } | What::Once { .. } | What::Cover { .. } | What::Ask { .. } => {}
            }
        }
        status
    }

    /// Ends auto-approve, both kinds.
    ///
    /// # Errors
    /// It could not be written down: it is then still on, until it expires.
    pub fn end_auto_approve(&self, session: &str) -> Result<(), NotGranted> {
        self.change(session, &mut |records| {
            records.retain(|record| !matches!(record.what, What::Auto { .. }));
        })
    }

    /// What holds, and what waits, of one session or of all.
    #[must_use]
    pub fn list(&self, session: Option<&str>) -> Vec<Grant> {
        let Some(now) = self.clock.moment() else { return Vec::new() };
        let records = session.map_or_else(|| self.all(), |session| self.records(session));
        records.iter().filter(|record| record.holds(&now)).map(|record| record.shown(&now)).collect()
    }

    /// Takes back what has this name. It counts from the next question on, in every process.
    ///
    /// # Errors
    /// There is none, or it could not be written down.
    pub fn revoke(&self, id: AskId) -> Result<usize, NotGranted> {
        let mut sessions: Vec<String> =
            self.all().into_iter().filter(|record| record.id == id).map(|record| record.session).collect();
        sessions.dedup();
        let mut count = 0;
        for session in &sessions {
            self.change(session, &mut |records| {
                let before = records.len();
                records.retain(|record| record.id != id);
                count += before - records.len();
            })?;
        }
        if count == 0 { Err(NotGranted::Unknown) } else { Ok(count) }
    }

    /// Says no to a question that waits. A yes that was given to it meanwhile is left alone.
    ///
    /// # Errors
    /// There is none, or it could not be written down.
    pub fn withdraw(&self, id: AskId) -> Result<(), NotGranted> {
        let waits = |record: &Record| record.id == id && matches!(record.what, What::Ask { .. });
        let found = self.all().into_iter().find(waits).ok_or(NotGranted::Unknown)?;
        let mut result = Err(NotGranted::Unknown);
        self.change(&found.session, &mut |records| {
            let before = records.len();
            records.retain(|record| !waits(record));
            if records.len() < before {
                result = Ok(());
            }
        })?;
        result
    }

    /// Takes back everything of a session.
    ///
    /// # Errors
    /// It could not be written down.
    pub fn revoke_session(&self, session: &str) -> Result<usize, NotGranted> {
        let mut count = 0;
        self.change(session, &mut |records| {
            count = records.len();
            records.clear();
        })?;
        Ok(count)
    }

    /// What was wrong with what was read since this was last asked: forged, damaged or unreadable records.
    #[must_use]
    pub fn complaints(&self) -> Vec<String> {
        std::mem::take(&mut self.complaints.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn moment(&self) -> Result<Moment, NotGranted> {
        let unknown = || NotGranted::NotKept("it cannot be told how long the machine runs".into());
        self.clock.moment().ok_or_else(unknown)
    }

    fn keep(&self, asked: &Asked, what: What, by: &Shown, lasts: Duration) -> Result<AskId, NotGranted> {
        let now = self.moment()?;
        let record = Record {
            id: asked.id,
            what,
            session: asked.session.clone(),
            until: now.at.saturating_add(lasts),
            made: now.clone(),
            date_ms: self.clock.date_ms(),
            by: by.clone(),
            tool: asked.tool.clone(),
            shown: Shown::of(&asked.told()).cut_to(LONGEST),
            about: About {
                effects: asked
                    .facts
                    .effects()
                    .iter()
                    .take(MOST_EFFECTS)
                    .map(|one| Shown::of(one).cut())
                    .collect(),
                directory: crate::prompt::place(asked).map(|place| Shown::of(&place).cut()),
                risk: Some(Shown::word(asked.risk.level.name())),
            },
        };
        self.insert(record, &now)
    }

    /// Clears away sessions of which nothing holds any more.
    fn sweep(&self, now: &Moment) -> Result<(), NotGranted> {
        let all = self.all();
        let mut over: Vec<&str> =
            all.iter().filter(|record| !record.holds(now)).map(|record| record.session.as_str()).collect();
        over.dedup();
        over.iter().try_for_each(|session| {
            self.change(session, &mut |records| records.retain(|record| record.holds(now)))
        })
    }

    fn insert(&self, mut record: Record, now: &Moment) -> Result<AskId, NotGranted> {
        if self.store.is_crowded() {
            self.sweep(now)?;
        }
        let mut full = false;
        self.change(&record.session.clone(), &mut |records| {
            let is_ask = |record: &Record| matches!(record.what, What::Ask { .. });
            // A question keeps its name when it is asked again, also where its time was just over.
            if is_ask(&record)
                && let Some(known) = records.iter().find(|known| same_grant(known, &record))
            {
                record.id = known.id;
            }
            records.retain(|known| known.holds(now));
            // The same again takes the place of what it repeats.
            records.retain(|known| !same_grant(known, &record));
            let asks = records.iter().filter(|known| is_ask(known)).count();
            if asks >= MAX_ASKS
                && is_ask(&record)
                && let Some(oldest) = records.iter().position(is_ask)
            {
                records.remove(oldest);
            }
            full = records.len() >= MAX_RECORDS;
            if !full {
                records.push(record.clone());
            }
        })?;
        if full { Err(NotGranted::NotKept(format!("{MAX_RECORDS} are kept already"))) } else { Ok(record.id) }
    }

    fn change(&self, session: &str, change: &mut dyn FnMut(&mut Vec<Record>)) -> Result<(), NotGranted> {
        match self.store.change(session, change) {
            Ok(complaints) => {
                self.complain(complaints);
                Ok(())
            }
            Err(why) => {
                self.complain(vec![why.clone()]);
                Err(NotGranted::NotKept(why))
            }
        }
    }

    fn records(&self, session: &str) -> Vec<Record> {
        let found = self.store.read(session);
        self.complain(found.complaints);
        found.records
    }

    fn all(&self) -> Vec<Record> {
        let found = self.store.read_all();
        self.complain(found.complaints);
        found.records
    }

    fn complain(&self, new: Vec<String>) {
        if new.is_empty() {
            return;
        }
        let mut complaints = self.complaints.lock().unwrap_or_else(PoisonError::into_inner);
        let room = MAX_COMPLAINTS.saturating_sub(complaints.len());
        complaints.extend(new.into_iter().take(room));
    }
}

/// Whether a record stands for a yes to this question, again and again.
fn stands_for(record: &Record, asked: &Asked) -> bool {
    match &record.what {
        What::Session { key } => asked.session_grant && *key == asked.key,
        What::Cover { exec_session, .. } => typed_into(asked) == Some(*exec_session),
        What::Once { .. } | What::Auto { .. } | What::Ask { .. } => false,
    }
}

/// Whether a record is a yes to this question for once. One that must be typed wants a yes that was.
fn is_once(record: &Record, asked: &Asked, now: &Moment) -> bool {
    record.holds(now)
        && matches!(&record.what, What::Once { key, typed }
            if *key == asked.key && (*typed || asked.confirmation.is_none()))
}

/// The exec session that a question would type into.
fn typed_into(asked: &Asked) -> Option<u64> {
    if asked.tool != "write_stdin" {
        return None;
    }
    asked.request.fields().get("session_id").and_then(serde_json::Value::as_u64)
}

fn same_grant(one: &Record, two: &Record) -> bool {
    match (&one.what, &two.what) {
        (What::Session { key: a }, What::Session { key: b })
        | (What::Ask { key: a, .. }, What::Ask { key: b, .. }) => a == b,
        (What::Cover { exec_session: a, .. }, What::Cover { exec_session: b, .. }) => a == b,
        (What::Auto { tool: a }, What::Auto { tool: b }) => a == b,
        _ => false,
    }
}

impl Record {
    fn shown(&self, now: &Moment) -> Grant {
        let (kind, key) = match &self.what {
            What::Session { key } => (GrantKind::Session, Some(key)),
            What::Once { key, .. } => (GrantKind::Once, Some(key)),
            What::Cover { key, exec_session } => (GrantKind::Cover(*exec_session), Some(key)),
            What::Auto { tool } => (GrantKind::Auto(tool.clone()), None),
            What::Ask { key, typed, .. } => (GrantKind::Waiting { typed: *typed }, Some(key)),
        };
        Grant {
            id: self.id,
            kind,
            session: self.session.clone(),
            key: key.cloned(),
            tool: self.tool.clone(),
            shown: self.shown.clone(),
            about: self.about.clone(),
            by: self.by.clone(),
            date_ms: self.date_ms,
            left: self.left(now),
        }
    }
}
