//! Who may use the door: tokens, of which only digests are kept in memory, and what each of them may do.
//!
//! The main token is made at the first start and may do everything. Further ones stand in `tokens.json` beside it, with the
//! digest of their text and what they may do.

use std::hint::black_box;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gate::Machine;
use gate::call::{sha256, strict_json};
use serde::Deserialize;

/// The longest file that is read.
const LONGEST: u64 = 64 * 1024;
/// So many further tokens there may be.
const MOST: usize = 64;

/// What somebody with a token may do. Everybody may ask for decisions and look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller {
    /// Whose token it is; the main one has no name.
    pub(crate) name: Option<Arc<str>>,
    /// May say on whose behalf a request is.
    pub(crate) may_name_principals: bool,
    /// May answer questions and take back grants.
    pub(crate) may_approve: bool,
    /// May have tools run.
    pub(crate) may_call: bool,
}

/// The tokens that count.
#[derive(Debug, Clone)]
pub struct Tokens {
    all: Vec<(Digest, Caller)>,
}

/// The SHA-256 of a token.
#[derive(Debug, Clone)]
struct Digest([u8; 32]);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    tokens: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    sha256: String,
    #[serde(default)]
    may_name_principals: bool,
    #[serde(default)]
    may_approve: bool,
    #[serde(default)]
    may_call: bool,
}

/// 256 random bits, as text.
///
/// # Errors
/// There is no randomness.
pub fn new_token() -> Result<String, String> {
    Machine::random::<32>().map(|bytes| base64url(&bytes))
}

impl Tokens {
    /// Where the main token is, in a directory of keys.
    #[must_use]
    pub fn file(directory: &Path) -> PathBuf {
        directory.join("token")
    }

    /// The tokens in a directory of keys; the main one is made where there is none.
    ///
    /// # Errors
    /// They cannot be read or made, somebody else could read them, or they are not what they should be.
    pub fn open(directory: &Path) -> Result<Tokens, String> {
        let file = Tokens::file(directory);
        if private_text(&file)?.is_none() {
            make(&file, &new_token()?)?;
        }
        let text = private_text(&file)?.ok_or("the token is gone again")?;
        let more = private_text(&directory.join("tokens.json"))?;
        Tokens::of(text.trim(), more.as_deref())
    }

    /// These very tokens: the main one, and the text of a file with further ones.
    ///
    /// # Errors
    /// They are not what they should be.
    pub fn of(main: &str, more: Option<&str>) -> Result<Tokens, String> {
        // FAIL-CLOSED: a short token could be guessed, an empty one would be everybody's.
        if main.len() != 43 || !main.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_') {
            return Err("the token is not 256 bits in base64url".into());
        }
        let everything = Caller { name: None, may_name_principals: true, may_approve: true, may_call: true };
        let mut all = vec![(Digest::of(main.as_bytes()), everything)];
        let file: File = match more {
            None => File { tokens: Vec::new() },
            Some(text) => {
                strict_json(text.as_bytes()).map_err(|invalid| format!("tokens.json: {invalid}")).and_then(
                    |value| serde_json::from_value(value).map_err(|error| format!("tokens.json: {error}")),
                )?
            }
        };
        if file.tokens.len() > MOST {
            return Err(format!("tokens.json: more than {MOST} tokens"));
        }
        for entry in file.tokens {
            let digest = Digest::read(&entry.sha256)
                .ok_or("tokens.json: `sha256` is the digest of a token, 64 hexadecimal digits")?;
            let caller = Caller {
                name: Some(entry.name.into()),
                may_name_principals: entry.may_name_principals,
                may_approve: entry.may_approve,
                may_call: entry.may_call,
            };
            all.push((digest, caller));
        }
        Ok(Tokens { all })
    }

    /// Whose token this is. How long it takes does not depend on how much of it is right.
    pub(crate) fn caller(&self, token: &[u8]) -> Option<&Caller> {
        let given = Digest::of(token);
        let mut found = None;
        for (digest, caller) in &self.all {
            if digest.is(&given) {
                found = Some(caller);
            }
        }
        found
    }
}

impl Digest {
    fn of(token: &[u8]) -> Digest {
        Digest(sha256(token))
    }

    /// From 64 hexadecimal digits, small ones.
    fn read(text: &str) -> Option<Digest> {
        let digit = |byte: &u8| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'a'..=b'f' => Some(byte - b'a' + 10),
            _ => None,
        };
        let mut bytes = [0; 32];
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        if pairs.len() != bytes.len() || !rest.is_empty() {
            return None;
        }
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = digit(high)? << 4 | digit(low)?;
        }
        Some(Digest(bytes))
    }

    fn is(&self, other: &Digest) -> bool {
        let differs = self.0.iter().zip(&other.0).fold(0, |sum, (one, two)| black_box(sum | (one ^ two)));
        black_box(differs) == 0
    }
}

fn base64url(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits =
            chunk.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..=chunk.len() {
            let letter = bits >> (18 - 6 * place) & 63;
            text.push(LETTERS.get(letter as usize).map_or('A', |letter| char::from(*letter)));
        }
    }
    text
}

/// The text of a file that nobody but its owner may read.
fn private_text(path: &Path) -> Result<Option<String>, String> {
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
    // A link could lead to a file of somebody else's choosing.
    const NO_FOLLOW: i32 = 0o400_000;
    let shown = path.display();
    let file = match std::fs::OpenOptions::new().read(true).custom_flags(NO_FOLLOW).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("{shown}: {error}")),
    };
    let metadata = file.metadata().map_err(|error| format!("{shown}: {error}"))?;
    let own = rustix::process::geteuid().as_raw();
    // FAIL-CLOSED: what others may read or have written is no secret of ours.
    if !metadata.is_file() || metadata.mode() & 0o077 != 0 || metadata.uid() != own {
        return Err(format!("{shown} must be a file of yours that nobody else can read (chmod 600)"));
    }
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text).map_err(|error| format!("{shown}: {error}"))?;
    Ok(Some(text))
}

/// Of two processes that make it at once the first wins, and both use that one.
fn make(path: &Path, token: &str) -> Result<(), String> {
    use std::os::unix::fs::OpenOptionsExt;
    let made = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    match made
        .and_then(|mut file| file.write_all(format!("{token}\n").as_bytes()).and_then(|()| file.sync_all()))
    {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            Err(format!("{}: {error}", path.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_256_bits_in_base64url() {
        assert_eq!(base64url(&[0xff; 32]).len(), 43);
        for (bytes, text) in
            [(&b"f"[..], "Zg"), (b"fo", "Zm8"), (b"foo", "Zm9v"), (b"foob", "Zm9vYg"), (&[0xfb, 0xff], "-_8")]
        {
            assert_eq!(base64url(bytes), text);
        }
        assert_ne!(new_token().unwrap(), new_token().unwrap());
    }

    #[test]
    fn only_the_whole_token_counts_and_each_may_what_its_line_says() {
        let main = new_token().unwrap();
        let other = new_token().unwrap();
        let file = format!(
            r#"{{"tokens": [{{"name": "ci", "sha256": "{}", "may_call": true}}]}}"#,
            gate::call::sha256_hex(other.as_bytes())
        );
        let tokens = Tokens::of(&main, Some(&file)).unwrap();
        assert!(tokens.caller(main.as_bytes()).is_some_and(|caller| caller.may_approve));
        let ci = tokens.caller(other.as_bytes()).unwrap();
        assert!(ci.may_call && !ci.may_approve && !ci.may_name_principals);
        for wrong in ["", main.split_at(42).0, &format!("{main}x"), &main.to_uppercase(), "x"] {
            assert!(tokens.caller(wrong.as_bytes()).is_none(), "{wrong}");
        }
    }

    #[test]
    fn tokens_that_are_not_what_they_should_be_are_refused() {
        let main = new_token().unwrap();
        for wrong in ["", "short", &format!("{main}="), &"é".repeat(22)] {
            assert!(Tokens::of(wrong, None).is_err(), "{wrong}");
        }
        for wrong in [
            "",
            "[]",
            r#"{"tokens": [{"name": "x", "sha256": "12"}]}"#,
            r#"{"tokens": [], "tokens": []}"#,
            r#"{"tokens": [{"name": "x", "hash": "12"}]}"#,
        ] {
            assert!(Tokens::of(&main, Some(wrong)).is_err(), "{wrong}");
        }
    }
}
