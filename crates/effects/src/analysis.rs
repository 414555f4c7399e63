//! The result of asking what a call would do: its parts, what each would do, and how risky the whole is.

use crate::effect::Effect;
use crate::normal::Normal;

/// What a whole call would do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Analysis {
    /// Every command that would run (one for a tool that runs none), wrappers such as `env`, `timeout` or `sh -c`
    /// taken off.
    pub parts: Vec<Part>,
    /// Why the call is a shell program and not one simple command with literal words; `None` where it is one.
    pub complex: Option<&'static str>,
    /// Why some of its text could not be read. A shell may run what stands before the place that it stumbles over, so nobody knows
    /// what such a text does: no stance lets it pass.
    pub unread: Option<String>,
    /// The words of the whole call where it is one simple command with literal words, shells that only hand on what
    /// they are given (`sh -c`, `command`) taken off; other wrappers (`env`, `timeout`, `sudo`) stay in them.
    pub words: Option<Vec<String>>,
    /// How risky it is.
    pub risk: Risk,
}

/// One command of a call and what it would do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Part {
    /// The bytes of the call's own text that this part comes from (start, end).
    pub span: Option<(u32, u32)>,
    /// The command as it would run, for people; masked by whoever shows it.
    pub text: String,
    /// Its words where all of them are certain.
    pub argv: Option<Vec<String>>,
    /// Program, options and operands with their spellings evened out: what lists of commands match against.
    pub normal: Normal,
    /// The wrappers that were taken off, outermost first.
    pub via: Vec<String>,
    /// What it would do.
    pub effects: Vec<Effect>,
}

/// How risky a call is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Risk {
    /// None of the factors, or only structure: low, medium. One factor: high. Two: critical.
    pub level: Level,
    /// What was found, in words.
    pub factors: Vec<&'static str>,
}

/// Levels of risk, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Level {
    /// A simple command without a risk factor.
    #[default]
    Low,
    /// A compound command without one.
    Medium,
    /// One risk factor.
    High,
    /// Two or more, or one that is beyond doubt destructive.
    Critical,
}

impl Level {
    /// The lowercase name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Level::Low => "low",
            Level::Medium => "medium",
            Level::High => "high",
            Level::Critical => "critical",
        }
    }
}

/// Makes one part of the parts of one command's alternatives.
pub(crate) fn merge(parts: &mut Vec<Part>, first: usize) {
    let mut kept: Vec<Part> = Vec::new();
    for part in parts.drain(first..) {
        match kept.iter_mut().find(|one| one.normal.program == part.normal.program && one.via == part.via) {
            None => kept.push(part),
            Some(one) => {
                one.argv = None;
                for effect in part.effects {
                    if !one.effects.contains(&effect) {
                        one.effects.push(effect);
                    }
                }
                one.normal.options.retain(|option| part.normal.options.contains(option));
                for (mine, theirs) in one.normal.operands.iter_mut().zip(&part.normal.operands) {
                    if mine != theirs {
                        *mine = None;
                    }
                }
                one.normal.operands.truncate(part.normal.operands.len().max(1));
            }
        }
    }
    parts.append(&mut kept);
}
