//! Corners of the order of evaluation where a wrong turn would be easy: one test for each, with its control.

#![expect(clippy::unwrap_used, reason = "helpers of a test may fail as the test itself may")]

use call::{Category, Sandbox};
use effects::{Analysis, Effect, Part, Place, Target, normalize};
use policy::Decision::{self, Allow, Ask, Deny};
use policy::{Base, Config, Consultation, Fence, Layer, Origin, Question};

fn rule(
    files: &[(Origin, &str)],
    tool: &str,
    category: Category,
    parts: Vec<Part>,
    fenced: bool,
) -> Decision {
    let base = Base { cwd: "/w/app".into(), home: Some("/home/u".into()) };
    let layers = files.iter().map(|(origin, text)| Layer::parse(*origin, "file", text).unwrap()).collect();
    let config = Config::merge(layers, &base).unwrap();
    let text = parts.first().map(|part| part.text.clone());
    let ruling = config.rule(&Question {
        arguments: None,
        tool,
        category,
        text: text.as_deref().filter(|_| category == Category::Exec),
        analysis: &Analysis { parts, ..Analysis::default() },
        sandbox: Sandbox::Inherit,
        escalated: false,
        wall_ms: Some(1_000),
        memory_mb: Some(64),
        fence: &Fence { name: "test", holds_paths: fenced, holds_network: fenced, lacks: None },
        engine: &Consultation::NotConfigured,
    });
    ruling.decision
}

fn part(text: &str, effects: Vec<Effect>) -> Vec<Part> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (argv, normal) = (words.iter().map(ToString::to_string).collect(), normalize(&words));
    vec![Part { span: None, text: text.into(), argv: Some(argv), normal, via: Vec::new(), effects }]
}

fn command(files: &[(Origin, &str)], effects: Vec<Effect>, fenced: bool) -> Decision {
    rule(files, "shell_exec", Category::Exec, part("run x", effects), fenced)
}

fn read(path: &str, place: Place) -> Vec<Effect> {
    vec![Effect::Read(Target { path: path.into(), given: None, place })]
}

#[test]
fn a_rule_that_denies_a_tool_denies_it_where_the_call_has_no_parts() {
    let files = [(Origin::User, "rules: [{name: n, action: deny, tools: [spawn_agent, deploy]}]")];
    assert_eq!(rule(&files, "spawn_agent", Category::Agent, part("", Vec::new()), true), Deny, "the control");
    assert_eq!(rule(&files, "deploy", Category::Custom, Vec::new(), true), Deny);
    assert_eq!(rule(&files, "spawn_agent", Category::Agent, Vec::new(), true), Deny);
}

#[test]
fn a_fence_that_any_matching_rule_demands_is_demanded() {
    let managed =
        (Origin::Managed, "rules: [{name: m, action: allow, tool: Bash, obligations: [require_sandbox]}]");
    assert_eq!(command(&[managed], Vec::new(), false), Deny, "the control");
    let user = (Origin::User, "rules: [{name: u, action: allow, tool: Bash}]");
    assert_eq!(command(&[managed, user], Vec::new(), false), Deny);
}

#[test]
fn a_rule_that_allows_what_is_outside_does_not_allow_what_is_unknown() {
    let files = [(Origin::User, "rules: [{name: n, action: allow, tool: deploy, outside_workspace: true}]")];
    let deploy = |effects| rule(&files, "deploy", Category::Custom, part("", effects), true);
    assert_eq!(deploy(read("/srv/x", Place::Outside)), Allow, "the control");
    assert_eq!(deploy(vec![Effect::Unknown("no schema".into())]), Ask);
}

#[test]
fn a_glob_of_a_call_that_could_mean_a_denied_path_is_denied() {
    for settings in [
        "denied_paths: ['<cwd>/secret.txt']",
        "path_rules: [{pattern: '<cwd>/secret.txt', allow_read: false, allow_write: false}]",
    ] {
        let text = format!("{{profile: dev, safety: {{{settings}}}}}");
        let files = [(Origin::User, text.as_str())];
        assert_eq!(command(&files, read("/w/app/secret.txt", Place::Workspace), true), Deny, "the control");
        for path in ["/w/app/*", "/w/app/secret*", "/w/app/**"] {
            assert_eq!(command(&files, read(path, Place::Workspace), true), Deny, "{path}");
        }
    }
}

#[test]
fn a_relative_pattern_of_a_call_is_measured_where_the_call_stands() {
    let base = Base { cwd: "/w/app".into(), home: Some("/home/u".into()) };
    let text = "{profile: dev, safety: {denied_paths: [/srv/private/**, '**/vault.key']}}";
    let mut config = Config::merge(vec![Layer::parse(Origin::User, "file", text).unwrap()], &base).unwrap();
    config.keep_away_from("/home/u/.local/share/bailiwick").unwrap();
    for (given, path, place, expected) in [
        ("**/*.md", "/w/app/**/*.md", Place::Workspace, Allow),
        ("*/*.md", "/w/app/*/*.md", Place::Workspace, Allow),
        ("./**/*.rs", "/w/app/**/*.rs", Place::Workspace, Allow),
        // It could reach what is kept away from, whatever it is called.
        ("**/*.md", "/home/u/**/*.md", Place::Workspace, Deny),
        ("/**/*.md", "/**/*.md", Place::Workspace, Deny),
        ("~/.local/share/bailiwick/x", "/home/u/.local/share/bailiwick/x", Place::Workspace, Deny),
        ("/home/u/.local/share/bailiwick/x", "/elsewhere/x", Place::Workspace, Deny),
        // A name that a link hides from the path it leads to.
        ("vault.key", "/w/app/other/x", Place::Workspace, Deny),
        ("/srv/private/x", "/w/app/other/x", Place::Workspace, Deny),
    ] {
        let target = Target { path: path.into(), given: Some(given.into()), place };
        let ruling = config.rule(&Question {
            arguments: None,
            tool: "shell_exec",
            category: Category::Exec,
            text: None,
            analysis: &Analysis { parts: part("cat x", vec![Effect::Read(target)]), ..Analysis::default() },
            sandbox: Sandbox::Inherit,
            escalated: false,
            wall_ms: Some(1_000),
            memory_mb: Some(64),
            fence: &Fence { name: "test", holds_paths: true, holds_network: true, lacks: None },
            engine: &Consultation::NotConfigured,
        });
        assert_eq!(ruling.decision, expected, "{given} at {path}");
    }
}

#[test]
fn what_may_run_only_behind_a_fence_is_asked_about_without_one_whatever_the_mode() {
    let files = [(Origin::User, "{profile: dev, safety: {mode: allow}}")];
    let run = || vec![Effect::Run { program: "make".into() }];
    assert_eq!(command(&files, run(), true), Allow, "the control");
    assert_eq!(command(&files, run(), false), Ask);
}

#[test]
fn a_fence_that_lets_every_connection_through_does_not_hold_what_is_not_known() {
    let run = || vec![Effect::Run { program: "make".into() }];
    let unknown = || vec![Effect::Unknown("a word".into())];
    for (settings, expected) in [
        ("", Allow),
        ("sandbox: {network: {mode: allowlist}}", Allow),
        ("sandbox: {network: {mode: open}}", Ask),
        ("sandbox: {network: {mode: open}}, safety: {effects: {connect: allow}}", Allow),
    ] {
        let text = format!("{{profile: dev, {settings}}}");
        let files = [(Origin::User, text.as_str())];
        assert_eq!(command(&files, run(), true), expected, "{text}");
        assert_eq!(command(&files, unknown(), true), expected, "{text}");
        assert_eq!(command(&files, read("/w/app/x", Place::Workspace), true), Allow, "{text}");
    }
}

#[test]
fn a_default_action_of_require_approval_holds_for_what_no_rule_matches() {
    for profile in ["", "profile: dev\n"] {
        let text = format!("{profile}settings: {{default_action: require_approval}}\n");
        let files = [(Origin::User, text.as_str())];
        let reading = part("", read("/w/app/a", Place::Workspace));
        assert_eq!(rule(&files, "file_read", Category::Read, reading, true), Ask, "{text}");
        assert_eq!(command(&files, read("/w/app/a", Place::Workspace), true), Ask, "{text}");
    }
}

#[test]
fn a_stricter_stance_is_never_milder_for_a_path_that_is_allowed_in_words() {
    let under = |stances: &str| {
        let rules = "[{pattern: /srv/**, allow_read: true, allow_write: false}]";
        let text = format!("safety: {{path_rules: {rules}, effects: {{{stances}}}}}");
        command(&[(Origin::User, &text)], read("/srv/x", Place::Outside), false)
    };
    for milder in ["read_outside: fenced", ""] {
        assert!(
            under(milder) <= under("read_outside: ask"),
            "`{milder}` gives {}, ask gives {}",
            under(milder),
            under("read_outside: ask")
        );
    }
}

#[test]
fn without_an_allow_rule_nothing_more_is_allowed() {
    let (narrow, wide) =
        ("{name: a, action: allow, tool: Bash}", "{name: b, action: allow, tool: Bash, effects: [history]}");
    let under = |rules: &str| {
        let text = format!("{{profile: dev, rules: [{rules}]}}");
        command(&[(Origin::User, &text)], vec![Effect::History("a branch".into())], true)
    };
    assert!(under(wide) >= under(&format!("{narrow}, {wide}")));
}

#[test]
fn a_ruling_says_whether_it_holds_only_behind_the_fence() {
    let base = Base { cwd: "/w/app".into(), home: Some("/home/u".into()) };
    let fence = Fence { name: "test", holds_paths: true, holds_network: true, lacks: None };
    let run = || Effect::Run { program: "make".into() };
    let look = || read("/w/app/x", Place::Workspace);
    for (text, effects, needed) in [
        ("profile: dev", vec![run()], true),
        ("profile: dev", look(), false),
        (
            "{profile: dev, rules: [{name: n, action: allow, tool: Bash, obligations: [require_sandbox]}]}",
            look(),
            true,
        ),
        ("{profile: dev, safety: {mode: deny}}", vec![run()], false),
        ("{profile: dev, safety: {require_approval_for_execute: true}}", vec![run()], false),
    ] {
        let config = Config::merge(vec![Layer::parse(Origin::User, "file", text).unwrap()], &base).unwrap();
        let ruling = config.rule(&Question {
            arguments: None,
            tool: "shell_exec",
            category: Category::Exec,
            text: None,
            analysis: &Analysis { parts: part("run x", effects), ..Analysis::default() },
            sandbox: Sandbox::Inherit,
            escalated: false,
            wall_ms: Some(1_000),
            memory_mb: Some(64),
            fence: &fence,
            engine: &Consultation::NotConfigured,
        });
        assert_eq!(ruling.needs_fence, needed, "{text}: {:?}", ruling.decision);
    }
}
