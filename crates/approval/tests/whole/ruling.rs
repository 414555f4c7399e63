//! Rows of `approval.rules`.

use std::sync::Arc;
use std::time::Duration;

use approval::{
    Answer, Approver, Asked, Callback, Coordinator, Decision, Limits, Reason, Reply, Rule, Rules,
};
use call::RawCall;
use policy::{Base, Config, Layer, Origin};
use serde_json::json;

use crate::asking::{TestClock, asked, config, dev, judge};

fn rules(rows: &str) -> Rules {
    Rules::of(&config(&format!("approval:\n  rules:\n{rows}")).approval().rules)
}

fn decide(rules: Rules, question: Asked) -> (Decision, Reason) {
    let coordinator = Coordinator::new(TestClock::new(), Limits::default());
    let approver = Approver::new(coordinator, Duration::from_secs(60)).with(Box::new(rules));
    let verdict = approver.decide(Arc::new(question));
    (verdict.outcome().decision(), verdict.outcome().reason())
}

#[test]
fn rows_match_by_meaning_and_the_first_decides() {
    let write =
        |path: &str| judge(&dev(), RawCall::new("file_write", json!({"path": path, "content": "x"}))).asked;
    let table: Vec<(&str, Asked, Decision)> = vec![
        // A yes fits the whole call.
        ("- {command: git push, decision: approved}", asked("git push origin main"), Decision::Approved),
        ("- {command: git push, decision: approved}", asked("/usr/bin/git push"), Decision::Approved),
        ("- {command: git push, decision: approved}", asked("git push; npm publish"), Decision::Denied),
        ("- {command: git push, decision: approved}", asked("echo git push"), Decision::Denied),
        (
            "- {command: [git push, npm publish], decision: approved}",
            asked("git push; npm publish"),
            Decision::Approved,
        ),
        ("- {argv0: git, decision: approved_for_session}", asked("git fetch"), Decision::ApprovedForSession),
        ("- {argv0: git, decision: approved}", asked("sudo git fetch"), Decision::Denied),
        ("- {effect: connect, decision: approved}", asked("curl https://example.com"), Decision::Approved),
        (
            "- {effect: connect, decision: approved}",
            asked("curl https://example.com -o ../x"),
            Decision::Denied,
        ),
        ("- {tool: Write, path: src/**, decision: approved}", write("src/a.rs"), Decision::Approved),
        ("- {tool: Write, path: src/**, decision: approved}", write("other/a.rs"), Decision::Denied),
        ("- {tool: Write, path: src/**, decision: approved}", asked("git push"), Decision::Denied),
        ("- {risk: low, decision: approved}", asked("curl https://example.com"), Decision::Approved),
        ("- {risk: low, decision: approved}", asked("git push --force"), Decision::Denied),
        // A no needs a part of it, and stands before a yes below it.
        (
            "- {command: npm publish, decision: abort}\n- {risk: critical, decision: approved}",
            asked("git push; npm publish"),
            Decision::Abort,
        ),
        (
            "- {argv0: sudo, decision: abort}\n- {argv0: git, decision: approved}",
            asked("sudo git fetch"),
            Decision::Abort,
        ),
        ("- {risk: high, decision: abort}", asked("git push --force"), Decision::Abort),
        ("- {risk: high, decision: abort}", asked("git fetch"), Decision::Denied),
        (
            "- {argv0: git, decision: approved}\n- {command: git push, decision: abort}",
            asked("git push"),
            Decision::Approved,
        ),
        ("- {decision: abort}", asked("git push"), Decision::Abort),
    ];
    for (rows, question, expected) in table {
        let indented: String = rows.lines().map(|line| format!("    {line}\n")).collect();
        let shown = question.facts.commands();
        let mut question = question;
        question.confirmation = None;
        question.session_grant = true;
        assert_eq!(decide(rules(&indented), question).0, expected, "{rows} on {shown:?}");
    }
}

#[test]
fn what_no_row_matches_is_denied_unless_somebody_is_asked_after_them() {
    let rows = "    - {command: npm publish, decision: approved}\n";
    assert_eq!(decide(rules(rows), asked("git push")), (Decision::Denied, Reason::Provider));
    let coordinator = Coordinator::new(TestClock::new(), Limits::default());
    let approver = Approver::new(coordinator, Duration::from_secs(60))
        .with(Box::new(rules(rows)))
        .with(Box::new(Callback::new(|_| Reply::Answer(Answer::new(Decision::Approved, "ann")))));
    assert!(approver.decide(Arc::new(asked("git push"))).outcome().is_yes());
}

#[test]
fn a_row_cannot_say_the_words_that_a_critical_call_wants() {
    let mut question = asked("git push --force");
    question.confirmation = Some(approval::CONFIRMATION);
    assert_eq!(decide(rules("    - {argv0: git, decision: approved}\n"), question).0, Decision::Denied);
}

#[test]
fn rules_of_a_library_user_are_asked_too_and_one_that_panics_does_not_match() {
    struct Panics;
    impl Rule for Panics {
        fn answer(&self, _asked: &Asked) -> Option<Answer> {
            panic!("a bug")
        }
    }
    struct Says(Decision);
    impl Rule for Says {
        fn answer(&self, _asked: &Asked) -> Option<Answer> {
            Some(Answer::new(self.0, "mine"))
        }
    }
    let rules = Rules::default().with(Box::new(Panics)).with(Box::new(Says(Decision::Approved)));
    assert_eq!(decide(rules, asked("git push")).0, Decision::Approved);
}

#[test]
fn broken_rows_refuse_to_load_and_a_workspace_cannot_say_who_approves() {
    let load = |origin, yaml: &str| {
        let layer = Layer::parse(origin, "c.yaml", yaml).map_err(|error| error.to_string())?;
        let base = Base { cwd: "/w".into(), home: Some("/home/u".into()) };
        Config::merge(vec![layer], &base).map_err(|error| error.to_string())
    };
    for (yaml, message) in [
        ("approval: {rules: [{decision: approved}]}", "approves everything"),
        ("approval: {rules: [{argv0: git}]}", "no `decision`"),
        ("approval: {rules: [{argv0: git, decision: allow}]}", "not a decision"),
        ("approval: {rules: [{argv: git, decision: denied}]}", "did you mean `argv0`"),
        ("approval: {rules: [{effect: fly, decision: denied}]}", "unknown effect"),
        ("approval: {rules: [{path: 'a[', decision: denied}]}", "path pattern"),
        ("approval: {providers: [terminal, telepathy]}", "not a provider"),
        ("approval: {command: [approve.sh]}", "whole path"),
        ("approval: {max_pending: 0}", "at least 1"),
        ("journal: {sync: sometimes}", "one of always, group, os"),
        ("aproval: {}", "did you mean `approval`"),
    ] {
        let error = load(Origin::User, yaml).expect_err(yaml);
        assert!(error.contains(message), "{yaml}: {error}");
    }
    for yaml in [
        "approval: {rules: [{decision: denied}]}",
        "approval: {rules: []}",
        "approval: {command: [/bin/true]}",
        "approval: {command_timeout_ms: 1}",
        "approval: {providers: [queue]}",
        "approval: {max_pending: 1}",
        "approval: {session_grants_ttl_s: 1}",
        "approval: {auto_approve_max_s: 1}",
        "journal: {sync: os}",
        "journal: {sync: group}",
        "journal: {output: true}",
        "journal: {rotate_mb: 1}",
        "journal: {directory: /tmp}",
    ] {
        assert!(load(Origin::User, yaml).is_ok(), "{yaml}");
        let error = load(Origin::Workspace, yaml).expect_err(yaml);
        assert!(error.contains("may not stand in a workspace file"), "{yaml}: {error}");
    }
    let stricter = load(Origin::Workspace, "journal: {sync: always}").expect("stricter");
    assert_eq!(stricter.journal().sync.value, policy::JournalSync::Always);
    let set = load(
        Origin::User,
        "approval: {providers: [queue, rules, queue], command: ['~/bin/ask', x], max_pending: 3}\njournal: {directory: ~/j, rotate_mb: 7}",
    )
    .expect("loads");
    let names: Vec<&str> = set.approval().providers.value.iter().map(|provider| provider.name()).collect();
    assert_eq!(names, ["queue", "rules"]);
    let command = set.approval().command.as_ref().map(|command| command.value.clone());
    assert_eq!(command, Some(vec!["/home/u/bin/ask".to_owned(), "x".to_owned()]));
    assert_eq!(set.journal().directory.as_ref().map(|directory| directory.value.as_str()), Some("/home/u/j"));
    assert_eq!((set.approval().max_pending.value, set.journal().rotate_mb.value), (3, 7));
}
