//! The reference: the order of evaluation written a second time, from its documentation, as plainly as possible and with
//! nothing shared with the real one but the vocabulary. Slow on purpose: no index, no cache, no early exit that matters.

use std::cmp::Reverse;

use call::{Category, Sandbox};
use effects::{Class, Effect, Normal, Part, Peer, Place};
use policy::{Consultation, Decision, Obligation, Origin, Profile, Stance, Step};

use super::matching::{covers, glob, host, matches, names, path_rule, touched};
use super::model::{Asked, File, Look, Rule};

/// What the files amount to, taken together.
pub(crate) struct Effective<'a> {
    /// Strongest first.
    files: Vec<&'a File>,
    profile: Profile,
    mode: Decision,
    read_only: bool,
    writes_ask: bool,
    execute_asks: bool,
    complex_asks: bool,
    restricted: bool,
    /// Each is a boundary of its own; with it, whether it comes from the workspace.
    boundaries: Vec<(bool, &'a [&'static str])>,
    stances: [Stance; 26],
}

/// The profiles: plain (files, but no `profile`), dev, balanced, prod.
/// `.` nothing is said, `a` allow, `f` fenced, `?` ask, `x` deny.
const PROFILES: &[(Class, &str)] = &[
    (Class::ReadWorkspace, ".aaa"),
    (Class::ReadTemporary, ".aaa"),
    (Class::ReadSystem, ".aaa"),
    (Class::ReadOutside, ".??x"),
    (Class::Credentials, "xxxx"),
    (Class::WriteWorkspace, ".aa?"),
    (Class::WriteTemporary, ".aa?"),
    (Class::WriteProtected, "???x"),
    (Class::WriteOutside, ".?xx"),
    (Class::WriteSystem, "xxxx"),
    (Class::Delete, ".aa?"),
    (Class::DeleteGenerated, ".a??"),
    (Class::DeleteRecursive, ".??x"),
    (Class::ConnectLocal, ".aaa"),
    (Class::ConnectService, ".a?x"),
    (Class::Connect, ".??x"),
    (Class::Exfiltrate, "xxxx"),
    (Class::Run, ".ff?"),
    (Class::Code, ".f??"),
    (Class::CodeUnresolved, "??xx"),
    (Class::CodeNetwork, "xxxx"),
    (Class::Privilege, ".xxx"),
    (Class::System, "xxxx"),
    (Class::History, ".??x"),
    (Class::Environment, "???x"),
    (Class::Unknown, "?f??"),
];

fn profile_stance(profile: Profile, class: Class) -> Stance {
    let column = match profile {
        Profile::Plain => 0,
        Profile::Dev => 1,
        Profile::Balanced => 2,
        Profile::Prod => 3,
    };
    let (_, row) = PROFILES.iter().find(|(known, _)| *known == class).unwrap();
    match row.as_bytes()[column] {
        b'a' => Stance::Allow,
        b'f' => Stance::Fenced,
        b'?' => Stance::Ask,
        b'x' => Stance::Deny,
        _ => Stance::Unset,
    }
}

impl<'a> Effective<'a> {
    pub(crate) fn of(all: &'a [File]) -> Effective<'a> {
        let mut files: Vec<&File> = all.iter().collect();
        files.sort_by_key(|file| Reverse(file.origin));
        let trusted = || files.iter().filter(|file| file.origin != Some(Origin::Workspace));
        // Flags and the workspace's file adjust a configuration; they do not make one.
        let any_file = trusted().any(|file| file.origin != Some(Origin::Flags));
        let profile = trusted().find_map(|file| file.profile).unwrap_or(if any_file {
            Profile::Plain
        } else {
            Profile::Dev
        });
        let judged_by_part = matches!(profile, Profile::Dev | Profile::Balanced);
        let mut stances = Class::ALL.map(|class| profile_stance(profile, class));
        for (class, stance) in files.iter().rev().flat_map(|file| &file.effects) {
            stances[*class as usize] = *stance;
        }
        // The workspace adds boundaries; of the others the strongest one's holds.
        let mut boundaries = Vec::new();
        boundaries.extend(trusted().find_map(|file| file.allowed_paths.as_deref()).map(|set| (false, set)));
        for file in files.iter().filter(|file| file.origin == Some(Origin::Workspace)) {
            boundaries.extend(file.allowed_paths.as_deref().map(|set| (true, set)));
        }
        Effective {
            mode: files.iter().find_map(|file| file.mode).unwrap_or(Decision::Ask),
            read_only: files.iter().find_map(|file| file.read_only).unwrap_or(false),
            writes_ask: files.iter().find_map(|file| file.writes_ask).unwrap_or(false),
            execute_asks: files.iter().find_map(|file| file.execute_asks).unwrap_or(false),
            complex_asks: files.iter().find_map(|file| file.complex_asks).unwrap_or(!judged_by_part),
            restricted: files.iter().find_map(|file| file.restricted).unwrap_or(profile != Profile::Plain),
            files,
            profile,
            boundaries,
            stances,
        }
    }

    /// The whole order.
    pub(crate) fn rule(&self, asked: &Asked) -> (Decision, Step) {
        let (decision, step) = self.order(asked);
        if decision != Decision::Deny
            && asked.category == Category::Exec
            && !asked.fence.holds()
            && self.fence_is_demanded(asked)
        {
            return (Decision::Deny, step);
        }
        (decision, step)
    }

    fn order(&self, asked: &Asked) -> (Decision, Step) {
        use Decision::{Allow, Ask, Deny};
        let exec = asked.category == Category::Exec;
        let effects = || asked.analysis.parts.iter().flat_map(|part| &part.effects);
        if self.read_only && !only_reads(asked) {
            return (Deny, Step::ReadOnly);
        }
        if self.any(|file| file.tool_denylist.contains(&asked.tool))
            || self
                .parts(asked)
                .iter()
                .any(|part| self.verdicts(asked, part).any(|(_, rule)| rule.action == Some(Deny)))
        {
            return (Deny, Step::DenyRules);
        }
        if effects().any(|effect| self.path_is_denied(effect)) {
            return (Deny, Step::Paths);
        }
        let listed = |part: &Part| {
            self.command_verdicts(part).any(|decision| decision == Deny)
                || self.any(|file| {
                    file.denylist.iter().chain(&file.denied_commands).any(|entry| names(entry, part))
                })
        };
        if exec && asked.analysis.parts.iter().any(listed) {
            return (Deny, Step::Commands);
        }
        if effects().any(|effect| self.stance(effect) == Some(Stance::Deny)) {
            return (Deny, Step::Commands);
        }
        if self.mode == Deny {
            return (Deny, Step::ModeDeny);
        }
        match &asked.engine {
            Consultation::Failed(_) => return (Deny, Step::Engine),
            Consultation::Answered(answer) if answer.decision != Allow => {
                return (answer.decision, Step::Engine);
            }
            Consultation::Answered(_) | Consultation::NotConfigured | Consultation::NotContacted => {}
        }
        if asked.escalated || (asked.sandbox == Sandbox::None && self.restricted) {
            return (Ask, Step::Escalation);
        }
        if exec && !self.boundaries.is_empty() && !asked.fence.holds_paths {
            return (Ask, Step::Boundary);
        }
        let unknown = effects().any(|effect| matches!(effect, Effect::Unknown(_)));
        if (self.complex_asks && asked.analysis.complex.is_some())
            || (unknown
                && asked.category != Category::Custom
                && !(self.stances[Class::Unknown as usize] == Stance::Fenced && fence_counts(asked)))
        {
            return (Ask, Step::Unknown);
        }
        let writes = |effect: &Effect| match effect {
            Effect::Write(target) | Effect::Delete { target, .. } => target.place != Place::Nowhere,
            Effect::History(_) => true,
            _ => false,
        };
        if self.parts(asked).iter().any(|part| self.part_asks(asked, part))
            || (self.writes_ask && (asked.category == Category::Write || effects().any(writes)))
            || (self.execute_asks && matches!(asked.category, Category::Exec | Category::Stdin))
        {
            return (Ask, Step::AskRules);
        }
        if self.allows(asked) {
            return (Allow, Step::AllowRules);
        }
        // What may happen only behind a fence is asked about without one, whatever the mode.
        let fenced =
            |part: &Part| part.effects.iter().any(|effect| self.stance(effect) == Some(Stance::Fenced));
        let parts = &asked.analysis.parts;
        let unheld =
            parts.iter().any(|part| fenced(part) && !self.part_passes(asked, part)) && !fence_counts(asked);
        if self.mode == Allow && asked.category != Category::Custom && !unheld {
            return (Allow, Step::ModeAllow);
        }
        (Ask, Step::Otherwise)
    }

    fn any(&self, holds: impl Fn(&File) -> bool) -> bool {
        self.files.iter().any(|file| holds(file))
    }

    /// What rules are held against: a call without parts is one that does nothing.
    fn parts(&self, asked: &Asked) -> Vec<Part> {
        if !asked.analysis.parts.is_empty() {
            return asked.analysis.parts.clone();
        }
        vec![Part {
            span: None,
            text: String::new(),
            argv: None,
            normal: Normal::default(),
            via: Vec::new(),
            effects: Vec::new(),
        }]
    }

    /// The first matching rule of each origin, strongest first.
    fn verdicts<'b>(&'b self, asked: &'b Asked, part: &'b Part) -> impl Iterator<Item = (Origin, &'b Rule)> {
        self.files.iter().filter_map(move |file| {
            let rule = file.rules.iter().find(|rule| matches(rule, asked, part))?;
            Some((file.origin.unwrap(), rule))
        })
    }

    /// The first matching command rule of each origin.
    fn command_verdicts<'b>(&'b self, part: &'b Part) -> impl Iterator<Item = Decision> {
        self.files.iter().filter_map(move |file| {
            let hit = |look: Look, decision| match look {
                Look::Meaning(entry) if decision == Decision::Allow => covers(entry, part),
                Look::Meaning(entry) => names(entry, part),
                Look::Text(search) => search.finds(&part.text),
            };
            file.command_rules.iter().find(|rule| hit(rule.look, rule.decision)).map(|rule| rule.decision)
        })
    }

    /// The rule that decides between ask and allow: that of the strongest origin.
    fn deciding<'b>(&'b self, asked: &'b Asked, part: &'b Part) -> Option<&'b Rule> {
        self.verdicts(asked, part).next().map(|(_, rule)| rule)
    }

    fn path_is_denied(&self, effect: &Effect) -> bool {
        let Some((target, writes)) = touched(effect) else { return false };
        target.place == Place::Credential
            || self.any(|file| {
                file.denied_paths.iter().any(|pattern| glob(pattern, &target.path))
                    || path_rule(file, target)
                        .is_some_and(|rule| !(if writes { rule.write } else { rule.read }))
            })
            || self.boundaries.iter().any(|(_, set)| !set.iter().any(|pattern| glob(pattern, &target.path)))
    }

    /// What holds for an effect; `None`: it touches nothing.
    fn stance(&self, effect: &Effect) -> Option<Stance> {
        let class = effect.class()?;
        let stance = self.stances[class as usize];
        if let (Effect::Connect(connection), Class::Connect | Class::ConnectService) = (effect, class)
            && let Peer::Host(name) | Peer::Service(name) = &connection.peer
            && self.any(|file| file.hosts.iter().any(|pattern| host(pattern, name)))
        {
            return Some(Stance::Allow);
        }
        if let (Stance::Ask | Stance::Fenced, Class::ReadOutside | Class::WriteOutside, Some((target, _))) =
            (stance, class, touched(effect))
            && self.profile != Profile::Plain
        {
            let inside = |set: &[&str]| set.iter().any(|pattern| glob(pattern, &target.path));
            let ruled =
                |file: &File| file.origin != Some(Origin::Workspace) && path_rule(file, target).is_some();
            if self.any(ruled) || self.boundaries.iter().any(|(workspace, set)| !workspace && inside(set)) {
                return Some(Stance::Allow);
            }
        }
        Some(stance)
    }

    fn part_asks(&self, asked: &Asked, part: &Part) -> bool {
        let deciding = self.deciding(asked, part);
        let rule_asks = deciding.is_some_and(|rule| rule.action == Some(Decision::Ask))
            || self
                .verdicts(asked, part)
                .any(|(origin, rule)| origin == Origin::Workspace && rule.action == Some(Decision::Ask));
        let lifted = self.lifted(asked, part);
        rule_asks
            || (asked.category == Category::Exec
                && self.command_verdicts(part).any(|said| said == Decision::Ask))
            || part.effects.iter().any(|effect| {
                !matches!(effect, Effect::Unknown(_))
                    && self.stance(effect) == Some(Stance::Ask)
                    && !effect.class().is_some_and(|class| lifted.contains(&class))
            })
    }

    /// Classes that the allow rules of the deciding origin speak of, down to its first rule that does not allow.
    fn lifted(&self, asked: &Asked, part: &Part) -> Vec<Class> {
        let decides = |file: &&&File| file.rules.iter().any(|rule| matches(rule, asked, part));
        let Some(file) = self.files.iter().find(decides) else { return Vec::new() };
        let matching = file.rules.iter().filter(|rule| matches(rule, asked, part));
        let allowing = matching.take_while(|rule| rule.action == Some(Decision::Allow));
        allowing.flat_map(|rule| rule.effects.clone()).collect()
    }

    fn allows(&self, asked: &Asked) -> bool {
        let by_rule =
            |part: &Part| self.deciding(asked, part).is_some_and(|rule| rule.action == Some(Decision::Allow));
        if asked.category == Category::Custom {
            return self.any(|file| file.tool_allowlist.contains(&asked.tool))
                || self.parts(asked).iter().all(by_rule);
        }
        let exec = asked.category == Category::Exec;
        if asked.analysis.parts.is_empty() {
            return !exec;
        }
        asked.analysis.parts.iter().all(|part| self.part_passes(asked, part))
    }

    fn part_passes(&self, asked: &Asked, part: &Part) -> bool {
        let by_rule = self.deciding(asked, part).is_some_and(|rule| rule.action == Some(Decision::Allow));
        let listed = || {
            self.command_verdicts(part).any(|said| said == Decision::Allow)
                || self.any(|file| file.allowlist.iter().any(|entry| covers(entry, part)))
        };
        by_rule || (asked.category == Category::Exec && listed()) || self.effects_pass(asked, part)
    }

    fn effects_pass(&self, asked: &Asked, part: &Part) -> bool {
        let stances: Vec<(&Effect, Stance)> =
            part.effects.iter().filter_map(|effect| Some((effect, self.stance(effect)?))).collect();
        if stances.is_empty() {
            return !(asked.category == Category::Exec && self.profile == Profile::Plain);
        }
        let readable = [Some(Class::ReadWorkspace), Some(Class::ReadTemporary), Some(Class::ReadSystem)];
        stances.iter().all(|(effect, stance)| match stance {
            Stance::Allow => true,
            Stance::Fenced => fence_counts(asked),
            Stance::Unset => asked.category == Category::Read && readable.contains(&effect.class()),
            Stance::Ask | Stance::Deny => false,
        })
    }

    fn fence_is_demanded(&self, asked: &Asked) -> bool {
        let by_engine = matches!(&asked.engine, Consultation::Answered(answer)
            if answer.obligations.contains(&Obligation::Sandbox));
        by_engine
            || self
                .parts(asked)
                .iter()
                .any(|part| self.verdicts(asked, part).any(|(_, rule)| rule.require_sandbox))
    }
}

fn fence_counts(asked: &Asked) -> bool {
    asked.fence.holds() && matches!(asked.category, Category::Exec | Category::Stdin)
}

fn only_reads(asked: &Asked) -> bool {
    matches!(asked.category, Category::Read | Category::Human | Category::None)
        && asked
            .analysis
            .parts
            .iter()
            .flat_map(|part| &part.effects)
            .all(|effect| effect.class().is_none() || matches!(effect, Effect::Read(_)))
}
