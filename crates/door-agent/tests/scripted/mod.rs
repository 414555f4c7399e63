//! A model that follows a script, served over HTTP on loopback: both real protocols, streamed, with chunks cut at odd places, and
//! everything that goes wrong with real servers. Nothing but the standard library, so that every crate's tests can use it.
#![allow(
    dead_code,
    clippy::allow_attributes,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unreachable,
    reason = "each user of it uses another part, and a server for tests may fail as they may"
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

/// Which protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    OpenAi,
    Anthropic,
}

impl Protocol {
    pub(crate) const ALL: [Protocol; 2] = [Protocol::OpenAi, Protocol::Anthropic];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Protocol::OpenAi => "openai",
            Protocol::Anthropic => "anthropic",
        }
    }
}

/// What the model does with one request.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// Says this and is done.
    Text(String),
    /// Says something and wants calls: tools, and arguments as text.
    Calls(String, Vec<(String, String)>),
    /// Refuses: status, headers, body.
    Status(u16, Vec<(String, String)>, String),
    /// Says this, and the connection breaks.
    Breaks(String),
    /// Says this, and then nothing for so long.
    Hangs(String, Duration),
    /// An error inside the stream: its type and its text.
    Error(String, String),
    /// Bytes that are no events.
    Garbage(String),
}

/// Says something and is done.
pub(crate) fn text(text: &str) -> Answer {
    Answer::Text(text.into())
}

/// Wants one call.
pub(crate) fn call(tool: &str, arguments: Value) -> Answer {
    calls(&[(tool, arguments)])
}

/// Wants calls.
pub(crate) fn calls(all: &[(&str, Value)]) -> Answer {
    let all = all.iter().map(|(tool, arguments)| ((*tool).to_owned(), arguments.to_string())).collect();
    Answer::Calls(String::new(), all)
}

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
    /// The same, without the differences of the protocols: every text of every message, in order.
    pub(crate) texts: Vec<String>,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// What was said last.
    pub(crate) fn last(&self) -> &str {
        self.texts.last().map_or("", String::as_str)
    }

    /// Everything that was said.
    pub(crate) fn all(&self) -> String {
        self.texts.join("\n")
    }

    /// The names of the tools that were offered.
    pub(crate) fn tools(&self) -> Vec<String> {
        let tools = self.body["tools"].as_array().cloned().unwrap_or_default();
        let name =
            |tool: &Value| tool["name"].as_str().or(tool["function"]["name"].as_str()).map(str::to_owned);
        tools.iter().filter_map(name).collect()
    }
}

type Script = dyn Fn(&Seen, usize) -> Answer + Send + Sync;

/// The server. It serves until the process ends.
pub(crate) struct Server {
    pub(crate) port: u16,
    pub(crate) protocol: Protocol,
    seen: Arc<Mutex<Vec<Seen>>>,
    connections: Arc<Mutex<usize>>,
}

impl Server {
    /// Answers by a function of the request and its number, from 0.
    pub(crate) fn start(
        protocol: Protocol,
        script: impl Fn(&Seen, usize) -> Answer + Send + Sync + 'static,
    ) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let (script, log): (Arc<Script>, _) = (Arc::new(script), Arc::clone(&seen));
        let connections: Arc<Mutex<usize>> = Arc::default();
        let counted = Arc::clone(&connections);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                *counted.lock().expect("the count") += 1;
                let (script, log) = (Arc::clone(&script), Arc::clone(&log));
                std::thread::Builder::new()
                    .stack_size(256 * 1024)
                    .spawn(move || {
                        let _gone = serve(stream, protocol, &*script, &log);
                    })
                    .expect("a thread");
            }
        });
        Server { port, protocol, seen, connections }
    }

    /// Answers one after the other; the last one again and again.
    pub(crate) fn following(protocol: Protocol, answers: Vec<Answer>) -> Server {
        Server::start(protocol, move |_, number| {
            answers.get(number).or(answers.last()).cloned().unwrap_or(Answer::Text("done".into()))
        })
    }

    pub(crate) fn base_url(&self) -> String {
        match self.protocol {
            Protocol::OpenAi => format!("http://127.0.0.1:{}/v1", self.port),
            Protocol::Anthropic => format!("http://127.0.0.1:{}", self.port),
        }
    }

    /// How many connections were made.
    pub(crate) fn connections(&self) -> usize {
        *self.connections.lock().expect("the count")
    }

    /// What was asked so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("the log").clone()
    }
}

fn serve(
    stream: TcpStream,
    protocol: Protocol,
    script: &Script,
    log: &Mutex<Vec<Seen>>,
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut out = stream;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            match line.trim_end().split_once(':') {
                Some((name, value)) => headers.push((name.to_lowercase(), value.trim().to_owned())),
                None => break,
            }
        }
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let length: usize = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        let texts = texts(&body);
        let seen = Seen { path, headers, body, texts };
        let number = {
            let mut log = log.lock().expect("the log");
            log.push(seen.clone());
            log.len() - 1
        };
        if !answer(&mut out, protocol, &script(&seen, number), number)? {
            return Ok(());
        }
    }
}

/// Every text of every message.
fn texts(body: &Value) -> Vec<String> {
    let mut all = Vec::new();
    for message in body["messages"].as_array().into_iter().flatten() {
        collect(&message["content"], &mut all);
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            all.push(call["function"].to_string());
        }
    }
    all
}

fn collect(content: &Value, all: &mut Vec<String>) {
    match content {
        Value::String(text) => all.push(text.clone()),
        Value::Array(blocks) => {
            for block in blocks {
                match block["type"].as_str() {
                    Some("text") => all.push(block["text"].as_str().unwrap_or_default().to_owned()),
                    Some("tool_result") => collect(&block["content"], all),
                    Some("tool_use") => all.push(block["input"].to_string()),
                    Some("image" | "image_url") => all.push(format!("IMAGE {block}")),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

/// Whether the connection may go on.
fn answer(out: &mut TcpStream, protocol: Protocol, answer: &Answer, number: usize) -> std::io::Result<bool> {
    if let Answer::Status(status, headers, body) = answer {
        let mut head = format!("HTTP/1.1 {status} Scripted\r\ncontent-type: application/json\r\n");
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        head += &format!("content-length: {}\r\n\r\n{body}", body.len());
        out.write_all(head.as_bytes())?;
        return Ok(true);
    }
    let mut head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n".to_owned();
    head += "transfer-encoding: chunked\r\n\r\n";
    let (events, whole) = match answer {
        Answer::Text(said) => (stream(protocol, said, &[], number), true),
        Answer::Calls(said, calls) => (stream(protocol, said, calls, number), true),
        Answer::Breaks(said) | Answer::Hangs(said, _) => {
            let events = stream(protocol, said, &[], number);
            // Everything up to the end of the text, and half of the event after it.
            let end = events.rfind(if protocol == Protocol::OpenAi {
                "finish_reason\":\"stop"
            } else {
                "content_block_stop"
            });
            (events[..end.unwrap_or(events.len() / 2)].to_owned(), false)
        }
        Answer::Error(kind, message) => {
            let error = json!({"type": "error", "error": {"type": kind, "message": message}});
            (format!("event: error\ndata: {error}\n\n"), true)
        }
        Answer::Garbage(text) => (text.clone(), true),
        Answer::Status(..) => unreachable!(),
    };
    out.write_all(head.as_bytes())?;
    // Odd sizes, so that events, lines, JSON texts and characters are cut everywhere.
    let sizes = [1, 3, 7, 64, 2, 311, 5, 1024];
    let (mut bytes, mut at) = (events.as_bytes(), 0);
    while !bytes.is_empty() {
        let size = sizes[at % sizes.len()].min(bytes.len());
        let (chunk, rest) = bytes.split_at(size);
        let mut framed = format!("{size:x}\r\n").into_bytes();
        framed.extend_from_slice(chunk);
        framed.extend_from_slice(b"\r\n");
        out.write_all(&framed)?;
        (bytes, at) = (rest, at + 1);
    }
    if let Answer::Hangs(_, time) = answer {
        std::thread::sleep(*time);
    }
    if whole {
        out.write_all(b"0\r\n\r\n")?;
    }
    Ok(whole)
}

/// The events of one answer, in the shapes that the real servers send.
fn stream(protocol: Protocol, said: &str, calls: &[(String, String)], number: usize) -> String {
    match protocol {
        Protocol::OpenAi => openai(said, calls, number),
        Protocol::Anthropic => anthropic(said, calls, number),
    }
}

fn openai(said: &str, calls: &[(String, String)], number: usize) -> String {
    let mut out = String::new();
    let mut send = |delta: Value, reason: Value| {
        let event = json!({"id": format!("chatcmpl-{number}"), "object": "chat.completion.chunk", "created": 1, "model": "scripted",
            "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": reason}], "usage": null});
        out.push_str(&format!("data: {event}\n\n"));
    };
    send(json!({"role": "assistant", "content": ""}), Value::Null);
    for piece in pieces(said) {
        send(json!({"content": piece}), Value::Null);
    }
    for (at, (tool, arguments)) in calls.iter().enumerate() {
        let id = format!("call_{number}_{at}");
        let begun =
            json!({"index": at, "id": id, "type": "function", "function": {"name": tool, "arguments": ""}});
        send(json!({"tool_calls": [begun]}), Value::Null);
        for piece in pieces(arguments) {
            send(json!({"tool_calls": [{"index": at, "function": {"arguments": piece}}]}), Value::Null);
        }
    }
    send(json!({}), json!(if calls.is_empty() { "stop" } else { "tool_calls" }));
    let usage = json!({"id": "x", "object": "chat.completion.chunk", "choices": [],
        "usage": {"prompt_tokens": 100 + number, "completion_tokens": 10, "total_tokens": 110 + number}});
    format!("{out}data: {usage}\n\ndata: [DONE]\n\n")
}

fn anthropic(said: &str, calls: &[(String, String)], number: usize) -> String {
    let mut out = String::new();
    let mut send = |event: Value| {
        out.push_str(&format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default()));
    };
    send(
        json!({"type": "message_start", "message": {"id": format!("msg_{number}"), "type": "message", "role": "assistant",
        "model": "scripted", "content": [], "stop_reason": null, "usage": {"input_tokens": 100 + number, "output_tokens": 1}}}),
    );
    send(json!({"type": "ping"}));
    let mut index = 0;
    if !said.is_empty() {
        send(
            json!({"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}}),
        );
        for piece in pieces(said) {
            send(
                json!({"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": piece}}),
            );
        }
        send(json!({"type": "content_block_stop", "index": index}));
        index += 1;
    }
    for (tool, arguments) in calls {
        let block =
            json!({"type": "tool_use", "id": format!("toolu_{number}_{index}"), "name": tool, "input": {}});
        send(json!({"type": "content_block_start", "index": index, "content_block": block}));
        for piece in pieces(arguments) {
            let delta = json!({"type": "input_json_delta", "partial_json": piece});
            send(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        send(json!({"type": "content_block_stop", "index": index}));
        index += 1;
    }
    let reason = if calls.is_empty() { "end_turn" } else { "tool_use" };
    send(json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 10}}));
    send(json!({"type": "message_stop"}));
    out
}

/// A text in pieces of a few characters.
fn pieces(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(5.max(characters.len() / 20)).map(|piece| piece.iter().collect()).collect()
}
