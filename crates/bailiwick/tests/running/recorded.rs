//! The journal through the binary: what happened can be read, checked and exported, and nothing secret is in it.

use crate::home::{Home, Ran};

const TOKEN: &str = "ghp_Aq3kL9xTz0Wm2Yv7Rb5Nc8Ue1Hj4Fd6Gs0P";

fn busy() -> Home {
    let home = Home::new();
    for arguments in [
        &["exec", "--", "echo", "hello"][..],
        &["exec", "--", "cat", "/etc/shadow"],
        &["exec", "--", "git", "reset", "--hard"],
        &["exec", "--", "false"],
        &[
            "exec",
            "--",
            "curl",
            "-H",
            "Authorization: Bearer ghp_Aq3kL9xTz0Wm2Yv7Rb5Nc8Ue1Hj4Fd6Gs0P",
            "http://127.0.0.1:1/",
        ],
        &["exec", "--", "cat", "../.config/bailiwick/config.yaml"],
    ] {
        home.run(arguments);
    }
    home
}

#[test]
fn calls_are_recorded_from_request_to_end_without_a_secret() {
    let home = busy();
    let records: Vec<serde_json::Value> = home
        .run(&["journal", "export"])
        .out
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let kinds = |kind: &str| records.iter().filter(|record| record["type"] == kind).count();
    assert_eq!(kinds("tool_call_requested"), 6);
    assert_eq!(kinds("tool_call_finished"), 6);
    assert_eq!(kinds("security_violation"), 1, "reading Bailiwick's own configuration is one");
    assert!(kinds("tool_call_started") >= 2 && kinds("approval_decided") >= 1);
    let kept = home.kept();
    assert!(kept.contains("hello") && !kept.contains(TOKEN) && !kept.contains(&TOKEN[4..20]), "SEC-1");
    // Who, what, which policy, what came of it: one line a call.
    let decisions = home.run(&["journal", "export", "--format", "decisions"]).out;
    let decisions: Vec<serde_json::Value> =
        decisions.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(decisions.len(), 6);
    assert!(
        decisions
            .iter()
            .any(|decision| decision["policy_decision"] == "deny" && decision["final_outcome"] == "deny")
    );
    let audit = home.run(&["journal", "export", "--format", "audit"]).out;
    for kind in ["tool_attempt", "approval", "security_violation"] {
        assert!(audit.contains(&format!("\"event\":\"{kind}\"")), "{kind}: {audit}");
    }
    let csv = home.run(&["journal", "export", "--format", "csv"]).out;
    assert!(csv.starts_with("seq,timestamp,type"), "{csv}");
    let otlp: serde_json::Value =
        serde_json::from_str(&home.run(&["journal", "export", "--format", "otlp-json"]).out).expect("JSON");
    assert!(
        otlp["resourceLogs"][0]["scopeLogs"][0]["logRecords"].as_array().is_some_and(|logs| logs.len() > 10)
    );
}

#[test]
fn a_person_finds_what_happened_and_why() {
    let home = busy();
    let tail = home.run(&["journal", "tail"]);
    assert!(tail.out.contains("echo hello") && tail.out.contains("denied"), "{}", tail.out);
    assert!(!tail.out.contains("checkpoint") && !tail.out.contains('\u{1b}'), "{}", tail.out);
    let first = home.run(&["journal", "export"]).out;
    let call = first
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"))
        .find(|record| record["payload"]["decision"] == "deny")
        .expect("a denial")["call_id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let story = home.run(&["journal", "show", &call[..10]]);
    for word in
        ["tool_call_requested", "/etc/shadow", "denied_paths.credentials", "tool_call_finished", "permission"]
    {
        assert!(story.out.contains(word), "{word}: {}", story.out);
    }
    let stats = home.run(&["journal", "stats"]);
    assert!(stats.out.contains("safety.effects.history"), "{}", stats.out);
    let recent = home.run(&["journal", "tail", "--since", "2099-01-01"]);
    assert_eq!(recent.out, "");
    assert_eq!(home.run(&["journal", "tail", "--since", "soon"]).code, Some(125));
    assert_eq!(home.run(&["journal", "show", "no-such-call"]).code, Some(125));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the attacks of this test")]
fn changed_and_cut_journals_are_found() {
    let home = busy();
    let verify = |more: &[&str]| {
        let mut arguments = vec!["journal", "verify"];
        arguments.extend(more);
        home.run(&arguments)
    };
    assert_eq!(verify(&[]).code, Some(0));
    let head = home.0.join("head.json");
    std::fs::write(&head, home.run(&["journal", "head"]).out).expect("a head");
    let head = head.display().to_string();
    assert_eq!(verify(&["--head", &head]).code, Some(0));
    let path = home.journal().join("00000001.jsonl");
    let whole = std::fs::read_to_string(&path).expect("the journal");
    std::fs::write(&path, whole.replacen("\"decision\":\"deny\"", "\"decision\":\"allow\"", 1))
        .expect("an edit");
    let changed = verify(&[]);
    assert_eq!(changed.code, Some(11), "{changed:?}");
    assert!(changed.out.contains("00000001.jsonl"), "{}", changed.out);
    // Cut at the end of a record: only the head that was kept elsewhere shows it.
    let lines: Vec<&str> = whole.lines().collect();
    let cut = lines[..lines.len() - 6].join("\n") + "\n";
    std::fs::write(&path, cut).expect("a cut");
    assert_eq!(verify(&["--head", &head]).code, Some(11));
    let another_key = home.0.join("key");
    std::fs::write(&another_key, "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a\n")
        .expect("a key");
    std::fs::write(&path, &whole).expect("the journal as it was");
    assert_eq!(verify(&[]).code, Some(0));
    assert_eq!(verify(&["--key", &another_key.display().to_string()]).code, Some(11));
}

#[test]
fn past_calls_can_be_judged_under_another_policy() {
    let home = busy();
    home.write("new.yaml", "profile: dev\nsafety: {effects: {history: deny}, denylist: [echo]}\n", false);
    let replay = home.run(&["policy", "replay", "--json", "--config", "new.yaml"]);
    let replay: serde_json::Value = serde_json::from_str(&replay.out).expect("JSON");
    assert_eq!(replay["judged"], 6);
    let changed = replay["changed"].as_array().expect("a list");
    let to_deny = |what: &str| {
        changed.iter().any(|change| {
            change["now"] == "deny" && change["what"].as_str().is_some_and(|text| text.starts_with(what))
        })
    };
    assert!(to_deny("echo hello") && to_deny("git reset --hard"), "{replay}");
    let same = home.run(&["policy", "replay", "--json"]);
    let same: serde_json::Value = serde_json::from_str(&same.out).expect("JSON");
    assert_eq!(same["changed"].as_array().expect("a list").len(), 0, "{same}");
    // Wherever it is started, a call is judged in the directory, and by the workspace, that it was made in.
    home.run(&["exec", "--", "touch", "made.txt"]);
    let elsewhere = home.0.join("elsewhere");
    std::fs::create_dir_all(&elsewhere).expect("a directory");
    let same: Ran = home
        .alone(&["policy", "replay", "--json"])
        .current_dir(&elsewhere)
        .output()
        .expect("the binary")
        .into();
    let same: serde_json::Value = serde_json::from_str(&same.out).expect("JSON");
    assert_eq!((&same["judged"], &same["changed"]), (&7.into(), &serde_json::json!([])), "{same}");
}
