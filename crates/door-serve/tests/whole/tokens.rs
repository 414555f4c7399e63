//! SRV-1: every route wants the token.

use door_serve::{Access, ROUTES, new_token};
use gate::call::sha256_hex;
use serde_json::json;

use crate::server::Served;

#[tokio::test(flavor = "multi_thread")]
async fn no_route_answers_without_the_token() {
    let served = Served::new().await;
    let (main, other) = (served.token.clone(), new_token().expect("a token"));
    let wrong = [
        String::new(),
        "Authorization: \r\n".into(),
        "Authorization: Bearer\r\n".into(),
        "Authorization: Bearer \r\n".into(),
        format!("Authorization: Bearer {other}\r\n"),
        format!("Authorization: Bearer {}\r\n", main.split_at(42).0),
        format!("Authorization: Bearer {main}x\r\n"),
        format!("Authorization: Bearer {}\r\n", main.to_uppercase()),
        format!("Authorization: Bearer  {main}\r\n"),
        format!("Authorization: bearer {main}\r\n"),
        format!("Authorization: Basic {main}\r\n"),
        format!("Authorization: {main}\r\n"),
        format!("Authorization: Bearer {main}\r\nAuthorization: Bearer {main}\r\n"),
        format!("Cookie: token={main}\r\n"),
        format!("X-Token: {main}\r\n"),
    ];
    for route in ROUTES {
        let path = route.path.replace("{id}", "00000000000000000000000000000000");
        for header in &wrong {
            for path in [path.clone(), format!("{path}?token={main}"), format!("{path}?access_token={main}")]
            {
                let request = format!(
                    "{} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 2\r\n{header}\r\n{{}}",
                    route.method.name(),
                    served.address
                );
                let reply = served.raw(request.as_bytes()).await;
                if route.access == Access::Open {
                    assert_eq!(reply.status, 200, "{path}");
                } else {
                    assert_eq!(
                        reply.status,
                        401,
                        "{} {path} with {header:?}: {reply:?}",
                        route.method.name()
                    );
                    assert_eq!(reply.header("www-authenticate"), Some("Bearer"));
                    assert!(!reply.body.contains(&main), "the token comes back");
                }
            }
        }
        // The control: with the token no route says so.
        if route.access == Access::Token && !path.contains("/events") && !path.contains("/connect") {
            let more = "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
            let reply = served.raw(served.head(route.method.name(), &path, more).as_bytes()).await;
            assert!(reply.status != 401 && reply.status != 403 && reply.status != 0, "{path}: {reply:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_wants_the_token_too_and_the_page_does_not() {
    let served = Served::new().await;
    let bare =
        |path: &str| format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", served.address);
    for path in [
        "/v1",
        "/v1/",
        "/v1/nothing",
        "/console",
        "/console/../v1/tools",
        "/%2e%2e/",
        "//",
        "/healthz/",
        "/HEALTHZ",
    ] {
        assert_eq!(served.raw(bare(path).as_bytes()).await.status, 401, "{path}");
        assert_eq!(served.get(path).await.status, 404, "{path}");
    }
    for path in ["/", "/console.css", "/icon.svg", "/healthz"] {
        assert_eq!(served.raw(bare(path).as_bytes()).await.status, 200, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn further_tokens_may_only_what_their_line_says() {
    let (reads, calls, approves) = (new_token().unwrap(), new_token().unwrap(), new_token().unwrap());
    let entry = |name: &str, token: &str, may: &str| {
        format!(r#"{{"name": "{name}", "sha256": "{}"{may}}}"#, sha256_hex(token.as_bytes()))
    };
    let file = format!(
        r#"{{"tokens": [{}, {}, {}]}}"#,
        entry("reads", &reads, ""),
        entry("calls", &calls, r#", "may_call": true"#),
        entry("approves", &approves, r#", "may_approve": true"#),
    );
    let mut served = Served::with("profile: dev", Some(&file)).await;
    let main = served.token.clone();
    let question = "/v1/approvals/00000000000000000000000000000000";
    let call = json!({"tool": "file_read", "args": {"path": "x"}});
    let answer = json!({"decision": "denied"});
    for (token, may_call, may_approve) in
        [(&main, true, true), (&reads, false, false), (&calls, true, false), (&approves, false, true)]
    {
        served.token = token.clone();
        assert_eq!(served.get("/v1/tools").await.status, 200);
        assert_eq!(served.post("/v1/check", &json!({"command": "ls"})).await.status, 200);
        assert_eq!(served.post("/v1/calls", &call).await.status, if may_call { 404 } else { 403 });
        assert_eq!(served.post(question, &answer).await.status, if may_approve { 404 } else { 403 });
        let inquiry = question.replace("approvals", "inquiries");
        let status = served.post(&inquiry, &json!({"declined": true})).await.status;
        assert_eq!(status, if may_approve { 404 } else { 403 });
        assert_eq!(
            served.delete(&question.replace("approvals", "grants")).await.status,
            if may_approve { 404 } else { 403 }
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_yes_to_one_token_is_none_to_another() {
    let (one, two) = (new_token().unwrap(), new_token().unwrap());
    let entry = |name: &str, token: &str| {
        format!(r#"{{"name": "{name}", "sha256": "{}", "may_call": true}}"#, sha256_hex(token.as_bytes()))
    };
    let file = format!(r#"{{"tokens": [{}, {}]}}"#, entry("one", &one), entry("two", &two));
    let mut served = Served::with(crate::server::ASKING, Some(&file)).await;
    let main = served.token.clone();
    let call = served.asked_about("f");
    served.token = one.clone();
    assert_eq!(served.post("/v1/calls", &call).await.status, 409);
    served.token = main;
    let question = served.questions(1).await.remove(0);
    assert_eq!((&question["principal"], &question["session"]), (&json!("one"), &json!("one/session-f")));
    let answer = format!("/v1/approvals/{}", question["id"].as_str().expect("an id"));
    assert_eq!(served.post(&answer, &json!({"decision": "approved"})).await.status, 200);
    served.token = two;
    assert_eq!(served.post("/v1/calls", &call).await.status, 409);
    assert!(!served.ran("f"));
    served.token = one;
    let reply = served.post("/v1/calls", &call).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    assert!(served.ran("f"));
}
