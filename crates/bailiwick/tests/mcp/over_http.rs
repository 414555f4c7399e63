//! `bailiwick mcp --listen`: the built-in tools over streamable HTTP, message by message. Whole sessions are those of the
//! Python SDK (`door-mcp/clients/python_http.py`).

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::{Place, Serving};
use crate::now;

/// A server that listens, and the token that it wants.
struct Server {
    home: Place,
    at: String,
    token: String,
    _running: Serving,
}

/// What came back.
#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Server {
    fn start() -> Server {
        let home = Place::new();
        let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|port| port.local_addr());
        let port = port.expect("a port").port();
        let at = format!("127.0.0.1:{port}");
        let running = home.serving(&["mcp", "--listen", &at]);
        let begun = now();
        let token = loop {
            let token = home.read(".local/share/bailiwick/mcp-token");
            if let (Some(token), Ok(_)) = (token, TcpStream::connect(&at)) {
                break token;
            }
            assert!(begun.elapsed() < Duration::from_secs(20), "it never listens");
            std::thread::sleep(Duration::from_millis(50));
        };
        Server { home, at, token, _running: running }
    }

    /// What every client of ours says.
    fn own(&self) -> String {
        format!("Host: {}\r\nAuthorization: Bearer {}\r\n", self.at, self.token)
    }

    /// A request whose answer is still to come.
    fn begin(&self, method: &str, head: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.at).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time-out");
        write!(
            stream,
            "{method} /mcp HTTP/1.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nConnection: close\r\nContent-Length: {}\r\n{head}\r\n{body}",
            body.len()
        )
        .expect("written");
        stream
    }

    fn ask(&self, method: &str, head: &str, body: &str) -> Answer {
        let mut text = String::new();
        let _cut_off = self.begin(method, head, body).read_to_string(&mut text);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
        Answer { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }

    /// The name of a session that has begun.
    fn session(&self) -> String {
        let hello = self.ask("POST", &self.own(), &hello());
        assert_eq!(hello.status, 200, "{hello:?}");
        let name = hello.head.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        let name = name.unwrap_or_else(|| panic!("no session: {hello:?}")).to_owned();
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
        assert_eq!(self.ask("POST", &self.of(&name), &ready).status, 202);
        name
    }

    /// What a client says in a session.
    fn of(&self, session: &str) -> String {
        format!("{}Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n", self.own())
    }
}

fn hello() -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}})
    .to_string()
}

fn shell(command: &str) -> String {
    json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "shell_command", "arguments": {"command": command}}})
    .to_string()
}

/// The message in an answer, whichever way it came.
fn message(answer: &Answer) -> Value {
    let lines = answer.body.lines().filter_map(|line| line.strip_prefix("data: "));
    lines
        .filter_map(|line| serde_json::from_str(line.trim()).ok())
        .find(|message: &Value| message["id"] == 2)
        .unwrap_or_default()
}

#[test]
fn only_whoever_has_the_token_is_let_in_and_no_page() {
    let server = Server::start();
    let (code, said) = server.home.run(&["mcp", "--listen", "0.0.0.0:1"]);
    assert!(code != 0 && said.contains("elsewhere"), "{said}");
    let (at, own) = (&server.at, server.own());
    let bearer = format!("Authorization: Bearer {}\r\n", server.token);
    let wrong = format!("Host: {at}\r\nAuthorization: Bearer {}\r\n", "0".repeat(64));
    // headers, status
    let table = [
        (own.clone(), 200),
        (format!("Host: {at}\r\n"), 401),
        (wrong.clone(), 401),
        (format!("Host: attacker.example\r\n{bearer}"), 403),
        (format!("{own}Origin: http://attacker.example\r\n"), 403),
        (format!("{own}Origin: http://{at}\r\n"), 403),
        (format!("{own}Origin: null\r\n"), 403),
    ];
    for (head, status) in table {
        let got = server.ask("POST", &head, &hello());
        assert_eq!(got.status, status, "{head}: {got:?}");
    }
    // A session's name is no token.
    let session = server.session();
    for method in ["GET", "POST", "DELETE"] {
        for head in [format!("Host: {at}\r\n"), wrong.clone()] {
            let got = server.ask(method, &format!("{head}Mcp-Session-Id: {session}\r\n"), "");
            assert_eq!(got.status, 401, "{method} {head}: {got:?}");
        }
        let head = format!("Host: attacker.example\r\n{bearer}Mcp-Session-Id: {session}\r\n");
        assert_eq!(server.ask(method, &head, &shell("true")).status, 403, "{method}");
    }
}

#[test]
fn a_session_has_a_name_that_must_be_known_and_is_over_when_its_client_says_so() {
    let server = Server::start();
    let (one, other) = (server.session(), server.session());
    assert_ne!(one, other);
    assert!(one.len() >= 32, "a name that can be guessed: {one}");
    let call = shell("echo hello");
    let made_up = "0".repeat(one.len());
    for (head, status) in [
        (server.of(&one), 200),
        (server.of(&made_up), 404),
        (server.own(), 400),
        (format!("{}Mcp-Session-Id: {one}\r\nMCP-Protocol-Version: 1999-01-01\r\n", server.own()), 400),
    ] {
        let got = server.ask("POST", &head, &call);
        assert_eq!(got.status, status, "{head}: {got:?}");
        let said = message(&got);
        assert_eq!(said["result"]["content"][0]["text"] == "hello\n", status == 200, "{got:?}");
    }
    assert_eq!(server.ask("GET", &server.of(&made_up), "").status, 404);
    assert_eq!(server.ask("POST", &server.of(&one), "no JSON").status, 415);
    assert_eq!(server.ask("PUT", &server.of(&one), &call).status, 405);
    let long = shell(&"x".repeat(5 * 1024 * 1024));
    assert_eq!(server.ask("POST", &server.of(&one), &long).status, 413);
    let ended = server.ask("DELETE", &server.of(&one), "");
    assert_eq!(ended.status, 204, "{ended:?}");
    assert_eq!(server.ask("POST", &server.of(&one), &call).status, 404);
    let still = server.ask("POST", &server.of(&other), &call);
    assert_eq!(message(&still)["result"]["isError"], false, "the other session goes on: {still:?}");
}

#[test]
fn what_runs_for_a_session_ends_with_it() {
    let server = Server::start();
    let session = server.session();
    let call = shell("echo begun > begun; sleep 30; echo ended > ended");
    let _open = server.begin("POST", &server.of(&session), &call);
    let begun = now();
    while server.home.read("work/begun").is_none() {
        assert!(begun.elapsed() < Duration::from_secs(20), "it never begins");
        std::thread::sleep(Duration::from_millis(20));
    }
    let ended = server.ask("DELETE", &server.of(&session), "");
    assert_eq!(ended.status, 204, "{ended:?}");
    let begun = now();
    while !server.home.records().iter().any(|event| event["type"] == "tool_call_finished") {
        assert!(begun.elapsed() < Duration::from_secs(15), "it runs on");
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(server.home.read("work/ended"), None);
}
