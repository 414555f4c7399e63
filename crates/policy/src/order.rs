//! The order of evaluation: the one place where a ruling is made.
//!
//! Steps that can deny come before steps that can ask, and those before steps that can allow; the first step that decides
//! ends it. So a denial can never be lifted by anything that stands below it.

use std::borrow::Cow;

use call::{Category, Sandbox};
use effects::{Class, Effect, Part, Place};

use crate::command_list::Entry;
use crate::config::{At, CommandMatcher, CommandRule, Config, Origin, Profile, Set, Stance};
use crate::decision::Decision::{self, Allow, Ask, Deny};
use crate::engine::Consultation;
use crate::obligation::Obligation;
use crate::pattern::Found;
use crate::question::Question;
use crate::rule::{Rule, is_among, path_of};
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
}

type Judge<'a> = fn(&Hearing<'a>) -> Word;

impl<'a> Hearing<'a> {
    fn open(config: &'a Config, question: &'a Question<'a>) -> Hearing<'a> {
        let matched = if config.rules.is_empty() {
            Vec::new()
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
        let reason = match call::mask(&verdict.reason) {
            Cow::Borrowed(_) => verdict.reason,
            Cow::Owned(masked) => masked,
        };
        trace.push(TraceLine { step, decision: Some(verdict.decision), note: Cow::Owned(reason.clone()) });
        let mut risk = self.question.analysis.risk.clone();
        let mut obligations = Vec::new();
        for rule in
            self.matched.iter().flat_map(|matched| [matched.deny, matched.ask, matched.allow]).flatten()
        {
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
            help: verdict.help,
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

    // Step 2 ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    fn read_only(&self) -> Word {
        if !self.config.read_only.value {
            return Word::Passes("off");
        }
        let harmless = match self.question.category {
            Category::Read | Category::Human | Category::None => self.effects().all(|(_, _, effect)| {
                matches!(
                    effect.class(),
                    None | Some(
                        Class::ReadWorkspace
                            | Class::ReadTemporary
                            | Class::ReadSystem
                            | Class::ReadOutside
                            | Class::Credentials
                    )
                )
            }),
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

    // Step 3 ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    fn deny_rules(&self) -> Word {
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

    // Step 4 ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    fn paths(&self) -> Word {
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
        let writes = !matches!(effect, Effect::Read(_));
        for group in &self.config.path_rules {
            // FAIL-CLOSED: a pattern that cannot be evaluated counts as matching here.
            let first = group.rules.iter().find(|rule| rule.pattern.matches(path).unwrap_or(true));
            if let Some(rule) = first
                && !(if writes { rule.allow_write } else { rule.allow_read })
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
        let denied = |path: &str| {
            self.config.denied_paths.iter().find(|pattern| pattern.matches(path).unwrap_or(true))
        };
        if let Some(pattern) = denied(path).or_else(|| given.and_then(denied)) {
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

    // Step 5 ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    fn commands(&self) -> Word {
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
        for (index, part, effect) in self.effects() {
            let Some(class) = effect.class() else { continue };
            if self.stance(effect, class) == Stance::Deny {
                let stance = self.config.stance(class);
                let reason = format!("{} would {}: {effect}", name(part), class.about());
                return decides(
                    Deny,
                    reason,
                    effect_rule(class, &stance.at),
                    Some(index),
                    self.loosening(class),
                );
            }
        }
        Word::Passes("none is denied")
    }

    /// What would make a denied or asked effect pass.
    fn loosening(&self, class: Class) -> Vec<String> {
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
    fn command_rule(&self, part: &Part, wanted: Decision) -> Option<&'a CommandRule> {
        let config = self.config;
        config.command_rules.iter().find_map(|group| {
            let first = group.rules.iter().find(|rule| command_rule_matches(rule, part));
            first.filter(|rule| rule.decision == wanted)
        })
    }

    // Step 6 ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    fn mode_deny(&self) -> Word {
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

    // Step 7 ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    fn engine(&self) -> Word {
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

    // Step 8 ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    fn escalation(&self) -> Word {
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

    // Step 9 ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    fn boundary(&self) -> Word {
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

    // Step 10 ────────────────────────────────────────────────────────────────────────────────────────────────────────

    fn unknown(&self) -> Word {
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

    // Step 11 ────────────────────────────────────────────────────────────────────────────────────────────────────────

    fn ask_rules(&self) -> Word {
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
        for (index, part, effect) in self.effects() {
            let Some(class) = effect.class() else { continue };
            let named_by_rule = self
                .matched
                .get(index)
                .and_then(|matched| matched.allow)
                .is_some_and(|rule| rule.effects.contains(&class));
            if class != Class::Unknown && self.stance(effect, class) == Stance::Ask && !named_by_rule {
                let stance = self.config.stance(class);
                let reason = format!("{} would {}: {effect}", name(part), class.about());
                return decides(
                    Ask,
                    reason,
                    effect_rule(class, &stance.at),
                    Some(index),
                    self.loosening(class),
                );
            }
        }
        self.required_approvals()
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

    // Step 12 ────────────────────────────────────────────────────────────────────────────────────────────────────────

    fn allow_rules(&self) -> Word {
        if self.question.category == Category::Custom {
            if let Some(entry) = find_tool(&self.config.tool_allowlist, self.question.tool) {
                let reason = format!("the tool `{}` is on the allow list", entry.value);
                return decides(Allow, reason, cited("safety.tool_allowlist", &entry.at), None, vec![]);
            }
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

    // Step 13 ────────────────────────────────────────────────────────────────────────────────────────────────────────

    fn mode_allow(&self) -> Word {
        if self.config.mode.value != Allow {
            return Word::Passes("mode is not allow");
        }
        if self.question.category == Category::Custom {
            return Word::Passes("a custom tool is allowed only by name");
        }
        decides(Allow, "the mode is allow".into(), cited("safety.mode", &self.config.mode.at), None, vec![])
    }

    // Step 14 ────────────────────────────────────────────────────────────────────────────────────────────────────────

    fn otherwise(&self) -> Word {
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
        let unfenced = part.effects.iter().find_map(|effect| {
            let class = effect.class()?;
            (self.stance(effect, class) == Stance::Fenced).then_some((effect, class))
        });
        if let Some((effect, class)) = unfenced {
            let why = self.question.fence.lacks.unwrap_or("the fence does not hold every boundary");
            let reason = format!(
                "{} would {}: {effect}; it may run only behind a fence ({why})",
                name(part),
                class.about()
            );
            let stance = self.config.stance(class);
            return decides(
                Ask,
                reason,
                effect_rule(class, &stance.at),
                Some(index),
                vec![format!("add it to `safety.allowlist`: `{}`", suggestion(part))],
            );
        }
        let reason = format!("nothing allows {}", name(part));
        let rule = cited("safety.mode", &self.config.mode.at);
        decides(
            Ask,
            reason,
            rule,
            Some(index),
            vec![format!("add it to `safety.allowlist`: `{}`", suggestion(part))],
        )
    }

    // ────────────────────────────────────────────────────────────────────────────────────────────────────────────────

    fn effects(&self) -> impl Iterator<Item = (usize, &'a Part, &'a Effect)> {
        let parts = &self.question.analysis.parts;
        parts
            .iter()
            .enumerate()
            .flat_map(|(index, part)| part.effects.iter().map(move |effect| (index, part, effect)))
    }

    /// The stance towards one effect: that of its class, unless a host or a path was named as allowed.
    fn stance(&self, effect: &Effect, class: Class) -> Stance {
        let stance = self.config.stance(class).value;
        match (class, effect) {
            (Class::Connect | Class::ConnectService, Effect::Connect(connection))
                if is_among(connection, &self.config.network_allow) =>
            {
                Stance::Allow
            }
            (Class::ReadOutside | Class::WriteOutside, _)
                if stance == Stance::Ask && self.path_is_allowed(effect) =>
            {
                Stance::Allow
            }
            _ => stance,
        }
    }

    /// Whether somebody other than the workspace named this path as allowed.
    fn path_is_allowed(&self, effect: &Effect) -> bool {
        let Some((path, _)) = path_of(effect) else { return false };
        let writes = !matches!(effect, Effect::Read(_));
        let by_rule =
            self.config.path_rules.iter().filter(|group| group.origin != Origin::Workspace).any(|group| {
                let first = group.rules.iter().find(|rule| rule.pattern.matches(path).unwrap_or(false));
                first.is_some_and(|rule| if writes { rule.allow_write } else { rule.allow_read })
            });
        let by_boundary = self
            .config
            .allowed_paths
            .iter()
            .filter(|set| set.origin != Origin::Workspace)
            .any(|set| set.patterns.iter().any(|pattern| pattern.matches(path).unwrap_or(false)));
        by_rule || by_boundary
    }

    fn fence_holds(&self) -> bool {
        matches!(self.question.category, Category::Exec | Category::Stdin) && self.question.fence.holds()
    }

    /// Whether something is allowed only because of the fence.
    fn rests_on_the_fence(&self) -> bool {
        self.effects().any(|(_, _, effect)| {
            effect.class().is_some_and(|class| self.stance(effect, class) == Stance::Fenced)
        }) && self.fence_holds()
    }

    fn by_rule(&self, decision: Decision, rule: &Rule, index: usize) -> Word {
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

    fn name_of(&self, index: usize) -> String {
        self.question.analysis.parts.get(index).map_or_else(|| "it".into(), name)
    }

    fn subject(&self, index: Option<usize>) -> String {
        index.map_or_else(|| format!("`{}`", self.question.tool), |index| self.name_of(index))
    }
}

impl<'a> Matched<'a> {
    /// A denial of any origin holds. Otherwise the strongest origin that has a matching rule decides; a workspace file can
    /// only add a question.
    fn of(config: &'a Config, question: &Question<'_>, part: &Part) -> Matched<'a> {
        let mut matched = Matched::default();
        let mut settled = false;
        for list in &config.rules {
            let Some(rule) = list.first_match(question, part) else { continue };
            match rule.action {
                Deny => {
                    matched.deny.get_or_insert(rule);
                }
                Ask if !settled || list.origin == Origin::Workspace => {
                    matched.ask.get_or_insert(rule);
                    settled = true;
                }
                Allow if !settled => {
                    matched.allow = Some(rule);
                    settled = true;
                }
                Ask | Allow => {}
            }
        }
        matched
    }
}

fn command_rule_matches(rule: &CommandRule, part: &Part) -> bool {
    match &rule.matcher {
        CommandMatcher::Meaning(entry) => match rule.decision {
            Allow => entry.covers(part),
            Ask | Deny => entry.names(std::slice::from_ref(part)),
        },
        // FAIL-CLOSED: a pattern that cannot be evaluated counts as found where that is the stricter reading.
        CommandMatcher::Regex(pattern) => match pattern.search(&part.text) {
            Found::Yes => true,
            Found::No => false,
            Found::Failed => rule.decision != Allow,
        },
    }
}

fn find_tool<'a>(list: &'a [Set<String>], tool: &str) -> Option<&'a Set<String>> {
    list.iter().find(|entry| entry.value == tool)
}

fn place_of(effect: &Effect) -> Option<Place> {
    match effect {
        Effect::Read(target) | Effect::Write(target) | Effect::Delete { target, .. } => Some(target.place),
        _ => None,
    }
}

fn decides(decision: Decision, reason: String, rule: Cited, part: Option<usize>, help: Vec<String>) -> Word {
    Word::Decides(Box::new(Verdict { decision, reason, rule, part, help }))
}

fn ask(reason: &str, rule: Cited, part: Option<usize>) -> Verdict {
    Verdict { decision: Ask, reason: reason.into(), rule, part, help: Vec::new() }
}

const fn cite(id: &'static str) -> Cited {
    Cited { id: Cow::Borrowed(id), at: None }
}

fn cited(id: &'static str, at: &At) -> Cited {
    Cited { id: Cow::Borrowed(id), at: Some(at.clone()) }
}

fn cited_rule(rule: &Rule) -> Cited {
    Cited { id: Cow::Owned(rule.name.clone()), at: Some(rule.at.clone()) }
}

fn effect_rule(class: Class, at: &At) -> Cited {
    Cited { id: Cow::Owned(format!("safety.effects.{}", class.key())), at: Some(at.clone()) }
}

/// A part as a person would call it. Its end is never cut off: that is where the surprise stands.
fn name(part: &Part) -> String {
    const LONGEST: usize = 160;
    let text = call::visible(&part.text);
    let count = text.chars().count();
    if count <= LONGEST {
        return format!("`{text}`");
    }
    let head: String = text.chars().take(LONGEST / 2).collect();
    let tail: String = text.chars().skip(count - LONGEST / 2).collect();
    format!("`{head} … {tail}`")
}

fn on_list(entry: &Entry) -> String {
    format!("`{}` is on the allow list", entry.text)
}

/// The narrowest entry that would cover a part: program, options, and the word that says what it is about.
fn suggestion(part: &Part) -> String {
    let normal = &part.normal;
    let subcommand = normal.operands.first().and_then(Option::as_deref).filter(|word| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
    });
    match subcommand {
        Some(word) => format!("{} {word}", normal.program),
        None => normal.program.clone(),
    }
}

fn parent(path: &str) -> String {
    match path.rsplit_once('/') {
        Some((directory, _)) if !directory.is_empty() => format!("{directory}/**"),
        _ => path.into(),
    }
}
