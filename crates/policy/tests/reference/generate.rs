//! Random configurations and questions over a small alphabet, so that rules and calls meet often.

use call::{Category, Sandbox};
use effects::{
    Analysis, Carries, Class, Connection, Effect, Normal, Origin as CodeOrigin, Part, Peer, Place, Target,
    normalize,
};
use policy::{Answer, Consultation, Decision, Fence, Obligation, Origin, Profile, Stance};

use super::model::{Asked, CommandRule, File, Look, PathRule, Rule, Search};

/// A small generator (splitmix64): the same seed gives the same cases on every machine.
#[derive(Debug, Clone)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(limit).unwrap()).unwrap()
    }

    /// True once in so many times.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn some<T: Copy>(&mut self, once_in: usize, from: &[T]) -> Vec<T> {
        if !self.once_in(once_in) {
            return Vec::new();
        }
        (0..=self.below(2)).map(|_| self.pick(from)).collect()
    }

    fn maybe<T: Copy>(&mut self, once_in: usize, from: &[T]) -> Option<T> {
        self.once_in(once_in).then(|| self.pick(from))
    }
}

/// How many cases a run has: more at night, by the environment.
pub(crate) fn cases(ordinary: usize) -> usize {
    #[expect(clippy::disallowed_methods, reason = "a long run is asked for by name")]
    let wanted = std::env::var("BAILIWICK_CASES").ok();
    wanted.map_or(ordinary, |text| text.parse().unwrap())
}

/// The seed of a run: printed, and taken from the environment where it is set there.
pub(crate) fn seed() -> u64 {
    #[expect(clippy::disallowed_methods, reason = "a test is repeated by giving it its seed")]
    let wanted = std::env::var("BAILIWICK_SEED").ok();
    let seed = wanted.map_or(0xBA11_1F1C, |text| text.parse().unwrap());
    println!("BAILIWICK_SEED={seed}");
    seed
}

pub(crate) const TOOLS: &[(&str, Category)] = &[
    ("shell_exec", Category::Exec),
    ("shell_command", Category::Exec),
    ("exec_command", Category::Exec),
    ("write_stdin", Category::Stdin),
    ("file_read", Category::Read),
    ("grep_files", Category::Read),
    ("file_write", Category::Write),
    ("apply_patch", Category::Write),
    ("ask_human", Category::Human),
    ("update_plan", Category::None),
    ("web_search", Category::Connect),
    ("spawn_agent", Category::Agent),
    ("deploy", Category::Custom),
    ("mcp__db__query", Category::Custom),
];
const NAMED_TOOLS: &[&str] =
    &["shell_exec", "Bash", "file_read", "file_write", "update_plan", "web_search", "deploy", "query"];
pub(crate) const COMMANDS: &[&str] = &[
    "cat src/a.rs",
    "git status",
    "git push --force origin",
    "rm -r -f build",
    "rm notes",
    "pytest -q",
    "cargo test",
    "curl api",
    "apt install x",
];
pub(crate) const ENTRIES: &[&str] = &[
    "cat",
    "git",
    "git push",
    "git push --force",
    "rm -r",
    "rm -r -f",
    "rm notes",
    "pytest",
    "cargo test",
    "cargo build",
    "curl",
    "sudo",
    "sudo apt",
    "env",
    "timeout",
    "apt",
];
const WRAPPERS: &[&[&str]] = &[&["sudo"], &["env"], &["timeout", "env"], &["/usr/bin/sudo"]];
const TEXTS: &[Search] = &[
    Search::Starts("git push"),
    Search::Starts("cat "),
    Search::Contains("force"),
    Search::Contains("build"),
    Search::Ends("test"),
    Search::Ends("notes"),
];
pub(crate) const PATHS: &[(&str, Place)] = &[
    ("/w/app/src/a.rs", Place::Workspace),
    ("/w/app/docs/b.md", Place::Workspace),
    ("/w/app", Place::Vital),
    ("/w/app/target/x", Place::Generated),
    ("/w/app/.git/hooks/pre-push", Place::Protected),
    ("/tmp/t1", Place::Temporary),
    ("/etc/hosts", Place::System),
    ("/home/u/other/n.md", Place::Outside),
    ("/srv/data/d.csv", Place::Outside),
    ("/home/u/.ssh/id_rsa", Place::Credential),
    ("/dev/null", Place::Nowhere),
];
pub(crate) const GLOBS: &[&str] = &[
    "<cwd>/**",
    "/w/app/src/**",
    "~/**",
    "/srv/**",
    "/tmp/**",
    "/etc/*",
    "**/*.md",
    "/srv/data/d.csv",
    "/**",
];
const PATH_TEXTS: &[Search] =
    &[Search::Starts("/w/app/"), Search::Starts("/srv"), Search::Ends("md"), Search::Contains("src")];
const HOSTS: &[&str] = &["example.com", "api.example.com", "evil.test"];
const HOST_PATTERNS: &[&str] = &["example.com", "*.example.com", "evil.test", "github.com"];
const DECISIONS: &[Decision] = &[Decision::Allow, Decision::Ask, Decision::Deny];
const STRICT: &[Decision] = &[Decision::Ask, Decision::Deny];
const SWITCH: &[bool] = &[false, true];
/// Classes that a configuration may both tighten and loosen.
pub(crate) const CLASSES: &[Class] = &[
    Class::ReadWorkspace,
    Class::ReadTemporary,
    Class::ReadSystem,
    Class::ReadOutside,
    Class::WriteWorkspace,
    Class::WriteTemporary,
    Class::WriteProtected,
    Class::WriteOutside,
    Class::WriteSystem,
    Class::Delete,
    Class::DeleteGenerated,
    Class::DeleteRecursive,
    Class::ConnectLocal,
    Class::ConnectService,
    Class::Connect,
    Class::Run,
    Class::Code,
    Class::CodeUnresolved,
    Class::Privilege,
    Class::System,
    Class::History,
    Class::Environment,
    Class::Unknown,
];

/// Files of up to three origins. Every one is valid: a workspace file only tightens.
pub(crate) fn files(dice: &mut Dice) -> Vec<File> {
    let mut made = Vec::new();
    for origin in [Origin::Managed, Origin::User, Origin::Workspace, Origin::Given, Origin::Flags] {
        if dice.once_in(3) {
            made.push(if origin == Origin::Workspace { workspace(dice) } else { trusted(dice, origin) });
        }
    }
    made
}

fn trusted(dice: &mut Dice, origin: Origin) -> File {
    File {
        origin: Some(origin),
        profile: dice.maybe(2, &[Profile::Dev, Profile::Dev, Profile::Balanced, Profile::Prod]),
        mode: dice.maybe(3, &[Decision::Allow, Decision::Allow, Decision::Ask, Decision::Deny]),
        allowlist: dice.some(3, ENTRIES),
        denylist: dice.some(6, ENTRIES),
        denied_commands: dice.some(8, ENTRIES),
        tool_allowlist: dice.some(3, &["deploy", "mcp__db__query", "file_read"]),
        tool_denylist: dice.some(10, &["deploy", "file_write", "shell_exec"]),
        read_only: dice.maybe(12, SWITCH),
        allowed_paths: dice.once_in(6).then(|| (0..3).map(|_| dice.pick(GLOBS)).collect()),
        denied_paths: dice.some(10, GLOBS),
        path_rules: path_rules(dice),
        command_rules: command_rules(dice, DECISIONS),
        writes_ask: dice.maybe(8, SWITCH),
        execute_asks: dice.maybe(8, SWITCH),
        complex_asks: dice.maybe(3, SWITCH),
        effects: stances(dice, &[Stance::Allow, Stance::Allow, Stance::Fenced, Stance::Ask, Stance::Deny]),
        rules: rules(dice, DECISIONS),
        restricted: dice.maybe(4, SWITCH),
        hosts: dice.some(4, HOST_PATTERNS),
    }
}

/// Only what cannot loosen, whatever the other files say.
fn workspace(dice: &mut Dice) -> File {
    File {
        origin: Some(Origin::Workspace),
        mode: dice.maybe(12, &[Decision::Deny]),
        denylist: dice.some(5, ENTRIES),
        denied_commands: dice.some(8, ENTRIES),
        tool_denylist: dice.some(10, &["deploy", "file_write", "shell_exec"]),
        read_only: dice.maybe(20, &[true]),
        allowed_paths: dice.once_in(5).then(|| (0..3).map(|_| dice.pick(GLOBS)).collect()),
        denied_paths: dice.some(8, GLOBS),
        path_rules: path_rules(dice),
        command_rules: command_rules(dice, STRICT),
        writes_ask: dice.maybe(8, &[true]),
        execute_asks: dice.maybe(8, &[true]),
        complex_asks: dice.maybe(5, &[true]),
        effects: stances(dice, &[Stance::Deny]),
        rules: rules(dice, STRICT),
        restricted: dice.maybe(6, &[true]),
        ..File::default()
    }
}

fn path_rules(dice: &mut Dice) -> Vec<PathRule> {
    let count = if dice.once_in(5) { 1 + dice.below(2) } else { 0 };
    (0..count)
        .map(|_| PathRule { pattern: dice.pick(GLOBS), read: !dice.once_in(4), write: dice.once_in(2) })
        .collect()
}

fn command_rules(dice: &mut Dice, decisions: &[Decision]) -> Vec<CommandRule> {
    let count = if dice.once_in(4) { 1 + dice.below(2) } else { 0 };
    (0..count)
        .map(|_| CommandRule {
            look: if dice.once_in(2) {
                Look::Meaning(dice.pick(ENTRIES))
            } else {
                Look::Text(dice.pick(TEXTS))
            },
            decision: dice.pick(decisions),
        })
        .collect()
}

fn stances(dice: &mut Dice, from: &[Stance]) -> Vec<(Class, Stance)> {
    let count = if dice.once_in(2) { 1 + dice.below(6) } else { 0 };
    let mut made: Vec<(Class, Stance)> = Vec::new();
    for _ in 0..count {
        let class = dice.pick(CLASSES);
        let stance = dice.pick(from);
        // Nobody can allow what is not known.
        let stance = if class == Class::Unknown && stance == Stance::Allow { Stance::Fenced } else { stance };
        if made.iter().all(|(known, _)| *known != class) {
            made.push((class, stance));
        }
    }
    made
}

fn rules(dice: &mut Dice, actions: &[Decision]) -> Vec<Rule> {
    let count = if dice.once_in(2) { 1 + dice.below(3) } else { 0 };
    (0..count).map(|_| rule(dice, actions)).collect()
}

/// A rule with one to three conditions.
pub(crate) fn rule(dice: &mut Dice, actions: &[Decision]) -> Rule {
    let mut rule =
        Rule { action: Some(dice.pick(actions)), require_sandbox: dice.once_in(12), ..Rule::default() };
    for _ in 0..=dice.below(2) {
        match dice.below(12) {
            0 | 1 => rule.tools = vec![dice.pick(NAMED_TOOLS), dice.pick(NAMED_TOOLS)],
            2 | 3 => rule.commands = vec![dice.pick(ENTRIES), dice.pick(ENTRIES)],
            4 => rule.contains = vec![dice.pick(ENTRIES)],
            5 => rule.command_patterns = vec![dice.pick(TEXTS)],
            6 => rule.path_patterns = vec![dice.pick(PATH_TEXTS)],
            7 => rule.effects = vec![dice.pick(&Class::ALL), dice.pick(&Class::ALL), dice.pick(&Class::ALL)],
            8 => rule.hosts = vec![dice.pick(HOST_PATTERNS)],
            9 => rule.hosts_except = vec![dice.pick(HOST_PATTERNS)],
            10 => rule.outside_workspace = Some(dice.pick(SWITCH)),
            _ => match dice.below(3) {
                0 => rule.over_wall_ms = Some(30_000),
                1 => rule.over_memory_mb = Some(512),
                _ => rule.unfenced = Some(dice.pick(SWITCH)),
            },
        }
    }
    rule
}

/// A question about one of the tools.
pub(crate) fn asked(dice: &mut Dice) -> Asked {
    let (tool, category) = if dice.once_in(2) { dice.pick(&TOOLS[..3]) } else { dice.pick(TOOLS) };
    let exec = category == Category::Exec;
    let mut parts: Vec<Part> = Vec::new();
    let count = if dice.once_in(10) {
        0
    } else if exec {
        dice.pick(&[1, 1, 1, 2, 3])
    } else {
        1
    };
    for _ in 0..count {
        parts.push(part(dice, category));
    }
    let text = parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join(" && ");
    let complex = (exec && (count > 1 || dice.once_in(10))).then_some("it is a shell program");
    let holds = dice.once_in(2);
    Asked {
        tool,
        category,
        text: exec.then_some(text),
        analysis: Analysis { parts, complex, ..Analysis::default() },
        sandbox: dice.pick(&[Sandbox::Inherit, Sandbox::Inherit, Sandbox::Restricted, Sandbox::None]),
        escalated: dice.once_in(12),
        wall_ms: dice.maybe(3, &[1_000, 30_000, 60_000]),
        memory_mb: dice.maybe(3, &[64, 512, 4_096]),
        fence: Fence {
            name: "test",
            holds_paths: holds || dice.once_in(4),
            holds_network: holds || dice.once_in(4),
            lacks: None,
        },
        engine: engine(dice),
    }
}

fn engine(dice: &mut Dice) -> Consultation {
    match dice.below(16) {
        0 => Consultation::Failed("it is silent".into()),
        1 | 2 => Consultation::Answered(Answer {
            decision: dice.pick(DECISIONS),
            reason: "it says so".into(),
            obligations: dice.maybe(2, &Obligation::ALL).into_iter().collect(),
        }),
        3 => Consultation::NotContacted,
        _ => Consultation::NotConfigured,
    }
}

fn part(dice: &mut Dice, category: Category) -> Part {
    let count = dice.pick(&[0, 1, 1, 1, 2, 3]);
    let effects = (0..count).map(|_| effect(dice, category)).collect();
    if category != Category::Exec {
        let normal = Normal::default();
        return Part { span: None, text: String::new(), argv: None, normal, via: Vec::new(), effects };
    }
    let text = dice.pick(COMMANDS);
    let words: Vec<&str> = text.split(' ').collect();
    let via = dice.maybe(5, WRAPPERS).unwrap_or_default();
    Part {
        span: None,
        text: text.into(),
        argv: Some(words.iter().map(ToString::to_string).collect()),
        normal: normalize(&words),
        via: via.iter().map(ToString::to_string).collect(),
        effects,
    }
}

fn effect(dice: &mut Dice, category: Category) -> Effect {
    let (path, place) = if dice.once_in(2) { dice.pick(&PATHS[..6]) } else { dice.pick(PATHS) };
    let target = Target { path: path.into(), given: None, place };
    let kind = match category {
        Category::Read if !dice.once_in(6) => 0,
        Category::Write if !dice.once_in(6) => 2,
        Category::Connect if !dice.once_in(6) => 5,
        _ => dice.below(18),
    };
    match kind {
        0 | 1 => Effect::Read(target),
        2 | 3 => Effect::Write(target),
        4 => Effect::Delete { target, recursive: dice.once_in(2) },
        5..=7 => Effect::Connect(Connection {
            peer: match dice.below(6) {
                0 => Peer::Loopback,
                1 => Peer::Service("github.com".into()),
                2 => Peer::Unnamed,
                _ => Peer::Host(dice.pick(HOSTS).into()),
            },
            carries: dice.pick(&[Carries::Query, Carries::Query, Carries::Data, Carries::Secret]),
        }),
        8 | 9 => Effect::Run { program: "pytest".into() },
        10 | 11 => Effect::Code {
            language: "python",
            origin: dice.pick(&[
                CodeOrigin::Written,
                CodeOrigin::Written,
                CodeOrigin::Unresolved,
                CodeOrigin::Network,
            ]),
        },
        12 => Effect::Privilege("sudo".into()),
        13 => Effect::System("a service".into()),
        14 => Effect::History("a branch".into()),
        15 => Effect::Environment("LD_PRELOAD".into()),
        _ => Effect::Unknown("a word".into()),
    }
}
