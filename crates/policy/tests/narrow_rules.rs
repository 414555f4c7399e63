//! `options_only` and `more_operands`: rules that allow no more than was meant.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use std::path::Path;

use call::{Category, Intent, Sandbox, Shell};
use effects::{NoFiles, Surroundings};
use policy::{Base, Config, Consultation, Decision, Fence, Layer, Origin, Question};

fn load(yaml: &str) -> Result<Config, String> {
    let layer = Layer::parse(Origin::User, "c.yaml", yaml).map_err(|error| error.to_string())?;
    let base = Base { cwd: "/w".into(), home: Some("/home/u".into()) };
    Config::merge(vec![layer], &base).map_err(|error| error.to_string())
}

fn decide(yaml: &str, command: &str) -> Decision {
    let around = Surroundings {
        cwd: Path::new("/w"),
        home: Some(Path::new("/home/u")),
        user: Some("u"),
        workspace: Some(Path::new("/w")),
        files: &NoFiles,
    };
    let intent = Intent::Shell { text: command.into(), shell: Shell::Bash, cwd: None, env_names: Vec::new() };
    let analysis = effects::analyse(&[intent], &around);
    let question = Question {
        arguments: None,
        tool: "Bash",
        category: Category::Exec,
        text: Some(command),
        analysis: &analysis,
        sandbox: Sandbox::Inherit,
        escalated: false,
        wall_ms: None,
        memory_mb: None,
        fence: &Fence::none("a test"),
        engine: &Consultation::NotConfigured,
    };
    load(yaml).expect("loads").rule(&question).decision
}

#[test]
fn options_and_operands_beyond_the_rule_are_not_covered_by_it() {
    let rule =
        |more: &str| format!("rules: [{{name: r, action: allow, commands: [\"cargo build\"], {more}}}]");
    for (more, command, expected) in [
        ("effects: [run]", "cargo build --release --locked x", Decision::Allow),
        ("options_only: [--release]", "cargo build", Decision::Allow),
        ("options_only: [--release]", "cargo build --release", Decision::Allow),
        ("options_only: [--release]", "cargo build --release --locked", Decision::Ask),
        ("options_only: [--release]", "cargo build --config x", Decision::Ask),
        ("options_only: []", "cargo build --release", Decision::Ask),
        ("options_only: []", "cargo build", Decision::Allow),
        ("more_operands: false", "cargo build", Decision::Allow),
        ("more_operands: false", "cargo build extra", Decision::Ask),
        ("more_operands: true", "cargo build extra", Decision::Allow),
    ] {
        assert_eq!(decide(&rule(more), command), expected, "{more}: {command}");
    }
}

#[test]
fn options_are_the_same_by_meaning() {
    for option in ["-f", "--force"] {
        let yaml = format!("rules: [{{name: r, action: allow, commands: [rm], options_only: [{option}]}}]");
        for command in ["rm -f a", "rm --force a", "rm a"] {
            assert_eq!(decide(&yaml, command), Decision::Allow, "{option}: {command}");
        }
        for command in ["rm -rf a", "rm --force --recursive a"] {
            assert_eq!(decide(&yaml, command), Decision::Ask, "{option}: {command}");
        }
    }
}

#[test]
fn a_rule_that_denies_reads_them_in_the_same_way() {
    let yaml =
        "safety: {mode: allow}\nrules: [{name: r, action: deny, commands: [make], more_operands: false}]";
    assert_eq!(decide(yaml, "make"), Decision::Deny);
    assert_eq!(decide(yaml, "make test"), Decision::Allow);
}

#[test]
fn they_say_more_about_commands_and_need_some() {
    for more in ["options_only: [-x]", "more_operands: false"] {
        let error =
            load(&format!("rules: [{{name: r, action: allow, tool: Bash, {more}}}]")).expect_err(more);
        assert!(error.contains("there are none"), "{error}");
    }
}
