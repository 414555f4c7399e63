//! The journal's keys, made at first use and kept apart from it: one that signs checkpoints, one under which short secrets are
//! digested.
//!
//! Neither can be shown:
//! ```compile_fail,E0277
//! fn show(keys: &journal::Keys) {
//!     println!("{keys:?}");
//! }
//! ```

use std::io;
use std::path::Path;
use std::sync::OnceLock;

use call::{DigestKey, sha256_hex};
use ed25519_dalek::{Signer as _, SigningKey, VerifyingKey};

use crate::directory::Directory;
use crate::host::{Host, ThisHost};
use crate::unavailable::{Unavailable, Why};
use crate::volume::{Access, Volume, read_full, write_full};

const SIGNING: &str = "signing.key";
const DIGEST: &str = "digest.key";

/// The journal's keys.
pub struct Keys {
    seed: [u8; 32],
    /// Made of the seed when it is first needed: that takes longer than reading it.
    signing: OnceLock<SigningKey>,
    digest: [u8; 32],
}

/// The key that checkpoints are checked with. It may be given to anybody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl Keys {
    /// The keys in a directory; made where they are not there yet.
    ///
    /// # Errors
    /// The directory or a key in it cannot be read or made, or somebody else could.
    pub fn open(directory: &Path) -> Result<Keys, Unavailable> {
        let volume = Directory::open(directory).map_err(|error| {
            Unavailable::io(format_args!("the keys in `{}`", directory.display()), &error)
        })?;
        Self::open_in(&volume, &ThisHost)
    }

    /// The same on any disk.
    ///
    /// # Errors
    /// As [`Keys::open`].
    pub fn open_in(volume: &dyn Volume, host: &dyn Host) -> Result<Keys, Unavailable> {
        let key = |name: &str| {
            obtain(volume, host, name).map_err(|error| {
                let mut unavailable = Unavailable::io(format_args!("the key `{name}`"), &error);
                if unavailable.why == Why::Io {
                    unavailable.why = Why::Keys;
                }
                unavailable
            })
        };
        Ok(Keys { seed: key(SIGNING)?, signing: OnceLock::new(), digest: key(DIGEST)? })
    }

    /// The key for digests of what may not be written down.
    #[must_use]
    pub const fn digest_key(&self) -> DigestKey {
        DigestKey::from_bytes(self.digest)
    }

    /// What checkpoints are checked with.
    #[must_use]
    pub fn public(&self) -> PublicKey {
        PublicKey(self.signing().verifying_key())
    }

    pub(crate) fn sign(&self, message: &[u8]) -> String {
        hex(&self.signing().sign(message).to_bytes())
    }

    fn signing(&self) -> &SigningKey {
        self.signing.get_or_init(|| SigningKey::from_bytes(&self.seed))
    }
}

impl PublicKey {
    /// Reads 64 hex digits.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        let bytes: [u8; 32] = unhex(text.trim())?.try_into().ok()?;
        VerifyingKey::from_bytes(&bytes).ok().map(PublicKey)
    }

    /// 64 hex digits.
    #[must_use]
    pub fn to_hex(&self) -> String {
        hex(self.0.as_bytes())
    }

    /// A short name for it, which stands in checkpoints.
    #[must_use]
    pub fn id(&self) -> String {
        sha256_hex(self.0.as_bytes()).chars().take(16).collect()
    }

    pub(crate) fn holds(&self, message: &[u8], signature: &str) -> bool {
        unhex(signature)
            .and_then(|bytes| ed25519_dalek::Signature::from_slice(&bytes).ok())
            .is_some_and(|signature| self.0.verify_strict(message, &signature).is_ok())
    }
}

/// Reads a key, or makes it. Of two processes that make it at once, the first to link it wins, and both use that one.
fn obtain(volume: &dyn Volume, host: &dyn Host, name: &str) -> io::Result<[u8; 32]> {
    match read(volume, name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        other => return other,
    }
    let (bytes, label) = (host.random()?, host.random()?);
    let temporary = format!("{name}.{}", hex(label.get(..8).unwrap_or_default()));
    let file = volume.open(&temporary, Access::New)?;
    let made = write_full(file.as_ref(), &bytes, 0).and_then(|()| file.sync()).and_then(|()| {
        match volume.link(&temporary, name) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        }
    });
    // Nothing depends on whether the second name goes.
    let _ = volume.remove(&temporary);
    made?;
    // Whoever uses a key must find it again after a power loss, also if another process made it a moment ago.
    volume.sync()?;
    read(volume, name)
}

fn read(volume: &dyn Volume, name: &str) -> io::Result<[u8; 32]> {
    let file = volume.open(name, Access::Read)?;
    let mut bytes = [0; 33];
    let count = read_full(file.as_ref(), &mut bytes, 0)?;
    let key = bytes.get(..count).and_then(|key| <[u8; 32]>::try_from(key).ok()).filter(|key| *key != [0; 32]);
    // FAIL-CLOSED: a key that is not whole is no key.
    key.ok_or_else(|| io::Error::other("it is not a key of 32 bytes"))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |b: &u8| match b {
        b'0'..=b'9' => Some(b - b'0'),
        b'a'..=b'f' => Some(b - b'a' + 10),
        _ => None,
    };
    text.as_bytes()
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => Some(digit(high)? << 4 | digit(low)?),
            _ => None,
        })
        .collect()
}
