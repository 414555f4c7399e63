//! Text that was masked, and can show it by its type: what the journal, approvals and events take instead of a string.
//!
//! There is no way to make one but through the mask:
//! ```compile_fail,E0423
//! let shown = call::Shown(String::from("password=hunter2"));
//! ```
//! and a plain text is not taken for one:
//! ```compile_fail,E0308
//! fn record(_: call::Shown) {}
//! record(String::from("password=hunter2"));
//! ```

use serde::{Serialize, Serializer};

use crate::digest::{DigestKey, sha256_hex};
use crate::mask::mask;

/// Longer texts are cut in records: the head and the tail stay, with the digest of the whole.
pub const LONGEST_SHOWN: usize = 500;

/// Text that was masked.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Shown(String);

impl Shown {
    /// Masks `text`.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Shown(mask(text).into_owned())
    }

    /// Words of our own, which need no mask.
    #[must_use]
    pub fn word(word: &'static str) -> Self {
        Shown(word.to_owned())
    }

    /// A name that Bailiwick itself made from random bytes or from a keyed digest: nobody's secret, though it looks like one.
    #[must_use]
    pub fn name(bytes: [u8; 16]) -> Self {
        Shown(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// A digest of something that is no secret: it looks like one.
    #[must_use]
    pub fn digest(bytes: [u8; 32]) -> Self {
        Shown(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// A name that somebody else gave to a call or a session. One that could be a secret is replaced by its keyed digest, so that
    /// what belongs together can still be told.
    #[must_use]
    pub fn identifier(text: &str, key: &DigestKey) -> Self {
        let shown = Shown::of(text);
        if shown.as_str() == text || is_uuid(text) {
            return Shown(text.to_owned());
        }
        Shown(format!("digest-{}", key.digest("identifier", text).chars().take(32).collect::<String>()))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text as a record keeps it: over [`LONGEST_SHOWN`] characters its middle gives way to a marker with the digest of
    /// the masked whole, so that neither end is lost and the whole can be recognised.
    #[must_use]
    pub fn cut(&self) -> Self {
        self.cut_to(LONGEST_SHOWN)
    }

    /// The same with another bound.
    #[must_use]
    pub fn cut_to(&self, longest: usize) -> Self {
        let count = self.0.chars().count();
        if count <= longest {
            return self.clone();
        }
        let half = longest / 2;
        let head: String = self.0.chars().take(half).collect();
        let tail: String = self.0.chars().skip(count - half).collect();
        let left_out = count - 2 * half;
        Shown(format!("{head}…[{left_out} characters, sha256 {}]…{tail}", sha256_hex(self.0.as_bytes())))
    }
}

/// Hosts name their sessions so.
fn is_uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Shown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_and_ends_are_kept() {
        assert!(
            !Shown::of("curl -H 'Authorization: Bearer abcdef0123456789abcdef'")
                .as_str()
                .contains("abcdef0123")
        );
        let long = format!("first {} last", "x ".repeat(600));
        let cut = Shown::of(&long).cut();
        assert!(cut.as_str().starts_with("first ") && cut.as_str().ends_with(" last"));
        assert!(cut.as_str().contains(&sha256_hex(long.as_bytes())));
        assert!(cut.as_str().chars().count() < LONGEST_SHOWN + 120);
        assert_eq!(Shown::of("short").cut().as_str(), "short");
    }

    #[test]
    fn identifiers_stay_unless_they_could_be_secrets() {
        let key = DigestKey::from_bytes([7; 32]);
        for plain in ["call-17", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "terminal-12-34"] {
            assert_eq!(Shown::identifier(plain, &key).as_str(), plain);
        }
        let secret = "ghp_Aq3kL9xTz0Wm2Yv7Rb5Nc8Ue1Hj4Fd6Gs0P";
        let shown = Shown::identifier(secret, &key);
        assert!(shown.as_str().starts_with("digest-") && !shown.as_str().contains("Aq3k"));
        assert_eq!(shown, Shown::identifier(secret, &key));
        assert_eq!(Shown::name([0xab; 16]).as_str(), "ab".repeat(16));
    }
}
