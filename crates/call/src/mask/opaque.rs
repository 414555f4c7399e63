//! Long tokens of no known shape: told from names, paths and hashes by how their characters mix.
//!
//! In a random token letters and digits, small and capital, follow each other without pattern. Names change only at
//! the borders of their words. So the changes inside each stretch of letters and digits are counted.

use std::ops::Range;

/// A token shorter than this is not opaque.
pub(super) const SHORTEST: usize = 32;

/// Letters, digits, and what base64 and its variants add.
pub(super) const fn is_wide(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'=' | b'~')
}

/// Finds the opaque tokens in `run`, which is made of wide characters only and starts at `offset`.
pub(super) fn find(run: &[u8], offset: usize, mut found: impl FnMut(Range<usize>)) {
    let mut start = 0;
    // `name=token`; the padding at the end of base64 belongs to the token.
    for piece in run.split_inclusive(|byte| *byte == b'=') {
        let end = start + piece.len();
        let bare = piece.strip_suffix(b"=").unwrap_or(piece);
        if bare.len() >= SHORTEST {
            find_in_piece(bare, offset + start, &mut found);
        }
        start = end;
    }
}

fn find_in_piece(piece: &[u8], offset: usize, found: &mut impl FnMut(Range<usize>)) {
    let is_hash = [&b"sha256-"[..], b"sha384-", b"sha512-"].iter().any(|prefix| piece.starts_with(prefix));
    if is_hash || piece.starts_with(b"/nix/store/") {
        return;
    }
    if !is_path(piece) {
        if is_opaque(piece) {
            found(offset..offset + piece.len());
        }
        return;
    }
    let mut start = 0;
    for step in piece.split(|byte| *byte == b'/') {
        if is_opaque(step) && !step.iter().all(u8::is_ascii_hexdigit) {
            found(offset + start..offset + start + step.len());
        }
        start += step.len() + 1;
    }
}

/// Starts as a path does, or has a step that is a plain word.
fn is_path(piece: &[u8]) -> bool {
    let starts = [&b"/"[..], b"~/"].iter().any(|start| piece.starts_with(start));
    let word = |step: &[u8]| step.len() >= 3 && step.iter().all(u8::is_ascii_lowercase);
    piece.contains(&b'/') && (starts || piece.split(|byte| *byte == b'/').any(word))
}

fn is_opaque(token: &[u8]) -> bool {
    if token.len() < SHORTEST {
        return false;
    }
    let mut random = 0;
    let mut at = 0;
    while let Some(rest) = token.get(at..).filter(|rest| !rest.is_empty()) {
        let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        if length == 8 && is_uuid(rest) {
            at += 36;
            continue;
        }
        if rest.get(..length).is_some_and(is_random) {
            random += length;
        }
        at += length + 1;
    }
    random >= 20 && random * 2 >= token.len()
}

/// One stretch of letters and digits that no name would have.
fn is_random(stretch: &[u8]) -> bool {
    let length = stretch.len();
    if length < 8 || is_git_hash(stretch) {
        return false;
    }
    let (mut digits, mut capitals, mut small, mut vowels, mut changes) = (0, 0, 0, 0, 0);
    let mut before = None;
    for byte in stretch {
        let class = match byte {
            b'0'..=b'9' => 0,
            b'A'..=b'Z' => 1,
            _ => 2,
        };
        match class {
            0 => digits += 1,
            1 => capitals += 1,
            _ => small += 1,
        }
        vowels += usize::from(matches!(byte.to_ascii_lowercase(), b'a' | b'e' | b'i' | b'o' | b'u' | b'y'));
        // From small to capital is how a word begins; from capital to small is how it goes on, and does not count.
        changes += usize::from(matches!((before, class), (Some(0), 1 | 2) | (Some(1 | 2), 0) | (Some(2), 1)));
        before = Some(class);
    }
    let letters = capitals + small;
    if digits == length {
        return false;
    }
    if digits > 0 {
        return changes >= 2 && changes * 7 >= length;
    }
    if capitals > 0 && small > 0 {
        // Names have a capital for each word, random letters one for each other letter.
        return capitals * 10 >= letters * 3 && small * 10 >= letters * 2 && changes * 8 >= length;
    }
    length >= 20 && vowels * 100 < letters * 26
}

/// 40 or 64 lowercase hex digits: the name of a commit or of an image.
fn is_git_hash(stretch: &[u8]) -> bool {
    matches!(stretch.len(), 40 | 64) && stretch.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_uuid(rest: &[u8]) -> bool {
    let fits = |(at, byte): (usize, &u8)| match at {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    rest.get(..36).is_some_and(|uuid| uuid.iter().enumerate().all(fits))
        && !rest.get(36).is_some_and(u8::is_ascii_alphanumeric)
}
