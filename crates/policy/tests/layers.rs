//! Configuration in layers: who said what, what a workspace file may say, what is final, and how wrong files are refused.
//! POL-8: whatever a file holds, it is an error or a configuration, never a crash.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of a test may fail as the test itself may"
)]

#[path = "reference/generate.rs"]
#[expect(dead_code, reason = "shared with the comparison against the reference")]
mod generate;
#[path = "reference/model.rs"]
#[expect(dead_code, reason = "shared with the comparison against the reference")]
mod model;

use call::{Category, Sandbox};
use effects::{Analysis, Class, Effect, Part, Place, Target, normalize};
use generate::Dice;
use policy::{
    Config, ConfigError, Consultation, Decision, Fence, Layer, MAX_BYTES, Origin, Question, Ruling, Stance,
};

fn merge(layers: &[(Origin, &str)]) -> Result<Config, ConfigError> {
    let mut parsed = Vec::new();
    for (origin, text) in layers {
        parsed.push(Layer::parse(*origin, &format!("{origin:?}.yaml").to_lowercase(), text)?);
    }
    Config::merge(parsed, &model::base())
}

fn load(layers: &[(Origin, &str)]) -> Config {
    merge(layers).unwrap_or_else(|error| panic!("{error}\n{layers:#?}"))
}

/// What is wrong with these files.
fn refusal(layers: &[(Origin, &str)]) -> String {
    match merge(layers) {
        Ok(_) => panic!("accepted: {layers:#?}"),
        Err(error) => error.to_string(),
    }
}

fn given(text: &str) -> Result<Config, ConfigError> {
    merge(&[(Origin::Given, text)])
}

/// One command of one part behind a fence that holds.
fn command(config: &Config, text: &str, effects: Vec<Effect>) -> Ruling {
    let words: Vec<&str> = text.split(' ').collect();
    let part = Part {
        span: None,
        text: text.into(),
        argv: Some(words.iter().map(ToString::to_string).collect()),
        normal: normalize(&words),
        via: Vec::new(),
        effects,
    };
    let analysis = Analysis { parts: vec![part], ..Analysis::default() };
    config.rule(&Question {
        arguments: None,
        tool: "shell_exec",
        category: Category::Exec,
        text: Some(text),
        analysis: &analysis,
        sandbox: Sandbox::Inherit,
        escalated: false,
        wall_ms: Some(1_000),
        memory_mb: Some(64),
        fence: &Fence { name: "test", holds_paths: true, holds_network: true, lacks: None },
        engine: &Consultation::NotConfigured,
    })
}

fn read(path: &str, place: Place) -> Vec<Effect> {
    vec![Effect::Read(Target { path: path.into(), given: None, place })]
}

#[test]
fn a_ruling_cites_the_file_and_the_line_that_decided() {
    const MANAGED: &str = "config_version: 1\nsafety:\n  denylist:\n    - mkfs\n    - shutdown\n";
    const USER: &str = "profile: dev\nsafety:\n  allowlist: [pytest]\n  denied_paths:\n    - /srv/a\n    - /srv/b\nrules:\n  - name: no-push\n    action: deny\n    commands: [git push]\n  - name: ask-tag\n    action: ask\n    commands: [git tag]\n";
    const WORKSPACE: &str = "safety:\n  command_rules:\n    - {pattern: make, decision: deny}\n";
    const GIVEN: &str = "rules:\n- name: tag-is-fine\n  action: allow\n  commands: [git tag]\n";
    let config = load(&[
        (Origin::Given, GIVEN),
        (Origin::Managed, MANAGED),
        (Origin::Workspace, WORKSPACE),
        (Origin::User, USER),
    ]);
    let run = || vec![Effect::Run { program: "x".into() }];
    for (text, effects, decision, file, line) in [
        ("shutdown now", run(), Decision::Deny, "managed.yaml", 5),
        ("mkfs x", run(), Decision::Deny, "managed.yaml", 4),
        ("git push", run(), Decision::Deny, "user.yaml", 8),
        ("cat b", read("/srv/b", Place::Outside), Decision::Deny, "user.yaml", 6),
        ("make all", run(), Decision::Deny, "workspace.yaml", 3),
        ("git tag", run(), Decision::Allow, "given.yaml", 2),
        ("pytest -q", run(), Decision::Allow, "user.yaml", 3),
        ("cat c", read("/srv/c", Place::Outside), Decision::Ask, "built-in profile dev", 0),
    ] {
        let ruling = command(&config, text, effects);
        let at = ruling.rule.at.unwrap();
        assert_eq!(
            (ruling.decision, &*at.file, at.line),
            (decision, file, line),
            "{text}: {}",
            ruling.reason
        );
    }
    let shown = config.shown();
    let who = |key: &str| shown.iter().find(|line| line.key == key).map(|line| line.at.to_string());
    assert_eq!(who("profile").as_deref(), Some("user.yaml:1"));
}

#[test]
fn the_stronger_layer_holds_whatever_order_the_files_come_in() {
    let texts = [
        (Origin::Managed, "{profile: prod, safety: {mode: deny, effects: {connect: deny}}}"),
        (Origin::User, "{profile: balanced, safety: {mode: ask, effects: {connect: ask}}}"),
        (Origin::Given, "{profile: dev, safety: {effects: {connect: fenced}}}"),
        (Origin::Flags, "{safety: {effects: {connect: allow}}}"),
    ];
    for present in 1_usize..16 {
        let mut layers: Vec<(Origin, &str)> = texts
            .iter()
            .enumerate()
            .filter(|(bit, _)| present & (1 << bit) != 0)
            .map(|(_, layer)| *layer)
            .collect();
        let expected = match layers.last().unwrap().0 {
            Origin::Flags => Stance::Allow,
            Origin::Given => Stance::Fenced,
            Origin::User => Stance::Ask,
            _ => Stance::Deny,
        };
        assert_eq!(load(&layers).stance(Class::Connect).value, expected, "{layers:?}");
        layers.reverse();
        assert_eq!(load(&layers).stance(Class::Connect).value, expected, "{layers:?}");
    }
}

/// What the user says in the tests of workspace files.
const USER: &str = "profile: balanced\nsafety: {mode: ask, read_only: true, require_approval_for_writes: true, require_approval_for_execute: true, complex_shell: ask, log_all_commands: true}\n";

#[test]
fn a_workspace_file_that_loosens_is_an_error_that_names_the_key() {
    for (text, key) in [
        ("profile: dev", "profile"),
        ("safety: {mode: allow}", "safety.mode"),
        ("safety: {allowlist: [ls]}", "safety.allowlist"),
        ("safety: {tool_allowlist: [deploy]}", "safety.tool_allowlist"),
        ("safety: {read_only: false}", "safety.read_only"),
        ("safety: {require_approval_for_writes: false}", "safety.require_approval_for_writes"),
        ("safety: {require_approval_for_execute: false}", "safety.require_approval_for_execute"),
        ("safety: {complex_shell: by_part}", "safety.complex_shell"),
        ("safety: {approval_timeout_ms: 600000}", "safety.approval_timeout_ms"),
        ("safety: {log_all_commands: false}", "safety.log_all_commands"),
        ("safety: {effects: {connect: allow}}", "safety.effects"),
        ("safety: {effects: {connect: fenced}}", "safety.effects"),
        ("safety: {effects: {unknown: fenced}}", "safety.effects"),
        ("safety: {command_rules: [{pattern: ls, decision: allow}]}", "safety.command_rules"),
        ("safety: {sandbox: {mode: local}}", "safety.sandbox.mode"),
        ("safety: {sandbox: {linux: {max_memory_mb: 999999}}}", "safety.sandbox.linux.max_memory_mb"),
        ("rules: [{name: free-for-all, action: allow}]", "free-for-all"),
        ("settings: {default_action: allow}", "settings.default_action"),
        ("settings: {approval_timeout_seconds: 6000}", "settings.approval_timeout_seconds"),
        ("sandbox: {default_policy: none}", "sandbox.default_policy"),
        ("sandbox: {mode: local}", "sandbox.mode"),
        ("sandbox: {os: {mode: local}}", "sandbox.os.mode"),
        ("sandbox: {network: {mode: open}}", "sandbox.network.mode"),
        ("sandbox: {network: {mode: allowlist}}", "sandbox.network.mode"),
        ("sandbox: {network: {allow: [evil.test]}}", "sandbox.network.allow"),
        ("sandbox: {limits: {memory_mb: 999999}}", "sandbox.limits.memory_mb"),
        ("sandbox: {limits: {wall_ms: 99999999}}", "sandbox.limits.wall_ms"),
        ("sandbox: {limits: {processes: 99999}}", "sandbox.limits.processes"),
        ("sandbox: {limits: {output_bytes: 99999999999}}", "sandbox.limits.output_bytes"),
        ("run: {human_timeout_ms: 99999999}", "run.human_timeout_ms"),
        ("engine: {url: 'http://evil.test/'}", "engine.url"),
        ("search: {url: 'https://evil.test/?q={q}'}", "search.url"),
        ("search: {key_variable: AWS_SECRET_ACCESS_KEY}", "search.key_variable"),
        ("skills: {spaces: {team: /tmp/mine}}", "skills.spaces"),
        ("engine: {timeout_ms: 99999}", "engine.timeout_ms"),
        ("final: [safety.mode]", "final"),
    ] {
        let text = format!("config_version: 1\n{text}\n");
        let error = refusal(&[(Origin::User, USER), (Origin::Workspace, &text)]);
        assert!(error.starts_with("workspace.yaml:2:"), "{text}: {error}");
        assert!(error.contains(&format!("`{key}`")), "{text}: {error}");
        assert!(
            error.contains("tighten") || error.contains("may not stand") || key == "final",
            "{text}: {error}"
        );
        // The control: anybody else may say so.
        if key != "final" {
            assert!(merge(&[(Origin::User, USER), (Origin::Given, &text)]).is_ok(), "{text}");
        }
    }
}

#[test]
fn a_workspace_file_that_tightens_or_says_the_same_is_read() {
    for text in [
        "profile: balanced",
        "profile: prod",
        "safety: {mode: ask}",
        "safety: {mode: deny}",
        "safety: {allowlist: [], tool_allowlist: []}",
        "safety: {denylist: [make], denied_commands: [make], tool_denylist: [deploy]}",
        "safety: {read_only: true}",
        "safety: {require_approval_for_writes: true, require_approval_for_execute: true, complex_shell: ask}",
        "safety: {approval_timeout_ms: 1}",
        "safety: {log_all_commands: true}",
        "safety: {allowed_paths: ['/**'], denied_paths: [/srv/**]}",
        "safety: {path_rules: [{pattern: /srv/**, allow_read: true, allow_write: true}]}",
        "safety: {command_rules: [{pattern: make, decision: ask}, {pattern: rm, decision: deny}]}",
        "safety: {effects: {connect: deny, unknown: ask, delete: ask}}",
        "rules: [{name: n, action: ask}, {name: m, action: deny, tool: Bash}]",
        "settings: {default_action: deny}",
        "settings: {default_action: require_approval}",
        "sandbox: {default_policy: restricted, network: {mode: off, allow: []}}",
        "sandbox: {limits: {memory_mb: 1, wall_ms: 1, processes: 1, output_bytes: 1}}",
        "run: {human_timeout_ms: 1}",
        "cases: [{command: ls, expect: ask}]",
    ] {
        load(&[(Origin::User, USER), (Origin::Workspace, text)]);
    }
    let config = load(&[(Origin::User, "profile: dev"), (Origin::Workspace, "profile: prod")]);
    for class in Class::ALL {
        let dev = load(&[(Origin::User, "profile: dev")]).stance(class).value;
        assert!(config.stance(class).value >= dev, "{class:?}");
    }
    assert_eq!(config.stance(Class::Connect).value, Stance::Deny);
}

#[test]
fn a_workspace_file_cannot_say_where_commands_may_write() {
    for system in ["linux", "windows", "wsl"] {
        let text = format!("safety: {{sandbox: {{{system}: {{workspace: /}}}}}}");
        assert!(merge(&[(Origin::User, USER), (Origin::Workspace, &text)]).is_err(), "{text}");
    }
}

#[test]
fn a_final_key_or_section_can_be_set_by_nobody_else() {
    for (key, text) in [
        ("profile", "profile: prod"),
        ("safety.mode", "safety: {mode: deny}"),
        ("safety", "safety: {mode: deny}"),
        ("safety", "safety: {sandbox: {mode: auto}}"),
        ("safety.denylist", "safety: {denylist: [x]}"),
        ("safety.effects", "safety: {effects: {connect: deny}}"),
        ("sandbox.limits", "sandbox: {limits: {wall_ms: 1}}"),
        ("sandbox.network.allow", "sandbox: {network: {allow: [a.test]}}"),
        ("sandbox.network.allow", "mcp: {servers: {one: {command: [x], network: [a.test]}}}"),
        ("sandbox.network", "mcp: {servers: {one: {command: [x], network: [a.test]}}}"),
        ("engine.url", "engine: {url: 'http://a.test/'}"),
        ("search", "search: {url: 'https://a.test/?q={q}'}"),
        ("skills.spaces", "skills: {spaces: {team: /opt/skills}}"),
        ("rules", "rules: [{name: n, action: deny}]"),
    ] {
        let managed = format!("final: [{key}]");
        for origin in [Origin::User, Origin::Given, Origin::Flags] {
            let error = refusal(&[(Origin::Managed, &managed), (origin, text)]);
            assert!(error.contains("is final") && error.contains("managed.yaml:1"), "{key}: {error}");
        }
        // The controls: whoever marks it may set it, and without the mark anybody may.
        load(&[(Origin::Managed, &format!("{managed}\n{text}\n"))]);
        load(&[(Origin::User, text)]);
    }
    // A server that connects nowhere by itself says nothing about the network.
    let server = "mcp: {servers: {one: {command: [x]}}}";
    load(&[(Origin::Managed, "final: [sandbox.network]"), (Origin::User, server)]);
    let unknown = refusal(&[(Origin::Managed, "final: [safety.mod]")]);
    assert!(unknown.starts_with("managed.yaml:1:9:") && unknown.contains("`safety.mode`"), "{unknown}");
    for origin in [Origin::User, Origin::Workspace, Origin::Given, Origin::Flags] {
        assert!(refusal(&[(origin, "final: [safety.mode]")]).contains("only in the managed file"));
    }
}

#[test]
fn a_final_key_cannot_be_set_under_its_other_name() {
    for (key, text) in [
        ("sandbox.mode", "sandbox: {os: {mode: local}}"),
        ("sandbox.mode", "safety: {sandbox: {mode: local}}"),
        ("safety.approval_timeout_ms", "settings: {approval_timeout_seconds: 3}"),
        ("sandbox.limits.memory_mb", "safety: {sandbox: {linux: {max_memory_mb: 4}}}"),
        ("rules", "settings: {default_action: allow}"),
    ] {
        let managed = format!("final: [{key}]");
        assert!(merge(&[(Origin::Managed, &managed), (Origin::User, text)]).is_err(), "{key}: {text}");
    }
}

#[test]
fn an_unknown_key_is_refused_with_its_place_and_the_nearest_one() {
    for (text, place, near) in [
        ("safty: {}", "1:1", "safety"),
        ("config_version: 1\nsafety:\n  mdoe: ask", "3:3", "mode"),
        ("safety:\n  alowlist: [ls]", "2:3", "allowlist"),
        ("safety:\n  effects:\n    conect: ask", "3:5", "connect"),
        ("safety: {sandbox: {linx: {}}}", "1:20", "linux"),
        ("safety: {sandbox: {linux: {workspce: x}}}", "1:28", "workspace"),
        ("rules:\n  - name: n\n    acton: deny", "3:5", "action"),
        ("rules:\n  - {name: n, action: deny, comands: [x]}", "2:29", "commands"),
        ("safety:\n  path_rules: [{patern: x}]", "2:17", "pattern"),
        ("safety:\n  command_rules: [{pattern: x, decison: ask}]", "2:32", "decision"),
        ("sandbox: {netwrk: {}}", "1:11", "network"),
        ("sandbox: {network: {mod: off}}", "1:21", "mode"),
        ("sandbox: {limits: {wal_ms: 1}}", "1:20", "wall_ms"),
        ("run: {human_timeout: 1}", "1:7", "human_timeout_ms"),
        ("engine: {uri: x}", "1:10", "url"),
        ("cases: [{comand: x}]", "1:10", "command"),
        ("settings: {default_acton: deny}", "1:12", "default_action"),
        ("{\"safety\":\n {\"mdoe\": 1}}", "2:3", "mode"),
    ] {
        let error = refusal(&[(Origin::Given, text)]);
        assert!(error.starts_with(&format!("given.yaml:{place}: unknown")), "{text}: {error}");
        assert!(error.contains(&format!("`{near}`")), "{text}: {error}");
    }
    // What resembles nothing is told what there is.
    assert!(refusal(&[(Origin::Given, "zzzzzzzz: 1")]).contains("safety, rules"));
}

#[test]
fn a_value_of_the_wrong_kind_or_without_a_meaning_is_refused_at_its_place() {
    for (text, place) in [
        ("safety: {mode: maybe}", "1:16"),
        ("safety: {mode: true}", "1:16"),
        ("safety: {mode: [ask]}", "1:16"),
        ("safety: {read_only: yes}", "1:21"),
        ("safety: {read_only: 'true'}", "1:21"),
        ("safety: {read_only: 1}", "1:21"),
        ("safety: {allowlist: ls}", "1:21"),
        ("safety: {allowlist: [[ls]]}", "1:22"),
        ("safety: {allowlist: ['']}", "1:22"),
        ("safety: {approval_timeout_ms: 0}", "1:31"),
        ("safety: {approval_timeout_ms: -1}", "1:31"),
        ("safety: {approval_timeout_ms: 1.5}", "1:31"),
        ("safety: {approval_timeout_ms: soon}", "1:31"),
        ("safety: {approval_timeout_ms: 99999999999999999999}", "1:31"),
        ("safety: {effects: {connect: maybe}}", "1:29"),
        ("safety: {effects: {unknown: allow}}", "1:29"),
        ("safety: {effects: {credentials: ask}}", "1:33"),
        ("safety: {effects: {exfiltrate: allow}}", "1:32"),
        ("safety: {effects: {code_network: fenced}}", "1:34"),
        ("safety: {denied_paths: ['']}", "1:25"),
        ("safety: {path_rules: [{pattern: 'a['}]}", "1:33"),
        ("safety: {command_rules: [{pattern: '(', decision: deny, is_regex: true}]}", "1:36"),
        ("safety: {command_rules: [{pattern: x}]}", "1:26"),
        ("safety: []", "1:9"),
        ("safety: 1", "1:9"),
        ("rules: {}", "1:8"),
        ("rules: [1]", "1:9"),
        ("rules: [{action: deny}]", "1:9"),
        ("rules: [{name: n}]", "1:9"),
        ("rules: [{name: n, action: maybe}]", "1:27"),
        ("rules: [{name: n, action: deny, obligations: [fly]}]", "1:47"),
        ("rules: [{name: n, action: deny, command_patterns: ['(']}]", "1:52"),
        ("rules: [{name: n, action: deny, path_patterns: ['[z-a]']}]", "1:49"),
        ("rules: [{name: n, action: deny, effects: [nope]}]", "1:43"),
        ("rules: [{name: n, action: deny, unfenced: maybe}]", "1:43"),
        ("rules: [{name: n, action: deny, over_wall_ms: x}]", "1:47"),
        ("rules: [{name: n, action: deny, risk_level: huge}]", "1:45"),
        ("config_version: 2", "1:17"),
        ("profile: plain", "1:10"),
        ("sandbox: {network: {mode: true}}", "1:27"),
        ("[]", "1:1"),
        ("text", "1:1"),
        ("1: 2", "1:1"),
        ("? [a]\n: b", "1:3"),
    ] {
        let error = refusal(&[(Origin::Given, text)]);
        assert!(error.starts_with(&format!("given.yaml:{place}: ")), "{text}: {error}");
    }
}

#[test]
fn what_yaml_has_beyond_plain_values_is_refused() {
    for (text, line) in [
        ("safety: {mode: ask}\nsafety: {mode: deny}", 2),
        ("safety:\n  mode: ask\n  mode: deny", 3),
        ("{\"safety\": {\"mode\": \"ask\", \"mode\": \"deny\"}}", 1),
        ("rules: [{name: n, action: deny, action: allow}]", 1),
        ("safety: &x {mode: ask}", 1),
        ("safety: {mode: &x ask}", 1),
        ("safety: *x", 1),
        ("safety: &x {mode: ask}\nsandbox: *x", 1),
        ("safety: !!map {mode: ask}", 1),
        ("safety: {mode: !x ask}", 1),
        ("<<: {safety: {mode: allow}}", 1),
        ("safety: {mode: ask}\n---\nsafety: {mode: allow}", 2),
        ("safety: {mode: ask}\n---\n", 2),
        ("safety:\n\tmode: ask", 2),
        ("safety: {mode: ask", 1),
        ("safety: {mode: \"ask}", 1),
        ("safety: {mode: a\0sk}", 1),
        ("{a: b}: c", 1),
    ] {
        let error = refusal(&[(Origin::Given, text)]);
        assert!(error.starts_with(&format!("given.yaml:{line}:")), "{text:?}: {error}");
    }
}

#[test]
fn json_empty_files_marks_and_tabs_between_words_are_read() {
    for text in [
        "",
        "# nothing",
        "null",
        "safety:",
        "---\nsafety: {mode: ask}\n...",
        "\u{feff}safety: {mode: ask}",
        "safety:\n  mode: ask\t# a tab before a comment",
        "{\"safety\"\t:\t{\"mode\":\t\"ask\",\n\"allowlist\": [\"ls\"]}}",
        "safety: {mode: \"ask\", allowlist: [7z, 443]}\r\nrules: []\r\n",
    ] {
        given(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
    }
}

#[test]
fn huge_and_deep_files_are_refused_quickly() {
    let many: String = (0..600).map(|n| format!("k{n}: 1\n")).collect();
    for (name, text) in [
        ("bytes", format!("# {}", "x".repeat(MAX_BYTES))),
        ("lists", format!("safety: {}", "[".repeat(1_000_000))),
        ("closed lists", format!("safety: {}{}", "[".repeat(33), "]".repeat(33))),
        ("mappings", "{a: ".repeat(500_000)),
        ("indentation", (0..500).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect()),
        ("dashes", "- ".repeat(100_000)),
        ("keys", many),
    ] {
        assert!(given(&text).is_err(), "{name}");
    }
    let entries: String = (0..20_000).map(|n| format!("    - program{n}\n")).collect();
    assert!(given(&format!("safety:\n  denylist:\n{entries}")).is_ok(), "a long list is no harm");
}

/// A valid file of every section.
const EVERYTHING: &str = "config_version: 1
profile: dev
safety:
  mode: ask
  allowlist: [pytest, \"cargo test\"]
  denylist: [sudo, \"rm -rf\"]
  tool_allowlist: [deploy]
  tool_denylist: []
  read_only: false
  allowed_paths: [\"<cwd>/**\", '/srv/**']
  denied_paths: [\"~/private/**\"]
  path_rules:
    - {pattern: /srv/**, allow_read: true, allow_write: false}
  command_rules:
    - {pattern: git push, decision: ask, is_regex: false}
    - {pattern: '^git (?!push)', decision: allow, is_regex: true}
  require_approval_for_writes: false
  complex_shell: by_part
  approval_timeout_ms: 60000
  effects: {write_outside: deny, connect: ask, unknown: fenced}
  sandbox: {mode: auto, linux: {workspace: /w/app, max_memory_mb: 512}}
rules:
  - name: no-force
    action: deny
    tool: Bash
    command_patterns: ['\\bgit\\b.*--force']
    reason: history is shared
    examples: {match: [git push --force], not_match: [git push]}
  - {name: api, action: allow, hosts: [api.example.com], effects: [connect], obligations: [require_sandbox]}
engine: {url: \"http://127.0.0.1:8181/\", timeout_ms: 500}
sandbox:
  default_policy: restricted
  network: {mode: off, allow: [\"*.example.com\"]}
  limits: {memory_mb: 512, wall_ms: 30000}
run: {human_timeout_ms: 3000}
";

#[test]
fn a_damaged_file_is_an_error_or_a_configuration_and_never_a_crash() {
    let cases = generate::cases(20_000);
    let mut dice = Dice::new(generate::seed());
    given(EVERYTHING).unwrap();
    let pool = [EVERYTHING.to_owned(), generate::files(&mut dice).iter().map(model::File::yaml).collect()];
    let (mut read, mut refused) = (0, 0);
    for _ in 0..cases {
        let mut bytes = dice.pick(&[&pool[0], &pool[0], &pool[1]]).clone().into_bytes();
        for _ in 0..=dice.below(3) {
            damage(&mut dice, &mut bytes);
        }
        let text = String::from_utf8_lossy(&bytes);
        let origin =
            dice.pick(&[Origin::Managed, Origin::User, Origin::Workspace, Origin::Given, Origin::Flags]);
        match merge(&[(origin, &text)]) {
            Err(error) => {
                refused += 1;
                assert!(!error.message.is_empty() && error.message.len() < 4_000, "{error}");
                assert!(
                    usize::try_from(error.at.line).unwrap() <= text.lines().count() + 1,
                    "{error}\n{text}"
                );
            }
            Ok(config) => {
                read += 1;
                let ruling = command(&config, "git push --force", read_outside());
                assert!(!ruling.reason.is_empty());
            }
        }
    }
    println!("{read} read, {refused} refused");
    assert!(read > cases / 50 && refused > cases / 50, "{read} read, {refused} refused");
}

fn read_outside() -> Vec<Effect> {
    read("/srv/data", Place::Outside)
}

fn damage(dice: &mut Dice, bytes: &mut Vec<u8>) {
    if bytes.is_empty() {
        return;
    }
    let at = dice.below(bytes.len());
    let line_start = bytes[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |found| found + 1);
    let line_end =
        bytes[at..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |found| at + found + 1);
    match dice.below(7) {
        0 => bytes[at] ^= 1 << dice.below(8),
        1 => bytes[at] = dice.pick(b"{}[]:,-#&*!|>'\"%@`\t\n \\0a~?"),
        2 => drop(bytes.drain(line_start..line_end)),
        3 => {
            let line = bytes[line_start..line_end].to_vec();
            bytes.splice(line_start..line_start, line);
        }
        4 => bytes.truncate(at),
        5 => {
            bytes.remove(at);
        }
        _ => bytes.insert(at, dice.pick(b"{}[]:,-#&*!|>'\"\t\n \\09")),
    }
}
