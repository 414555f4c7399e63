//! The files of the systems that Bailiwick follows load unchanged and mean what their documents say they mean.

#![expect(clippy::panic, reason = "helpers of a test may fail as the test itself may")]

use call::{Category, Sandbox};
use effects::{
    Analysis, Carries, Connection, Effect, Origin as CodeOrigin, Part, Peer, Place, Target, normalize,
};
use policy::Decision::{Allow, Ask, Deny};
use policy::{
    Base, Config, ConfigError, Consultation, Decision, Fence, Layer, Origin, Question, Ruling, Step,
};

const PROJECT: &str = "/home/user/project";

fn merge(texts: &[&str]) -> Result<Config, ConfigError> {
    let base = Base { cwd: PROJECT.into(), home: Some("/home/user".into()) };
    let layer = |text: &&str| Layer::parse(Origin::User, "sample", text);
    Config::merge(texts.iter().map(layer).collect::<Result<_, _>>()?, &base)
}

fn load(texts: &[&str]) -> Config {
    merge(texts).unwrap_or_else(|error| panic!("{error}\n{texts:#?}"))
}

/// A call, with what decides left open.
#[derive(Clone)]
struct Call {
    tool: &'static str,
    category: Category,
    parts: Vec<Part>,
    escalated: bool,
    sandbox: Sandbox,
    fence: Fence,
    wall_ms: u64,
    memory_mb: u64,
}

const HOLDS: Fence = Fence { name: "linux", holds_paths: true, holds_network: true, lacks: None };

fn call(tool: &'static str, category: Category, parts: Vec<Part>) -> Call {
    Call {
        tool,
        category,
        parts,
        escalated: false,
        sandbox: Sandbox::Inherit,
        fence: HOLDS,
        wall_ms: 1_000,
        memory_mb: 64,
    }
}

fn part(text: &str, effects: Vec<Effect>) -> Part {
    let words: Vec<&str> = text.split_whitespace().collect();
    // What a wrapper runs is judged as itself; the wrapper is remembered.
    let (via, words) = match words.split_first() {
        Some((&"sudo", rest)) if !rest.is_empty() => (vec!["sudo".into()], rest),
        _ => (Vec::new(), words.as_slice()),
    };
    Part {
        span: None,
        text: text.into(),
        argv: Some(words.iter().map(ToString::to_string).collect()),
        normal: normalize(words),
        via,
        effects,
    }
}

/// A shell call: commands joined by `&&`, none with an effect of its own.
fn shell(text: &str) -> Call {
    call(
        "shell_command",
        Category::Exec,
        text.split(" && ").map(|command| part(command, Vec::new())).collect(),
    )
}

fn does(text: &str, effect: Effect) -> Call {
    call("shell_command", Category::Exec, vec![part(text, vec![effect])])
}

fn target(path: &str, place: Place) -> Target {
    Target { path: path.into(), given: None, place }
}

fn file(tool: &'static str, path: &str, place: Place) -> Call {
    let (category, effect) = match tool {
        "file_write" | "apply_patch" => (Category::Write, Effect::Write(target(path, place))),
        _ => (Category::Read, Effect::Read(target(path, place))),
    };
    call(tool, category, vec![part("", vec![effect])])
}

fn connect(host: &str) -> Effect {
    Effect::Connect(Connection { peer: Peer::Host(host.into()), carries: Carries::Query })
}

impl Call {
    fn fence(mut self, holds_paths: bool, holds_network: bool) -> Call {
        self.fence = Fence { name: "other", holds_paths, holds_network, lacks: None };
        self
    }

    fn under(&self, config: &Config) -> Ruling {
        let text = self.parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join(" && ");
        let analysis = Analysis {
            complex: (self.parts.len() > 1).then_some("commands are joined"),
            parts: self.parts.clone(),
            ..Analysis::default()
        };
        config.rule(&Question {
            arguments: None,
            tool: self.tool,
            category: self.category,
            text: (self.category == Category::Exec).then_some(text.as_str()),
            analysis: &analysis,
            sandbox: self.sandbox,
            escalated: self.escalated,
            wall_ms: Some(self.wall_ms),
            memory_mb: Some(self.memory_mb),
            fence: &self.fence,
            engine: &Consultation::NotConfigured,
        })
    }
}

#[track_caller]
fn check(config: &Config, rows: &[(&str, Call, Decision)]) {
    for (what, call, expected) in rows {
        let ruling = call.under(config);
        assert_eq!(ruling.decision, *expected, "{what}: {:?}, {}", ruling.step, ruling.reason);
    }
}

// ------------------------------------------------------------------------------------- skills-runtime (seeds 000, 001)

const MINIMAL: &str = "safety:
  mode: ask
  allowlist:
    - \"pytest\"
    - \"rg\"
    - \"cat\"
  denylist:
    - \"sudo\"
    - \"rm -rf\"
";

const GATEKEEPER: &str = "safety:
  mode: \"ask\"
  allowlist: [\"ls\", \"pwd\", \"cat\", \"rg\"]
  denylist: [\"sudo\", \"rm -rf\", \"shutdown\", \"reboot\"]
  tool_allowlist: []          # custom tools allowlist (exact tool name match)
  tool_denylist: []           # custom tools denylist (exact tool name match)
  approval_timeout_ms: 60000
";

const CI_RUNNER: &str = "config_version: 1

safety:
  mode: \"ask\"
  # Keep this list short: frequent + safe.
  allowlist: [\"pwd\", \"ls\", \"cat\", \"rg\", \"pytest\"]
  # Always block obvious footguns early.
  denylist: [\"sudo\", \"rm -rf\", \"mkfs\", \"dd\", \"shutdown\", \"reboot\"]
  # If your ApprovalProvider is remote (HTTP/queue), keep a bounded wait.
  approval_timeout_ms: 5000

# Optional but recommended: restrict OS capabilities (fence).
sandbox:
  default_policy: \"restricted\"
  os:
    mode: \"auto\"

run:
  # If any human-facing input channel exists, bound it.
  human_timeout_ms: 3000
";

#[test]
fn the_yaml_samples_load_and_their_settings_hold() {
    for (text, wait, restricted) in
        [(MINIMAL, None, false), (GATEKEEPER, Some(60_000), false), (CI_RUNNER, Some(5_000), true)]
    {
        let config = load(&[text]);
        assert!(wait.is_none_or(|wait| config.approval_timeout_ms() == wait));
        assert_eq!(config.restricted(), restricted, "{text}");
        check(
            &config,
            &[
                ("an allowed command", shell("cat notes"), Allow),
                ("another one", shell("rg needle src"), Allow),
                ("one that is on no list", shell("python x.py"), Ask),
                ("a denied wrapper", shell("sudo ls"), Deny),
                ("a denied command", shell("rm -rf build"), Deny),
                ("an allowed one joined with a denied one", shell("cat a && rm -rf /"), Deny),
                ("a shell program is always asked about", shell("cat a && rg b"), Ask),
                ("a file that is read", file("file_read", "/home/user/project/a", Place::Workspace), Allow),
                ("a file that is written", file("file_write", "/home/user/project/a", Place::Workspace), Ask),
                ("a tool of one's own", call("deploy", Category::Custom, vec![part("", Vec::new())]), Ask),
            ],
        );
    }
    let config = load(&[CI_RUNNER]);
    assert_eq!((config.human_timeout_ms(), config.sandbox_mode().value.as_str()), (3_000, "auto"));
    check(
        &config,
        &[
            ("mkfs", shell("mkfs x"), Deny),
            ("reboot", shell("reboot"), Deny),
            ("pytest", shell("pytest -q"), Allow),
        ],
    );
}

#[test]
fn the_decision_tree_is_walked_from_its_root() {
    // denylist, then mode deny, then escalation, then allowlist, then mode allow, then ask.
    for (mode, command, escalated, expected, step) in [
        ("allow", "sudo x", true, Deny, Step::Commands),
        ("ask", "rm -rf x", false, Deny, Step::Commands),
        ("deny", "rm -rf x", false, Deny, Step::Commands),
        ("deny", "pytest -q", false, Deny, Step::ModeDeny),
        ("deny", "pytest -q", true, Deny, Step::ModeDeny),
        ("ask", "pytest -q", true, Ask, Step::Escalation),
        ("allow", "pytest -q", true, Ask, Step::Escalation),
        ("allow", "make", true, Ask, Step::Escalation),
        ("ask", "pytest -q", false, Allow, Step::AllowRules),
        ("allow", "pytest -q", false, Allow, Step::AllowRules),
        ("allow", "make", false, Allow, Step::ModeAllow),
        ("ask", "make", false, Ask, Step::Otherwise),
    ] {
        let config = load(&[&MINIMAL.replace("mode: ask", &format!("mode: {mode}"))]);
        for (tool, category) in
            [("shell_exec", Category::Exec), ("exec_command", Category::Exec), ("skill_exec", Category::Exec)]
        {
            let ruling = Call { tool, category, escalated, ..shell(command) }.under(&config);
            assert_eq!((ruling.decision, ruling.step), (expected, step), "{mode}, {command}, {escalated}");
        }
    }
}

#[test]
fn tools_of_ones_own_are_asked_about_unless_a_list_names_them_exactly() {
    let config = load(&["safety: {mode: ask, tool_allowlist: [lookup], tool_denylist: [deploy]}"]);
    let custom = |tool| call(tool, Category::Custom, vec![part("", Vec::new())]);
    check(
        &config,
        &[
            ("listed", custom("lookup"), Allow),
            ("denied", custom("deploy"), Deny),
            ("neither", custom("lookup2"), Ask),
        ],
    );
}

#[test]
fn a_call_that_leaves_the_fence_is_asked_about_where_the_default_is_restricted() {
    for (default, sandbox, expected) in [
        ("restricted", Sandbox::None, Ask),
        ("restricted", Sandbox::Inherit, Allow),
        ("restricted", Sandbox::Restricted, Allow),
        ("none", Sandbox::None, Allow),
        ("none", Sandbox::Inherit, Allow),
    ] {
        let config =
            load(&[&format!("{{safety: {{allowlist: [pytest]}}, sandbox: {{default_policy: {default}}}}}")]);
        check(&config, &[(default, Call { sandbox, ..shell("pytest") }, expected)]);
    }
}

// ------------------------------------------------------------------------------------------------------ Aar (seed 004)

const WIDER: &str = r#"{
  "safety": {
    "allowed_paths": ["<cwd>/**", "/home/user/shared/**"]
  }
}"#;

const REQUEST: &str = r#"{
  "prompt": "do something",
  "safety": {
    "read_only": true,
    "require_approval_for_writes": true
  }
}"#;

const FULL: &str = r#"{
  "provider": {
    "name": "anthropic",
    "model": "claude-sonnet-4-6"
  },
  "safety": {
    "read_only": false,
    "require_approval_for_writes": true,
    "require_approval_for_execute": true,
    "denied_paths": ["**/.env", "**/secrets/**"],
    "allowed_paths": ["/home/user/project/**"],
    "sandbox": {
      "mode": "auto",
      "linux":   { "workspace": "/home/user/project" },
      "windows": { "workspace": "C:/Users/user/project" }
    }
  },
  "max_steps": 30,
  "timeout": 120.0
}"#;

/// The other samples, which set up a fence, and the fence that each wants.
const FENCES: &[(&str, &str)] = &[
    (
        r#"{"safety": {"sandbox": {"mode": "linux", "linux": {"workspace": "/home/user/project", "max_memory_mb": 512}}}}"#,
        "linux",
    ),
    (
        r#"{"safety": {"sandbox": {"mode": "windows", "windows": {"workspace": "C:/Users/user/project", "max_memory_mb": 512, "max_processes": 10, "use_low_integrity": true}}}}"#,
        "windows",
    ),
    (r#"{"safety": {"sandbox": {"mode": "windows", "windows": { "use_low_integrity": false }}}}"#, "windows"),
    (
        r#"{"safety": {"sandbox": {"mode": "wsl", "wsl": {"profile": "~/.aar/distros/alpine-base.json"}}}}"#,
        "wsl",
    ),
    (
        r#"{
  "safety": {
    "sandbox": {
      "mode": "wsl",
      "wsl": {
        "distro": "aar-sandbox",
        "shell": "sh",
        "rootfs_url": "https://dl-cdn.alpinelinux.org/alpine/v3.23/releases/x86_64/alpine-minirootfs-3.23.0-x86_64.tar.gz",
        "pre_install_commands": [
          "grep -q community /etc/apk/repositories || echo 'https://dl-cdn.alpinelinux.org/alpine/latest-stable/community' >> /etc/apk/repositories && apk update -q"
        ],
        "packages": ["python3", "py3-pip", "nodejs", "npm"],
        "package_install_command": "apk add --no-cache {packages}",
        "system_prompt_hint": "Alpine Linux. Package manager: apk (NOT apt). Community repo enabled. You CAN run 'apk add <pkg>' to install packages."
      }
    }
  }
}"#,
        "wsl",
    ),
    (
        r#"{ "safety": { "sandbox": { "mode": "wsl", "wsl": { "profile": "~/.aar/distros/ubuntu.json" } } } }"#,
        "wsl",
    ),
    (
        r#"{"safety": {"sandbox": {"mode": "auto", "linux": { "workspace": "/home/user/project" }, "windows": { "workspace": "C:/Users/user/project" }}}}"#,
        "auto",
    ),
    (r#"{"safety": {"sandbox": { "mode": "local" }}}"#, "local"),
];

/// A distribution's settings, a file of their own.
const DISTRIBUTION: &str = r#"{
  "distro": "aar-ubuntu",
  "shell": "bash",
  "rootfs_url": "https://cloud-images.ubuntu.com/wsl/releases/24.04/current/ubuntu-noble-wsl-amd64-wsl.rootfs.tar.gz",
  "pre_install_commands": ["apt-get update -q"],
  "packages": ["python3", "python3-pip", "nodejs", "npm"],
  "package_install_command": "apt-get install -y {packages}",
  "system_prompt_hint": "Ubuntu 24.04. Package manager: apt. You CAN run 'apt-get install -y <pkg>' to install packages."
}"#;

#[test]
fn the_json_samples_load_and_their_settings_hold() {
    load(&[DISTRIBUTION]);
    for (text, mode) in FENCES {
        assert_eq!(load(&[text]).sandbox_mode().value, *mode, "{text}");
    }
    assert_eq!(load(&[FENCES.first().map_or("", |(text, _)| text)]).limits().memory_mb.value, 512);
    let inside = "/home/user/project/src/a";
    check(
        &load(&[WIDER]),
        &[
            ("inside", file("file_read", inside, Place::Workspace), Allow),
            ("the other directory", file("file_read", "/home/user/shared/x", Place::Outside), Ask),
            ("outside is denied, not asked about", file("file_read", "/srv/x", Place::Outside), Deny),
            ("outside, written", file("file_write", "/home/user/other", Place::Outside), Deny),
            ("outside, by a command", does("cat x", Effect::Read(target("/srv/x", Place::Outside))), Deny),
        ],
    );
    check(
        &load(&[REQUEST]),
        &[
            ("a read", file("file_read", inside, Place::Workspace), Allow),
            ("a write", file("file_write", inside, Place::Workspace), Deny),
            ("a command", shell("ls"), Deny),
        ],
    );
    check(
        &load(&[FULL]),
        &[
            ("a read", file("file_read", inside, Place::Workspace), Allow),
            ("a write", file("file_write", inside, Place::Workspace), Ask),
            ("a command", shell("ls"), Ask),
            ("a denied name", file("file_read", "/home/user/project/.env", Place::Workspace), Deny),
            ("a denied directory", file("file_read", "/home/user/project/secrets/x", Place::Workspace), Deny),
            ("outside", file("file_read", "/home/user/project2/a", Place::Outside), Deny),
        ],
    );
}

#[test]
fn the_hard_steps_come_in_their_order_and_no_approval_setting_softens_them() {
    let inside = "/home/user/project/a";
    let write = || file("file_write", inside, Place::Workspace);
    let asks = "require_approval_for_writes: true, require_approval_for_execute: true";
    for (settings, call, decision, step) in [
        ("read_only: true, denied_paths: ['**/a']", write(), Deny, Step::ReadOnly),
        ("path_rules: [{pattern: '**/a', allow_read: true, allow_write: false}]", write(), Deny, Step::Paths),
        (
            "path_rules: [{pattern: '**/a', allow_read: true, allow_write: true}, {pattern: '**', allow_read: false, allow_write: false}]",
            write(),
            Ask,
            Step::AskRules,
        ),
        ("denied_paths: ['**/a']", write(), Deny, Step::Paths),
        ("allowed_paths: ['/srv/**']", write(), Deny, Step::Paths),
        ("command_rules: [{pattern: make, decision: deny}]", shell("make all"), Deny, Step::Commands),
        (
            "command_rules: [{pattern: '^make', decision: deny, is_regex: true}]",
            shell("make all"),
            Deny,
            Step::Commands,
        ),
        (
            "command_rules: [{pattern: make, decision: allow}, {pattern: make, decision: deny}]",
            shell("make all"),
            Ask,
            Step::AskRules,
        ),
        ("denied_commands: ['make all']", shell("make all"), Deny, Step::Commands),
        ("denied_commands: ['make all']", shell("make"), Ask, Step::AskRules),
        ("mode: allow", write(), Ask, Step::AskRules),
        ("mode: allow", shell("ls"), Ask, Step::AskRules),
        ("mode: allow", file("file_read", inside, Place::Workspace), Allow, Step::AllowRules),
    ] {
        let ruling = call.under(&load(&[&format!("safety: {{{settings}, {asks}}}")]));
        assert_eq!((ruling.decision, ruling.step), (decision, step), "{settings}: {}", ruling.reason);
    }
    // Without approval settings nothing is left but the mode.
    check(
        &load(&["safety: {mode: allow}"]),
        &[("a write", write(), Allow), ("a command", shell("make"), Allow)],
    );
}

#[test]
fn a_boundary_that_the_fence_cannot_hold_forces_a_question_for_commands_only() {
    // (the fence, does it hold paths?): local and wsl do not, linux and windows do.
    for (fence, holds, forced) in
        [("local", false, true), ("wsl", false, true), ("linux", true, false), ("windows", true, false)]
    {
        for (boundary, expected) in [("allowed_paths: ['<cwd>/**'], ", forced), ("", false)] {
            let config = load(&[&format!("safety: {{{boundary}mode: allow, sandbox: {{mode: {fence}}}}}")]);
            let ruling = shell("make").fence(holds, false).under(&config);
            let expected = if expected { (Ask, Step::Boundary) } else { (Allow, Step::ModeAllow) };
            assert_eq!((ruling.decision, ruling.step), expected, "{fence}, {boundary}");
            let read = file("file_read", "/home/user/project/a", Place::Workspace).fence(holds, false);
            check(&config, &[("a file tool is held by the gate itself", read, Allow)]);
        }
    }
}

#[test]
fn built_in_denials_hold_in_an_empty_file() {
    let code = Effect::Code { language: "shell", origin: CodeOrigin::Network };
    check(
        &load(&[""]),
        &[
            ("keys", file("file_read", "/home/user/.ssh/id_rsa", Place::Credential), Deny),
            (
                "keys, by a command",
                does("cat k", Effect::Read(target("/home/user/.ssh/id_rsa", Place::Credential))),
                Deny,
            ),
            (
                "the root",
                does("rm -rf /", Effect::Delete { target: target("/", Place::Vital), recursive: true }),
                Deny,
            ),
            ("the machine", does("shutdown", Effect::System("power".into())), Deny),
            ("fetched and run", does("sh", code), Deny),
        ],
    );
}

// --------------------------------------------------------------------------------------------------- leashd (seed 002)

const LEASHD: &str = r"version: '1.0'
name: default
settings:
  default_action: require_approval
  approval_timeout_seconds: 300
rules:
  - name: credentials
    tools: [Read, Write, Edit]
    path_patterns: ['\.env($|\.(?!example|sample))', '/\.ssh/']
    action: deny
    reason: secrets stay where they are
    risk_level: critical
  - name: force-push
    tool: Bash
    command_patterns: ['git\s+push\s+(?=.*(--force|-f\b))']
    action: deny
    description: history is shared
  - name: read-only-git
    tool: Bash
    command_patterns: ['^git\s+(status|log|diff)\b(?!.*--output)']
    action: allow
  - name: reading
    tools: [Read, Glob, Grep]
    action: allow
  - name: docs
    tools: [Write, Edit]
    path_patterns: ['/docs/']
    action: allow
  - name: lookup
    tool: mcp__notes__search
    action: allow
";

#[test]
fn a_rule_file_of_leashd_means_what_it_meant() {
    let config = load(&[LEASHD]);
    assert_eq!(config.approval_timeout_ms(), 300_000);
    let workspace = |tool, path| file(tool, path, Place::Workspace);
    check(
        &config,
        &[
            ("an allowed pattern", shell("git status"), Allow),
            ("what its look-ahead excludes", shell("git log --output=x"), Ask),
            ("a denied pattern", shell("git push origin --force"), Deny),
            ("what its look-ahead does not find", shell("git push origin"), Ask),
            ("no rule", shell("make"), Ask),
            ("the strictest part decides: deny", shell("git status && git push -f"), Deny),
            ("the strictest part decides: ask", shell("git status && make"), Ask),
            ("a read", workspace("file_read", "/home/user/project/a"), Allow),
            ("another tool that reads", workspace("read_file", "/home/user/project/a"), Allow),
            ("a search", workspace("grep_files", "/home/user/project/a"), Allow),
            ("a denied path comes first", workspace("file_read", "/home/user/project/.env"), Deny),
            ("and its variants", workspace("file_read", "/home/user/project/.env.local"), Deny),
            ("but not the harmless one", workspace("file_read", "/home/user/project/.env.example"), Allow),
            ("a write to an allowed place", workspace("file_write", "/home/user/project/docs/a.md"), Allow),
            ("a write elsewhere", workspace("file_write", "/home/user/project/src/a.rs"), Ask),
            (
                "a tool of a server",
                call("mcp__notes__search", Category::Custom, vec![part("", Vec::new())]),
                Allow,
            ),
            (
                "another one of that server",
                call("mcp__notes__drop", Category::Custom, vec![part("", Vec::new())]),
                Ask,
            ),
        ],
    );
    let ruling = shell("git push -f").under(&config);
    assert_eq!((ruling.rule.id.as_ref(), ruling.rule.at.map(|at| at.line)), ("force-push", Some(13)));
}

#[test]
fn the_default_action_holds_for_what_no_rule_matches() {
    for (action, expected) in [("require_approval", Ask), ("allow", Allow), ("deny", Deny)] {
        let config = load(&[&format!(
            "settings: {{default_action: {action}}}\nrules: [{{name: n, tool: Bash, command_patterns: ['^ls'], action: allow}}]"
        )]);
        let write = file("file_write", "/home/user/project/a", Place::Workspace);
        check(
            &config,
            &[
                ("matched", shell("ls"), Allow),
                ("unmatched", shell("make"), expected),
                ("another tool", write, expected),
            ],
        );
    }
}

#[test]
fn rule_files_are_concatenated_and_a_default_comes_after_the_rules_of_all() {
    let first = "name: first\nsettings: {default_action: deny}\nrules: [{name: a, tool: Bash, command_patterns: ['^git push'], action: deny}]";
    let second = "name: second\nrules: [{name: b, tool: Bash, command_patterns: ['^git'], action: allow}]";
    check(
        &load(&[first, second]),
        &[
            ("the first file's rule", shell("git push"), Deny),
            ("the second file's rule", shell("git status"), Allow),
            ("the default", shell("make"), Deny),
        ],
    );
    check(&load(&[second, first]), &[("the first that matches wins", shell("git push"), Allow)]);
}

#[test]
fn both_kinds_of_patterns_must_match_where_both_stand() {
    let config = load(&[
        "rules: [{name: n, action: deny, tool: Bash, command_patterns: ['^cp '], path_patterns: ['^/srv/']}]\nsafety: {mode: allow}",
    ]);
    let cp = |text: &str, path: &str| does(text, Effect::Write(target(path, Place::Outside)));
    check(
        &config,
        &[
            ("both", cp("cp a /srv/a", "/srv/a"), Deny),
            ("only the command", cp("cp a /opt/a", "/opt/a"), Allow),
            ("only the path", cp("mv a /srv/a", "/srv/a"), Allow),
        ],
    );
}

// ------------------------------------------------------------------------------------------- Security Layer (seed 003)

const FINE_GRAINED: &str = "safety: {mode: ask, complex_shell: by_part}
rules:
  - {name: no-danger, action: deny, contains: [rm -rf, mv, sudo]}
  - {name: known-hosts-only, action: deny, hosts_except: [api.example.com]}
  - {name: stay-inside, action: deny, tool: Bash, outside_workspace: true}
  - {name: not-too-long, action: deny, tool: Bash, over_wall_ms: 30000}
  - {name: not-too-big, action: deny, tool: Bash, over_memory_mb: 512}
  - {name: only-behind-the-fence, action: deny, commands: [python], unfenced: true}
  - {name: looking, action: allow, commands: [ls, cat, echo, python, mv2, curl]}
";

#[test]
fn fine_grained_rules_judge_what_a_call_would_do() {
    let inside = || Effect::Read(target("/home/user/project/a", Place::Workspace));
    check(
        &load(&[FINE_GRAINED]),
        &[
            ("starts with ls", shell("ls -l"), Allow),
            ("starts with cat", does("cat a", inside()), Allow),
            ("merely mentions it", shell("echo rm -rf"), Allow),
            ("another program whose name starts alike", shell("lsof"), Ask),
            ("another program whose name is longer", shell("mv2 a"), Allow),
            ("contains mv", shell("mv a b"), Deny),
            ("contains rm -rf somewhere", shell("ls && rm -rf x"), Deny),
            ("contains a wrapper", shell("sudo ls"), Deny),
            ("the host that is listed", does("curl x", connect("api.example.com")), Allow),
            ("another host", does("curl x", connect("evil.test")), Deny),
            ("a host that merely ends alike", does("curl x", connect("notapi.example.com")), Deny),
            ("a read outside", does("cat x", Effect::Read(target("/srv/x", Place::Outside))), Deny),
            ("a read inside", does("python x", inside()), Allow),
            ("just long enough", Call { wall_ms: 30_000, ..shell("ls") }, Allow),
            ("too long", Call { wall_ms: 30_001, ..shell("ls") }, Deny),
            ("just big enough", Call { memory_mb: 512, ..shell("ls") }, Allow),
            ("too big", Call { memory_mb: 513, ..shell("ls") }, Deny),
            ("code behind a fence", shell("python x"), Allow),
            ("code without one", shell("python x").fence(false, false), Deny),
            ("code behind half of one", shell("python x").fence(true, false), Deny),
            ("looking without one", shell("ls").fence(false, false), Allow),
        ],
    );
}

#[test]
fn obligations_come_with_the_ruling_and_the_one_for_a_fence_is_enforced() {
    let config = load(&[
        "rules: [{name: n, action: allow, commands: [python], obligations: [require_sandbox, log_after_execution]}]",
    ]);
    let ruling = shell("python x").under(&config);
    assert_eq!(ruling.decision, Allow);
    assert_eq!(ruling.obligations.len(), 2);
    assert!(ruling.needs_fence);
    check(&config, &[("no fence", shell("python x").fence(false, false), Deny)]);
    assert!(merge(&["rules: [{name: n, action: allow, obligations: [send_flowers]}]"]).is_err());
}
