//! What an approver is shown, and what an answer binds to. Everything in it that can be shown went through the mask.

use std::sync::Arc;

use call::{ApprovalKey, Request, Shown, mask, visible};
use effects::{Analysis, Class, Effect, Level, Risk};
use policy::Ruling;
use serde_json::{Value, json};

use crate::always::Proposal;
use crate::clock::rfc3339;

/// What must be typed for a yes to a critical call.
pub const CONFIRMATION: &str = "I confirm";

/// The name of a question: 128 random bits, which whoever asks brings along.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AskId(u128);

impl AskId {
    /// From random bytes.
    #[must_use]
    pub const fn from_bytes(random: [u8; 16]) -> Self {
        AskId(u128::from_be_bytes(random))
    }

    /// Reads one that was written down: 32 hex digits.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        let digits = text.len() == 32 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        digits.then(|| u128::from_str_radix(text, 16).ok().map(AskId)).flatten()
    }

    /// As records hold it.
    #[must_use]
    pub fn shown(self) -> Shown {
        Shown::name(self.0.to_be_bytes())
    }

    pub(crate) const fn bits(self) -> u128 {
        self.0
    }
}

impl std::fmt::Display for AskId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// One question.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Its name.
    pub id: AskId,
    /// The session that it belongs to. A grant never leaves it.
    pub session: String,
    /// The run that it belongs to.
    pub run: Option<String>,
    /// Who wants it.
    pub principal: Shown,
    /// The tool.
    pub tool: String,
    /// The call as it may be shown.
    pub request: Request,
    /// What a yes is bound to.
    pub key: ApprovalKey,
    /// How risky it is.
    pub risk: Risk,
    /// What it would do, for rules.
    pub facts: Facts,
    /// Why it is asked, in one sentence.
    pub reason: Shown,
    /// The rule that asks, with its place.
    pub rule: Shown,
    /// The same in its parts: id, file, line.
    pub cited: (Shown, Option<Shown>, Option<u32>),
    /// What a person is to be warned of: the level (`LOW` … `CRITICAL`) and the words.
    pub warning: Option<(&'static str, Shown)>,
    /// What must be typed for a yes.
    pub confirmation: Option<&'static str>,
    /// Whether a yes may hold for the session.
    pub session_grant: bool,
    /// The rule that a yes for always would write down.
    pub always: Option<Proposal>,
}

impl Asked {
    /// The question that a ruling puts. What a critical call, or a rule that says so, wants typed is wanted here.
    #[must_use]
    pub fn new(
        id: AskId,
        session: &str,
        tool: &str,
        request: Request,
        key: ApprovalKey,
        ruling: &Ruling,
        analysis: Arc<Analysis>,
    ) -> Self {
        let critical = ruling.risk.level == Level::Critical
            || ruling.warning.as_ref().is_some_and(|warning| warning.level == "CRITICAL")
            || ruling.obligations.contains(&policy::Obligation::TypedConfirmation);
        let place = ruling.rule.at.as_ref().map(|at| format!(" ({at})")).unwrap_or_default();
        Asked {
            id,
            session: session.to_owned(),
            run: None,
            principal: Shown::word("agent"),
            tool: tool.to_owned(),
            request,
            key,
            risk: ruling.risk.clone(),
            facts: Facts { analysis },
            reason: Shown::of(&ruling.reason),
            rule: Shown::of(&format!("{}{place}", ruling.rule.id)),
            cited: (
                Shown::of(&ruling.rule.id),
                ruling.rule.at.as_ref().map(|at| Shown::of(&at.file)),
                ruling.rule.at.as_ref().map(|at| at.line).filter(|line| *line > 0),
            ),
            warning: ruling.warning.as_ref().map(|warning| (warning.level, Shown::of(&warning.message))),
            confirmation: critical.then_some(CONFIRMATION),
            session_grant: !critical,
            always: None,
        }
    }

    /// What would run, or be touched, in the call's own words, fit to be shown and nothing of it left out.
    #[must_use]
    pub fn what(&self) -> String {
        crate::prompt::what(self)
    }

    /// The same, short: of a command its whole text with its redirections, assignments and here-documents, of any other call what it
    /// is about.
    #[must_use]
    pub fn told(&self) -> String {
        crate::prompt::told(self)
    }

    /// Whether a yes may hold for the session. What must be typed must be typed each time.
    #[must_use]
    pub const fn may_grant_session(&self) -> bool {
        self.session_grant && self.confirmation.is_none()
    }

    /// The warning that goes with the risk, also where the ruling gave none.
    #[must_use]
    pub fn warning(&self) -> (&'static str, Shown) {
        self.warning.clone().unwrap_or_else(|| {
            let level = match self.risk.level {
                Level::Low => "LOW",
                Level::Medium => "MEDIUM",
                Level::High => "HIGH",
                Level::Critical => "CRITICAL",
            };
            (level, self.reason.clone())
        })
    }

    /// The question for any user interface. Every text in it is masked, and what could deceive in it is spelt out.
    #[must_use]
    pub fn to_json(&self, expires_ms: u64) -> Value {
        let (level, message) = self.warning();
        json!({
            "toolName": visible(&mask(&self.tool)),
            "args": plain(&Value::Object(self.request.fields().clone()), 0),
            "confirmationId": self.id.to_string(),
            "approval_key": self.key.as_str(),
            "session_id": visible(&mask(&self.session)),
            "run_id": self.run.as_deref().map(|run| visible(&mask(run))),
            "principal": visible(self.principal.as_str()),
            "risk": {"level": self.risk.level.name(), "factors": self.risk.factors},
            "effects": self.facts.effects(),
            "commands": self.facts.commands(),
            "reason": visible(self.reason.as_str()),
            "rule": visible(self.rule.as_str()),
            "expires_at": rfc3339(expires_ms),
            "security_warning": {"level": level, "message": visible(message.as_str())},
            "requires_typed_confirmation": self.confirmation,
            "may_approve_for_session": self.may_grant_session(),
            "may_approve_always": self.always.as_ref().map(Proposal::snippet),
        })
    }
}

/// Values whose texts are spelt out.
fn plain(value: &Value, depth: usize) -> Value {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        Value::String(text) => visible(text).into(),
        // A call is bounded in depth where it is read; deeper than that is nothing that a person could judge.
        _ if depth > 64 => "<nested too deep>".into(),
        Value::Array(items) => items.iter().map(|item| plain(item, depth + 1)).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| (visible(key), plain(value, depth + 1)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
    }
}

/// What a call would do, for rules and for people. The texts inside are not masked: they come out only through what masks.
#[derive(Clone)]
pub struct Facts {
    analysis: Arc<Analysis>,
}

impl Facts {
    /// The facts of an analysis.
    #[must_use]
    pub const fn of(analysis: Arc<Analysis>) -> Self {
        Facts { analysis }
    }

    /// What was found out, unmasked: for conditions, not for showing.
    #[must_use]
    pub fn analysis(&self) -> &Analysis {
        &self.analysis
    }

    /// Every command that would run, fit to be shown.
    #[must_use]
    pub fn commands(&self) -> Vec<String> {
        let text = |part: &effects::Part| {
            let shown = match &part.argv {
                Some(argv) => quoted(&call::mask_argv(argv)),
                None => mask(&part.text).into_owned(),
            };
            visible(&shown)
        };
        self.analysis.parts.iter().map(text).collect()
    }

    /// Every effect, fit to be shown, the gravest first.
    #[must_use]
    pub fn effects(&self) -> Vec<String> {
        let mut all: Vec<(Option<Class>, String)> = Vec::new();
        let hidden = self.analysis.hidden();
        for effect in self.analysis.parts.iter().flat_map(|part| &part.effects) {
            let Some(class) = effect.class() else { continue };
            let text = visible(&hidden.effect(effect));
            if !all.iter().any(|(_, known)| *known == text) {
                all.push((Some(class), text));
            }
        }
        all.sort_by_key(|(class, _)| std::cmp::Reverse(*class));
        all.into_iter().map(|(_, text)| text).collect()
    }

    /// The classes of all effects.
    #[must_use]
    pub fn classes(&self) -> Vec<Class> {
        let mut all: Vec<Class> =
            self.analysis.parts.iter().flat_map(|part| &part.effects).filter_map(Effect::class).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

impl std::fmt::Debug for Facts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Facts").field("effects", &self.effects()).finish_non_exhaustive()
    }
}

/// Words as somebody would type them: those that need it in single quotes.
pub(crate) fn quoted(words: &[String]) -> String {
    let plain = |word: &String| {
        !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "-_./=:@%+,[]".contains(c))
    };
    let one =
        |word: &String| if plain(word) { word.clone() } else { format!("'{}'", word.replace('\'', "'\\''")) };
    words.iter().map(one).collect::<Vec<_>>().join(" ")
}
