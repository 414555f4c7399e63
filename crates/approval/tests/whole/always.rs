//! The rule that a yes for always would save: narrow, readable back, and never for what cannot be taken back.

use approval::{Proposal, Provenance, add_rule, propose};
use call::RawCall;
use policy::Decision;

use crate::asking::{config, judge};

/// A configuration under which nearly everything is asked about.
const STRICT: &str = "safety: {mode: ask}";
/// One that asks about programs of which nothing is known.
const PROD: &str = "profile: prod\nsafety: {complex_shell: by_part}";

fn proposal(yaml: &str, command: &str) -> Option<Proposal> {
    let judged = judge(&config(yaml), RawCall::command(command));
    assert_eq!(judged.ruling.decision, Decision::Ask, "{command}: {}", judged.ruling.reason);
    propose(&judged.ruling, &judged.analysis)
}

/// What a configuration with the rule in it says.
fn with_rule(yaml: &str, proposal: &Proposal, command: &str) -> Decision {
    let whole = format!("{yaml}\n{}", proposal.document());
    judge(&config(&whole), RawCall::command(command)).ruling.decision
}

#[test]
fn the_rule_allows_what_was_asked_and_not_what_differs() {
    // Configuration, command, what it then allows too, what it does not.
    let table: &[(&str, &str, &[&str], &[&str])] = &[
        (
            STRICT,
            "cargo build --release",
            &["cargo build", "/usr/bin/cargo build --release"],
            &[
                "cargo publish",
                "cargo build --release --config x",
                "cargo build extra",
                "cargo run",
                "sudo cargo build --release",
            ],
        ),
        (
            STRICT,
            "make test",
            &[],
            &["make", "make deploy", "make test deploy", "make -C /tmp test", "make test SHELL=/tmp/x"],
        ),
        (
            STRICT,
            "./run.sh quick",
            &[],
            &["./run.sh", "./other.sh quick", "../run.sh quick", "/tmp/run.sh quick", "run.sh quick"],
        ),
        (
            STRICT,
            "git add src/main.rs",
            &["git add src/lib.rs"],
            &["git add -A", "git push", "git commit -m x", "git -c core.pager=sh add src/main.rs"],
        ),
        (
            STRICT,
            "cp a.txt b.txt",
            &["cp b.txt c.txt"],
            &["cp a.txt ../b.txt", "cp -r a b", "cp /etc/shadow b.txt", "mv a.txt b.txt"],
        ),
        (
            STRICT,
            "touch notes.md",
            &["touch other.md"],
            &["touch ../x", "touch ~/.bashrc", "touch .git/hooks/pre-commit"],
        ),
        (PROD, "pytest -q", &["pytest"], &["pytest -q tests", "pytest --pdb -q"]),
    ];
    for (yaml, command, also, not) in table {
        let made = proposal(yaml, command).unwrap_or_else(|| panic!("{command}: nothing offered"));
        assert_eq!(with_rule(yaml, &made, command), Decision::Allow, "{command}\n{}", made.snippet());
        for other in *also {
            assert_eq!(with_rule(yaml, &made, other), Decision::Allow, "{other}\n{}", made.snippet());
        }
        for other in *not {
            assert_ne!(with_rule(yaml, &made, other), Decision::Allow, "{other}\n{}", made.snippet());
        }
    }
}

#[test]
fn what_destroys_connects_gains_rights_or_runs_code_is_never_offered() {
    for command in [
        "rm old.txt",
        "rm -r build",
        "git push",
        "git push --force",
        "git reset --hard HEAD~1",
        "curl https://example.com",
        "python3 -c 'print(1)'",
        "sudo ls",
        "cat ../other/file",
        "npm install",
        "npm publish",
        "eval \"$X\"",
        "$CMD x",
        "echo x > ../y",
        "cargo build && rm -rf src",
        "LD_PRELOAD=./x.so make",
        "docker run --privileged x",
        "systemctl restart x",
        "make test TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345",
    ] {
        let judged = judge(&config(STRICT), RawCall::command(command));
        let offered = propose(&judged.ruling, &judged.analysis);
        assert!(offered.is_none(), "{command}: {:?}", offered.map(|offered| offered.snippet()));
    }
}

#[test]
fn nothing_is_offered_where_a_rule_could_not_help() {
    for (yaml, command) in [
        ("safety: {mode: ask}\nrules: [{name: r, action: ask, commands: [make]}]", "make test"),
        ("safety: {mode: ask, require_approval_for_execute: true}", "make test"),
        ("safety: {mode: ask, allowed_paths: ['<cwd>/**']}", "make test"),
        ("profile: dev\nsafety: {mode: ask, complex_shell: ask}", "make test | tee out.txt"),
    ] {
        assert_eq!(proposal(yaml, command), None, "{yaml}: {command}");
    }
}

#[test]
fn the_blast_radius_is_what_the_rule_would_really_allow() {
    let made = proposal(STRICT, "cp a.txt b.txt").expect("offered");
    let allows = |command: &str| with_rule(STRICT, &made, command) == Decision::Allow;
    let history = ["cp x.txt y.txt", "cp x.txt y.txt", "rm -rf /", "cp a.txt b.txt", "ls"];
    let shown = made.clone().with_radius(allows, history);
    let radius = shown.radius().expect("found out");
    assert!(radius.tried > 20);
    assert!(radius.variants.iter().all(|variant| allows(variant)), "{radius:?}");
    assert!(
        !radius.variants.iter().any(|variant| variant.contains("rm -rf") || variant.contains("..")),
        "{radius:?}"
    );
    assert_eq!(
        (radius.history.as_slice(), radius.history_count),
        (["cp x.txt y.txt".to_owned()].as_slice(), 2)
    );
}

const WHO: Provenance<'static> =
    Provenance { who: "ann", when: "2026-01-02", why: "make would run\nevil: true" };

#[test]
fn a_rule_is_added_to_the_text_that_is_there() {
    let made = proposal(STRICT, "make test").expect("offered");
    for text in [
        "",
        "# only a comment\n",
        "profile: dev",
        "profile: dev\nrules: []\n",
        "profile: dev\nrules: []   # none yet\nsafety: {mode: ask}\n",
        "rules:\n",
        "rules:\n  # nothing yet\nprofile: dev\n",
        "rules:\n- name: a\n  action: deny\n  commands: [rm]\n\n# about the profile\nprofile: dev\n",
        "# top\nrules:   # mine\n    - name: a\n      action: ask   # why\n      commands:\n        - rm\n        - mv\n    # last\nsafety:\n  mode: ask\n",
        "rules:\n  - {name: a, action: deny, commands: [rm]}\n  - name: b\n    action: ask\n    tool: x",
    ] {
        let changed = add_rule(text, &made, &WHO).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        // Every line that was there is there still, in the same order.
        let mut lines = changed.lines();
        for line in text.lines().map(|line| line.replace("rules: []", "rules:")) {
            let kept = lines.any(|other| other.split_whitespace().eq(line.split_whitespace()));
            assert!(kept, "{line:?} is gone from\n{changed}");
        }
        let rules: Vec<String> = config(&changed).rules().map(|rule| rule.name.clone()).collect();
        assert_eq!(rules.last().map(String::as_str), Some(made.name()), "{changed}");
        assert!(changed.contains("# Approved for always by ann on 2026-01-02."));
        assert!(!changed.lines().any(|line| line.starts_with("evil")), "{changed}");
        // A second time the same is not added.
        assert!(add_rule(&changed, &made, &WHO).is_err());
        let another = proposal(STRICT, "make check").expect("offered");
        let twice = add_rule(&changed, &another, &WHO).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(config(&twice).rules().count(), rules.len() + 1);
    }
}

#[test]
fn a_text_that_cannot_be_edited_safely_is_left_and_the_lines_to_paste_come_back() {
    let made = proposal(STRICT, "make test").expect("offered");
    for text in [
        "{\"rules\": []}",
        "rules: [{name: a, action: deny}]\n",
        "---\nprofile: dev\n",
        "\"rules\":\n  - {name: a, action: deny}\n",
        "rules:\n\t- x\n",
        "profile: dev\r\n",
        "profile: nonsense\n",
        "rules:\n  - name: a\n    action: deny\n    reason: |\n      text\n      # not a comment\n",
    ] {
        let refused = add_rule(text, &made, &WHO).expect_err(text);
        assert!(refused.snippet.contains(made.name()), "{text}");
        let pasted = format!("rules:\n{}", refused.snippet);
        assert_eq!(config(&pasted).rules().count(), 1);
    }
}
