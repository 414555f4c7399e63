//! A call as approvals, events and the journal may hold it, and the key that an approval is bound to.
//!
//! A [`Request`] can only be made through a [`crate::Form`], which masks and digests what goes into it:
//! ```compile_fail,E0451
//! let request = call::Request { shown: Default::default(), bound: Default::default() };
//! ```
//! and never from a raw call:
//! ```compile_fail,E0277
//! fn record(raw: call::RawCall) -> call::Request {
//!     raw.into()
//! }
//! ```
//! which cannot be written down as it is either:
//! ```compile_fail,E0277
//! fn record(raw: &call::RawCall) -> serde_json::Result<String> {
//!     serde_json::to_string(raw)
//! }
//! ```

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::canonical::canonical;
use crate::digest::{DigestKey, sha256_hex};
use crate::mask::mask;

/// What approvals, events and the journal may hold of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    shown: Map<String, Value>,
    bound: Value,
}

impl Request {
    pub(crate) fn new(shown: Map<String, Value>, tool: &str, bound: Map<String, Value>) -> Self {
        let mut whole = Map::new();
        whole.insert("tool".into(), tool.into());
        whole.insert("request".into(), Value::Object(bound));
        Request { shown, bound: Value::Object(whole) }
    }

    /// The fields, for people and for the record.
    #[must_use]
    pub const fn fields(&self) -> &Map<String, Value> {
        &self.shown
    }

    /// What the approval key is a hash of: `{"tool", "request"}`, over what reaches execution.
    ///
    /// Wrappers are normalised: one simple command with literal words is `shell_exec`, any other shell text
    /// `shell_command`, whichever tool brought it. `timeout_ms`, `tty`, `risk` and all explanations are left out:
    /// they are shown, but they do not change what an approval is for.
    #[must_use]
    pub const fn bound(&self) -> &Value {
        &self.bound
    }

    /// Binds one thing more: the resolved program, the hash of a script. It is shown masked and bound whole.
    #[must_use]
    pub fn bind(self, name: &'static str, value: &str) -> Self {
        self.bind_both(name, mask(value).into_owned(), sha256_hex(value.as_bytes()))
    }

    /// Binds something that may not be shown at all, by its keyed digest: the fence plan, which holds an environment.
    #[must_use]
    pub fn bind_digest(self, name: &'static str, value: &str, key: &DigestKey) -> Self {
        let digest = key.digest(name, value);
        self.bind_both(name, digest.clone(), digest)
    }

    fn bind_both(mut self, name: &'static str, shown: String, bound: String) -> Self {
        self.shown.insert(name.into(), shown.into());
        if let Some(Value::Object(request)) = self.bound.get_mut("request") {
            request.insert(name.into(), bound.into());
        }
        self
    }

    /// The key that an approval of this call is bound to.
    #[must_use]
    pub fn approval_key(&self) -> ApprovalKey {
        ApprovalKey(sha256_hex(canonical(&self.bound).as_bytes()))
    }
}

impl Serialize for Request {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.shown.serialize(serializer)
    }
}

/// What an approval is bound to: 64 hex digits. Two calls have the same key exactly if the same would be executed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApprovalKey(String);

impl ApprovalKey {
    /// Reads a key that was written down.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        let digits = text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        digits.then(|| ApprovalKey(text.to_owned()))
    }

    /// The hex digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for ApprovalKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for ApprovalKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}
