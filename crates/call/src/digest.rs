//! Fingerprints: plain SHA-256 for what is public or long, keyed for what could be guessed.
//!
//! A plain hash of a six-digit code is that code: whoever holds the hash tries a million candidates. So everything
//! short and secret (environment values, typed input, masked words) is fingerprinted under a [`DigestKey`].

use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::canonical::canonical;

/// The key of keyed digests: 32 bytes that are made once and kept outside the workspace.
///
/// This crate neither makes nor stores it. It cannot be shown:
/// ```compile_fail,E0277
/// let key = call::DigestKey::from_bytes([7; 32]);
/// println!("{key:?}");
/// ```
/// or copied:
/// ```compile_fail,E0599
/// let key = call::DigestKey::from_bytes([7; 32]);
/// let other = key.clone();
/// ```
pub struct DigestKey([u8; 32]);

impl DigestKey {
    /// A key of these bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        DigestKey(bytes)
    }

    /// HMAC-SHA256 of `text`, in hex. `what` keeps digests of different kinds apart.
    #[must_use]
    pub fn digest(&self, what: &str, text: &str) -> String {
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.0) else {
            // INVARIANT: HMAC takes keys of any length, so this is never reached; an empty digest equals no other.
            return String::new();
        };
        mac.update(what.as_bytes());
        mac.update(&[0]);
        mac.update(text.as_bytes());
        hex(&mac.finalize().into_bytes())
    }

    /// The digest of a JSON value in its canonical form.
    #[must_use]
    pub fn digest_json(&self, what: &str, value: &Value) -> String {
        self.digest(what, &canonical(value))
    }
}

/// SHA-256 of `bytes`.
#[must_use]
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// SHA-256 of `bytes`, in hex.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&sha256(bytes))
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        for half in [byte >> 4, byte & 15] {
            text.push(char::from_digit(u32::from(half), 16).unwrap_or('0'));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_digests_come_out_right() {
        assert_eq!(sha256_hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        // HMAC-SHA256 under 32 bytes of 0x0b over "a\0b", computed with an independent implementation.
        let key = DigestKey::from_bytes([0x0b; 32]);
        assert_eq!(key.digest("a", "b"), HMAC_OF_A_NUL_B);
    }

    const HMAC_OF_A_NUL_B: &str = "452a30d2a14c8a31639cae29f35b121b336deaf6a88d7b046e49fb0f7c9ed578";

    #[test]
    fn digests_depend_on_key_kind_and_text() {
        let (one, two) = (DigestKey::from_bytes([1; 32]), DigestKey::from_bytes([2; 32]));
        assert_eq!(one.digest("env", "x"), one.digest("env", "x"));
        assert_ne!(one.digest("env", "x"), two.digest("env", "x"));
        assert_ne!(one.digest("env", "x"), one.digest("chars", "x"));
        assert_ne!(one.digest("env", "x"), one.digest("env", "y"));
    }
}
