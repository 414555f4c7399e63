//! A call that was refused because nobody could be asked is approved at a terminal, by its name, and tried again.

use serde_json::{Value, json};

use crate::client::{Client, Place, text};

/// `bailiwick mcp` and the proxy: the words, the configuration, a tool that is asked about, and another call of it.
struct Door {
    words: &'static [&'static str],
    configuration: &'static str,
    tool: &'static str,
    call: Value,
    other: Value,
}

fn doors() -> [Door; 2] {
    [
        Door {
            words: &["mcp"],
            configuration: "config_version: 1\nprofile: dev\nrules:\n- {name: careful, action: ask, commands: [touch]}\n",
            tool: "shell_command",
            call: json!({"command": "touch asked.txt"}),
            other: json!({"command": "touch other.txt"}),
        },
        Door {
            words: &["mcp", "proxy", "--name", "fake", "--", "python3", "server.py"],
            configuration: "config_version: 1\nprofile: dev\n",
            tool: "write",
            call: json!({"path": "asked.txt", "text": ""}),
            other: json!({"path": "other.txt", "text": ""}),
        },
    ]
}

/// The name under which a refused call can be approved.
fn refused(result: &Value) -> String {
    assert_eq!(result["structuredContent"]["error_kind"], "human_required", "{result}");
    let id = result["structuredContent"]["data"]["confirmation_id"].as_str().expect("a name").to_owned();
    assert!(text(result).contains(&format!("bailiwick grants approve {id}")), "{result}");
    id
}

#[test]
fn a_yes_from_a_terminal_lets_the_same_call_through_once() {
    for door in doors() {
        let home = Place::new();
        home.configure(door.configuration);
        let mut client = Client::start(&home, door.words, None);
        let id = refused(&client.tool(door.tool, door.call.clone()));
        let (code, said) = home.run(&["grants", "approve", &id]);
        assert_eq!(code, 0, "{:?}: {said}", door.words);
        assert_eq!(home.read("work/asked.txt"), None, "nothing runs by being approved");
        refused(&client.tool(door.tool, door.other.clone()));
        let result = client.tool(door.tool, door.call.clone());
        assert_ne!(result["isError"], true, "{:?}: {result}", door.words);
        assert!(home.read("work/asked.txt").is_some(), "{result}");
        refused(&client.tool(door.tool, door.call.clone()));
        assert_eq!(home.read("work/other.txt"), None);
        let (code, said) = home.run(&["grants", "approve", &id]);
        assert!(code != 0, "a yes counts once: {said}");
    }
}

#[test]
fn a_yes_for_the_session_holds_for_this_client_and_no_other() {
    for door in doors() {
        let home = Place::new();
        home.configure(door.configuration);
        let mut client = Client::start(&home, door.words, None);
        let mut other = Client::start(&home, door.words, None);
        let id = refused(&client.tool(door.tool, door.call.clone()));
        let (code, said) = home.run(&["grants", "approve", "--for-session", &id]);
        assert_eq!(code, 0, "{:?}: {said}", door.words);
        refused(&other.tool(door.tool, door.call.clone()));
        for _ in 0..3 {
            let result = client.tool(door.tool, door.call.clone());
            assert_ne!(result["isError"], true, "{:?}: {result}", door.words);
        }
        refused(&client.tool(door.tool, door.other.clone()));
    }
}

#[test]
fn a_no_from_a_terminal_approves_nothing() {
    for door in doors() {
        let home = Place::new();
        home.configure(door.configuration);
        let mut client = Client::start(&home, door.words, None);
        let id = refused(&client.tool(door.tool, door.call.clone()));
        assert_eq!(home.run(&["grants", "deny", &id]).0, 0);
        refused(&client.tool(door.tool, door.call.clone()));
        assert_eq!(home.read("work/asked.txt"), None);
    }
}

/// The start of a server is a call like any other.
#[test]
fn the_start_of_a_server_is_approved_in_the_same_way() {
    let home = Place::new();
    home.configure(
        "config_version: 1\nprofile: dev\nsafety: {require_approval_for_execute: true, tool_allowlist: [mcp__fake]}\n",
    );
    let words = ["mcp", "proxy", "--name", "fake", "--", "python3", "server.py"];
    let mut client = Client::start(&home, &words, None);
    let id = refused(&client.tool("echo", json!({"text": "hello"})));
    let (code, said) = home.run(&["grants", "approve", &id]);
    assert_eq!(code, 0, "{said}");
    // It runs from then on: its calls start nothing anew.
    for _ in 0..2 {
        assert_eq!(text(&client.tool("echo", json!({"text": "hello"}))), "hello");
    }
}
