//! The order of evaluation: the one place where a ruling is made.
//!
//! Steps that can deny come before steps that can ask, and those before steps that can allow; the first step that decides
//! ends it. So a denial can never be lifted by anything that stands below it.

mod permissions;
mod questions;
mod refusals;
mod stances;
mod wording;

use std::borrow::Cow;

use call::Category;
use effects::{Class, Effect, Part};

use self::wording::{ask, cite, cited_rule, decides, name};
use crate::config::{Config, Stance};
use crate::decision::Decision::{self, Allow, Ask, Deny};
use crate::engine::Consultation;
use crate::obligation::Obligation;
use crate::question::Question;
use crate::rule::Rule;
use crate::ruling::{Cited, Ruling, Step, TraceLine, Warning};

impl Config {
    /// Rules on a call.
    pub fn rule(&self, question: &Question<'_>) -> Ruling {
        let hearing = Hearing::open(self, question);
        hearing.first_of(&[
            (Step::ReadOnly, Hearing::read_only),
            (Step::DenyRules, Hearing::deny_rules),
            (Step::Paths, Hearing::paths),
            (Step::Commands, Hearing::commands),
            (Step::ModeDeny, Hearing::mode_deny),
            (Step::Engine, Hearing::engine),
            (Step::Escalation, Hearing::escalation),
            (Step::Boundary, Hearing::boundary),
            (Step::Unknown, Hearing::unknown),
            (Step::AskRules, Hearing::ask_rules),
            (Step::AllowRules, Hearing::allow_rules),
            (Step::ModeAllow, Hearing::mode_allow),
            (Step::Otherwise, Hearing::otherwise),
        ])
    }
}

/// What a step says: nothing but a note, or a decision.
enum Word {
    Passes(&'static str),
    Decides(Box<Verdict>),
}

struct Verdict {
    decision: Decision,
    reason: String,
    rule: Cited,
    part: Option<usize>,
    help: Vec<String>,
}

/// One call before the policy: the question, and which rules match each of its parts.
struct Hearing<'a> {
    config: &'a Config,
    question: &'a Question<'a>,
    matched: Vec<Matched<'a>>,
}

/// The rules that hold for one part.
#[derive(Default)]
struct Matched<'a> {
    deny: Option<&'a Rule>,
    ask: Option<&'a Rule>,
    allow: Option<&'a Rule>,
    /// Classes of effects that the allow rules which hold here speak of.
    lifts: Vec<Class>,
    /// The first match of every origin: the terms of all of them hold.
    all: Vec<&'a Rule>,
}

type Judge<'a> = fn(&Hearing<'a>) -> Word;

impl<'a> Hearing<'a> {
    fn open(config: &'a Config, question: &'a Question<'a>) -> Hearing<'a> {
        let matched = if config.rules.is_empty() {
            Vec::new()
        } else if question.analysis.parts.is_empty() {
            // A call that has no parts is still a call of its tool, and a rule may name that.
            vec![Matched::of(config, question, &Part::default())]
        } else {
            question.analysis.parts.iter().map(|part| Matched::of(config, question, part)).collect()
        };
        Hearing { config, question, matched }
    }

    fn first_of(&self, order: &[(Step, Judge<'a>)]) -> Ruling {
        let mut trace = Vec::with_capacity(order.len() + 1);
        trace.push(TraceLine { step: Step::Arguments, decision: None, note: Cow::Borrowed("well-formed") });
        for (step, judge) in order {
            match judge(self) {
                Word::Passes(note) => {
                    trace.push(TraceLine { step: *step, decision: None, note: Cow::Borrowed(note) });
                }
                Word::Decides(verdict) => return self.ruling(*step, *verdict, trace),
            }
        }
        // FAIL-CLOSED: the last step always decides; if it ever did not, nobody has allowed anything.
        self.ruling(Step::Otherwise, ask("nothing decided", cite("otherwise"), None), trace)
    }

    fn ruling(&self, step: Step, verdict: Verdict, mut trace: Vec<TraceLine>) -> Ruling {
        // What allows is named in the words of the configuration; only what asks and denies quotes the call.
        let reason = match verdict.decision {
            Allow => verdict.reason,
            Ask | Deny => masked(verdict.reason),
        };
        trace.push(TraceLine { step, decision: Some(verdict.decision), note: Cow::Owned(reason.clone()) });
        let mut risk = self.question.analysis.risk.clone();
        let mut obligations = Vec::new();
        for rule in self.matched.iter().flat_map(|matched| &matched.all) {
            obligations.extend(rule.obligations.iter().copied());
            if let Some(level) = rule.risk {
                risk.level = risk.level.max(level);
            }
        }
        if let Consultation::Answered(answer) = self.question.engine {
            obligations.extend(answer.obligations.iter().copied());
        }
        obligations.sort_unstable();
        obligations.dedup();
        let warning = match verdict.decision {
            Allow => None,
            Ask | Deny => Warning::of(&risk, reason.clone()),
        };
        let needs_fence = verdict.decision == Allow
            && (obligations.contains(&Obligation::Sandbox)
                || (step == Step::AllowRules && self.rests_on_the_fence()));
        let ruling = Ruling {
            decision: verdict.decision,
            step,
            reason,
            rule: verdict.rule,
            part: verdict.part,
            trace,
            help: verdict.help.into_iter().map(masked).collect(),
            risk,
            warning,
            obligations,
            needs_fence,
        };
        self.honour(ruling)
    }

    /// FAIL-CLOSED: terms that cannot be met here turn a yes into a no.
    fn honour(&self, mut ruling: Ruling) -> Ruling {
        let fence_missing = ruling.obligations.contains(&Obligation::Sandbox)
            && self.question.runs_commands()
            && !self.question.fence.holds();
        if fence_missing && ruling.decision != Deny {
            ruling.decision = Deny;
            ruling.reason = format!(
                "a rule lets this run only behind the fence, and there is none that holds ({})",
                self.question.fence.lacks.unwrap_or("it does not hold every boundary")
            );
            ruling.rule = cite("obligations.require_sandbox");
            if let Some(last) = ruling.trace.last_mut() {
                last.decision = Some(Deny);
                last.note = Cow::Owned(ruling.reason.clone());
            }
        }
        ruling
    }

    pub(super) fn effects(&self) -> impl Iterator<Item = (usize, &'a Part, &'a Effect)> {
        let parts = &self.question.analysis.parts;
        parts
            .iter()
            .enumerate()
            .flat_map(|(index, part)| part.effects.iter().map(move |effect| (index, part, effect)))
    }

    pub(super) fn stance(&self, effect: &Effect, class: Class) -> Stance {
        self.config.stance_towards(effect, class)
    }

    pub(super) fn fence_holds(&self) -> bool {
        matches!(self.question.category, Category::Exec | Category::Stdin)
            && self.config.is_held_by(self.question.fence)
    }

    /// Whether something is allowed only because of the fence.
    pub(super) fn rests_on_the_fence(&self) -> bool {
        self.effects().any(|(_, _, effect)| {
            effect.class().is_some_and(|class| self.stance(effect, class) == Stance::Fenced)
        }) && self.fence_holds()
    }

    pub(super) fn by_rule(&self, decision: Decision, rule: &Rule, index: usize) -> Word {
        let reason = match &rule.reason {
            Some(reason) => format!("{}: {reason}", self.name_of(index)),
            None => format!("{} matches the rule `{}`", self.name_of(index), rule.name),
        };
        let help = match decision {
            Deny => vec![format!("change the rule `{}`", rule.name)],
            Ask | Allow => Vec::new(),
        };
        decides(decision, reason, cited_rule(rule), Some(index), help)
    }

    pub(super) fn name_of(&self, index: usize) -> String {
        self.question.analysis.parts.get(index).map_or_else(|| "it".into(), name)
    }

    pub(super) fn subject(&self, index: Option<usize>) -> String {
        index.map_or_else(|| format!("`{}`", self.question.tool), |index| self.name_of(index))
    }
}

/// A sentence without the secrets of the call that it speaks of.
fn masked(text: String) -> String {
    match call::mask(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(masked) => masked,
    }
}

impl<'a> Matched<'a> {
    /// A denial of any origin holds. Otherwise the strongest origin that has a matching rule decides; a workspace file can
    /// only add a question.
    fn of(config: &'a Config, question: &Question<'_>, part: &Part) -> Matched<'a> {
        let mut matched = Matched::default();
        let mut settled = false;
        for list in &config.rules {
            let mut matches = list.matches(question, part);
            let Some(rule) = matches.next() else { continue };
            matched.all.push(rule);
            match rule.action {
                Deny => {
                    matched.deny.get_or_insert(rule);
                }
                Ask if !settled || list.origin.only_tightens() => {
                    matched.ask.get_or_insert(rule);
                    settled = true;
                }
                Allow if !settled => {
                    matched.allow = Some(rule);
                    // Rules below that would allow as well if this one were gone may speak of more effects: taking a rule
                    // away must never allow more, so theirs count too.
                    let further = matches.take_while(|rule| rule.action == Allow);
                    matched.lifts =
                        std::iter::once(rule).chain(further).flat_map(|rule| rule.effects.clone()).collect();
                    settled = true;
                }
                Ask | Allow => {}
            }
        }
        matched
    }
}
