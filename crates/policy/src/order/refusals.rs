//! Steps 2 to 6: what is denied, whoever says yes.

use call::Category;
use effects::{Class, Effect, Part, Place};

use super::wording::{cited, command_rule_matches, decides, effect_rule, find_tool, name, parent, place_of};
use super::{Hearing, Word};
use crate::config::{CommandRule, PathRule, Stance};
use crate::decision::Decision::{self, Deny};
use crate::paths::PathPattern;
use crate::rule::path_of;
use crate::ruling::OWN;

impl<'a> Hearing<'a> {
    pub(super) fn read_only(&self) -> Word {
        if !self.config.read_only.value {
            return Word::Passes("off");
        }
        let harmless = match self.question.category {
            Category::Read | Category::Human | Category::None => self
                .effects()
                .all(|(_, _, effect)| matches!(effect, Effect::Read(_)) || effect.class().is_none()),
            Category::Exec
            | Category::Stdin
            | Category::Write
            | Category::Connect
            | Category::Agent
            | Category::Custom => false,
        };
        if harmless {
            return Word::Passes("on, and this only reads");
        }
        let reason = format!("`{}` writes or executes, and this is a read-only run", self.question.tool);
        decides(
            Deny,
            reason,
            cited("safety.read_only", &self.config.read_only.at),
            None,
            vec!["`safety.read_only: false` would let it be judged".into()],
        )
    }

    pub(super) fn deny_rules(&self) -> Word {
        if let Some(entry) = find_tool(&self.config.tool_denylist, self.question.tool) {
            let reason = format!("the tool `{}` is on the deny list", entry.value);
            return decides(
                Deny,
                reason,
                cited("safety.tool_denylist", &entry.at),
                None,
                vec!["take it off the list".into()],
            );
        }
        for (index, matched) in self.matched.iter().enumerate() {
            if let Some(rule) = matched.deny {
                return self.by_rule(Deny, rule, index);
            }
        }
        Word::Passes("none matches")
    }

    pub(super) fn paths(&self) -> Word {
        for (index, part, effect) in self.effects() {
            let Some((path, given)) = path_of(effect) else { continue };
            if let Some(word) = self.path(index, part, effect, path, given) {
                return word;
            }
        }
        Word::Passes("none is denied")
    }

    fn path(
        &self,
        index: usize,
        part: &Part,
        effect: &Effect,
        path: &str,
        given: Option<&str>,
    ) -> Option<Word> {
        let named = |pattern: &PathPattern| {
            pattern.could_match(path) || given.is_some_and(|given| pattern.could_match_given(given))
        };
        if let Some(pattern) = self.config.own.iter().find(|pattern| named(pattern)) {
            return Some(decides(
                Deny,
                format!("{} would touch `{path}`, where Bailiwick keeps its own", name(part)),
                cited(OWN, &pattern.at),
                Some(index),
                vec![
                    "nothing in the configuration lifts this; a person can look there without the agent"
                        .into(),
                ],
            ));
        }
        let writes = !matches!(effect, Effect::Read(_));
        for group in &self.config.path_rules {
            // FAIL-CLOSED: a pattern that cannot be evaluated counts as matching here.
            let permits = |rule: &PathRule| if writes { rule.allow_write } else { rule.allow_read };
            let first = group.rules.iter().find(|rule| {
                if permits(rule) {
                    rule.pattern.matches(path) == Some(true)
                } else {
                    rule.pattern.could_match(path)
                }
            });
            if let Some(rule) = first
                && !permits(rule)
            {
                let what = if writes { "written" } else { "read" };
                let reason = format!("{} would touch `{path}`, which may not be {what}", name(part));
                return Some(decides(
                    Deny,
                    reason,
                    cited("safety.path_rules", &rule.pattern.at),
                    Some(index),
                    vec![format!("a path rule before `{}` that allows it", rule.pattern.text)],
                ));
            }
        }
        if place_of(effect) == Some(Place::Credential) {
            let reason =
                format!("{} would touch `{path}`, which may hold keys, tokens or passwords", name(part));
            let stance = self.config.stance(Class::Credentials);
            return Some(decides(Deny, reason, cited("denied_paths.credentials", &stance.at), Some(index), vec![
                "nothing in the configuration lifts this; hand over what is needed through the environment of the command"
                    .into(),
            ]));
        }
        if let Some(pattern) = self.config.denied_paths.iter().find(|pattern| named(pattern)) {
            let reason = format!("{} would touch `{path}`, which is denied", name(part));
            return Some(decides(
                Deny,
                reason,
                cited("safety.denied_paths", &pattern.at),
                Some(index),
                vec![format!("take `{}` off the list", pattern.text)],
            ));
        }
        for set in &self.config.allowed_paths {
            if !set.patterns.iter().any(|pattern| pattern.matches(path).unwrap_or(false)) {
                let reason =
                    format!("{} would touch `{path}`, which is outside the allowed paths", name(part));
                return Some(decides(
                    Deny,
                    reason,
                    cited("safety.allowed_paths", &set.at),
                    Some(index),
                    vec![format!(
                        "add a pattern for it to `safety.allowed_paths`, for instance `{}`",
                        parent(path)
                    )],
                ));
            }
        }
        None
    }

    pub(super) fn commands(&self) -> Word {
        let parts = &self.question.analysis.parts;
        if self.question.runs_commands() {
            for (index, part) in parts.iter().enumerate() {
                if let Some(rule) = self.command_rule(part, Deny) {
                    let reason = format!("{} matches the command rule `{}`", name(part), rule.text);
                    return decides(
                        Deny,
                        reason,
                        cited("safety.command_rules", &rule.at),
                        Some(index),
                        vec!["a command rule before it that decides otherwise".into()],
                    );
                }
            }
            for (key, list) in [
                ("safety.denylist", &self.config.denylist),
                ("safety.denied_commands", &self.config.denied_commands),
            ] {
                if let Some((entry, index)) = list.naming(parts) {
                    let reason = format!("{} is on the deny list as `{}`", self.name_of(index), entry.text);
                    return decides(
                        Deny,
                        reason,
                        cited(key, &entry.at),
                        Some(index),
                        vec!["take it off the list, or do it another way".into()],
                    );
                }
            }
        }
        // Of several effects that are denied, the gravest is the one to tell.
        let gravest = self
            .effects()
            .filter_map(|(index, part, effect)| effect.class().map(|class| (class, index, part, effect)))
            .filter(|(class, _, _, effect)| self.stance(effect, *class) == Stance::Deny)
            .reduce(|best, other| if other.0 > best.0 { other } else { best });
        if let Some((class, index, part, effect)) = gravest {
            let stance = self.config.stance(class);
            let reason = format!("{} would {}: {effect}", name(part), class.about());
            return decides(Deny, reason, effect_rule(class, &stance.at), Some(index), self.loosening(class));
        }
        Word::Passes("none is denied")
    }

    /// What would make a denied or asked effect pass.
    pub(super) fn loosening(&self, class: Class) -> Vec<String> {
        let stance = self.config.stance(class);
        match class {
            Class::Credentials | Class::Exfiltrate | Class::CodeNetwork => {
                vec!["nothing in the configuration lifts this".into()]
            }
            Class::Connect => vec![
                "name the host in `sandbox.network.allow`".into(),
                format!(
                    "or set `safety.effects.connect`, which {} says is {}",
                    stance.at,
                    stance.value.name()
                ),
            ],
            Class::ReadOutside | Class::WriteOutside => vec![
                "a path rule (`safety.path_rules`) that allows it".into(),
                format!(
                    "or set `safety.effects.{}`, which {} says is {}",
                    class.key(),
                    stance.at,
                    stance.value.name()
                ),
            ],
            _ => vec![format!(
                "set `safety.effects.{}` in your configuration; {} says {}",
                class.key(),
                stance.at,
                stance.value.name()
            )],
        }
    }

    /// The first command rule of each origin that matches, if one of them decides this.
    pub(super) fn command_rule(&self, part: &Part, wanted: Decision) -> Option<&'a CommandRule> {
        let config = self.config;
        config.command_rules.iter().find_map(|group| {
            let first = group.rules.iter().find(|rule| command_rule_matches(rule, part));
            first.filter(|rule| rule.decision == wanted)
        })
    }

    pub(super) fn mode_deny(&self) -> Word {
        if self.config.mode.value != Deny {
            return Word::Passes("mode is not deny");
        }
        let reason = "the mode is deny: every call is refused".to_owned();
        decides(
            Deny,
            reason,
            cited("safety.mode", &self.config.mode.at),
            None,
            vec!["`safety.mode: ask` would let it be judged".into()],
        )
    }
}
