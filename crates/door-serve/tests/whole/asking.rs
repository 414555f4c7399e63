//! `/v1/check` and `/v1/calls`: what is asked by any of the forms gets the ruling that it gets elsewhere.

use serde_json::{Value, json};

use crate::server::Served;

#[tokio::test(flavor = "multi_thread")]
async fn a_check_is_answered_in_the_words_it_was_asked_in() {
    let served = Served::new().await;
    let layered = |name: &str, args: Value| {
        json!({"principal": {"id": "user-123", "groups": ["editor"]}, "action": "tool:execute",
            "resource": {"type": "tool", "name": name, "attributes": {"args": args}}, "context": {"ip_address": "::1", "session_id": "s"}})
    };
    let table = [
        (json!({"command": "ls"}), "allow"),
        (json!({"command": "rm -rf /"}), "deny"),
        (json!({"command": "git push --force"}), "ask"),
        (
            json!({"tool": "file_read", "args": {"path": "notes.txt"}, "cwd": "sub", "session": "s", "principal": "me"}),
            "allow",
        ),
        (json!({"tool": "nobody_knows_it", "args": {}}), "ask"),
        (layered("shell:execute", json!({"command": "ls"})), "ALLOW"),
        (layered("shell:execute", json!({"command": "rm -rf /"})), "DENY"),
        (layered("shell:execute", json!({"command": "git push --force"})), "REQUIRE_USER_CONFIRMATION"),
        (layered("file_read", json!({"path": "/etc/shadow"})), "DENY"),
        (layered("python:execute", json!({"code": "1"})), "REQUIRE_USER_CONFIRMATION"),
    ];
    for (asked, decision) in table {
        let reply = served.post("/v1/check", &asked).await;
        assert_eq!(
            (reply.status, reply.json()["decision"].as_str()),
            (200, Some(decision)),
            "{asked}: {reply:?}"
        );
        assert!(reply.json()["reason"].is_string());
    }
    let explained = served.post("/v1/check", &json!({"command": "ls", "explain": true})).await.json();
    assert!(explained["trace"].as_array().is_some_and(|trace| !trace.is_empty()));
    for wrong in [
        json!([]),
        json!({}),
        json!({"command": 1}),
        json!({"command": "ls", "tool": "x"}),
        json!({"command": "ls", "unknown": 1}),
        json!({"tool": "file_read", "args": {"path": 1}}),
        json!({"command": "ls", "safety": []}),
        json!({"command": "ls", "principal": {"name": "x"}}),
        json!({"action": "read", "resource": {"type": "tool", "name": "x"}}),
        json!({"action": "tool:execute", "resource": {"type": "door", "name": "x"}}),
        json!({"action": "tool:execute", "resource": {"type": "tool"}}),
    ] {
        let reply = served.post("/v1/check", &wrong).await;
        assert_eq!(reply.status, 400, "{wrong}: {reply:?}");
        assert_eq!(reply.json()["error"]["kind"], "validation");
        let decision = reply.json()["decision"].as_str().map(str::to_lowercase);
        assert_eq!(decision.as_deref(), Some("deny"), "{wrong}: {reply:?}");
    }
    for wrong in ["{", "[]", "null", "", "{\"command\": \"ls\", \"command\": \"ls\"}"] {
        let reply = served.post_with("/v1/check", "", wrong).await;
        assert_eq!((reply.status, &reply.json()["decision"]), (400, &json!("deny")), "{wrong}: {reply:?}");
        assert!(reply.json()["reason"].is_string(), "{wrong}: {reply:?}");
    }
    let misspelt = served.post("/v1/check", &json!({"command": "ls", "safty": {}})).await.json();
    let reason = misspelt["reason"].as_str().expect("a reason");
    assert!(reason.contains("`safety`, `explain`") && reason.contains("did you mean `safety`?"), "{reason}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_has_the_status_of_its_error_kind_and_its_result_in_any_case() {
    let served = Served::new().await;
    let call = |tool: &str, args: Value| json!({"tool": tool, "args": args});
    let table = [
        (call("file_write", json!({"path": "f", "content": "x"})), 200, Value::Null),
        (call("file_read", json!({"path": "f"})), 200, Value::Null),
        (call("file_read", json!({"path": "missing"})), 404, "not_found".into()),
        (call("file_read", json!({"path": "/etc/shadow"})), 403, "permission".into()),
        (call("file_read", json!({"path": 1})), 400, "validation".into()),
        (call("file_write", json!({"path": ".git/hooks/x", "content": ""})), 409, "human_required".into()),
    ];
    for (asked, status, kind) in table {
        let reply = served.post("/v1/calls", &asked).await;
        assert_eq!(reply.status, status, "{asked}: {reply:?}");
        let result = reply.json();
        assert_eq!(result["ok"], status == 200);
        assert_eq!(result["error"]["kind"], kind);
    }
    assert_eq!(served.post("/v1/calls", &json!({"command": "ls"})).await.status, 400);
    let body = call("file_write", json!({"path": "g", "content": "x"})).to_string();
    let streamed = served.post_with("/v1/calls", "Accept: text/event-stream\r\n", &body).await;
    let kinds: Vec<&str> = streamed.body.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
    assert_eq!(
        kinds,
        ["tool_call_requested", "tool_call_started", "tool_call_finished", "result"],
        "{streamed:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_id_comes_back_and_no_secret_does() {
    let served = Served::new().await;
    let reply = served.post_with("/v1/check", "X-Request-ID: abc-123\r\n", r#"{"command": "ls"}"#).await;
    assert_eq!(reply.header("x-request-id"), Some("abc-123"));
    let long = format!("X-Request-ID: {}\r\n", "a".repeat(500));
    assert_eq!(
        served.post_with("/v1/check", &long, r#"{"command": "ls"}"#).await.header("x-request-id"),
        None
    );
    let canary = "ghp_9fK2mQ7xW4vB1nT6yR3sZ8pL5cD0hJ2aE4uG";
    for asked in [
        json!({"command": format!("curl -H 'Authorization: Bearer {canary}' https://example.com")}),
        json!({"tool": "file_read", "args": {canary: 1}}),
    ] {
        let reply = served.post("/v1/check", &asked).await;
        assert!(!reply.body.contains(canary), "{reply:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configuration_that_changes_counts_and_a_broken_one_refuses_everything() {
    let served = Served::new().await;
    let ask = json!({"command": "ls"});
    assert_eq!(served.post("/v1/check", &ask).await.json()["decision"], "allow");
    let write = |text: &str| {
        std::fs::create_dir_all(served.home.join("config")).expect("a directory");
        std::fs::write(served.home.join("config/config.yaml"), text).expect("written");
    };
    let becomes = async |status: u16, decision: Value| {
        for _ in 0..100 {
            let reply = served.post("/v1/check", &ask).await;
            if reply.status == status && reply.json()["decision"] == decision {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        panic!("it never becomes {status} {decision}");
    };
    write("safety: {mode: deny}");
    becomes(200, "deny".into()).await;
    write("safety: {mode: perhaps}");
    becomes(500, "deny".into()).await;
    assert_eq!(
        served
            .post("/v1/calls", &json!({"tool": "file_read", "args": {"path": "f"}, "cwd": "/tmp"}))
            .await
            .json()["error"]["kind"],
        "config_error"
    );
    write("profile: dev");
    becomes(200, "allow".into()).await;
}
