//! Questions of every host and event, in the shape that the host sends (written from its contract, not recorded), what is
//! made of them, and what each host is told for every verdict.
//!
//! `fixtures/HOST/NAME.json` is such a question; `golden/HOST/NAME.txt` is all that comes of it. With
//! `BAILIWICK_BLESS` set the golden files are written anew, to be read before they are kept.

#![expect(clippy::disallowed_methods, reason = "fixtures are files")]
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of a test may fail as the test itself may"
)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use door_hook::{Answer, Asked, Event, Host, Reply, Verdict, exec_prefix, failure, read, rewrite, write};
use serde_json::Value;

fn here(part: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(part)
}

/// Every fixture: host, name, bytes.
fn fixtures() -> Vec<(Host, String, Vec<u8>)> {
    let mut all = Vec::new();
    for host in Host::ALL {
        let directory = here("fixtures").join(host.name());
        let mut names: Vec<PathBuf> = std::fs::read_dir(directory)
            .expect("a directory for each host")
            .map(|entry| entry.expect("an entry").path())
            .collect();
        names.sort();
        for path in names {
            let name = path.file_stem().and_then(|name| name.to_str()).expect("a name").to_owned();
            all.push((host, name, std::fs::read(&path).expect("a file")));
        }
    }
    all
}

fn answers(asked: &Asked) -> [(&'static str, Answer); 3] {
    let fenced =
        asked.shell.as_deref().and_then(|command| rewrite(command, &exec_prefix("/usr/bin/bailiwick", &[])));
    let with = |mut answer: Answer| {
        answer.rewritten.clone_from(&fenced);
        answer
    };
    [
        ("allow", with(Answer::new(Verdict::Allow, "everything that it would do is allowed"))),
        ("ask", with(Answer::new(Verdict::Ask, "it would connect").pending("k7"))),
        ("deny", with(Answer::new(Verdict::Deny, "it would delete the home directory"))),
    ]
}

/// All that comes of a question.
fn outcome(host: Host, bytes: &[u8]) -> String {
    let asked = read(host, bytes).unwrap_or_else(|refused| panic!("{refused}"));
    let mut out = format!("{} {} {:?}\n", asked.host.name(), asked.event_name(), asked.event);
    for (name, part) in [("shell", &asked.shell), ("turn", &asked.turn)] {
        if let Some(part) = part {
            let _ = writeln!(out, "{name}: {}", Value::from(part.as_str()));
        }
    }
    if let Some(succeeded) = asked.succeeded {
        let _ = writeln!(out, "succeeded: {succeeded}");
    }
    for call in &asked.calls {
        let _ = writeln!(out, "call {} {}", call.tool, call.args);
        let _ = writeln!(
            out,
            "     cwd {} session {} id {} principal {} {:?}",
            call.cwd.as_deref().unwrap_or("-"),
            call.session.as_deref().unwrap_or("-"),
            call.id.as_deref().unwrap_or("-"),
            call.principal.id,
            call.principal.groups
        );
    }
    for (word, answer) in answers(&asked) {
        let Reply { stdout, stderr, exit } = write(&asked, &answer);
        assert!(stderr.is_empty());
        let shown = if stdout.is_empty() { "(nothing)\n".to_owned() } else { stdout };
        let _ = write!(out, "{word}: exit {exit} {shown}");
    }
    out
}

#[test]
fn every_question_is_read_and_answered_as_its_host_wants() {
    let bless = std::env::var_os("BAILIWICK_BLESS").is_some();
    let mut wrong = Vec::new();
    for (host, name, bytes) in fixtures() {
        let outcome = outcome(host, &bytes);
        let golden = here("golden").join(host.name()).join(format!("{name}.txt"));
        if bless {
            std::fs::create_dir_all(golden.parent().expect("a directory")).expect("a directory");
            std::fs::write(&golden, &outcome).expect("a golden file");
        }
        if std::fs::read_to_string(&golden).ok().as_deref() != Some(outcome.as_str()) {
            wrong.push(format!("{}:\n{outcome}", golden.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_call_of_every_fixture_is_one_that_the_gate_can_read() {
    for (host, name, bytes) in fixtures() {
        for call in read(host, &bytes).expect("a question").calls {
            let tool = call.tool.clone();
            let parsed = gate::call::Call::parse(call);
            assert!(parsed.is_ok(), "{} {name} {tool}: {:?}", host.name(), parsed.err());
        }
    }
}

/// What a host takes from a reply: the rules of each host, written down a second time.
fn effect(asked: &Asked, reply: &Reply) -> &'static str {
    if reply.exit == 2 && !reply.stderr.trim().is_empty() {
        return "block";
    }
    assert_eq!(reply.exit, 0);
    let output: Value = match reply.stdout.as_str() {
        "" => return "silent",
        text => serde_json::from_str(text).expect("JSON"),
    };
    let keys =
        |value: &Value| -> Vec<String> { value.as_object().expect("an object").keys().cloned().collect() };
    let only = |value: &Value, known: &[&str]| {
        for key in keys(value) {
            assert!(known.contains(&key.as_str()), "{key} is unknown to {}", asked.host.name());
        }
    };
    let word = |value: &Value| match value.as_str() {
        None => "silent",
        Some("allow") => "allow",
        Some("ask") => "ask",
        Some("deny") => "block",
        Some(other) => panic!("{other}"),
    };
    match asked.host {
        Host::ClaudeCode | Host::VsCode | Host::Codex => {
            only(&output, &["hookSpecificOutput"]);
            let inner = &output["hookSpecificOutput"];
            assert_eq!(inner["hookEventName"], asked.event_name());
            if asked.event == Event::Permission {
                only(inner, &["hookEventName", "decision"]);
                let decision = &inner["decision"];
                let rewrites: &[&str] = if asked.host == Host::Codex { &[] } else { &["updatedInput"] };
                only(decision, &[&["behavior", "message"], rewrites].concat());
                return word(&decision["behavior"]);
            }
            let known = ["hookEventName", "permissionDecision", "permissionDecisionReason", "updatedInput"];
            only(inner, &known);
            if asked.host == Host::Codex {
                // An answer that it does not support fails the hook, and the call proceeds.
                match inner["permissionDecision"].as_str() {
                    Some("allow") => assert!(inner["updatedInput"].is_object()),
                    Some("deny") => {
                        assert!(!inner["permissionDecisionReason"].as_str().unwrap_or_default().is_empty());
                        assert!(inner.get("updatedInput").is_none());
                    }
                    other => panic!("{other:?}"),
                }
            }
            word(&inner["permissionDecision"])
        }
        Host::GeminiCli => {
            only(&output, &["decision", "reason", "systemMessage", "hookSpecificOutput"]);
            if let Some(inner) = output.get("hookSpecificOutput") {
                only(inner, &["tool_input"]);
            }
            word(&output["decision"])
        }
        Host::Cursor => {
            only(&output, &["permission", "user_message", "agent_message", "updated_input"]);
            word(&output["permission"])
        }
        Host::CopilotCli => {
            only(&output, &["permissionDecision", "permissionDecisionReason", "modifiedArgs"]);
            word(&output["permissionDecision"])
        }
        Host::OpenCode => {
            only(&output, &["decision", "reason", "args"]);
            word(&output["decision"])
        }
    }
}

// HOOK-2
#[test]
fn no_host_takes_a_refusal_or_a_question_for_a_yes() {
    let mut seen = std::collections::BTreeSet::new();
    for (host, name, bytes) in fixtures() {
        let asked = read(host, &bytes).expect("a question");
        for (word, answer) in answers(&asked) {
            let effect = effect(&asked, &write(&asked, &answer));
            let what = format!("{} {name} {word}: {effect}", host.name());
            seen.insert((host, word, effect));
            match (asked.event, word) {
                (Event::After, _) => assert!(matches!(effect, "silent" | "allow"), "{what}"),
                (_, "deny") => assert_eq!(effect, "block", "{what}"),
                (Event::Before, "ask") => {
                    let asks = match asked.host {
                        Host::Codex | Host::OpenCode => false,
                        Host::Cursor => {
                            asked.event_name() != "preToolUse" && asked.event_name() != "beforeReadFile"
                        }
                        Host::ClaudeCode | Host::GeminiCli | Host::CopilotCli | Host::VsCode => true,
                    };
                    assert_eq!(effect, if asks { "ask" } else { "block" }, "{what}");
                    let reply = write(&asked, &answer).stdout;
                    assert_eq!(!asks, reply.contains("bailiwick grants approve k7"), "{what}");
                }
                // The person is asked where nothing is said.
                (Event::Permission, "ask") => assert_eq!(effect, "silent", "{what}"),
                (_, "allow") => assert!(matches!(effect, "silent" | "allow"), "{what}"),
                (_, other) => panic!("{other}"),
            }
        }
        let effect = effect(&asked, &failure(host, "the journal cannot be written"));
        assert_eq!(effect, "block", "{} {name}", host.name());
    }
    for host in Host::ALL {
        for word in ["allow", "ask", "deny"] {
            assert!(
                seen.iter().any(|(seen, verdict, _)| *seen == host && *verdict == word),
                "{host:?} {word}"
            );
        }
    }
}

#[test]
fn a_rewritten_command_changes_nothing_else_in_the_input() {
    let mut rewritten = std::collections::BTreeSet::new();
    for (host, name, bytes) in fixtures() {
        let asked = read(host, &bytes).expect("a question");
        let [(_, allow), ..] = answers(&asked);
        let Some(command) = allow.rewritten.clone() else { continue };
        if asked.event != Event::Before {
            continue;
        }
        let output: Value = serde_json::from_str(&write(&asked, &allow).stdout).expect("JSON");
        let given: Value = serde_json::from_slice(&bytes).expect("JSON");
        let input =
            ["tool_input", "toolArgs", "args"].iter().find_map(|key| given.get(*key)).expect("an input");
        let mut input = match input {
            Value::String(text) => serde_json::from_str(text).expect("JSON"),
            other => other.clone(),
        };
        let places = [
            "/hookSpecificOutput/updatedInput",
            "/hookSpecificOutput/tool_input",
            "/updated_input",
            "/modifiedArgs",
            "/args",
        ];
        let changed = places.iter().find_map(|place| output.pointer(place)).expect("a changed input");
        if asked.host == Host::GeminiCli {
            // This one is merged.
            assert_eq!(changed, &serde_json::json!({"command": command}), "{name}");
        } else {
            input["command"] = command.into();
            assert_eq!(changed, &input, "{} {name}", host.name());
        }
        rewritten.insert(asked.host);
    }
    assert_eq!(rewritten.len(), Host::ALL.len());
}

#[test]
fn hosts_that_read_each_others_settings_are_told_apart() {
    let by = |file: &str, as_host: Host| {
        let bytes = std::fs::read(here("fixtures").join(file)).expect("a file");
        read(as_host, &bytes).map(|asked| (asked.host, asked.calls.first().map(|call| call.tool.clone())))
    };
    let bash = || Some("Bash".to_owned());
    let table = [
        ("vs-code/run_in_terminal.json", Host::ClaudeCode, Host::VsCode, bash()),
        ("vs-code/snake_case.json", Host::ClaudeCode, Host::VsCode, bash()),
        ("vs-code/run_in_terminal.json", Host::CopilotCli, Host::VsCode, bash()),
        ("vs-code/snake_case.json", Host::CopilotCli, Host::VsCode, bash()),
        ("copilot-cli/bash.json", Host::VsCode, Host::CopilotCli, bash()),
        ("claude-code/bash.json", Host::ClaudeCode, Host::ClaudeCode, bash()),
    ];
    for (file, as_host, host, tool) in table {
        assert_eq!(by(file, as_host), Ok((host, tool)), "{file}");
    }
}

#[test]
fn a_second_question_about_a_rewritten_command_is_about_the_original() {
    let prefix = exec_prefix("/usr/bin/bailiwick", &[]);
    let files = [
        "claude-code/permission_request.json",
        "cursor/before_shell_execution.json",
        "codex/permission_request.json",
    ];
    for file in files {
        let bytes = std::fs::read(here("fixtures").join(file)).expect("a file");
        let host = file.split_once('/').and_then(|(host, _)| Host::from_name(host)).expect("a host");
        let mut question: Value = serde_json::from_slice(&bytes).expect("JSON");
        let place = if question.get("command").is_some() { "/command" } else { "/tool_input/command" };
        let original = question.pointer(place).and_then(Value::as_str).expect("a command").to_owned();
        *question.pointer_mut(place).expect("a command") =
            rewrite(&original, &prefix).expect("rewritten").into();
        let asked = read(host, question.to_string().as_bytes()).expect("a question");
        assert_ne!(asked.calls[0].args["command"], original.as_str());
        assert_eq!(asked.unwrapped(&prefix).calls[0].args["command"], original.as_str(), "{file}");
    }
}
