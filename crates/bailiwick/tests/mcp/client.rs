//! A client of our own, as plain as can be: one JSON message a line.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::home::{BINARY, Home, Ran};

/// A home with a server in it that can be put behind the proxy, and what is in its files.
pub(crate) struct Place(Home);

#[expect(clippy::disallowed_methods, reason = "a test has files")]
impl Place {
    pub(crate) fn new() -> Place {
        let place = Place(Home::new());
        place.write("work/.bailiwick.yaml", "config_version: 1\n");
        place.write("work/server.py", include_str!("fake_server.py"));
        place
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.0.0.join(name);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        std::fs::write(path, text).expect("a file");
    }

    pub(crate) fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.0.0.join(name)).ok()
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0.0
    }

    pub(crate) fn configure(&self, yaml: &str) {
        self.0.configure(yaml);
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.0.alone(arguments);
        command.env("SECRET_OF_THE_USER", "hunter2");
        command
    }

    /// A server that ends with the test.
    pub(crate) fn serving(&self, arguments: &[&str]) -> Serving {
        let mut command = self.0.command(BINARY);
        Serving(
            command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a server"),
        )
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> (i32, String) {
        let ran = Ran::from(self.command(arguments).output().expect("the binary"));
        (ran.code.unwrap_or(-1), ran.out + &ran.err)
    }

    /// The events of the journal, in order.
    pub(crate) fn records(&self) -> Vec<Value> {
        self.0.records()
    }
}

/// A server under way.
pub(crate) struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ended = self.0.kill();
        let _waited = self.0.wait();
    }
}

/// A client that is connected.
pub(crate) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    pub(crate) next: u64,
    /// What it answers when it is asked; nothing where it cannot be.
    answers: Option<Value>,
    /// What it was asked.
    pub(crate) asked: Vec<Value>,
    /// What it was told besides.
    pub(crate) told: Vec<Value>,
}

impl Client {
    /// Starts a server. `answers` is what an elicitation is answered with, whatever it asks.
    pub(crate) fn start(home: &Place, arguments: &[&str], answers: Option<Value>) -> Client {
        let mut client = Client::start_raw(home, arguments, answers);
        let capabilities = if client.answers.is_some() { json!({"elicitation": {}}) } else { json!({}) };
        let hello = client.call(
            "initialize",
            json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": {"name": "tester", "version": "1"}}),
        );
        assert_eq!(hello["result"]["protocolVersion"], "2025-11-25", "{hello}");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    /// The same without a word about who it is.
    pub(crate) fn start_raw(home: &Place, arguments: &[&str], answers: Option<Value>) -> Client {
        let mut child =
            home.command(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the binary");
        let (send, messages) = channel();
        let output = child.stdout.take().expect("its output");
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let Ok(line) = line else { return };
                let message = serde_json::from_str(&line).unwrap_or_else(|_| json!({"no message": line}));
                if send.send(message).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        Client { child, input, messages, next: 0, answers, asked: Vec::new(), told: Vec::new() }
    }

    pub(crate) fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().expect("an open stream");
        writeln!(input, "{message}").expect("a server that reads");
        input.flush().expect("a server that reads");
    }

    pub(crate) fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Waits for an answer; what the server asks meanwhile is answered.
    pub(crate) fn wait(&mut self, id: u64) -> Value {
        loop {
            let message = self.messages.recv_timeout(Duration::from_secs(60)).expect("an answer in time");
            if message["method"] == "elicitation/create" {
                self.asked.push(message["params"].clone());
                let answer = self.answers.clone().expect("nobody here can be asked");
                self.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": answer}));
            } else if message["id"] == id && message.get("method").is_none() {
                return message;
            } else {
                self.told.push(message);
            }
        }
    }

    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.wait(id)
    }

    /// The result of a `tools/call`.
    pub(crate) fn tool(&mut self, name: &str, arguments: Value) -> Value {
        let answer = self.call("tools/call", json!({"name": name, "arguments": arguments}));
        assert!(answer.get("result").is_some(), "{answer}");
        answer["result"].clone()
    }

    pub(crate) fn tools(&mut self) -> Vec<Value> {
        let answer = self.call("tools/list", json!({}));
        answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}")).clone()
    }

    pub(crate) fn names(&mut self) -> Vec<String> {
        self.tools().iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
    }

    /// Goes away, and waits for the server's end.
    pub(crate) fn end(mut self) -> i32 {
        drop(self.input.take());
        self.child.wait().expect("its end").code().unwrap_or(-1)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ended = self.child.wait();
    }
}

/// The first text of a result.
pub(crate) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

/// A form that is filled in.
pub(crate) fn form(content: Value) -> Option<Value> {
    Some(json!({"action": "accept", "content": content}))
}
