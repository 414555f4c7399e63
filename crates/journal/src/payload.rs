//! What a record says, built from what may be written down.
//!
//! A payload is made of [`Fact`]s, and only sanitized types are facts: a [`Request`], an [`ApprovalKey`], masked text
//! ([`Shown`]), numbers, booleans, and words that stand in our own source.
//! ```
//! use call::Shown;
//! use journal::Payload;
//!
//! let payload = Payload::new().with("decision", "deny").with("reason", Shown::of("token=abc")).with("bytes", 12_u64);
//! assert!(payload.as_json().starts_with(r#"{"decision":"deny","reason":"token="#));
//! ```
//! A text that nobody masked is no fact:
//! ```compile_fail,E0277
//! let _ = journal::Payload::new().with("reason", String::from("password=hunter2"));
//! ```
//! nor is a borrowed one, however it came about:
//! ```compile_fail,E0597
//! let text = String::from("password=hunter2");
//! let _ = journal::Payload::new().with("reason", text.as_str());
//! ```
//! nor a name that came from outside:
//! ```compile_fail,E0597
//! let name = String::from("password=hunter2");
//! let _ = journal::Payload::new().with(name.as_str(), true);
//! ```
//! nor any JSON:
//! ```compile_fail,E0277
//! let _ = journal::Payload::new().with("args", serde_json::json!({"password": "hunter2"}));
//! ```
//! nor a call as it came in:
//! ```compile_fail,E0277
//! let _ = journal::Payload::new().with("call", call::RawCall::command("echo hunter2"));
//! ```
//! nor a parsed one:
//! ```compile_fail,E0277
//! fn record(call: call::Call) -> journal::Payload {
//!     journal::Payload::new().with("call", call)
//! }
//! ```
//! nor a secret:
//! ```compile_fail,E0277
//! let _ = journal::Payload::new().with("stdin", call::Secret::new(String::from("hunter2")));
//! ```
//! nor a part of one:
//! ```compile_fail,E0597
//! let secret = call::Secret::new(String::from("hunter2"));
//! let _ = journal::Payload::new().with("stdin", secret.expose());
//! ```
//! and nobody else can make another type a fact:
//! ```compile_fail,E0277
//! struct Mine(String);
//! impl journal::Fact for Mine {}
//! ```

use call::{ApprovalKey, LONGEST_SHOWN, Request, Shown, sha256_hex};
use serde_json::{Map, Value};

/// A request that takes more than this is kept by its digest and its ends.
const LONGEST_REQUEST: usize = 16 * 1024;
/// A payload that takes more than this is kept by its digest and its ends.
const LONGEST_PAYLOAD: usize = 48 * 1024;
/// Requests are nested at most as deep as the arguments that they were made of.
const DEEPEST: usize = call::bounds::MAX_DEPTH + 8;

/// What a record says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payload {
    /// An object without its closing brace.
    text: String,
}

impl Default for Payload {
    fn default() -> Self {
        Payload::new()
    }
}

impl Payload {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Payload { text: String::from("{") }
    }

    /// Says one thing more. `None` says nothing.
    #[must_use]
    pub fn with(mut self, name: &'static str, fact: impl Fact) -> Self {
        let before = self.text.len();
        if before > 1 {
            self.text.push(',');
        }
        quote(name, &mut self.text);
        self.text.push(':');
        if !fact.write(&mut self.text) {
            self.text.truncate(before);
        }
        self
    }

    /// As it is written.
    #[must_use]
    pub fn as_json(&self) -> String {
        let mut text = String::new();
        sealed::Written::write(self, &mut text);
        text
    }

    /// About how long it is as it is written.
    pub(crate) const fn len(&self) -> usize {
        self.text.len()
    }

    /// As a line holds it: bounded.
    pub(crate) fn write_bounded(&self, out: &mut String) {
        if self.text.len() > LONGEST_PAYLOAD {
            shortened(&self.text, out)
        } else {
            sealed::Written::write(self, out);
        }
    }
}

/// What may be written down.
pub trait Fact: sealed::Written {}

mod sealed {
    /// Writes itself as JSON; `false` where there is nothing to say.
    pub trait Written {
        fn write(&self, out: &mut String) -> bool;
    }
}

impl<T: sealed::Written> Fact for T {}

impl sealed::Written for &'static str {
    fn write(&self, out: &mut String) -> bool {
        quote(self, out);
        true
    }
}

impl sealed::Written for Shown {
    fn write(&self, out: &mut String) -> bool {
        cut(self.as_str(), out);
        true
    }
}

impl sealed::Written for ApprovalKey {
    fn write(&self, out: &mut String) -> bool {
        quote(self.as_str(), out);
        true
    }
}

impl sealed::Written for Request {
    fn write(&self, out: &mut String) -> bool {
        let start = out.len();
        object(self.fields(), out, 0);
        if out.len() - start > LONGEST_REQUEST {
            let whole = out.split_off(start);
            shortened(&whole, out);
        }
        true
    }
}

impl sealed::Written for Payload {
    fn write(&self, out: &mut String) -> bool {
        out.push_str(&self.text);
        out.push('}');
        true
    }
}

impl sealed::Written for bool {
    fn write(&self, out: &mut String) -> bool {
        out.push_str(if *self { "true" } else { "false" });
        true
    }
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl sealed::Written for $number {
            fn write(&self, out: &mut String) -> bool {
                use std::fmt::Write as _;
                write!(out, "{self}").is_ok()
            }
        }
    )*};
}
numbers!(u8, u16, u32, u64, usize, i32, i64);

impl<T: Fact> sealed::Written for Option<T> {
    fn write(&self, out: &mut String) -> bool {
        self.as_ref().is_some_and(|fact| fact.write(out))
    }
}

impl<T: Fact> sealed::Written for Vec<T> {
    fn write(&self, out: &mut String) -> bool {
        self.as_slice().write(out)
    }
}

impl<T: Fact> sealed::Written for [T] {
    fn write(&self, out: &mut String) -> bool {
        out.push('[');
        for fact in self {
            let before = out.len();
            if !out.ends_with('[') {
                out.push(',');
            }
            if !fact.write(out) {
                out.truncate(before);
            }
        }
        out.push(']');
        true
    }
}

impl<T: Fact + ?Sized> sealed::Written for &T
where
    T: NotText,
{
    fn write(&self, out: &mut String) -> bool {
        (**self).write(out)
    }
}

/// References to facts are facts, but a reference to a text is not: its lifetime is what tells our words from others'.
pub trait NotText {}
impl NotText for Shown {}
impl NotText for ApprovalKey {}
impl NotText for Request {}
impl NotText for Payload {}
impl<T: Fact> NotText for [T] {}
impl<T: Fact> NotText for Vec<T> {}

/// Writes a text as JSON has it.
pub(crate) fn quote(text: &str, out: &mut String) {
    const HEX: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    out.push('"');
    if text.bytes().all(|b| b >= 0x20 && b != b'"' && b != b'\\') {
        out.push_str(text);
    } else {
        for character in text.chars() {
            match character {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                control if control < ' ' => {
                    out.push_str("\\u00");
                    let code = u32::from(control) as usize;
                    out.extend([HEX.get(code >> 4), HEX.get(code & 15)].into_iter().flatten());
                }
                other => out.push(other),
            }
        }
    }
    out.push('"');
}

/// Writes a text, its middle left out if it is long: as [`Shown::cut`] does, for text that is masked already.
fn cut(text: &str, out: &mut String) {
    // Bytes are no fewer than characters.
    if text.len() <= LONGEST_SHOWN {
        return quote(text, out);
    }
    let count = text.chars().count();
    if count <= LONGEST_SHOWN {
        return quote(text, out);
    }
    quote(&ends(text, count), out);
}

fn ends(text: &str, count: usize) -> String {
    let half = LONGEST_SHOWN / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(count - half).collect();
    format!("{head}…[{} characters, sha256 {}]…{tail}", count - 2 * half, sha256_hex(text.as_bytes()))
}

/// What stands for something that is too long as a whole.
fn shortened(whole: &str, out: &mut String) {
    let facts = Payload::new()
        .with("too_long", whole.len())
        .with("sha256", Own(sha256_hex(whole.as_bytes())))
        .with("ends", Own(ends(whole, whole.chars().count())));
    sealed::Written::write(&facts, out);
}

/// Text of the journal's own: hex digits, or made of facts.
pub(crate) struct Own(pub(crate) String);

impl sealed::Written for Own {
    fn write(&self, out: &mut String) -> bool {
        quote(&self.0, out);
        true
    }
}

/// Writes the value of a request, long texts cut wherever they are.
fn value(value: &Value, out: &mut String, depth: usize) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&number.to_string()),
        Value::String(text) => cut(text, out),
        Value::Array(_) | Value::Object(_) if depth >= DEEPEST => quote("…", out),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                self::value(item, out, depth + 1);
            }
            out.push(']');
        }
        Value::Object(members) => object(members, out, depth + 1),
    }
}

fn object(members: &Map<String, Value>, out: &mut String, depth: usize) {
    out.push('{');
    for (at, (name, member)) in members.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        cut(name, out);
        out.push(':');
        value(member, out, depth);
    }
    out.push('}');
}

#[cfg(test)]
mod tests {
    use call::{Call, Descriptors, DigestKey, RawCall, Seen};
    use serde_json::json;

    use super::*;

    fn request(raw: RawCall) -> Request {
        let call = Call::parse(raw).unwrap();
        let descriptors = Descriptors::new();
        let seen = Seen { argv: None, complex: None, risk: "low", cwd: "/w".into() };
        descriptors.of(&call).sanitize_for_event(&call, &seen, &DigestKey::from_bytes([7; 32]))
    }

    #[test]
    fn facts_are_written_as_json() {
        let nested = Payload::new().with("id", "r").with("line", 3_u32).with("none", None::<u32>);
        let payload = Payload::new()
            .with("a", None::<bool>)
            .with("b", true)
            .with("rule", &nested)
            .with("list", vec![Shown::of("x\ny\u{1}\"\\"), Shown::of("ü")])
            .with("n", -4_i64);
        let read: Value = serde_json::from_str(&payload.as_json()).unwrap();
        let expected =
            json!({"b": true, "rule": {"id": "r", "line": 3}, "list": ["x\ny\u{1}\"\\", "ü"], "n": -4});
        assert_eq!(read, expected);
        assert_eq!(Payload::new().as_json(), "{}");
    }

    #[test]
    fn long_texts_are_cut_wherever_they_are() {
        let long = format!("first {} last", "x ".repeat(600));
        let shown = Shown::of(&long);
        let payload: Value = serde_json::from_str(&Payload::new().with("t", &shown).as_json()).unwrap();
        assert_eq!(payload["t"], json!(shown.cut().as_str()));

        let raw = RawCall::new("shell_exec", json!({"argv": ["echo", long, "short"], "cwd": "/w"}));
        let payload: Value = serde_json::from_str(&Payload::new().with("r", request(raw)).as_json()).unwrap();
        assert_eq!(payload["r"]["argv"][1], json!(shown.cut().as_str()));
        assert_eq!(payload["r"]["argv"][2], json!("short"));
    }

    #[test]
    fn a_line_is_bounded_whatever_the_request_is() {
        let words: Vec<String> = (0..9_000).map(|n| format!("w{n}")).collect();
        let raw = RawCall::new("shell_exec", json!({"argv": words, "cwd": "/w"}));
        let payload = Payload::new().with("r", request(raw));
        let read: Value = serde_json::from_str(&payload.as_json()).unwrap();
        assert!(read["r"]["too_long"].as_u64().unwrap() > 50_000);
        assert!(read["r"]["ends"].as_str().unwrap().contains("w8999"));
        let many =
            (0..400).fold(Payload::new(), |payload, _| payload.with("t", Shown::of(&"y ".repeat(240))));
        let mut out = String::new();
        many.write_bounded(&mut out);
        assert!(out.len() < 2_000 && serde_json::from_str::<Value>(&out).is_ok());
    }
}
