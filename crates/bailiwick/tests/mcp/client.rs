//! A client of our own, as plain as can be: one JSON message a line.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_bailiwick");

/// A home directory that goes with the test, with a workspace in it.
pub(crate) struct Home(pub(crate) PathBuf);

#[expect(clippy::disallowed_methods, reason = "a test has files and starts programs")]
impl Home {
    pub(crate) fn new() -> Home {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("mcp-{}-{number}", std::process::id()));
        let _left_over = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(path.join("work")).expect("a workspace");
        let home = Home(path);
        home.write("work/.bailiwick.yaml", "config_version: 1\n");
        home.write("work/server.py", include_str!("fake_server.py"));
        home
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        std::fs::write(path, text).expect("a file");
    }

    pub(crate) fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.0.join(name)).ok()
    }

    pub(crate) fn configure(&self, yaml: &str) {
        self.write(".config/bailiwick/config.yaml", yaml);
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("setsid");
        command
            .args(["-w", "timeout", "-s", "KILL", "120", BINARY])
            .args(arguments)
            .current_dir(self.0.join("work"))
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", &self.0)
            .env("USER", "tester")
            .env("NO_COLOR", "1")
            .env("SECRET_OF_THE_USER", "hunter2");
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> (i32, String) {
        let ran = self.command(arguments).stdin(Stdio::null()).output().expect("the binary");
        let text = [ran.stdout, ran.stderr].concat();
        (ran.status.code().unwrap_or(-1), String::from_utf8_lossy(&text).into_owned())
    }

    /// The events of the journal, in order.
    pub(crate) fn journal(&self) -> Vec<Value> {
        let (_, text) = self.run(&["journal", "export", "--format", "jsonl"]);
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _kept = std::fs::remove_dir_all(&self.0);
    }
}

/// A client that is connected.
pub(crate) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    next: u64,
    /// What it answers when it is asked; nothing where it cannot be.
    answers: Option<Value>,
    /// What it was asked.
    pub(crate) asked: Vec<Value>,
    /// What it was told besides.
    pub(crate) told: Vec<Value>,
}

impl Client {
    /// Starts a server. `answers` is what an elicitation is answered with, whatever it asks.
    pub(crate) fn start(home: &Home, arguments: &[&str], answers: Option<Value>) -> Client {
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
    pub(crate) fn start_raw(home: &Home, arguments: &[&str], answers: Option<Value>) -> Client {
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
