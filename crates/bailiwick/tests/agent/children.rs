//! RUN-6: an agent that an agent starts has its parent's policy, names its parent, and ends with it.

use serde_json::json;

use crate::home::Home;
use crate::scripted::{Answer, Protocol, Seen, Server, call, calls, text};
use crate::talk::{Told, run_with};

const ALLOWED: &str = "profile: dev\napproval: {rules: [{tool: [spawn_agent, send_input, resume_agent], decision: approved}]}\n";

/// A parent that follows `steps`, and a child that follows `child`, told apart by what was said to them first.
fn family(steps: Vec<Answer>, child: Vec<Answer>) -> Server {
    Server::start(Protocol::Anthropic, move |seen: &Seen, _| {
        let turns = seen.body["messages"]
            .as_array()
            .map_or(0, |all| all.iter().filter(|m| m["role"] == "assistant").count());
        let script = if seen.texts[0].contains("CHILD") { &child } else { &steps };
        script.get(turns).or(script.last()).cloned().unwrap_or(text("done"))
    })
}

fn run(home: &Home, server: &Server) -> Told {
    home.configure(ALLOWED);
    run_with(home, server, &["run", "--json", "do it"])
}

#[test]
fn a_child_does_its_part_and_its_calls_name_parent_and_child() {
    let home = Home::new();
    let server = family(
        vec![
            call("spawn_agent", json!({"message": "CHILD: write it down"})),
            call("wait", json!({"ids": ["a1"], "timeout_ms": 20000})),
            text("the child did it"),
        ],
        vec![
            calls(&[
                ("file_write", json!({"path": "child.txt", "content": "by the child\n"})),
                ("shell_command", json!({"command": "sudo ls"})),
            ]),
            text("written"),
        ],
    );
    let told = run(&home, &server);
    assert_eq!(told.ran.code, Some(0), "{:?}", told.ran);
    assert!(home.0.join("work/child.txt").exists());
    let waited =
        server.seen().iter().rfind(|seen| !seen.texts[0].contains("CHILD")).expect("one").last().to_owned();
    assert!(waited.contains("written") && waited.contains("waiting"), "{waited}");
    let of_child = told.events.iter().filter(|event| event["agent"] == "agent/a1");
    let kinds: Vec<&str> = of_child.filter_map(|event| event["type"].as_str()).collect();
    for kind in ["tool_judged", "tool_finished", "turn_ended"] {
        assert!(kinds.contains(&kind), "{kind}: {kinds:?}");
    }
    let denied = told.of("tool_judged");
    let denied = denied.iter().find(|event| event["ruling"]["decision"] == "deny").expect("a denial");
    assert_eq!(denied["agent"], "agent/a1", "a child may do no more than its parent");
    let journal = home.run(&["journal", "export"]).out;
    let written =
        journal.lines().find(|line| line.contains("child.txt") && line.contains("tool_call_requested"));
    assert!(written.expect("the call").contains("\"agent/a1\""), "{journal}");
    assert!(journal.lines().any(|line| line.contains("spawn_agent") && line.contains("tool_call_started")));
}

#[test]
fn depth_and_number_are_bounded() {
    let home = Home::new();
    let spawn = |text: &str| ("spawn_agent", json!({"message": text}));
    let server = family(
        vec![
            calls(&[spawn("CHILD 1"), spawn("CHILD 2"), spawn("CHILD 3")]),
            call("wait", json!({"ids": ["a1", "a2"], "timeout_ms": 20000})),
            text("done"),
        ],
        vec![call("spawn_agent", json!({"message": "CHILD of a child"})), text("tried")],
    );
    home.configure(&format!("{ALLOWED}agent: {{max_agents: 2, max_depth: 1}}\n"));
    let told = run_with(&home, &server, &["run", "--json", "do it"]);
    assert_eq!(told.ran.code, Some(0), "{:?}", told.ran);
    let seen = server.seen();
    let third = seen.iter().find(|seen| seen.all().contains("agent.max_agents")).expect("a refusal");
    assert!(!third.texts[0].contains("CHILD"));
    let deeper =
        seen.iter().find(|seen| seen.texts[0].contains("CHILD") && seen.all().contains("agent.max_depth"));
    assert!(deeper.is_some(), "{:?}", told.ran.out);
    let child = seen.iter().find(|seen| seen.texts[0].contains("CHILD")).expect("a child");
    assert!(!child.tools().iter().any(|tool| tool == "spawn_agent"), "what it cannot do is not offered");
}

#[test]
fn a_child_is_steered_closed_and_taken_up_again_and_what_it_left_running_ends() {
    let home = Home::new();
    let server = family(
        vec![
            call("spawn_agent", json!({"message": "CHILD: start it"})),
            call("wait", json!({"ids": ["a1"], "timeout_ms": 20000})),
            call("send_input", json!({"id": "a1", "message": "and more"})),
            call("wait", json!({"ids": ["a1"], "timeout_ms": 20000})),
            call("close_agent", json!({"id": "a1"})),
            call("shell_command", json!({"command": "pgrep -f 'sleep 876543' || echo none is left"})),
            call("send_input", json!({"id": "a1", "message": "hello?"})),
            call("resume_agent", json!({"id": "a1"})),
            call("send_input", json!({"id": "a1", "message": "back again"})),
            call("wait", json!({"ids": ["a1"], "timeout_ms": 20000})),
            text("done"),
        ],
        vec![
            call("exec_command", json!({"cmd": "sleep 876543", "yield_time_ms": 200})),
            text("it runs"),
            text("heard more"),
            text("I am back"),
        ],
    );
    let told = run(&home, &server);
    assert_eq!(told.ran.code, Some(0), "{:?}", told.ran);
    let parent: Vec<Seen> =
        server.seen().into_iter().filter(|seen| !seen.texts[0].contains("CHILD")).collect();
    let after = |step: usize| parent[step].last().to_owned();
    assert!(after(2).contains("it runs"), "{}", after(2));
    assert!(after(4).contains("heard more"), "{}", after(4));
    assert!(after(5).contains("closed"), "{}", after(5));
    let left = home.shell("pgrep -f '[s]leep 876543' || echo none");
    assert_eq!(left.out.trim(), "none");
    assert!(after(7).contains("has ended"), "{}", after(7));
    assert!(after(10).contains("I am back"), "{}", after(10));
}

#[test]
fn spawning_is_gated() {
    let home = Home::new();
    let server =
        family(vec![call("spawn_agent", json!({"message": "CHILD"})), text("unreached")], vec![text("hi")]);
    let told = run_with(&home, &server, &["run", "--json", "--profile", "dev", "do it"]);
    assert_eq!(
        (told.ran.code, &told.last()["reason"]),
        (Some(125), &json!("config_error")),
        "{:?}",
        told.ran
    );
    assert!(told.of("agent_spawned").is_empty());
}
