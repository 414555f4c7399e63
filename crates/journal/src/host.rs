//! What the journal needs from the machine besides a disk: the time, which boot this is, and randomness. A value, so that a
//! simulation can bring its own.

use std::io::Read as _;

use crate::time::Timestamp;

/// What the journal needs from the machine besides a disk.
pub trait Host: Send + Sync {
    /// The time.
    fn now(&self) -> Timestamp;

    /// Eight hex digits that change with every boot, where that can be known. It tells a torn tail after a power loss from one
    /// after a kill.
    fn boot(&self) -> Option<Boot>;

    /// Bytes that nobody can guess.
    ///
    /// # Errors
    /// The machine has none to give.
    fn random(&self) -> std::io::Result<[u8; 32]>;
}

/// Which boot of the machine it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Boot([u8; 8]);

impl Boot {
    /// Where it cannot be known.
    pub const UNKNOWN: Boot = Boot(*b"00000000");

    /// Of eight hex digits, in lower case.
    #[must_use]
    pub fn from_hex(digits: &[u8]) -> Option<Self> {
        let digits: [u8; 8] = digits.try_into().ok()?;
        digits.iter().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')).then_some(Boot(digits))
    }

    /// The digits.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 8] {
        &self.0
    }
}

/// This machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct ThisHost;

impl Host for ThisHost {
    #[expect(
        clippy::disallowed_methods,
        reason = "the journal's own clock; a simulation brings another host"
    )]
    fn now(&self) -> Timestamp {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }

    #[expect(clippy::disallowed_methods, reason = "the kernel's name for this boot")]
    fn boot(&self) -> Option<Boot> {
        let mut digits = [0; 8];
        let mut file = std::fs::File::open("/proc/sys/kernel/random/boot_id").ok()?;
        file.read_exact(&mut digits).ok()?;
        Boot::from_hex(&digits)
    }

    #[expect(clippy::disallowed_methods, reason = "the kernel's randomness")]
    fn random(&self) -> std::io::Result<[u8; 32]> {
        let mut bytes = [0; 32];
        std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}
