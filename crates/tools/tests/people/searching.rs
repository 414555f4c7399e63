//! Searches at a server of this machine.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use call::{ErrorKind, Secret};
use serde_json::{Value, json};
use tools::{Outcome, SearchProvider, web_search};

/// Answers one request, and hands over what was asked.
fn serve(answer: impl FnOnce(&mut TcpStream) + Send + 'static) -> (u16, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (asked, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let Ok((mut stream, _)) = listener.accept() else { return };
        let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
        let mut request = Vec::new();
        let mut piece = [0; 4096];
        while !request.windows(4).any(|end| end == b"\r\n\r\n") {
            match stream.read(&mut piece) {
                Ok(0) | Err(_) => return,
                Ok(count) => request.extend(piece.iter().take(count)),
            }
        }
        let _ = asked.send(String::from_utf8_lossy(&request).into_owned());
        answer(&mut stream);
    });
    (port, receiver)
}

fn provider(port: u16) -> SearchProvider {
    let template = format!("http://127.0.0.1:{port}/find?q={{q}}&n={{limit}}&days={{recency}}");
    SearchProvider::new(&template).unwrap()
}

fn search(arguments: Value, provider: Option<&SearchProvider>, key: Option<&Secret>) -> Outcome {
    web_search::run(&serde_json::from_value(arguments).unwrap(), provider, key)
}

fn answered(status: &str, headers: &str, body: &str) -> Outcome {
    let response = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n{headers}\r\n{body}", body.len());
    let (port, _asked) = serve(move |stream| {
        let _ = stream.write_all(response.as_bytes());
    });
    search(json!({"q": "private words", "limit": 2}), Some(&provider(port)), None)
}

#[test]
fn a_search_is_sent_as_configured_and_its_answer_is_read() {
    let body = json!({"results": [
        {"title": "One\n\u{1b}[2J", "url": "https://one.example/", "snippet": "first  text", "date": "2024-01-02"},
        {"title": "Two", "url": "http://two.example/", "content": "second"},
        {"title": "Bad", "url": "javascript:alert(1)"},
        {"title": "None"},
        {"title": "Three", "url": "https://three.example/"},
    ]});
    let response = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.to_string().len());
    let (port, asked) = serve(move |stream| {
        let _ = stream.write_all(response.as_bytes());
    });
    let provider = provider(port).with_key("SEARCH_KEY", "Authorization").unwrap();
    assert_eq!((provider.host(), provider.key_variable()), ("127.0.0.1", Some("SEARCH_KEY")));
    let key = Secret::new("k3y".into());
    let outcome = search(json!({"q": "a&b", "recency": 7, "limit": 2}), Some(&provider), Some(&key));
    assert!(outcome.ok, "{}", outcome.stderr);
    let request = asked.recv().unwrap();
    assert!(request.starts_with("GET /find?q=a%26b&n=2&days=7 HTTP/1.1\r\n"), "{request}");
    assert!(request.to_lowercase().contains("\r\nauthorization: bearer k3y\r\n"), "{request}");
    let data = outcome.data.unwrap();
    assert_eq!(
        data["results"],
        json!([
            {"title": "One \u{1b}[2J", "url": "https://one.example/", "snippet": "first text", "date": "2024-01-02"},
            {"title": "Two", "url": "http://two.example/", "snippet": "second"},
        ])
    );
    assert_eq!(data["left_out"], 2);
    assert!(outcome.truncated);
    assert!(
        outcome
            .stdout
            .starts_with("1. One <U+001B>[2J (2024-01-02)\n   https://one.example/\n   first text\n2. Two\n")
    );
}

#[test]
fn other_forms_of_answers_are_read_and_what_is_none_is_said() {
    let list = json!([{"title": "t", "url": "https://x.example/", "description": "d", "page_age": "1 day"}]);
    let outcome = answered("200 OK", "", &json!({"web": {"results": list}}).to_string());
    let expected = json!([{"title": "t", "url": "https://x.example/", "snippet": "d", "date": "1 day"}]);
    assert_eq!(outcome.data.unwrap()["results"], expected);
    let outcome = answered("200 OK", "", r#"{"results": []}"#);
    assert!(outcome.ok && outcome.stdout.contains("nothing was found"));
    for (body, part) in
        [("<html>", "no JSON"), ("[]", "no list"), (r#"{"results": {}}"#, "no list"), ("", "no JSON")]
    {
        let outcome = answered("200 OK", "", body);
        assert_eq!(outcome.error_kind, Some(ErrorKind::Unknown));
        assert!(outcome.stderr.contains(part), "{body}: {}", outcome.stderr);
    }
    let deep = format!("{{\"results\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(answered("200 OK", "", &deep).error_kind, Some(ErrorKind::Unknown));
}

#[test]
fn a_refusal_says_why_and_when_to_come_again() {
    let table = [
        ("429 Too Many", "retry-after: 7\r\n", ErrorKind::Unknown, true, Some(7000)),
        ("503 No", "", ErrorKind::Unknown, true, None),
        ("404 No", "retry-after: 7\r\n", ErrorKind::Unknown, false, None),
        ("401 No", "", ErrorKind::ConfigError, false, None),
        ("302 Found", "location: http://127.0.0.1:1/elsewhere\r\n", ErrorKind::ConfigError, false, None),
        ("307 Found", "location: /find?q=again\r\n", ErrorKind::ConfigError, false, None),
    ];
    for (status, headers, kind, retryable, after) in table {
        let outcome = answered(status, headers, "{}");
        assert_eq!(outcome.error_kind, Some(kind), "{status}: {}", outcome.stderr);
        assert_eq!((outcome.retryable, outcome.retry_after_ms), (retryable, after), "{status}");
        assert!(
            outcome.stderr.contains(status.split(' ').next().unwrap()) && !outcome.stderr.contains("private"),
            "{}",
            outcome.stderr
        );
    }
}

#[test]
fn time_and_size_are_bounded() {
    // Nobody answers.
    let (port, _asked) = serve(|_| std::thread::sleep(Duration::from_secs(4)));
    let quick = provider(port).with_timeout(Duration::from_millis(300));
    let start = Instant::now();
    let outcome = search(json!({"q": "x"}), Some(&quick), None);
    assert_eq!(outcome.error_kind, Some(ErrorKind::Timeout), "{}", outcome.stderr);
    assert!(outcome.retryable && start.elapsed() < Duration::from_secs(3));
    // A drop now and then.
    let (port, _asked) = serve(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n");
        for _ in 0..40 {
            if stream.write_all(b" ").is_err() {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    });
    let quick = provider(port).with_timeout(Duration::from_millis(300));
    let start = Instant::now();
    assert_eq!(search(json!({"q": "x"}), Some(&quick), None).error_kind, Some(ErrorKind::Timeout));
    assert!(start.elapsed() < Duration::from_secs(3));
    // Without end.
    let (port, _asked) = serve(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        while stream.write_all(&[b' '; 65536]).is_ok() {}
    });
    let outcome = search(json!({"q": "x"}), Some(&provider(port)), None);
    assert_eq!(outcome.error_kind, Some(ErrorKind::Unknown));
    assert!(outcome.stderr.contains("more than"), "{}", outcome.stderr);
    // Nobody is there.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let outcome = search(json!({"q": "private words"}), Some(&provider(port)), None);
    assert!(!outcome.ok && outcome.retryable && !outcome.stderr.contains("private"), "{}", outcome.stderr);
}

#[test]
fn without_a_provider_or_its_key_nothing_is_sent() {
    let outcome = search(json!({"q": "x"}), None, None);
    assert_eq!(outcome.error_kind, Some(ErrorKind::ConfigError));
    assert!(outcome.stderr.contains("no search provider"));
    let (port, asked) = serve(|_| {});
    let provider = provider(port).with_key("SEARCH_KEY", "x-token").unwrap();
    let bad = Secret::new("two words\r\nx: y".into());
    for key in [None, Some(&Secret::new(String::new())), Some(&bad)] {
        let outcome = search(json!({"q": "x"}), Some(&provider), key);
        assert_eq!(outcome.error_kind, Some(ErrorKind::ConfigError));
        assert!(outcome.stderr.contains("SEARCH_KEY") && !outcome.stderr.contains("two words"));
    }
    for q in ["  ".to_owned(), "x".repeat(3000)] {
        assert_eq!(search(json!({"q": q}), Some(&provider), None).error_kind, Some(ErrorKind::Validation));
    }
    assert!(asked.try_recv().is_err());
}
