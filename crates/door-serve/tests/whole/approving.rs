//! SRV-9: questions over HTTP: exactly one answer counts, with nobody there it is no at once, and nothing survives a restart as a yes.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use crate::server::{ASKING, Served};

#[tokio::test(flavor = "multi_thread")]
async fn with_nobody_there_it_is_no_at_once_and_with_somebody_it_waits_for_the_answer() {
    let served = Arc::new(Served::new().await);
    let begun = tokio::time::Instant::now();
    let reply = served.post("/v1/calls", &served.asked_about("alone")).await;
    assert_eq!(reply.status, 409, "{reply:?}");
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert_eq!(reply.json()["error_kind"], "human_required");
    assert!(reply.json()["error"]["help"].to_string().contains("bailiwick serve"), "{reply:?}");
    // What nobody could be asked waits for a yes to its next try.
    let waiting = served.questions(1).await;
    assert_eq!(
        (waiting[0]["waits"].as_str(), waiting[0]["toolName"].as_str()),
        (Some("elsewhere"), Some("file_write"))
    );
    assert!(waiting[0]["effects"].to_string().contains("write"), "{waiting:?}");

    let _approver = served.approver().await;
    for (name, decision, runs) in [
        ("yes", "approved", true),
        ("no", "denied", false),
        ("stop", "abort", false),
        ("session", "approved_for_session", true),
    ] {
        let (asking, call) = (Arc::clone(&served), served.asked_about(name));
        let call = tokio::spawn(async move { asking.post("/v1/calls", &call).await });
        let question =
            served.questions(2).await.into_iter().find(|one| one["waits"] == "here").expect("a question");
        assert!(!served.ran(name), "it ran before the answer");
        assert!(question["security_warning"]["level"].is_string(), "{question}");
        assert_eq!(question["principal"], "agent");
        let id = question["id"].as_str().expect("an id");
        assert_eq!(
            served.get(&format!("/v1/approvals/{id}")).await.json()["approval_key"],
            question["approval_key"]
        );
        let path = format!("/v1/approvals/{id}");
        assert_eq!(served.post(&path, &json!({"decision": "perhaps"})).await.status, 400);
        assert_eq!(served.post(&path, &json!({"decision": "approved_always"})).await.status, 422);
        assert_eq!(served.post(&path, &json!({"decision": "approved", "extra": 1})).await.status, 400);
        let told = served.post(&path, &json!({"decision": decision, "reason": "because"})).await;
        assert_eq!((told.status, told.json()["by"].as_str()), (200, Some("tester")), "{told:?}");
        let late = served.post(&path, &json!({"decision": "approved"})).await;
        assert_eq!(
            (late.status, late.json()["settled"]["decision"].as_str()),
            (409, Some(decision)),
            "{late:?}"
        );
        let reply = call.await.expect("an answer");
        assert_eq!(served.ran(name), runs, "{reply:?}");
        assert_eq!(reply.json()["ok"], runs);
    }
    assert_eq!(
        served
            .post(&format!("/v1/approvals/{}", "0".repeat(32)), &json!({"decision": "approved"}))
            .await
            .status,
        404
    );
    // A yes for the session is a grant that can be taken back.
    let grants = served.get("/v1/grants").await.json();
    let session = grants["grants"]
        .as_array()
        .expect("grants")
        .iter()
        .find(|one| one["kind"] == "session")
        .expect("one")
        .clone();
    let path = format!("/v1/grants/{}", session["id"].as_str().expect("an id"));
    assert_eq!(served.delete(&path).await.json()["revoked"], 1);
    assert_eq!(served.delete(&path).await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_leaves_may_come_back_soon_and_later_nobody_is_waited_for() {
    let served = Arc::new(Served::impatient().await);
    let approver = served.approver().await;
    let (asking, call) = (Arc::clone(&served), served.asked_about("left"));
    let call = tokio::spawn(async move { asking.post("/v1/calls", &call).await });
    let held = |all: Vec<serde_json::Value>| all.iter().filter(|one| one["waits"] == "here").count();
    assert_eq!(held(served.questions(1).await), 1);
    // A page that is loaded again.
    drop(approver);
    let approver = served.approver().await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(held(served.questions(1).await), 1, "somebody is there again");
    drop(approver);
    let reply =
        tokio::time::timeout(Duration::from_secs(20), call).await.expect("an end").expect("an answer");
    assert_eq!((reply.status, served.ran("left")), (409, false), "{reply:?}");
    assert_eq!(reply.json()["error_kind"], "human_required");
    // It waits for its next try, as if nobody had been there from the start.
    assert_eq!(held(served.questions(1).await), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_who_answer_at_once_one_wins_and_all_learn_who() {
    let served = Arc::new(Served::new().await);
    let _approver = served.approver().await;
    for round in 0..8 {
        let name = format!("race-{round}");
        let (asking, call) = (Arc::clone(&served), served.asked_about(&name));
        let call = tokio::spawn(async move { asking.post("/v1/calls", &call).await });
        let id = served.questions(1).await[0]["id"].as_str().expect("an id").to_owned();
        let mut answers = Vec::new();
        for number in 0..12 {
            let (served, path) = (Arc::clone(&served), format!("/v1/approvals/{id}"));
            let decision = if number % 2 == 0 { "approved" } else { "denied" };
            answers
                .push(tokio::spawn(async move { served.post(&path, &json!({"decision": decision})).await }));
        }
        let (mut won, mut told) = (Vec::new(), Vec::new());
        for answer in answers {
            let reply = answer.await.expect("an answer");
            match reply.status {
                200 => won.push(reply.json()["decision"].as_str().expect("a word").to_owned()),
                409 => told.push(reply.json()["settled"]["decision"].as_str().expect("a word").to_owned()),
                _ => panic!("{reply:?}"),
            }
        }
        assert_eq!(won.len(), 1);
        assert!(told.iter().all(|one| *one == won[0]), "{won:?} {told:?}");
        let _answered = call.await.expect("an answer");
        assert_eq!(served.ran(&name), won[0] == "approved");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_question_of_another_process_is_answered_once_too() {
    let served = Arc::new(Served::new().await);
    let call = served.asked_about("later");
    served.post("/v1/calls", &call).await;
    let question = served.questions(1).await.remove(0);
    assert_eq!(question["choices"], json!(["approved", "approved_for_session", "denied"]));
    let path = format!("/v1/approvals/{}", question["id"].as_str().expect("an id"));
    let mut answers = Vec::new();
    for _ in 0..6 {
        let (served, path) = (Arc::clone(&served), path.clone());
        answers.push(tokio::spawn(async move {
            served.post(&path, &json!({"decision": "approved"})).await.status
        }));
    }
    let mut statuses = Vec::new();
    for answer in answers {
        statuses.push(answer.await.expect("an answer"));
    }
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409, 409, 409, 409, 409]);
    // It counts for the next try, once.
    assert_eq!(served.post("/v1/calls", &call).await.status, 200);
    assert!(served.ran("later"));
    assert_eq!(served.post("/v1/calls", &call).await.status, 409);
    let again = served.questions(1).await.remove(0);
    let denied = served
        .post(
            &format!("/v1/approvals/{}", again["id"].as_str().expect("an id")),
            &json!({"decision": "denied"}),
        )
        .await;
    assert_eq!(denied.status, 200);
    assert_eq!(served.post("/v1/calls", &call).await.status, 409);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waited_when_the_server_ended_is_pending_or_gone_never_approved() {
    let served = Arc::new(Served::new().await);
    served.post("/v1/calls", &served.asked_about("waits")).await;
    let waiting = served.questions(1).await.remove(0);
    let approver = served.approver().await;
    let (asking, call) = (Arc::clone(&served), served.asked_about("open"));
    let call = tokio::spawn(async move { asking.post("/v1/calls", &call).await });
    let open = served.questions(2).await.into_iter().find(|one| one["waits"] == "here").expect("a question");
    served.app.shut_down();
    let ended = call.await.expect("an answer");
    assert!(!served.ran("open") && ended.status != 200, "{ended:?}");
    drop(approver);
    let home = Arc::into_inner(served).expect("nobody else").end().await;
    let served = Served::at(home, ASKING, None).await;
    let ids: Vec<_> = served.questions(1).await.iter().map(|one| one["id"].clone()).collect();
    assert_eq!(ids, [waiting["id"].clone()], "the one that waits is still pending, the other is gone");
    let late = served
        .post(
            &format!("/v1/approvals/{}", open["id"].as_str().expect("an id")),
            &json!({"decision": "approved"}),
        )
        .await;
    assert_eq!(late.status, 404);
    assert!(!served.ran("open") && !served.ran("waits"));
}

#[tokio::test(flavor = "multi_thread")]
async fn critical_calls_want_the_typed_words() {
    let served = Arc::new(Served::with("profile: dev\nrules: [{name: typed, action: ask, tool: file_write, obligations: [require_typed_confirmation]}]", None).await);
    let _approver = served.approver().await;
    let (asking, call) =
        (Arc::clone(&served), json!({"tool": "file_write", "args": {"path": "typed", "content": "x"}}));
    let call = tokio::spawn(async move { asking.post("/v1/calls", &call).await });
    let question = served.questions(1).await.remove(0);
    assert_eq!(question["requires_typed_confirmation"], "I confirm", "{question}");
    let path = format!("/v1/approvals/{}", question["id"].as_str().expect("an id"));
    for wrong in [
        json!({"decision": "approved"}),
        json!({"decision": "approved", "confirmation": "yes"}),
        json!({"decision": "approved_for_session", "confirmation": "I confirm"}),
    ] {
        assert_eq!(served.post(&path, &wrong).await.status, 422, "{wrong}");
    }
    assert_eq!(
        served.post(&path, &json!({"decision": "approved", "confirmation": "I confirm"})).await.status,
        200
    );
    assert_eq!(call.await.expect("an answer").status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_poll_counts_as_somebody_who_is_there() {
    let served = Arc::new(Served::new().await);
    let polling = Arc::clone(&served);
    let poll = tokio::spawn(async move { polling.get("/v1/approvals?wait=20").await });
    tokio::time::sleep(Duration::from_millis(300)).await;
    let (asking, call) = (Arc::clone(&served), served.asked_about("polled"));
    let call = tokio::spawn(async move { asking.post("/v1/calls", &call).await });
    let listed = poll.await.expect("an answer").json();
    let path = format!("/v1/approvals/{}", listed["approvals"][0]["id"].as_str().expect("an id"));
    assert_eq!(served.post(&path, &json!({"decision": "approved"})).await.status, 200);
    assert_eq!(call.await.expect("an answer").status, 200);
    assert!(served.ran("polled"));
}
