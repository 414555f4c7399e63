//! The external policy engine, played by a server on loopback. Keeps CHK-4: it is contacted only when that is asked for,
//! and whatever goes wrong with it is a denial.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::program::Place;

/// Answers up to `limit` connections with these bytes, and counts them.
fn serve(answer: Vec<u8>, delay: Duration) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let address = listener.local_addr().expect("an address");
    let count = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&count);
    std::thread::spawn(move || {
        for connection in listener.incoming().take(4) {
            let Ok(mut connection) = connection else { return };
            seen.fetch_add(1, Ordering::SeqCst);
            drop(connection.set_read_timeout(Some(Duration::from_millis(200))));
            let mut buffer = [0; 16 * 1024];
            drop(connection.read(&mut buffer));
            std::thread::sleep(delay);
            drop(connection.write_all(&answer));
        }
    });
    (format!("http://{address}/v1/decide"), count)
}

fn ok(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
        .into_bytes()
}

#[test]
fn its_answer_counts_and_every_failure_is_a_denial() {
    let place = Place::new();
    let huge = ok(&format!("{{\"decision\": \"ALLOW\", \"reason\": \"{}\"}}", "x".repeat(200_000)));
    let redirect =
        b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_vec();
    let error = b"HTTP/1.1 500 Oops\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_vec();
    let none = Duration::ZERO;
    for (name, answer, delay, code) in [
        ("allow lifts nothing and stops nothing", ok(r#"{"decision": "ALLOW"}"#), none, 0),
        ("deny", ok(r#"{"decision": "DENY", "reason": "not today"}"#), none, 11),
        ("ask", ok(r#"{"decision": "REQUIRE_USER_CONFIRMATION", "reason": "sure?"}"#), none, 10),
        (
            "an obligation that nobody can honour",
            ok(r#"{"decision": "ALLOW", "obligations": ["dance"]}"#),
            none,
            11,
        ),
        ("nonsense", ok("yes"), none, 11),
        ("an unknown word", ok(r#"{"decision": "MAYBE"}"#), none, 11),
        ("too much", huge, none, 11),
        ("a redirect", redirect, none, 11),
        ("an error", error, none, 11),
        ("silence", Vec::new(), none, 11),
        ("too slow", ok(r#"{"decision": "ALLOW"}"#), Duration::from_millis(1500), 11),
    ] {
        let (url, count) = serve(answer, delay);
        let config = place.file(
            "work/engine.yaml",
            &format!("profile: dev\nengine: {{url: \"{url}\", timeout_ms: 700}}\n"),
        );
        let config = config.to_str().expect("UTF-8");
        let ran = place.run(&["check", "--engine", "--config", config, "ls"]);
        assert_eq!(ran.code, code, "{name}: {}{}", ran.stdout, ran.stderr);
        assert!(count.load(Ordering::SeqCst) >= 1, "{name}: it was asked");
    }
}

#[test]
fn an_engine_that_is_not_there_is_a_denial_that_says_so() {
    let place = Place::new();
    // Bound and dropped: nobody listens there now.
    let address = TcpListener::bind("127.0.0.1:0").expect("loopback").local_addr().expect("an address");
    let config =
        place.file("work/engine.yaml", &format!("profile: dev\nengine: {{url: \"http://{address}/\"}}\n"));
    let ran = place.run(&["check", "--engine", "--config", config.to_str().expect("UTF-8"), "ls"]);
    assert_eq!(ran.code, 11);
    assert!(ran.stdout.contains("policy engine gave no valid answer"), "{}", ran.stdout);
}

#[test]
fn a_rehearsal_contacts_nobody_unless_it_is_told_to() {
    let place = Place::new();
    let (url, count) = serve(ok(r#"{"decision": "DENY"}"#), Duration::ZERO);
    let config = place.file("work/engine.yaml", &format!("profile: dev\nengine: {{url: \"{url}\"}}\n"));
    let config = config.to_str().expect("UTF-8");
    assert_eq!(place.run(&["check", "--config", config, "ls"]).code, 0);
    assert_eq!(count.load(Ordering::SeqCst), 0);
    // The control: the same engine is heard when it is asked.
    assert_eq!(place.run(&["check", "--engine", "--config", config, "ls"]).code, 11);
    assert_eq!(count.load(Ordering::SeqCst), 1);
}
