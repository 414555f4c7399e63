//! SRV-3, SRV-4: what is too large, too deep, too slow or too much costs nobody else anything.

use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::server::{Served, read};

#[tokio::test(flavor = "multi_thread")]
async fn bodies_heads_and_nesting_are_bounded() {
    let served = Served::new().await;
    let text = |length: usize| format!(r#"{{"command": "{}"}}"#, "a".repeat(length));
    // The control: a large call that is within the bounds of bodies is judged by the bounds of calls.
    assert_eq!(served.post_with("/v1/check", "", &text(60_000)).await.status, 200);
    assert_eq!(served.post_with("/v1/check", "", &text(1024 * 1024 - 16)).await.status, 400);
    assert_eq!(served.post_with("/v1/check", "", &text(1024 * 1024)).await.status, 413);
    // A length that is only announced is refused before anything comes.
    let announced = served.head(
        "POST",
        "/v1/check",
        "Content-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n",
    );
    assert_eq!(served.raw(announced.as_bytes()).await.status, 413);

    let nested = |depth: usize| {
        format!(r#"{{"tool": "x", "args": {}1{}}}"#, r#"{"a":"#.repeat(depth), "}".repeat(depth))
    };
    assert_eq!(served.post_with("/v1/check", "", &nested(40)).await.status, 200);
    for depth in [70, 1_000, 100_000] {
        assert_eq!(served.post_with("/v1/check", "", &nested(depth)).await.status, 400, "{depth}");
    }
    for (length, status) in [(8 * 1024, 200), (17 * 1024, 431), (200 * 1024, 431)] {
        let head = served.head("GET", "/v1/tools", &format!("X-Long: {}\r\n\r\n", "a".repeat(length)));
        let reply = served.raw(head.as_bytes()).await;
        // Whoever is cut off while writing may not get to read why.
        assert!(reply.status == status || (status == 431 && reply.status == 0), "{length}: {reply:?}");
    }
    let many = served.head("GET", "/v1/tools", &"X-A: b\r\n".repeat(200)) + "\r\n";
    assert_eq!(served.raw(many.as_bytes()).await.status, 431);
    for broken in [
        "",
        "{",
        r#"{"command": "a", "command": "b"}"#,
        "\u{feff}{}",
        "[]",
        "nul",
        r#"{"command": "\ud800"}"#,
    ] {
        assert_eq!(served.post_with("/v1/check", "", broken).await.status, 400, "{broken}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_without_an_end_is_cut_off() {
    let served = Served::new().await;
    let mut stream = served.connect().await;
    let head = served.head(
        "POST",
        "/v1/check",
        "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
    );
    stream.write_all(head.as_bytes()).await.expect("written");
    let chunk = format!("10000\r\n{}\r\n", "a".repeat(0x10000));
    let mut sent = 0;
    while sent < 64 * 1024 * 1024 && stream.write_all(chunk.as_bytes()).await.is_ok() {
        sent += 0x10000;
    }
    assert!(sent < 16 * 1024 * 1024, "{sent} bytes were taken");
}

#[tokio::test(flavor = "multi_thread")]
async fn drips_are_cut_off_and_cost_nobody_else_anything() {
    let served = Served::new().await;
    let mut drips = Vec::new();
    for number in 0..100 {
        let mut stream = served.connect().await;
        let begun =
            if number % 2 == 0 { "GET / HT".to_owned() } else { served.head("GET", "/v1/tools", "X-") };
        stream.write_all(begun.as_bytes()).await.expect("written");
        drips.push(stream);
    }
    let mut stalled = Vec::new();
    for _ in 0..50 {
        stalled.push(served.approver().await);
    }
    let mut slowest = Duration::ZERO;
    for _ in 0..50 {
        let begun = tokio::time::Instant::now();
        assert_eq!(served.post("/v1/check", &json!({"command": "ls"})).await.status, 200);
        slowest = slowest.max(begun.elapsed());
    }
    assert!(slowest < Duration::from_secs(2), "{slowest:?}");
    let mut first = drips.swap_remove(0);
    let mut rest = Vec::new();
    let ended = tokio::time::timeout(Duration::from_secs(15), first.read_to_end(&mut rest)).await;
    assert!(ended.is_ok(), "a head that never ends is waited for");
    drop(stalled);
    let mut body = served.connect().await;
    let head =
        served.head("POST", "/v1/check", "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{");
    body.write_all(head.as_bytes()).await.expect("written");
    assert_eq!(read(&mut body).await.status, 408, "a body that never ends is waited for");
}
