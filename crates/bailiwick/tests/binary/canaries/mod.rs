//! Canaries: secrets that nobody else has, put into every place of a call, and looked for in what comes out.

mod forms;
mod places;

pub(crate) use forms::forms;
pub(crate) use places::{Place, places};

use std::collections::HashSet;
use std::io::Read;

/// Makes canaries: 32 random bytes each, written as 43 letters and digits.
pub(crate) struct Aviary {
    state: u64,
    pub(crate) all: HashSet<String>,
}

impl Aviary {
    #[expect(
        clippy::disallowed_methods,
        reason = "a test may be told its seed, and needs one of its own if not"
    )]
    pub(crate) fn new() -> Aviary {
        let told = std::env::var("BAILIWICK_SEED").ok().and_then(|text| text.parse().ok());
        let seed = told.unwrap_or_else(|| {
            let mut bytes = [0_u8; 8];
            std::fs::File::open("/dev/urandom")
                .and_then(|mut file| file.read_exact(&mut bytes))
                .expect("randomness");
            u64::from_le_bytes(bytes) | 1
        });
        println!("BAILIWICK_SEED={seed}");
        Aviary { state: seed, all: HashSet::new() }
    }

    fn number(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A new one. One with hardly a digit or a capital would look like a name, and one whose hex digits are nearly all
    /// decimal like a number: those are let go.
    pub(crate) fn canary(&mut self) -> String {
        const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        loop {
            let token: String = (0..43)
                .map(|_| {
                    char::from(LETTERS[usize::try_from(self.number() >> 33).expect("small") % LETTERS.len()])
                })
                .collect();
            let count = |wanted: fn(&char) -> bool| token.chars().filter(wanted).count();
            let mixed = count(char::is_ascii_digit) >= 4
                && count(char::is_ascii_uppercase) >= 8
                && count(char::is_ascii_lowercase) >= 8
                && hex(&token).bytes().filter(u8::is_ascii_lowercase).count() >= 8;
            if mixed && self.all.insert(token.clone()) {
                return token;
            }
        }
    }
}

/// How a text is written elsewhere.
pub(crate) fn encodings(text: &str) -> Vec<(&'static str, String)> {
    vec![
        ("plain", text.to_owned()),
        ("escaped", escaped(text)),
        ("base64", base64(text)),
        ("hex", hex(text)),
        ("mixed hex", mixed_hex(text)),
        ("percent", percent(text)),
        ("reversed", text.chars().rev().collect()),
    ]
}

pub(crate) fn escaped(text: &str) -> String {
    text.chars().map(|character| format!("\\u{:04x}", u32::from(character))).collect()
}

pub(crate) fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn mixed_hex(text: &str) -> String {
    let pair = |(index, byte): (usize, u8)| {
        if index % 2 == 0 { format!("{byte:02x}") } else { format!("{byte:02X}") }
    };
    text.bytes().enumerate().map(pair).collect()
}

pub(crate) fn percent(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

pub(crate) fn base64(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let mut group = [0_u8; 3];
        group[..chunk.len()].copy_from_slice(chunk);
        let bits = u32::from(group[0]) << 16 | u32::from(group[1]) << 8 | u32::from(group[2]);
        for index in 0..4 {
            if index <= chunk.len() {
                let digit = (bits >> (18 - 6 * index)) & 63;
                out.push(char::from(DIGITS[usize::try_from(digit).expect("small")]));
            } else {
                out.push('=');
            }
        }
    }
    out
}

/// What of a canary can be seen in an output: a whole encoding, or a piece of it that is long enough to be worth stealing.
pub(crate) fn seen(output: &str, canary: &str, split: bool) -> Option<String> {
    for (name, encoding) in encodings(canary) {
        // The name of a file that is nothing but hex digits is taken for a cached object's, and shown.
        let cached = name.ends_with("hex");
        let shown = |at: usize| !(cached && output.get(..at).is_some_and(|before| before.ends_with('/')));
        if output.match_indices(&encoding).any(|(at, _)| shown(at)) {
            return Some(format!("{name}: {encoding}"));
        }
    }
    if split {
        return None;
    }
    (0..=canary.len() - PIECE)
        .map(|at| &canary[at..at + PIECE])
        .find(|piece| output.contains(piece))
        .map(|piece| format!("a piece: {piece}"))
}

/// The length of a piece that may not be seen.
const PIECE: usize = 12;
