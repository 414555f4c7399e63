//! The form that a descriptor fills in to make a [`Request`]: whatever is entered is masked or digested on the way.
//!
//! There are two columns. What is *shown* goes to people and to the record; what is *bound* goes into the approval
//! key. A masked word looks the same for every secret, so whatever was masked is bound by a keyed digest besides:
//! approving one token does not approve another.

use serde_json::{Map, Value, json};

use crate::canonical::canonical;
use crate::descriptor::Seen;
use crate::digest::{DigestKey, sha256_hex};
use crate::intent::Shell;
use crate::mask::{mask, mask_argv, mask_json};
use crate::request::Request;
use crate::secret::Secret;
use crate::tools::{Exec, What};

/// Who will read a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A person who is to approve: texts that explain the call are there, masked.
    Approval,
    /// Events and the journal: such texts are only there by size and keyed digest.
    Event,
    /// Nobody: only the approval key is wanted.
    Key,
}

/// A request in the making.
pub struct Form<'a> {
    tool: String,
    purpose: Purpose,
    seen: &'a Seen,
    key: &'a DigestKey,
    shown: Map<String, Value>,
    bound: Map<String, Value>,
    /// What was masked, unmasked: only a keyed digest of it leaves.
    hidden: Map<String, Value>,
}

impl<'a> Form<'a> {
    /// An empty form for a call of `tool`.
    #[must_use]
    pub fn new(tool: &str, purpose: Purpose, seen: &'a Seen, key: &'a DigestKey) -> Self {
        let empty = Map::new;
        Form { tool: tool.to_owned(), purpose, seen, key, shown: empty(), bound: empty(), hidden: empty() }
    }

    /// The key of keyed digests.
    #[must_use]
    pub const fn key(&self) -> &DigestKey {
        self.key
    }

    /// Enters a number, a flag, a digest or a fixed word: nothing that could be secret.
    pub fn value(&mut self, name: &str, value: impl Into<Value>) {
        let value = value.into();
        if self.purpose != Purpose::Key {
            self.shown.insert(name.into(), value.clone());
        }
        self.bound.insert(name.into(), value);
    }

    /// Enters a value that is shown but not bound. Nothing that could be secret.
    pub fn shown(&mut self, name: &str, value: impl Into<Value>) {
        if self.purpose != Purpose::Key {
            self.shown.insert(name.into(), value.into());
        }
    }

    /// Enters a text, masked.
    pub fn text(&mut self, name: &str, text: &str) {
        let masked = Value::from(mask(text));
        self.shown(name, masked.clone());
        self.bind_masked(name, masked, || text.into());
    }

    /// Enters words, masked.
    pub fn words(&mut self, name: &str, words: &[String]) {
        let masked = Value::from(mask_argv(words));
        self.shown(name, masked.clone());
        self.bind_masked(name, masked, || words.into());
    }

    /// Enters a path, masked. A relative one is bound together with the directory that it is relative to.
    pub fn path(&mut self, name: &str, path: &str) {
        self.text(name, path);
        self.bind_place(&[path]);
    }

    /// Enters paths, masked.
    pub fn paths(&mut self, name: &str, paths: &[String]) {
        let masked: Value = paths.iter().map(|path| Value::from(mask(path))).collect();
        self.shown(name, masked.clone());
        self.bind_masked(name, masked, || paths.into());
        self.bind_place(&paths.iter().map(String::as_str).collect::<Vec<_>>());
    }

    /// Enters a keyed digest of something secret and short.
    pub fn keyed_digest(&mut self, name: &str, text: &str) {
        let digest = self.key.digest(name, text);
        self.value(name, digest);
    }

    /// Enters the size and the hash of what a file will hold.
    pub fn content(&mut self, content: &Secret) {
        self.value("bytes", content.len());
        self.value("content_sha256", sha256_hex(content.expose().as_bytes()));
    }

    /// Enters the size and the hash of several pieces of content.
    pub(crate) fn contents(&mut self, pieces: &Value) {
        let text = canonical(pieces);
        self.value("bytes", text.len());
        self.value("content_sha256", sha256_hex(text.as_bytes()));
    }

    /// Enters a text that speaks to a person or to an agent: masked for an approval, by size and digest for an event.
    pub fn prose(&mut self, name: &str, text: &str) {
        self.prose_value(name, text.len(), &Value::from(text), || Value::from(mask(text)));
    }

    /// Like [`Form::prose`], for several texts.
    pub fn prose_json(&mut self, name: &str, value: &Value) {
        self.prose_value(name, canonical(value).len(), value, || mask_json(value));
    }

    fn prose_value(&mut self, name: &str, bytes: usize, value: &Value, masked: impl FnOnce() -> Value) {
        let digest = Value::from(self.key.digest_json(name, value));
        match self.purpose {
            Purpose::Approval => self.shown(name, masked()),
            Purpose::Event => self.shown(&format!("{name}_bytes"), bytes),
            Purpose::Key => {}
        }
        self.shown(&format!("{name}_digest"), digest.clone());
        self.bound.insert(format!("{name}_digest"), digest);
    }

    /// Enters why, in the agent's words: only for an approval, and never bound.
    pub fn justification(&mut self, text: Option<&str>) {
        if let (Purpose::Approval, Some(text)) = (self.purpose, text) {
            self.shown("justification", Value::from(mask(text)));
        }
    }

    /// Enters how risky the call was found to be; not bound.
    pub fn risk(&mut self) {
        self.shown("risk", self.seen.risk);
    }

    /// Enters what an executing tool would execute. `name` is the tool's own word for its command.
    ///
    /// What is bound is the same whichever tool brought it: words, or text with its shell.
    pub(crate) fn exec(&mut self, name: &str, exec: &Exec<'_>) {
        let seen = self.seen;
        let cwd = Value::from(mask(&seen.cwd));
        let mut names: Vec<&str> = exec.env_names().collect();
        names.sort_unstable();
        let env_keys: Value = names.into_iter().map(Value::from).collect();
        let env_digest = exec.env.digest(self);
        match exec.what {
            What::Words(words) => {
                let masked = Value::from(mask_argv(words));
                self.shown(name, masked.clone());
                self.shown("cwd", cwd.clone());
                // `sh -c 'pytest -q'` is `pytest -q`: what is bound is what the analysis found to be run.
                match seen.argv.as_deref() {
                    Some(found) if found != words => self.bind_words(found, Value::from(mask_argv(found))),
                    _ => self.bind_words(words, masked),
                }
            }
            What::Text(_, _) if self.purpose == Purpose::Key && seen.argv.is_some() => {
                let words = seen.argv.as_deref().unwrap_or_default();
                self.bind_words(words, Value::from(mask_argv(words)));
            }
            What::Text(text, shell) => {
                let masked = Value::from(mask(text));
                let reason = seen.complex.as_deref().map(mask);
                self.shown(name, masked.clone());
                let argv = match &seen.argv {
                    Some(words) => {
                        let argv = Value::from(mask_argv(words));
                        self.bind_words(words, argv.clone());
                        argv
                    }
                    None => {
                        self.bind_text(text, shell, masked);
                        Value::Null
                    }
                };
                let is_complex = argv.is_null();
                self.shown("intent", json!({"argv": argv, "is_complex": is_complex, "reason": reason}));
                self.shown("workdir", cwd.clone());
            }
        }
        self.value("env_keys", env_keys);
        self.value("env_digest", env_digest);
        if let What::Words(_) = exec.what {
            self.shown("timeout_ms", exec.timeout_ms);
            self.shown("tty", exec.tty);
        }
        self.value("sandbox", exec.sandbox.name());
        self.value("sandbox_permissions", exec.permissions.name());
        self.risk();
        self.justification(exec.justification);
        self.bind_masked("cwd", cwd, || seen.cwd.as_str().into());
    }

    fn bind_words(&mut self, words: &[String], masked: Value) {
        self.tool = "shell_exec".into();
        self.bind_masked("argv", masked, || words.into());
    }

    fn bind_text(&mut self, text: &str, shell: Shell, masked: Value) {
        self.tool = "shell_command".into();
        self.bind_masked("command", masked, || text.into());
        // The two shells may read one text in two ways.
        let shell = match shell {
            Shell::Bash => "bash",
            Shell::Posix => "sh",
        };
        self.bound.insert("shell".into(), shell.into());
    }

    fn bind_place(&mut self, paths: &[&str]) {
        if paths.iter().any(|path| !path.starts_with('/')) {
            let seen = self.seen;
            self.bind_masked("cwd", mask(&seen.cwd).into(), || seen.cwd.as_str().into());
        }
    }

    fn bind_masked(&mut self, name: &str, masked: Value, original: impl FnOnce() -> Value) {
        let original = original();
        if masked != original {
            self.hidden.insert(name.into(), original);
        }
        self.bound.insert(name.into(), masked);
    }

    /// The request.
    #[must_use]
    pub fn finish(mut self) -> Request {
        if !self.hidden.is_empty() {
            let hidden = Value::Object(std::mem::take(&mut self.hidden));
            self.value("masked_digest", self.key.digest_json("masked", &hidden));
        }
        Request::new(self.shown, &self.tool, self.bound)
    }
}
