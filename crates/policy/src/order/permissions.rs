//! Steps 12 to 14: what may run, and the question that is left.

use std::borrow::Cow;

use call::Category;
use effects::{Class, Effect, Part};

use super::wording::{cite, cited, cited_rule, decides, effect_rule, find_tool, name, on_list, suggestion};
use super::{Hearing, Word};
use crate::config::{Profile, Stance};
use crate::decision::Decision::{Allow, Ask};
use crate::ruling::Cited;

impl Hearing<'_> {
    pub(super) fn allow_rules(&self) -> Word {
        if self.question.category == Category::Custom
            && let Some(entry) = find_tool(&self.config.tool_allowlist, self.question.tool)
        {
            let reason = format!("the tool `{}` is on the allow list", entry.value);
            return decides(Allow, reason, cited("safety.tool_allowlist", &entry.at), None, vec![]);
        }
        let mut decided: Option<(Cited, Cow<'static, str>)> = None;
        for (index, part) in self.question.analysis.parts.iter().enumerate() {
            match self.passes(index, part) {
                Some(by) => {
                    decided.get_or_insert(by);
                }
                None => return Word::Passes("not every part is allowed"),
            }
        }
        if self.question.analysis.parts.is_empty()
            && !self.question.runs_commands()
            && let Some(rule) = self.matched.first().and_then(|matched| matched.allow)
        {
            return decides(
                Allow,
                format!("the rule `{}` allows it", rule.name),
                cited_rule(rule),
                None,
                vec![],
            );
        }
        match decided {
            Some((rule, reason)) => {
                let reason = if self.question.analysis.parts.len() > 1 {
                    "each part is allowed on its own".to_owned()
                } else {
                    reason.into_owned()
                };
                decides(Allow, reason, rule, None, vec![])
            }
            // FAIL-CLOSED: a command or a custom tool of which nothing was found out is not one that does nothing.
            None if matches!(self.question.category, Category::Custom | Category::Exec) => {
                Word::Passes("nothing is known about it")
            }
            None => decides(Allow, "it touches nothing".into(), cite("effects"), None, vec![]),
        }
    }

    /// By what one part is allowed on its own.
    fn passes(&self, index: usize, part: &Part) -> Option<(Cited, Cow<'static, str>)> {
        if let Some(rule) = self.matched.get(index).and_then(|matched| matched.allow) {
            let reason = rule.reason.clone().unwrap_or_else(|| format!("the rule `{}` allows it", rule.name));
            return Some((cited_rule(rule), Cow::Owned(reason)));
        }
        // A custom tool is allowed only by name.
        if self.question.category == Category::Custom {
            return None;
        }
        if self.question.runs_commands() {
            if let Some(rule) = self.command_rule(part, Allow) {
                let reason = format!("the command rule `{}` allows it", rule.text);
                return Some((cited("safety.command_rules", &rule.at), Cow::Owned(reason)));
            }
            if let Some(entry) = self.config.allowlist.covering(part) {
                return Some((cited("safety.allowlist", &entry.at), Cow::Owned(on_list(entry))));
            }
        }
        let mut needs_fence = false;
        let mut touched = false;
        for effect in &part.effects {
            let Some(class) = effect.class() else { continue };
            touched = true;
            match self.stance(effect, class) {
                Stance::Allow => {}
                Stance::Fenced if self.fence_holds() => needs_fence = true,
                // A file without a profile leaves commands to its lists, but its file tools may look.
                Stance::Unset
                    if self.question.category == Category::Read
                        && matches!(
                            class,
                            Class::ReadWorkspace | Class::ReadTemporary | Class::ReadSystem
                        ) => {}
                Stance::Unset | Stance::Fenced | Stance::Ask | Stance::Deny => return None,
            }
        }
        if !touched && self.config.profile.value == Profile::Plain && self.question.runs_commands() {
            return None;
        }
        let reason = match (touched, needs_fence) {
            (false, _) => "it changes nothing",
            (true, false) => "everything that it would do is allowed",
            (true, true) => "the fence holds everything that it could do",
        };
        Some((cited("safety.effects", &self.config.profile.at), Cow::Borrowed(reason)))
    }

    pub(super) fn mode_allow(&self) -> Word {
        if self.config.mode.value != Allow {
            return Word::Passes("mode is not allow");
        }
        if self.question.category == Category::Custom {
            return Word::Passes("a custom tool is allowed only by name");
        }
        if self.unheld().is_some() {
            return Word::Passes("it may run only behind a fence, and there is none");
        }
        decides(Allow, "the mode is allow".into(), cited("safety.mode", &self.config.mode.at), None, vec![])
    }

    /// What would let a part pass.
    fn admission(&self, part: &Part) -> Vec<String> {
        if self.question.runs_commands() && !part.normal.program.is_empty() {
            return vec![format!("add it to `safety.allowlist`: `{}`", suggestion(part))];
        }
        vec![format!(
            "a rule that allows the tool: `{{name: …, action: allow, tool: {}}}`",
            self.question.tool
        )]
    }

    /// An effect that may happen only behind a fence, where none holds.
    fn unheld(&self) -> Option<(usize, &Part, &Effect, Class)> {
        if self.fence_holds() {
            return None;
        }
        self.effects().find_map(|(index, part, effect)| {
            let class = effect.class()?;
            let matters = self.stance(effect, class) == Stance::Fenced && self.passes(index, part).is_none();
            matters.then_some((index, part, effect, class))
        })
    }

    pub(super) fn otherwise(&self) -> Word {
        let stopped = (self.question.analysis.parts.iter().enumerate())
            .find(|(index, part)| self.passes(*index, part).is_none());
        let Some((index, part)) = stopped else {
            let reason = format!("nothing allows the tool `{}`", self.question.tool);
            return decides(
                Ask,
                reason,
                cite("otherwise"),
                None,
                vec!["name it in `safety.tool_allowlist`".into()],
            );
        };
        if self.question.category == Category::Custom {
            let reason = format!("`{}` is not a built-in tool, and nothing allows it", self.question.tool);
            return decides(
                Ask,
                reason,
                cite("otherwise"),
                None,
                vec!["name it in `safety.tool_allowlist`".into()],
            );
        }
        if let Some((index, part, effect, class)) = self.unheld() {
            let open = if self.question.fence.holds() {
                "it holds no connection while `sandbox.network.mode` is open"
            } else {
                "the fence does not hold every boundary"
            };
            let why = self.question.fence.lacks.unwrap_or(open);
            let reason = format!(
                "{} would {}: {effect}; it may run only behind a fence ({why})",
                name(part),
                class.about()
            );
            let stance = self.config.stance(class);
            return decides(Ask, reason, effect_rule(class, &stance.at), Some(index), self.admission(part));
        }
        let reason = format!("nothing allows {}", name(part));
        let rule = cited("safety.mode", &self.config.mode.at);
        decides(Ask, reason, rule, Some(index), self.admission(part))
    }
}
