//! A server in a home of its own, and somebody who asks it.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::home::{BINARY, Home};

/// A server that ends with the test.
pub(crate) struct Server {
    pub(crate) child: Child,
    place: Place,
    pub(crate) token: String,
    pub(crate) said: String,
}

/// Where it is.
enum Place {
    Address(String),
    Socket(PathBuf),
}

/// A connection to it.
pub(crate) trait Stream: Read + Write + Send {}
impl Stream for TcpStream {}
impl Stream for UnixStream {}

impl Server {
    pub(crate) fn start(home: &Home, flags: &[&str]) -> Server {
        Server::started(home, &[&["--listen", "127.0.0.1:0"], flags].concat())
    }

    /// At a socket in the file system.
    pub(crate) fn at_socket(home: &Home, path: &Path) -> Server {
        Server::started(home, &["--socket", path.to_str().expect("a path that is text")])
    }

    fn started(home: &Home, flags: &[&str]) -> Server {
        let mut command = home.command(BINARY);
        command.arg("serve").args(flags);
        let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("a server");
        let mut lines = BufReader::new(child.stderr.take().expect("its words")).lines();
        let mut said = String::new();
        let mut place = None;
        for line in lines.by_ref().map_while(Result::ok).take(2) {
            let address = line.strip_prefix("bailiwick: the console is at http://");
            let socket = line.strip_prefix("bailiwick: listening at ");
            let address = address.map(|rest| Place::Address(rest.trim_end_matches('/').to_owned()));
            place = place.or(address).or(socket.map(|path| Place::Socket(path.into())));
            said.push_str(&line);
        }
        std::thread::spawn(move || lines.for_each(drop));
        let place = place.unwrap_or_else(|| panic!("it does not say where it is: {said}"));
        Server { child, place, token: token(home), said }
    }

    /// The name that a request is addressed to.
    pub(crate) fn host(&self) -> &str {
        match &self.place {
            Place::Address(address) => address,
            Place::Socket(_) => "localhost",
        }
    }

    fn connect(&self) -> Box<dyn Stream> {
        let patience = Some(Duration::from_secs(30));
        match &self.place {
            Place::Address(address) => {
                let stream = TcpStream::connect(address).expect("a connection");
                stream.set_read_timeout(patience).expect("a time-out");
                Box::new(stream)
            }
            Place::Socket(path) => {
                let stream = UnixStream::connect(path).expect("a connection");
                stream.set_read_timeout(patience).expect("a time-out");
                Box::new(stream)
            }
        }
    }

    pub(crate) fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        let head = format!("Host: {}\r\nAuthorization: Bearer {}\r\n", self.host(), self.token);
        self.ask_as(&head, method, path, body)
    }

    /// With other words about who asks.
    pub(crate) fn ask_as(&self, head: &str, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        let mut stream = self.connect();
        let body = body.map(Value::to_string).unwrap_or_default();
        let request = format!(
            "{method} {path} HTTP/1.1\r\n{head}Connection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
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
pub(crate) fn approver(server: &Server) -> Box<dyn Stream> {
    let mut stream = server.connect();
    let head = format!(
        "GET /v1/events?approver=1 HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
        server.host(),
        server.token
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
