//! RUN-1: a run does its task through the gate; what is denied goes back to the model with the reason, and it goes on.

use serde_json::json;

use crate::home::Home;
use crate::scripted::{Answer, Protocol, Server, call, calls, text};
use crate::talk::run;

#[test]
fn a_run_writes_a_file_runs_a_program_and_says_what_it_did() {
    for protocol in Protocol::ALL {
        let home = Home::new();
        let server = Server::following(
            protocol,
            vec![
                call("file_write", json!({"path": "hello.sh", "content": "echo héllo from a script\n"})),
                call("shell_exec", json!({"argv": ["sh", "hello.sh"]})),
                text("It says hello."),
            ],
        );
        let told = run(&home, &server, &[]);
        assert_eq!(told.ran.code, Some(0), "{protocol:?} {:?}", told.ran);
        assert_eq!(told.last()["type"], "run_completed");
        assert_eq!(told.last()["text"], "It says hello.");
        let one = ["tool_proposed", "tool_judged", "tool_started", "tool_finished"];
        let expected: Vec<&str> = ["run_started"]
            .into_iter()
            .chain(one)
            .chain(one)
            .chain(["turn_ended", "run_completed"])
            .collect();
        assert_eq!(told.order(), expected);
        let seen = server.seen();
        assert_eq!(seen.len(), 3);
        assert!(seen[2].last().contains("héllo from a script"), "{}", seen[2].last());
        let tools = seen[0].tools();
        for tool in ["shell_exec", "apply_patch", "read_file", "update_plan", "spawn_agent", "view_image"] {
            assert!(tools.iter().any(|known| known == tool), "{tool}");
        }
        assert!(!tools.iter().any(|tool| tool == "ask_human"), "nobody is there to be asked");
        assert_eq!(told.of("tokens").len(), 3);
        let journal = home.run(&["journal", "export"]).out;
        for kind in ["run_started", "run_saved", "run_completed", "tool_call_started", "tool_call_finished"] {
            assert!(journal.contains(&format!("\"{kind}\"")), "{kind}");
        }
        assert!(journal.contains(&told.run_id()), "{journal}");
    }
}

#[test]
fn a_denial_goes_back_with_its_reason_rule_and_help_and_the_model_goes_on() {
    let home = Home::new();
    let server = Server::following(
        Protocol::Anthropic,
        vec![call("shell_command", json!({"command": "sudo cat /etc/shadow"})), text("Then not.")],
    );
    let told = run(&home, &server, &[]);
    assert_eq!(told.ran.code, Some(0), "{:?}", told.ran);
    let finished = told.of("tool_finished")[0];
    assert_eq!(finished["end"]["error_kind"], "permission");
    assert_eq!(finished["end"]["denied_by"], "policy");
    assert_eq!(told.of("tool_judged")[0]["ruling"]["decision"], "deny");
    let seen = server.seen();
    for part in ["permission", "rule:", "always be denied"] {
        assert!(seen[1].last().contains(part), "{part}: {}", seen[1].last());
    }
    assert!(told.of("tool_started").is_empty());
}

#[test]
fn tools_that_the_policy_denies_are_not_offered_and_a_call_of_one_says_why() {
    let home = Home::new();
    home.configure("profile: dev\nsafety: {tool_denylist: [grep_files]}\n");
    let server = Server::following(
        Protocol::OpenAi,
        vec![call("grep_files", json!({"pattern": "x"})), call("no_such_tool", json!({})), text("ok")],
    );
    let told = run(&home, &server, &["--read-only"]);
    assert_eq!(told.ran.code, Some(0), "{:?}", told.ran);
    let seen = server.seen();
    let tools = seen[0].tools();
    assert!(tools.iter().any(|tool| tool == "read_file"));
    for tool in ["grep_files", "file_write", "shell_exec", "spawn_agent"] {
        assert!(!tools.iter().any(|known| known == tool), "{tool}");
    }
    assert!(seen[1].last().contains("deny list"), "{}", seen[1].last());
    assert!(seen[2].last().contains("there is no tool `no_such_tool`"), "{}", seen[2].last());
}

#[test]
fn arguments_that_are_no_json_or_not_what_the_tool_takes_go_back_as_errors() {
    let table = [
        ("{\"path\": \"a", "no JSON object"),
        ("[1]", "no JSON object"),
        ("{\"path\": 7}", "`$.path` must be"),
        ("{\"path\": \"a\", \"path\": \"b\"}", "twice"),
        ("{\"pth\": \"a\"}", "did you mean"),
    ];
    for (at, (arguments, expected)) in table.into_iter().enumerate() {
        let home = Home::new();
        let wrong = Answer::Calls("so:".into(), vec![("file_read".into(), arguments.into())]);
        let protocol = Protocol::ALL[at % 2];
        let server = Server::following(protocol, vec![wrong, text("sorry")]);
        let told = run(&home, &server, &[]);
        assert_eq!(told.ran.code, Some(0), "{:?}", told.ran);
        let last = server.seen()[1].last().to_owned();
        assert!(last.contains("error: validation") && last.contains(expected), "{arguments}: {last}");
        assert_eq!(told.of("tool_finished")[0]["end"]["error_kind"], "validation");
    }
}

#[test]
fn calls_of_one_answer_run_together_and_are_answered_in_order() {
    let home = Home::new();
    // Each waits until the other has begun: one after the other they would never end.
    let meet = |mine: &str, other: &str| {
        format!(
            "touch {mine}; for i in $(seq 100); do [ -e {other} ] && break; sleep 0.05; done; [ -e {other} ] && echo {mine} met"
        )
    };
    home.write("one.sh", &meet("m1", "m2"), false);
    home.write("two.sh", &meet("m2", "m1"), false);
    let server = Server::following(
        Protocol::Anthropic,
        vec![
            calls(&[
                ("shell_exec", json!({"argv": ["sh", "one.sh"]})),
                ("file_read", json!({"path": "notes.txt"})),
                ("shell_exec", json!({"argv": ["sh", "two.sh"]})),
            ]),
            text("ok"),
        ],
    );
    let told = run(&home, &server, &[]);
    assert_eq!(told.ran.code, Some(0), "{:?}", told.ran);
    let texts = server.seen()[1].texts.clone();
    let results = &texts[texts.len() - 3..];
    assert!(
        results[0].contains("m1 met") && results[1].contains("notes") && results[2].contains("m2 met"),
        "{results:?}"
    );
}

#[test]
fn rules_answer_in_place_of_a_person_one_question_after_the_other() {
    let home = Home::new();
    home.configure(
        "profile: dev\napproval:\n  rules:\n    - {command: 'git reset', decision: approved, reason: fine}\n    - {tool: shell_command, decision: denied, reason: not today}\n",
    );
    let server = Server::following(
        Protocol::OpenAi,
        vec![
            calls(&[
                ("shell_command", json!({"command": "git reset --hard"})),
                ("shell_command", json!({"command": "git push --force"})),
            ]),
            text("ok"),
        ],
    );
    let told = crate::talk::run_with(&home, &server, &["run", "--json", "do it"]);
    assert_eq!(told.ran.code, Some(0), "{:?}", told.ran);
    let settled: Vec<bool> =
        told.of("approval_settled").iter().filter_map(|event| event["approved"].as_bool()).collect();
    assert_eq!(settled, [true, false]);
    let asked = told.of("approval_asked");
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[0]["question"]["toolName"], "shell_command");
    assert!(asked[0]["question"]["confirmationId"].is_string());
    let last = server.seen()[1].last().to_owned();
    assert!(last.contains("not today") && last.contains("said no"), "{last}");
}

#[test]
fn an_image_reaches_the_model_as_an_image() {
    for protocol in Protocol::ALL {
        let home = Home::new();
        let png = "\\211PNG\\r\\n\\032\\n\\000\\000\\000\\rIHDR\\000\\000\\000\\001\\000\\000\\000\\001\\010\\006\\000\\000\\000";
        home.shell(&format!("printf '{png}' > dot.png"));
        let server =
            Server::following(protocol, vec![call("view_image", json!({"path": "dot.png"})), text("a dot")]);
        let told = run(&home, &server, &[]);
        assert_eq!(told.ran.code, Some(0), "{:?}", told.ran);
        let all = server.seen()[1].all();
        assert!(all.contains("IMAGE ") && all.contains("image/png"), "{protocol:?} {all}");
        assert!(!told.ran.out.contains("iVBOR"), "no event holds the image");
    }
}
