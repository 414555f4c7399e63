//! What other people's tools looked like when they were first seen: a fingerprint for each tool of each MCP server. It is kept
//! beside the grants and authenticated like them, so that nobody who can merely write there can exchange a tool unnoticed.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;

use call::DigestKey;
use serde_json::{Value, json};

/// Names of tools with their fingerprints.
pub type Pinned = BTreeMap<String, String>;

/// The largest file that is read.
const MOST: u64 = 4 * 1024 * 1024;

/// Where fingerprints are kept.
pub struct Pins {
    directory: PathBuf,
    key: DigestKey,
}

impl Pins {
    pub(crate) const fn new(directory: PathBuf, key: DigestKey) -> Pins {
        Pins { directory, key }
    }

    /// The fingerprint of a tool: of all that it says about itself, in whatever order.
    #[must_use]
    pub fn fingerprint(&self, tool: &Value) -> String {
        self.key.digest_json("mcp-tool", tool)
    }

    /// The tools of a server; `None` where it was never seen. `server` tells servers apart: its name and how it is started.
    ///
    /// # Errors
    /// What is there cannot be read, or was not written by us: then nothing about its tools is known.
    #[expect(clippy::disallowed_methods, reason = "fingerprints are read here")]
    pub fn read(&self, server: &str) -> Result<Option<Pinned>, String> {
        use std::io::Read as _;
        let path = self.path(server);
        let shown = path.display();
        let file = match std::fs::File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("{shown}: {error}")),
        };
        let mut text = String::new();
        file.take(MOST).read_to_string(&mut text).map_err(|error| format!("{shown}: {error}"))?;
        let written: Value = serde_json::from_str(&text).map_err(|error| format!("{shown}: {error}"))?;
        let tools = written.get("tools").cloned().unwrap_or_default();
        // FAIL-CLOSED: what somebody else wrote is worth nothing.
        if written.get("mac").and_then(Value::as_str) != Some(&self.mac(server, &tools)) {
            return Err(format!("{shown} was changed by somebody else"));
        }
        serde_json::from_value(tools).map(Some).map_err(|error| format!("{shown}: {error}"))
    }

    /// Keeps the tools of a server.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn write(&self, server: &str, tools: &Pinned) -> Result<(), String> {
        use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
        let path = self.path(server);
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        let tools = json!(tools);
        let text = json!({"mac": self.mac(server, &tools), "tools": tools}).to_string();
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.directory).map_err(failed)?;
        let name = crate::Machine::random::<8>()?.map(|byte| format!("{byte:02x}")).concat();
        let beside = self.directory.join(format!(".{name}"));
        let written = std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&beside)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .and_then(|()| std::fs::rename(&beside, &path));
        written.map_err(|error| {
            let _none_there = std::fs::remove_file(&beside);
            failed(error)
        })
    }

    fn path(&self, server: &str) -> PathBuf {
        self.directory.join(format!("{}.json", call::sha256_hex(server.as_bytes())))
    }

    fn mac(&self, server: &str, tools: &Value) -> String {
        self.key.digest_json("mcp-tools", &json!([server, tools]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test forges a file")]
    fn what_was_pinned_comes_back_and_what_somebody_else_wrote_does_not() {
        let directory = std::env::temp_dir().join(format!("bailiwick-pins-{}", std::process::id()));
        let pins = |key: u8| Pins::new(directory.clone(), DigestKey::from_bytes([key; 32]));
        let tools = Pinned::from([("echo".to_owned(), pins(1).fingerprint(&json!({"name": "echo"})))]);
        assert_eq!(pins(1).read("fs"), Ok(None));
        pins(1).write("fs", &tools).unwrap();
        assert_eq!(pins(1).read("fs"), Ok(Some(tools)));
        assert_eq!(pins(1).read("other"), Ok(None));
        assert!(pins(2).read("fs").is_err(), "written under another key");
        let path = pins(1).path("fs");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("echo", "evil")).unwrap();
        assert!(pins(1).read("fs").is_err(), "changed on disk");
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
