//! SRV-6: the event stream has no gap and no repeat, however often its reader comes back.

use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::server::Served;

/// Reads events until there are so many, or nothing comes for a while.
async fn events(served: &Served, last: Option<u64>, count: usize) -> Vec<u64> {
    let mut stream = served.connect().await;
    let more = last.map(|last| format!("Last-Event-ID: {last}\r\n")).unwrap_or_default();
    stream
        .write_all(format!("{}\r\n", served.head("GET", "/v1/events", &more)).as_bytes())
        .await
        .expect("written");
    let (mut text, mut bytes) = (String::new(), [0; 16 * 1024]);
    loop {
        // What follows the last empty line has not come whole.
        let whole = text.rsplit_once("\n\n").map_or("", |(whole, _)| whole);
        let ids: Vec<u64> =
            whole.lines().filter_map(|line| line.strip_prefix("id: ")?.parse().ok()).collect();
        if ids.len() >= count {
            return ids;
        }
        match tokio::time::timeout(Duration::from_secs(5), stream.read(&mut bytes)).await {
            Ok(Ok(read)) if read > 0 => {
                text.push_str(&String::from_utf8_lossy(&bytes[..read]).replace("\r\n", "\n"))
            }
            _ => return ids,
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_comes_back_gets_exactly_what_follows() {
    let served = Served::new().await;
    let write = |number: usize| json!({"tool": "file_write", "args": {"path": format!("f{}", number % 7), "content": "x"}});
    assert_eq!(served.post("/v1/calls", &write(0)).await.status, 200);
    let mut seen: Vec<u64> = events(&served, Some(0), 1).await;
    for round in 0..60 {
        assert_eq!(served.post("/v1/calls", &write(round)).await.status, 200);
        let mut new = events(&served, seen.last().copied(), 1 + round % 3).await;
        assert!(!new.is_empty(), "round {round}");
        // A reader that goes away in the middle of what came has seen only a part of it.
        new.truncate(1 + round % 2);
        seen.extend(new);
    }
    let whole: Vec<u64> = (1..=*seen.last().expect("events")).collect();
    assert_eq!(seen, whole, "a gap or a repeat");
    assert_eq!(
        served
            .raw(format!("{}\r\n", served.head("GET", "/v1/events", "Last-Event-ID: x\r\n")).as_bytes())
            .await
            .status,
        400
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_happened_can_be_searched_and_told_call_by_call() {
    let served = Served::new().await;
    for number in 0..5 {
        let call = json!({"tool": "file_write", "id": format!("call-{number}"), "session": "s", "args": {"path": format!("f{number}"), "content": "x"}});
        assert_eq!(served.post("/v1/calls", &call).await.status, 200);
    }
    served.post("/v1/calls", &json!({"tool": "file_read", "args": {"path": "/etc/shadow"}})).await;
    let page = served.get("/v1/journal?limit=4").await.json();
    assert_eq!(page["records"].as_array().expect("records").len(), 4);
    let next = page["next_before"].as_u64().expect("more");
    let older = served.get(&format!("/v1/journal?limit=1000&before={next}")).await.json();
    assert!(older["records"][0]["seq"].as_u64() < Some(next) && older["next_before"].is_null(), "{older}");
    let denied = served.get("/v1/journal?decision=deny").await.json();
    assert_eq!(denied["records"].as_array().map(Vec::len), Some(1), "{denied}");
    let found = served.get("/v1/journal?q=F3&tool=file_write").await.json();
    assert!(found["records"].as_array().is_some_and(|all| !all.is_empty()));
    let story = served.get("/v1/journal/calls/call-2").await.json();
    let kinds: Vec<&str> = story["records"]
        .as_array()
        .expect("records")
        .iter()
        .filter_map(|record| record["type"].as_str())
        .collect();
    assert_eq!(kinds, ["tool_call_requested", "tool_call_started", "tool_call_finished"]);
    assert_eq!(served.get("/v1/journal/calls/nobody").await.status, 404);
    let stats = served.get("/v1/stats?since=1h").await.json();
    assert_eq!(stats["prompts_saved"], 5, "{stats}");
    let sums: u64 =
        stats["series"].as_array().expect("a series").iter().filter_map(|one| one["allow"].as_u64()).sum();
    assert_eq!(sums, 5);
    assert_eq!(served.get("/v1/stats?since=yesterday").await.status, 400);
}
