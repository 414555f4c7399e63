//! Steps 7 to 11: what somebody else is asked about.

use std::borrow::Cow;

use call::{Category, Sandbox};
use effects::{Class, Effect};

use super::wording::{cite, cited, decides, effect_rule, name};
use super::{Hearing, Word};
use crate::config::Stance;
use crate::decision::Decision::{Allow, Ask, Deny};
use crate::engine::Consultation;
use crate::ruling::Cited;

impl Hearing<'_> {
    pub(super) fn engine(&self) -> Word {
        let at = self.config.engine_url.as_ref().map(|url| &url.at);
        let rule = || Cited { id: Cow::Borrowed("engine"), at: at.cloned() };
        match self.question.engine {
            Consultation::NotConfigured => Word::Passes("none is configured"),
            Consultation::NotContacted => Word::Passes("not contacted by a rehearsal"),
            Consultation::Failed(why) => {
                let reason = format!("the policy engine gave no valid answer: {why}");
                decides(
                    Deny,
                    reason,
                    rule(),
                    None,
                    vec![
                        "see that the engine runs and answers, or take `engine` out of the configuration"
                            .into(),
                    ],
                )
            }
            Consultation::Answered(answer) => match answer.decision {
                Allow => Word::Passes("the engine has no objection"),
                Ask => decides(
                    Ask,
                    format!("the policy engine wants confirmation: {}", answer.reason),
                    rule(),
                    None,
                    vec![],
                ),
                Deny => decides(
                    Deny,
                    format!("the policy engine denies it: {}", answer.reason),
                    rule(),
                    None,
                    vec![],
                ),
            },
        }
    }

    pub(super) fn escalation(&self) -> Word {
        if self.question.escalated {
            let reason =
                "the call asks to run outside the fence (`sandbox_permissions: require_escalated`)".into();
            return decides(Ask, reason, cite("sandbox_permissions"), None, vec!["call it without".into()]);
        }
        if self.question.sandbox == Sandbox::None && self.config.restricted.value {
            let reason = "the call asks to run without the fence (`sandbox: none`)".into();
            let rule = cited("sandbox.default_policy", &self.config.restricted.at);
            return decides(Ask, reason, rule, None, vec!["call it without".into()]);
        }
        Word::Passes("the call does not ask to leave the fence")
    }

    pub(super) fn boundary(&self) -> Word {
        let Some(set) = self.config.allowed_paths.first() else {
            return Word::Passes("no path boundary is set");
        };
        if !self.question.runs_commands() || self.question.fence.holds_paths {
            return Word::Passes("the boundary is held");
        }
        let reason = format!(
            "a path boundary is set, and nothing would hold a command to it ({})",
            self.question.fence.lacks.unwrap_or("no fence")
        );
        decides(
            Ask,
            reason,
            cited("safety.allowed_paths", &set.at),
            None,
            vec!["run it behind a fence (`sandbox.mode: auto`)".into()],
        )
    }

    pub(super) fn unknown(&self) -> Word {
        if self.config.complex_shell_asks.value
            && let Some(why) = self.question.analysis.complex
        {
            let reason = format!("this is a shell program ({why}), not one command");
            return decides(
                Ask,
                reason,
                cited("safety.complex_shell", &self.config.complex_shell_asks.at),
                None,
                vec!["run its commands one by one, or set `safety.complex_shell: by_part`".into()],
            );
        }
        // What a custom tool does is never known; its own lists decide about it below.
        if self.question.category == Category::Custom {
            return Word::Passes("a custom tool: the tool lists decide");
        }
        if let Some(why) = &self.question.analysis.unread {
            let stance = self.config.stance(Class::Unknown);
            let reason = format!("some of it could not be read: {why}");
            let help = vec!["write it so that a shell reads all of it, or in parts".into()];
            return decides(Ask, reason, effect_rule(Class::Unknown, &stance.at), None, help);
        }
        for (index, part, effect) in self.effects() {
            if let Effect::Unknown(why) = effect {
                let stance = self.config.stance(Class::Unknown);
                if stance.value == Stance::Fenced && self.fence_holds() {
                    continue;
                }
                let reason = format!("what {} would do could not be found out: {why}", name(part));
                let help = vec!["write it out plainly, without what cannot be resolved".into()];
                return decides(Ask, reason, effect_rule(Class::Unknown, &stance.at), Some(index), help);
            }
        }
        Word::Passes("everything is understood")
    }

    pub(super) fn ask_rules(&self) -> Word {
        for (index, matched) in self.matched.iter().enumerate() {
            if let Some(rule) = matched.ask {
                return self.by_rule(Ask, rule, index);
            }
        }
        if self.question.runs_commands() {
            for (index, part) in self.question.analysis.parts.iter().enumerate() {
                if let Some(rule) = self.command_rule(part, Ask) {
                    let reason = format!("{} matches the command rule `{}`", name(part), rule.text);
                    return decides(
                        Ask,
                        reason,
                        cited("safety.command_rules", &rule.at),
                        Some(index),
                        vec![],
                    );
                }
            }
        }
        // Of several effects that are asked about, the gravest is the one to tell.
        let gravest = self
            .effects()
            .filter_map(|(index, part, effect)| effect.class().map(|class| (class, index, part, effect)))
            .filter(|(class, index, _, effect)| self.asks(*class, *index, effect))
            .reduce(|best, other| if other.0 > best.0 { other } else { best });
        if let Some((class, index, part, effect)) = gravest {
            let stance = self.config.stance(class);
            let reason = format!("{} would {}: {effect}", name(part), class.about());
            return decides(Ask, reason, effect_rule(class, &stance.at), Some(index), self.loosening(class));
        }
        self.required_approvals()
    }

    /// Whether an effect is marked ask, and no allow rule speaks of just this class.
    fn asks(&self, class: Class, index: usize, effect: &Effect) -> bool {
        let named_by_rule = self.matched.get(index).is_some_and(|matched| matched.lifts.contains(&class));
        class != Class::Unknown && self.stance(effect, class) == Stance::Ask && !named_by_rule
    }

    fn required_approvals(&self) -> Word {
        let writes = &self.config.require_approval_for_writes;
        if writes.value {
            let index = self
                .effects()
                .find(|(_, _, effect)| {
                    matches!(effect, Effect::Write(_) | Effect::Delete { .. } | Effect::History(_))
                        && effect.class().is_some()
                })
                .map(|(index, _, _)| index);
            if index.is_some() || self.question.category == Category::Write {
                let reason = format!("{} writes, and every write is to be approved", self.subject(index));
                let rule = cited("safety.require_approval_for_writes", &writes.at);
                return decides(Ask, reason, rule, index, vec![]);
            }
        }
        let execute = &self.config.require_approval_for_execute;
        if execute.value && matches!(self.question.category, Category::Exec | Category::Stdin) {
            let reason = "every command is to be approved".into();
            return decides(
                Ask,
                reason,
                cited("safety.require_approval_for_execute", &execute.at),
                None,
                vec![],
            );
        }
        Word::Passes("none matches")
    }
}
