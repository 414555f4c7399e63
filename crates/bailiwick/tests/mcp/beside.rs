//! What other servers have besides tools, through the proxy: of one server by its own names, of several by the server's.

use serde_json::{Value, json};

use crate::client::{Client, Place, form, text};

const ONE: [&str; 7] = ["mcp", "proxy", "--name", "fake", "--", "python3", "server.py"];

fn open() -> Place {
    let home = Place::new();
    home.configure("config_version: 1\nprofile: dev\nsafety: {tool_allowlist: [mcp__fake]}\n");
    home
}

/// Two that have everything, one that has only tools, and one that cannot be started.
fn several(rules: &str) -> Place {
    let home = Place::new();
    home.configure(&format!(
        "config_version: 1\nprofile: dev\nsafety: {{tool_allowlist: [mcp__one, mcp__two, mcp__plain]}}\nmcp:\n  servers:\n    \
         one: {{command: [python3, server.py]}}\n    two: {{command: [python3, server.py]}}\n    \
         plain: {{command: [python3, server.py, plain]}}\n    broken: {{command: [no-such-program]}}\n{rules}"
    ));
    home
}

/// What the next notification of this method says; it may still be on its way.
fn told(client: &mut Client, method: &str) -> Option<Value> {
    for _ in 0..40 {
        client.call("ping", json!({}));
        if let Some(at) = client.told.iter().position(|told| told["method"] == method) {
            return Some(client.told.remove(at)["params"].clone());
        }
        std::thread::sleep(std::time::Duration::from_millis(25));
    }
    None
}

fn complete(of: Value) -> Value {
    json!({"ref": of, "argument": {"name": "a", "value": "v"}})
}

fn refusal(answer: &Value) -> &str {
    answer["error"]["message"].as_str().unwrap_or_default()
}

#[test]
fn resources_prompts_and_completions_of_one_server_pass_by_their_own_names() {
    let home = open();
    let mut client = Client::start(&home, &ONE, None);
    let page = client.call("resources/list", json!({}))["result"].clone();
    assert_eq!(page["resources"][0]["uri"], "fake://one", "{page}");
    let page = client.call("resources/list", json!({"cursor": page["nextCursor"]}))["result"].clone();
    assert_eq!((&page["resources"][0]["uri"], &page["nextCursor"]), (&json!("fake://two"), &Value::Null));
    // It has resources, and does not know the word for templates.
    let templates = client.call("resources/templates/list", json!({}));
    assert_eq!(templates["result"]["resourceTemplates"], json!([]), "{templates}");
    let read = client.call("resources/read", json!({"uri": "fake://one"}));
    assert_eq!(read["result"]["contents"][0]["uri"], "fake://one", "{read}");
    let prompts = client.call("prompts/list", json!({}));
    assert_eq!(prompts["result"]["prompts"][0]["name"], "hello", "{prompts}");
    for (of, name) in [
        (json!({"type": "ref/prompt", "name": "hello"}), "hello"),
        (json!({"type": "ref/resource", "uri": "fake://one"}), "fake://one"),
    ] {
        let completed = client.call("completion/complete", complete(of));
        assert_eq!(completed["result"]["completion"]["values"], json!([format!("{name} vx")]), "{completed}");
    }
    let kinds: Vec<String> =
        home.records().iter().map(|event| event["payload"]["tool"].to_string()).collect();
    assert!(kinds.contains(&"\"mcp__fake__completion/complete\"".to_owned()), "{kinds:?}");
}

#[test]
fn nobody_is_asked_about_a_completion_and_without_a_rule_it_does_not_pass() {
    let home = Place::new();
    let mut client = Client::start(&home, &ONE, form(json!({"decision": "approve"})));
    let answer = client.call("completion/complete", complete(json!({"type": "ref/prompt", "name": "hello"})));
    assert!(refusal(&answer).contains("`mcp__fake__completion/complete`"), "{answer}");
    assert!(client.asked.is_empty(), "{:?}", client.asked);
    // Control: reading a prompt is asked about, and passes with a yes.
    let prompt = client.call("prompts/get", json!({"name": "hello"}));
    assert_eq!((prompt["result"]["messages"].is_array(), client.asked.len()), (true, 1), "{prompt}");
}

#[test]
fn log_messages_and_changes_are_handed_on_and_say_whose_they_are() {
    let home = open();
    let mut client = Client::start(&home, &ONE, None);
    // Before the server runs: it is told when it starts.
    assert_eq!(client.call("logging/setLevel", json!({"level": "error"}))["result"], json!({}));
    assert_eq!(text(&client.tool("level", json!({}))), "error");
    assert_eq!(client.call("logging/setLevel", json!({"level": "debug"}))["result"], json!({}));
    assert_eq!(text(&client.tool("level", json!({}))), "debug");
    client.tool("log", json!({"text": "Authorization: Bearer abcdefghijklmnopqrstuvwxyz012345 \u{202e}"}));
    let logged = told(&mut client, "notifications/message").expect("a log message");
    assert_eq!((&logged["level"], &logged["logger"]), (&json!("warning"), &json!("fake/db")), "{logged}");
    assert!(
        !logged.to_string().contains("abcdefghij") && !logged.to_string().contains('\u{202e}'),
        "{logged}"
    );
    // Only whoever has asked for it hears of a resource.
    client.tool("change", json!({}));
    assert!(told(&mut client, "notifications/resources/list_changed").is_some());
    assert!(told(&mut client, "notifications/prompts/list_changed").is_some());
    assert_eq!(told(&mut client, "notifications/resources/updated"), None);
    assert_eq!(client.call("resources/subscribe", json!({"uri": "fake://one"}))["result"], json!({}));
    client.tool("change", json!({}));
    assert_eq!(told(&mut client, "notifications/resources/updated"), Some(json!({"uri": "fake://one"})));
    assert_eq!(client.call("resources/unsubscribe", json!({"uri": "fake://one"}))["result"], json!({}));
}

#[test]
fn a_server_with_nothing_but_tools_has_empty_lists_and_says_what_it_does_not_know() {
    let home = open();
    let mut words = ONE.to_vec();
    words.push("plain");
    let mut client = Client::start(&home, &words, None);
    for (method, key) in [
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
        ("prompts/list", "prompts"),
    ] {
        assert_eq!(client.call(method, json!({}))["result"][key], json!([]), "{method}");
    }
    let completed = client.call("completion/complete", complete(json!({"type": "ref/prompt", "name": "x"})));
    assert_eq!(completed["result"]["completion"]["values"], json!([]), "{completed}");
    for (method, params) in [
        ("resources/read", json!({"uri": "fake://one"})),
        ("resources/subscribe", json!({"uri": "fake://one"})),
        ("prompts/get", json!({"name": "hello"})),
    ] {
        let answer = client.call(method, params);
        assert!(refusal(&answer).contains("the MCP server `fake` says"), "{method}: {answer}");
    }
    assert_eq!(client.call("logging/setLevel", json!({"level": "debug"}))["result"], json!({}));
}

#[test]
fn of_several_servers_everything_is_called_by_the_server_it_belongs_to() {
    let home = several("");
    let mut client = Client::start(&home, &["mcp", "proxy"], None);
    let listed = client.call("resources/list", json!({}));
    let uris: Vec<&str> = listed["result"]["resources"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|one| one["uri"].as_str())
        .collect();
    assert_eq!(
        uris,
        ["mcp:one/fake://one", "mcp:one/fake://two", "mcp:two/fake://one", "mcp:two/fake://two"]
    );
    let read = client.call("resources/read", json!({"uri": "mcp:two/fake://one"}));
    assert_eq!(read["result"]["contents"][0]["uri"], "mcp:two/fake://one", "{read}");
    let listed = client.call("prompts/list", json!({}));
    let names: Vec<&str> = listed["result"]["prompts"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|one| one["name"].as_str())
        .collect();
    assert_eq!(names, ["one__hello", "two__hello"]);
    let prompt = client.call("prompts/get", json!({"name": "one__hello"}));
    assert_eq!(prompt["result"]["messages"][0]["content"]["text"], "hello", "{prompt}");
    let completed = client
        .call("completion/complete", complete(json!({"type": "ref/resource", "uri": "mcp:one/fake://one"})));
    assert_eq!(completed["result"]["completion"]["values"], json!(["fake://one vx"]), "{completed}");
    let linked = client.tool("two__link", json!({}))["content"][1]["uri"].clone();
    assert_eq!(linked, "mcp:two/fake://one", "a link leads to where it can be read");
    // What belongs to nobody is refused, and says how it would be called.
    for (method, params, part) in [
        ("resources/read", json!({"uri": "fake://one"}), "mcp:SERVER/URI"),
        ("resources/read", json!({"uri": "mcp:nobody/fake://one"}), "mcp:SERVER/URI"),
        ("resources/subscribe", json!({"uri": "fake://one"}), "mcp:SERVER/URI"),
        ("prompts/get", json!({"name": "hello"}), "SERVER__PROMPT"),
        ("completion/complete", complete(json!({"type": "ref/prompt", "name": "hello"})), "SERVER__PROMPT"),
    ] {
        let answer = client.call(method, params);
        assert!(refusal(&answer).contains(part), "{method}: {answer}");
    }
    assert_eq!(client.call("logging/setLevel", json!({"level": "alert"}))["result"], json!({}));
    for server in ["one", "two"] {
        assert_eq!(text(&client.tool(&format!("{server}__level"), json!({}))), "alert");
        client.tool(&format!("{server}__log"), json!({"text": "hello"}));
        let logged = told(&mut client, "notifications/message").expect("a log message");
        assert_eq!(logged["logger"], format!("{server}/db"), "{logged}");
    }
    client.call("resources/subscribe", json!({"uri": "mcp:two/fake://two"}));
    client.tool("two__change", json!({}));
    let updated = told(&mut client, "notifications/resources/updated");
    assert_eq!(updated, Some(json!({"uri": "mcp:two/fake://two"})));
}

/// MCP-1: what the policy denies to read is neither listed nor listened for.
#[test]
fn what_may_not_be_read_is_not_listed() {
    let home = several(
        "rules:\n- {name: no prompts, action: deny, tool: 'mcp__one__prompts/get'}\n\
         - {name: not this one, action: deny, tool: 'mcp__two__resources/read', args: {uri: 'two$'}}\n",
    );
    let mut client = Client::start(&home, &["mcp", "proxy"], None);
    let listed = client.call("prompts/list", json!({}))["result"]["prompts"].to_string();
    assert!(!listed.contains("one__hello") && listed.contains("two__hello"), "{listed}");
    let listed = client.call("resources/list", json!({}))["result"]["resources"].to_string();
    assert!(listed.contains("mcp:one/fake://two") && !listed.contains("mcp:two/fake://two"), "{listed}");
    let answer = client.call("prompts/get", json!({"name": "one__hello"}));
    assert!(refusal(&answer).contains("no prompts"), "{answer}");
    for method in ["resources/read", "resources/subscribe"] {
        let answer = client.call(method, json!({"uri": "mcp:two/fake://two"}));
        assert!(answer.get("error").is_some(), "{method}: {answer}");
    }
}
