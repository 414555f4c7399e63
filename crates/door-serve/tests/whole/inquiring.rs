//! SRV-10: what an agent asks a person over HTTP waits for whoever is here, is answered once, and the answer goes to the agent
//! alone; with nobody there it is no at once.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use tokio::task::JoinHandle;

use crate::connecting::Client;
use crate::server::{ASKING, Reply, Served};

async fn patient() -> Arc<Served> {
    Arc::new(Served::with(&format!("{ASKING}\nrun: {{human_timeout_ms: 30000}}"), None).await)
}

fn colour() -> Value {
    json!({"tool": "ask_human", "args": {"question": "Which colour?", "choices": ["red", "green"], "context": {"for": "the door"}}, "session": "s1"})
}

fn begin(served: &Arc<Served>, call: Value) -> JoinHandle<Reply> {
    let served = Arc::clone(served);
    tokio::spawn(async move { served.post("/v1/calls", &call).await })
}

/// What is asked, once something is.
async fn inquiry(served: &Served) -> Value {
    let listed = served.get("/v1/inquiries?wait=10").await.json();
    listed["inquiries"].get(0).cloned().unwrap_or_else(|| panic!("nothing is asked: {listed}"))
}

fn path(inquiry: &Value) -> String {
    format!("/v1/inquiries/{}", inquiry["id"].as_str().expect("an id"))
}

#[tokio::test(flavor = "multi_thread")]
async fn with_nobody_there_an_agent_is_told_at_once_that_nobody_can_be_asked() {
    let served = patient().await;
    let begun = tokio::time::Instant::now();
    let reply = served.post("/v1/calls", &colour()).await;
    assert_eq!(
        (reply.status, reply.json()["error_kind"].as_str()),
        (409, Some("human_required")),
        "{reply:?}"
    );
    assert!(begun.elapsed() < Duration::from_secs(10), "no hang");
    assert_eq!(served.get("/v1/inquiries").await.json(), json!({"inquiries": []}));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_answer_that_fits_reaches_the_agent_and_nobody_else() {
    let served = patient().await;
    let mut stream = served.approver().await;
    for (said, answer) in [
        (json!({"answer": "green"}), "green"),
        (json!({"answer": 1}), "red"),
        (json!({"answers": {"answer": "2"}}), "green"),
    ] {
        let call = begin(&served, colour());
        let asked = inquiry(&served).await;
        assert_eq!(asked["toolName"], "ask_human", "{asked}");
        assert_eq!(asked["questions"][0]["question"], "Which colour?");
        assert_eq!(asked["questions"][0]["options"], json!([{"label": "red"}, {"label": "green"}]));
        assert_eq!(asked["questions"][0]["takes_words"], false);
        assert_eq!((&asked["context"]["for"], &asked["session"]), (&json!("the door"), &json!("s1")));
        assert!(asked["seconds_left"].as_u64().is_some_and(|left| (20..=30).contains(&left)), "{asked}");
        assert_eq!(served.get(&path(&asked)).await.json()["id"], asked["id"]);
        for (wrong, status) in [
            (json!({}), 400),
            (json!({"answer": "red", "declined": true}), 400),
            (json!({"answer": "red", "extra": 1}), 400),
            (json!([]), 400),
            (json!({"answer": "blue"}), 422),
            (json!({"answer": 3}), 422),
            (json!({"answer": 0}), 422),
            (json!({"answer": null}), 400),
            (json!({"answer": {"a": 1}}), 422),
            (json!({"answers": {}}), 422),
            (json!({"answers": {"answer": "red", "other": "red"}}), 422),
        ] {
            let reply = served.post(&path(&asked), &wrong).await;
            assert_eq!(reply.status, status, "{wrong}: {reply:?}");
        }
        assert!(!call.is_finished(), "what does not fit is no answer");
        let told = served.post(&path(&asked), &said).await;
        assert_eq!(told.json(), json!({"id": asked["id"], "by": "tester", "declined": false}), "{told:?}");
        let late = served.post(&path(&asked), &json!({"answer": "red"})).await;
        assert_eq!((late.status, late.json()["settled"]["by"].as_str()), (409, Some("tester")), "{late:?}");
        assert_eq!(served.get(&path(&asked)).await.status, 404);
        let reply = call.await.expect("an answer");
        assert_eq!(
            (reply.status, &reply.json()["data"]["answers"]["answer"]["answer"]),
            (200, &json!(answer))
        );
    }
    // Whoever listens hears of the question and of its end, and of no answer.
    let mut heard = String::new();
    let mut some = vec![0; 65536];
    while heard.matches("event: inquiry_closed").count() < 3 {
        let read = tokio::time::timeout(Duration::from_secs(10), stream.read(&mut some)).await;
        let count = read.expect("news in time").expect("a stream");
        assert!(count > 0, "the stream ended: {heard}");
        heard.push_str(&String::from_utf8_lossy(&some[..count]));
    }
    assert_eq!(heard.matches("event: inquiry_opened").count(), 3, "{heard}");
    let opened = heard.lines().skip_while(|line| *line != "event: inquiry_opened").nth(1).unwrap_or_default();
    assert!(opened.starts_with("data: {") && opened.contains("Which colour?"), "{opened}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_person_answers_is_written_nowhere() {
    let served = patient().await;
    let mut stream = served.approver().await;
    let call = begin(&served, json!({"tool": "ask_human", "args": {"question": "What is your name?"}}));
    let asked = inquiry(&served).await;
    assert_eq!(asked["questions"][0]["takes_words"], true);
    let told = served.post(&path(&asked), &json!({"answer": "Rumpelstilzchen"})).await;
    assert_eq!(told.status, 200, "{told:?}");
    assert!(!told.body.contains("Rumpel"));
    assert!(call.await.expect("an answer").body.contains("Rumpelstilzchen"), "control: the agent has it");
    let journal = served.get("/v1/journal?limit=100").await.body;
    assert!(journal.contains("ask_human") && !journal.contains("Rumpel"), "{journal}");
    let mut some = vec![0; 65536];
    let mut heard = String::new();
    while !heard.contains("inquiry_closed") || !heard.contains("tool_call_finished") {
        let read = tokio::time::timeout(Duration::from_secs(10), stream.read(&mut some)).await;
        let count = read.expect("news in time").expect("a stream");
        heard.push_str(&String::from_utf8_lossy(&some[..count]));
    }
    assert!(!heard.contains("Rumpel"), "{heard}");
}

#[tokio::test(flavor = "multi_thread")]
async fn several_questions_are_answered_together_or_declined() {
    let served = patient().await;
    let _here = served.approver().await;
    let questions = json!({"tool": "request_user_input", "args": {"questions": [
        {"id": "size", "header": "Size", "question": "How large?", "options": [{"label": "small", "description": "fits anywhere"}, {"label": "large", "description": "fits nowhere"}]},
        {"id": "name", "header": "Name", "question": "Which name?"},
    ]}});
    let call = begin(&served, questions.clone());
    let asked = inquiry(&served).await;
    assert_eq!(asked["questions"].as_array().map(Vec::len), Some(2), "{asked}");
    for (wrong, status) in [(json!({"answer": "small"}), 422), (json!({"answers": {"size": 1}}), 422)] {
        assert_eq!(served.post(&path(&asked), &wrong).await.status, status, "{wrong}");
    }
    let said = json!({"answers": {"size": 2, "name": "Otto"}});
    assert_eq!(served.post(&path(&asked), &said).await.status, 200);
    let reply = call.await.expect("an answer").json();
    assert_eq!(reply["data"]["answers"]["size"], json!({"answer": "large", "choice": 2}), "{reply}");
    assert_eq!(reply["data"]["answers"]["name"]["answer"], "Otto");
    let call = begin(&served, questions);
    let asked = inquiry(&served).await;
    let told = served.post(&path(&asked), &json!({"declined": true})).await;
    assert_eq!(told.json()["declined"], true, "{told:?}");
    let reply = call.await.expect("an answer");
    assert_eq!(
        (reply.status, reply.json()["error_kind"].as_str()),
        (409, Some("human_required")),
        "{reply:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_waited_for_longer_than_the_configuration_says() {
    let yaml = format!("{ASKING}\nrun: {{human_timeout_ms: 700}}");
    let served = Arc::new(Served::with(&yaml, None).await);
    let _here = served.approver().await;
    let call = begin(&served, colour());
    let asked = inquiry(&served).await;
    let reply = call.await.expect("an answer");
    assert_eq!((reply.status, reply.json()["error_kind"].as_str()), (504, Some("timeout")), "{reply:?}");
    assert_eq!(served.post(&path(&asked), &json!({"answer": "red"})).await.status, 404);
    assert_eq!(served.get("/v1/inquiries").await.json(), json!({"inquiries": []}));
}

#[tokio::test(flavor = "multi_thread")]
async fn when_the_last_who_could_answer_or_the_agent_has_gone_nobody_waits() {
    let yaml = format!("{ASKING}\nrun: {{human_timeout_ms: 60000}}");
    let served = Arc::new(Served::impatient_with(&yaml).await);
    let here = served.approver().await;
    let call = begin(&served, colour());
    inquiry(&served).await;
    let begun = tokio::time::Instant::now();
    drop(here);
    let reply = call.await.expect("an answer");
    assert_eq!(
        (reply.status, reply.json()["error_kind"].as_str()),
        (409, Some("human_required")),
        "{reply:?}"
    );
    assert!(begun.elapsed() < Duration::from_secs(20), "it is waited for");
    // The agent goes away without its answer.
    let _here = served.approver().await;
    let call = begin(&served, colour());
    let asked = inquiry(&served).await;
    call.abort();
    for attempt in 0.. {
        if served.get(&path(&asked)).await.status == 404 {
            break;
        }
        assert!(attempt < 100, "it is still asked");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_agents_ask_goes_out_over_the_two_way_interface_and_answers_come_in() {
    let served = patient().await;
    let mut client = Client::new(&served).await.expect("connected");
    let call = begin(&served, colour());
    let asked = client.next_of("onInquiry").await["inquiry"].clone();
    for wrong in [
        json!({"type": "answer", "id": asked["id"]}),
        json!({"type": "answer", "id": asked["id"], "answer": "blue"}),
        json!({"type": "answer", "id": "0", "answer": "red"}),
        json!({"type": "answer", "answer": "red"}),
        json!({"type": "decision", "id": asked["id"], "decision": "approved"}),
    ] {
        client.say(&wrong).await;
        assert_eq!(client.next_of("rejected").await["type"], "rejected", "{wrong}");
    }
    client.say(&json!({"type": "answer", "id": asked["id"], "answer": "red"})).await;
    let (mut accepted, mut closed) = (false, false);
    while !(accepted && closed) {
        let message = client.next().await.expect("a message");
        accepted |= message["type"] == "accepted" && message["by"] == "tester";
        closed |= message["type"] == "inquiryClosed" && message["id"] == asked["id"];
    }
    assert_eq!(call.await.expect("an answer").json()["data"]["answers"]["answer"]["answer"], "red");
}
