//! `bailiwick serve` as its users start it: a question waits, is answered, the call runs; a restart approves nothing. SRV-1,
//! SRV-9.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test says what it expects, and has files and processes of its own"
)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

/// Writing below `asked` is asked about.
const CONFIGURATION: &str =
    "profile: dev\nrules: [{name: careful, action: ask, tool: file_write, path_patterns: ['/asked/']}]\n";

struct Home(PathBuf);

impl Home {
    fn new() -> Home {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("serving-{}-{number}", std::process::id()));
        let _left_over = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(path.join("work/asked")).expect("a workspace");
        std::fs::create_dir_all(path.join(".config/bailiwick")).expect("a directory");
        std::fs::write(path.join(".config/bailiwick/config.yaml"), CONFIGURATION).expect("a configuration");
        Home(path)
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bailiwick"));
        command
            .args(words)
            .current_dir(self.0.join("work"))
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", &self.0)
            .env("USER", "tester")
            .stdin(Stdio::null());
        command
    }

    fn token(&self) -> String {
        let text =
            std::fs::read_to_string(self.0.join(".local/share/bailiwick/keys/token")).expect("a token");
        text.trim().to_owned()
    }

    fn ran(&self, name: &str) -> bool {
        self.0.join("work/asked").join(name).exists()
    }
}

/// A server that ends with the test.
struct Server {
    child: Child,
    address: String,
    token: String,
    said: String,
}

impl Server {
    fn start(home: &Home) -> Server {
        let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
        let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("a server");
        let mut lines = BufReader::new(child.stderr.take().expect("its words")).lines();
        let mut said = String::new();
        let mut address = None;
        for line in lines.by_ref().map_while(Result::ok).take(2) {
            let place = line.strip_prefix("bailiwick: the console is at http://");
            address = address.or(place.map(|rest| rest.trim_end_matches('/').to_owned()));
            said.push_str(&line);
        }
        std::thread::spawn(move || lines.for_each(drop));
        let address = address.unwrap_or_else(|| panic!("it does not say where it is: {said}"));
        Server { child, address, token: home.token(), said }
    }

    fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a time-out");
        let body = body.map(Value::to_string).unwrap_or_default();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            self.token,
            body.len()
        );
        stream.write_all(request.as_bytes()).expect("written");
        let mut text = String::new();
        let _cut_off = stream.read_to_string(&mut text);
        let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
        let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        (status, serde_json::from_str(body).unwrap_or_default())
    }

    fn write(&self, name: &str) -> (u16, Value) {
        let args = json!({"path": format!("asked/{name}"), "content": "ran"});
        self.ask("POST", "/v1/calls", Some(&json!({"tool": "file_write", "args": args})))
    }

    /// A question that waits here, by a request that waits for it.
    fn question(&self) -> Value {
        for _ in 0..20 {
            let (_, listed) = self.ask("GET", "/v1/approvals?wait=10", None);
            let all = listed["approvals"].as_array().cloned().unwrap_or_default();
            if let Some(found) = all.into_iter().find(|one| one["waits"] == "here") {
                return found;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("nothing is asked");
    }

    fn end(mut self) -> i32 {
        let id = self.child.id().to_string();
        Command::new("kill").args(["-TERM", &id]).status().expect("kill");
        for _ in 0..200 {
            if let Some(status) = self.child.try_wait().expect("its end") {
                return status.code().unwrap_or(-1);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("it does not end");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _waited = self.child.wait();
    }
}

/// Somebody who can answer, until the connection is dropped.
fn approver(server: &Server) -> TcpStream {
    let mut stream = TcpStream::connect(&server.address).expect("a connection");
    let head = format!(
        "GET /v1/events?approver=1 HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
        server.address, server.token
    );
    stream.write_all(head.as_bytes()).expect("written");
    let mut some = [0; 64];
    let count = stream.read(&mut some).expect("an answer");
    assert!(some[..count].starts_with(b"HTTP/1.1 200"));
    stream
}

#[test]
fn a_question_waits_is_answered_and_the_call_runs() {
    let home = Home::new();
    let server = Server::start(&home);
    assert!(!server.said.contains(&server.token), "the token is told to whatever reads standard error");
    // With nobody there it is no at once.
    assert_eq!(server.write("alone").0, 409);
    let _here = approver(&server);
    for (name, decision, runs) in [("yes", "approved", true), ("no", "denied", false)] {
        std::thread::scope(|scope| {
            let call = scope.spawn(|| server.write(name));
            let question = server.question();
            assert!(!home.ran(name));
            assert_eq!(question["rule"]["id"], "careful", "{question}");
            let path = format!("/v1/approvals/{}", question["id"].as_str().expect("an id"));
            let (status, told) = server.ask("POST", &path, Some(&json!({"decision": decision})));
            assert_eq!((status, told["by"].as_str()), (200, Some("tester")), "{told}");
            let (status, result) = call.join().expect("an answer");
            assert_eq!((status == 200, home.ran(name)), (runs, runs), "{result}");
        });
    }
    assert_eq!(server.end(), 0);
    let verified = home.command(&["journal", "verify"]).output().expect("verify");
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
}

#[test]
fn after_a_restart_nothing_is_approved_and_what_waits_for_a_retry_still_does() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let token = server.token.clone();
    assert_eq!(server.write("later").0, 409);
    let here = approver(&server);
    let open = std::thread::scope(|scope| {
        let call = scope.spawn(|| server.write("open"));
        let open = server.question();
        // The server dies without a word.
        let id = server.child.id().to_string();
        Command::new("kill").args(["-KILL", &id]).status().expect("kill");
        let (status, _) = call.join().expect("an answer");
        assert_ne!(status, 200);
        open
    });
    let _gone = server.child.wait();
    drop(here);
    let server = Server::start(&home);
    assert_eq!(server.token, token, "the token lasts");
    let (_, listed) = server.ask("GET", "/v1/approvals", None);
    let waiting = listed["approvals"].as_array().cloned().unwrap_or_default();
    assert_eq!(waiting.len(), 1, "{listed}");
    assert_eq!(
        (waiting[0]["waits"].as_str(), waiting[0]["what"].as_str()),
        (Some("elsewhere"), Some("asked/later"))
    );
    let path = format!("/v1/approvals/{}", open["id"].as_str().expect("an id"));
    assert_eq!(server.ask("POST", &path, Some(&json!({"decision": "approved"}))).0, 404);
    assert!(!home.ran("open") && !home.ran("later"));
    // A yes to the one that waits counts for its next try.
    let path = format!("/v1/approvals/{}", waiting[0]["id"].as_str().expect("an id"));
    assert_eq!(server.ask("POST", &path, Some(&json!({"decision": "approved"}))).0, 200);
    assert_eq!(server.write("later").0, 200);
    assert!(home.ran("later"));
    assert_eq!(server.end(), 0);
}

#[test]
fn it_listens_for_others_only_where_that_is_said_plainly() {
    let home = Home::new();
    for words in [
        &["serve", "--listen", "192.0.2.1:1"][..],
        &["serve", "--listen", "0.0.0.0:0", "--reachable-by-others"],
        &["serve", "--listen", "[::]:0"],
    ] {
        let ran = home.command(words).output().expect("an end");
        assert_eq!(ran.status.code(), Some(125), "{words:?}: {}", String::from_utf8_lossy(&ran.stderr));
    }
}
