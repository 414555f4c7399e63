//! `web_search` through the binary: the configured provider is asked, its host is what is judged, its key stays out of sight.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use serde_json::json;

use crate::home::{BINARY, Home};

/// A provider on this machine that answers every search with one result and says what it was asked.
fn provider() -> (u16, std::sync::mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let (asked, questions) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().take(4) {
            let Ok(mut stream) = stream else { continue };
            let mut text = vec![0; 8192];
            let count = stream.read(&mut text).unwrap_or(0);
            text.truncate(count);
            let _gone = asked.send(String::from_utf8_lossy(&text).into_owned());
            let body =
                "{\"results\": [{\"title\": \"One\", \"url\": \"https://a.example/\", \"snippet\": \"s\"}]}";
            let _gone = write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
        }
    });
    (port, questions)
}

#[test]
fn the_configured_provider_is_asked_with_its_key() {
    let home = Home::new();
    let (port, questions) = provider();
    home.configure(&format!(
        "profile: dev\nsearch: {{url: 'http://127.0.0.1:{port}/s?q={{q}}&n={{limit}}', key_variable: SEARCH_KEY}}\n"
    ));
    let mut command = home.command("setsid");
    command.env("SEARCH_KEY", "k-5f2e77a1");
    command.args([
        "-w",
        "timeout",
        "-s",
        "KILL",
        "30",
        BINARY,
        "call",
        "web_search",
        "{\"q\": \"two words\", \"limit\": 3}",
    ]);
    let output = command.output().expect("the binary");
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(
        (&answer["ok"], &answer["data"]["results"][0]["title"]),
        (&json!(true), &json!("One")),
        "{answer}"
    );
    let asked = questions.recv().expect("a question");
    assert!(asked.starts_with("GET /s?q=two%20words&n=3 "), "{asked}");
    assert!(asked.to_lowercase().contains("authorization: bearer k-5f2e77a1"), "{asked}");
    assert!(!home.kept().contains("k-5f2e77a1") && !answer.to_string().contains("k-5f2e77a1"));
    // Without the key nobody is asked.
    let (_, answer) = home.call("web_search", &json!({"q": "x"}));
    assert_eq!(answer["error_kind"], "config_error", "{answer}");
    assert!(questions.try_recv().is_err());
}

#[test]
fn another_host_is_asked_about_like_any_connection() {
    let home = Home::new();
    home.configure("profile: dev\nsearch: {url: 'https://search.example/?q={q}'}\n");
    let check = |home: &Home| {
        let ran = home.run(&["check", "--json", "--tool", "web_search", "--args", "{\"q\": \"x\"}"]);
        serde_json::from_str::<serde_json::Value>(&ran.out).expect("JSON")
    };
    let ruling = check(&home);
    assert_eq!(ruling["decision"], "ask", "{ruling}");
    assert!(ruling["effects"].to_string().contains("search.example"), "{ruling}");
    let more = "sandbox: {network: {allow: [search.example]}}\n";
    home.configure(&format!("profile: dev\nsearch: {{url: 'https://search.example/?q={{q}}'}}\n{more}"));
    assert_eq!(check(&home)["decision"], "allow");
    // A workspace's file, which an agent can write, names nobody.
    home.write(".bailiwick.yaml", "search: {url: 'https://evil.example/?q={q}'}\n", false);
    let ran = home.run(&["check", "ls"]);
    assert!(ran.code == Some(125) && ran.err.contains("may not stand in a workspace file"), "{ran:?}");
}

#[test]
fn an_address_that_makes_no_sense_refuses_to_start() {
    let home = Home::new();
    for url in
        ["http://search.example/?q={q}", "https://search.example/", "https://u:p@search.example/?q={q}"]
    {
        home.configure(&format!("profile: dev\nsearch: {{url: '{url}'}}\n"));
        let ran = home.run(&["check", "ls"]);
        assert!(ran.code == Some(125) && ran.err.contains("config.yaml:2"), "{url}: {ran:?}");
    }
}
