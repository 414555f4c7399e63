//! A server in a home of its own, and somebody who asks it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::home::{BINARY, Home};

/// A server that ends with the test.
pub(crate) struct Server {
    pub(crate) child: Child,
    address: String,
    pub(crate) token: String,
    pub(crate) said: String,
}

impl Server {
    pub(crate) fn start(home: &Home, flags: &[&str]) -> Server {
        let mut command = home.command(BINARY);
        command.args(["serve", "--listen", "127.0.0.1:0"]).args(flags);
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
        Server { child, address, token: token(home), said }
    }

    pub(crate) fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
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

    pub(crate) fn write(&self, name: &str) -> (u16, Value) {
        let args = json!({"path": format!("asked/{name}"), "content": "ran"});
        self.ask("POST", "/v1/calls", Some(&json!({"tool": "file_write", "args": args})))
    }

    /// A question that waits here, by a request that waits for it.
    pub(crate) fn question(&self) -> Value {
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

    pub(crate) fn end(mut self) -> i32 {
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
pub(crate) fn approver(server: &Server) -> TcpStream {
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

fn token(home: &Home) -> String {
    let file = home.0.join(".local/share/bailiwick/keys/token");
    std::fs::read_to_string(file).expect("a token").trim().to_owned()
}
