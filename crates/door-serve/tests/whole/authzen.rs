//! AuthZEN 1.0: decisions are booleans, a denial is an answer and not an error, a question is a denial that can be lifted.

use serde_json::{Value, json};

use crate::server::Served;

fn question(resource: &Value) -> Value {
    json!({"subject": {"type": "user", "id": "alice"}, "action": {"name": "execute"}, "resource": resource})
}

fn command(text: &str) -> Value {
    question(&json!({"type": "command", "id": text}))
}

#[tokio::test(flavor = "multi_thread")]
async fn evaluations_are_answered_by_the_book() {
    let served = Served::new().await;
    let table = [
        (command("ls"), true, ""),
        (command("rm -rf /"), false, "denied"),
        (command("git push --force"), false, "approval_required"),
        (
            question(&json!({"type": "tool", "id": "file_read", "properties": {"args": {"path": "f"}}})),
            true,
            "",
        ),
        (
            question(&json!({"type": "tool", "id": "file_read", "properties": {"args": {"path": 1}}})),
            false,
            "validation",
        ),
        (question(&json!({"type": "document", "id": "7"})), false, "not_understood"),
    ];
    for (asked, decision, reason) in table {
        let reply =
            served.post_with("/access/v1/evaluation", "X-Request-ID: r-1\r\n", &asked.to_string()).await;
        assert_eq!((reply.status, &reply.json()["decision"]), (200, &decision.into()), "{asked}: {reply:?}");
        assert_eq!(reply.json()["context"]["reason"].as_str().unwrap_or_default(), reason, "{asked}");
        assert_eq!(reply.header("x-request-id"), Some("r-1"));
    }
    for wrong in [
        json!({}),
        json!([]),
        json!({"subject": {"type": "user", "id": "a"}, "action": {"name": "x"}}),
        json!({"subject": {"type": "user"}, "action": {"name": "x"}, "resource": {"type": "command", "id": "ls"}}),
        json!({"subject": "alice", "action": {"name": "x"}, "resource": {"type": "command", "id": "ls"}}),
        json!({"subject": {"type": "user", "id": "a"}, "action": {}, "resource": {"type": "command", "id": "ls"}}),
        json!({"subject": {"type": "user", "id": "a"}, "action": {"name": "x"}, "resource": {"type": "command"}}),
        json!({"subject": {"type": "user", "id": 7}, "action": {"name": "x"}, "resource": {"type": "command", "id": "ls"}}),
    ] {
        assert_eq!(served.post("/access/v1/evaluation", &wrong).await.status, 400, "{wrong}");
    }
    let metadata = served.get("/.well-known/authzen-configuration").await.json();
    let base = format!("http://{}", served.address);
    assert_eq!(metadata["policy_decision_point"], base);
    assert_eq!(metadata["access_evaluations_endpoint"], format!("{base}/access/v1/evaluations"));
}

#[tokio::test(flavor = "multi_thread")]
async fn several_evaluations_end_where_their_semantic_says() {
    let served = Served::new().await;
    let commands = |all: &[&str]| -> Vec<Value> {
        all.iter().map(|one| json!({"resource": {"type": "command", "id": one}})).collect()
    };
    let mixed = commands(&["ls", "rm -rf /", "pwd"]);
    let refused_first = commands(&["rm -rf /", "ls", "pwd"]);
    let table = [
        (Value::Null, mixed.clone(), vec![true, false, true]),
        (json!({}), mixed.clone(), vec![true, false, true]),
        (json!({"evaluations_semantic": "execute_all"}), mixed.clone(), vec![true, false, true]),
        (json!({"evaluations_semantic": "deny_on_first_deny"}), mixed.clone(), vec![true, false]),
        (json!({"evaluations_semantic": "permit_on_first_permit"}), mixed.clone(), vec![true]),
        (json!({"evaluations_semantic": "permit_on_first_permit"}), refused_first, vec![false, true]),
        // One that cannot be read is denied and takes no other with it.
        (
            Value::Null,
            vec![
                json!({"resource": {"type": "command"}}),
                json!({"resource": {"type": "command", "id": "ls"}}),
            ],
            vec![false, true],
        ),
    ];
    for (options, evaluations, expected) in table {
        let asked = json!({"subject": {"type": "user", "id": "a"}, "action": {"name": "x"}, "evaluations": evaluations, "options": options});
        let reply = served.post("/access/v1/evaluations", &asked).await;
        let decisions: Vec<bool> = reply.json()["evaluations"]
            .as_array()
            .unwrap_or(&Vec::new())
            .iter()
            .filter_map(|one| one["decision"].as_bool())
            .collect();
        assert_eq!((reply.status, decisions), (200, expected), "{asked}");
    }
    // Without a list it is one question.
    assert_eq!(served.post("/access/v1/evaluations", &command("ls")).await.json()["decision"], true);
    for wrong in [json!({"evaluations_semantic": "guess"}), json!([])] {
        let asked = json!({"evaluations": [command("ls")], "options": wrong});
        assert_eq!(served.post("/access/v1/evaluations", &asked).await.status, 400);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_was_answered_with_yes_is_permitted_once() {
    let served = Served::new().await;
    let asked = command("git push --force");
    let first = served.post("/access/v1/evaluation", &asked).await.json();
    let request = &first["context"]["access_request"];
    assert_eq!(
        (first["decision"].as_bool(), request["status"].as_str()),
        (Some(false), Some("pending")),
        "{first}"
    );
    let endpoint = request["endpoint"].as_str().expect("an endpoint").to_owned();
    assert_eq!(served.get(&endpoint).await.json()["what"], "git push --force");
    // The control: asking again changes nothing.
    assert_eq!(served.post("/access/v1/evaluation", &asked).await.json()["decision"], false);
    let waiting = served.questions(1).await;
    assert_eq!((waiting.len(), &waiting[0]["id"]), (1, &request["id"]), "it is the same question");
    assert_eq!(served.post(&endpoint, &json!({"decision": "approved"})).await.status, 200);
    let other = served.post("/access/v1/evaluation", &command("git push --force origin main")).await.json();
    assert_eq!(other["decision"], false, "a yes to one call is none to another");
    assert_eq!(served.post("/access/v1/evaluation", &asked).await.json()["decision"], true);
    assert_eq!(served.post("/access/v1/evaluation", &asked).await.json()["decision"], false);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_yes_to_one_subject_is_none_to_another() {
    let served = Served::new().await;
    let by = |who: &str| {
        let mut asked = command("git push --force");
        asked["subject"]["id"] = who.into();
        asked
    };
    for (session, other) in [("", ""), ("s", "s"), ("s", "alice/s")] {
        let within = |who: &str, session: &str| {
            let mut asked = by(who);
            if !session.is_empty() {
                asked["context"] = json!({"session_id": session});
            }
            asked
        };
        let first = served.post("/access/v1/evaluation", &within("alice", session)).await.json();
        let endpoint = first["context"]["access_request"]["endpoint"].as_str().expect("an endpoint");
        assert_eq!(served.post(endpoint, &json!({"decision": "approved"})).await.status, 200);
        for who in ["mallory", "alice/s", "agent"] {
            let theirs = served.post("/access/v1/evaluation", &within(who, other)).await.json();
            assert_eq!(theirs["decision"], false, "{who} {other}: {theirs}");
        }
        let hers = served.post("/access/v1/evaluation", &within("alice", session)).await.json();
        assert_eq!(hers["decision"], true, "{hers}");
    }
}
