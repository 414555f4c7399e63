//! The answer to one question: what was decided, by which rule, after which steps, and what would help.

use std::borrow::Cow;

use effects::{Level, Risk};

use crate::config::At;
use crate::decision::Decision;
use crate::obligation::Obligation;

/// The steps of the order of evaluation. Their numbers are those of the documentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Step {
    /// 1: the arguments are well-formed. (Whoever parses the call has checked that before a policy sees it.)
    Arguments = 1,
    /// 2: `read_only`
    ReadOnly,
    /// 3: tool lists and deny rules
    DenyRules,
    /// 4: path rules, denied paths, permitted roots
    Paths,
    /// 5: command rules, deny lists, denied effects
    Commands,
    /// 6: `mode: deny`
    ModeDeny,
    /// 7: the external engine
    Engine,
    /// 8: the call wants out of the fence
    Escalation,
    /// 9: a path boundary that the fence cannot hold
    Boundary,
    /// 10: shell programs, unresolved words, unknown effects
    Unknown,
    /// 11: ask rules, effects marked ask, required approvals
    AskRules,
    /// 12: allow rules, allow lists, allowed effects
    AllowRules,
    /// 13: `mode: allow`
    ModeAllow,
    /// 14: otherwise
    Otherwise,
}

impl Step {
    /// What the step looks at.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Step::Arguments => "arguments",
            Step::ReadOnly => "read-only",
            Step::DenyRules => "tool lists and deny rules",
            Step::Paths => "paths",
            Step::Commands => "commands and denied effects",
            Step::ModeDeny => "mode: deny",
            Step::Engine => "policy engine",
            Step::Escalation => "out of the fence",
            Step::Boundary => "boundary without a fence",
            Step::Unknown => "shell programs and unknowns",
            Step::AskRules => "ask rules and effects",
            Step::AllowRules => "allow rules and effects",
            Step::ModeAllow => "mode: allow",
            Step::Otherwise => "otherwise",
        }
    }
}

/// What was decided about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Ruling {
    /// The decision.
    pub decision: Decision,
    /// The step that decided.
    pub step: Step,
    /// Why, in one sentence for a person. Masked.
    pub reason: String,
    /// The rule that decided.
    pub rule: Cited,
    /// The part of the call that decided, as an index into the analysis.
    pub part: Option<usize>,
    /// What every step up to the deciding one found.
    pub trace: Vec<TraceLine>,
    /// What would make it pass.
    pub help: Vec<String>,
    /// How risky the call is.
    pub risk: Risk,
    /// What a person is to be warned of.
    pub warning: Option<Warning>,
    /// The terms of a yes.
    pub obligations: Vec<Obligation>,
    /// The decision holds only if the call runs behind the fence.
    pub needs_fence: bool,
}

/// The rule that keeps every call away from Bailiwick's own places.
pub const OWN: &str = "bailiwick.own";

/// The rule that decided, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cited {
    /// The rule's name, or the configuration key.
    pub id: Cow<'static, str>,
    /// Where; `None` for what is built into the order itself.
    pub at: Option<At>,
}

/// What one step found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceLine {
    /// The step.
    pub step: Step,
    /// What it decided, if it did.
    pub decision: Option<Decision>,
    /// What it found.
    pub note: Cow<'static, str>,
}

/// A warning for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// `LOW` … `CRITICAL`
    pub level: &'static str,
    /// What may happen.
    pub message: String,
}

impl Warning {
    /// The warning that a level of risk deserves: none below high.
    pub(crate) fn of(risk: &Risk, message: String) -> Option<Warning> {
        let level = match risk.level {
            Level::Low | Level::Medium => return None,
            Level::High => "HIGH",
            Level::Critical => "CRITICAL",
        };
        Some(Warning { level, message })
    }
}
