//! Bytes to text without copying them, checked as fast as memory brings them.

/// From here on it is worth a second thread.
const LARGE: usize = 4 * 1024 * 1024;

/// The text that these bytes are, or the bytes, if they are none.
pub(crate) fn checked(bytes: Vec<u8>) -> Result<String, Vec<u8>> {
    if !is_text(&bytes) {
        return Err(bytes);
    }
    // SAFETY: `is_text` has looked at all of these very bytes, which nobody else can have changed since.
    Ok(unsafe { String::from_utf8_unchecked(bytes) })
}

fn is_text(bytes: &[u8]) -> bool {
    let is_text = |bytes: &[u8]| simdutf8::basic::from_utf8(bytes).is_ok();
    if bytes.len() < LARGE {
        return is_text(bytes);
    }
    // Two texts after each other are a text. Wherever they are cut, both must be one; so the cut goes before a character.
    let middle = bytes.len() / 2;
    let inside = bytes.iter().skip(middle).take_while(|byte| (0x80..=0xbf).contains(*byte)).count();
    let Some((front, back)) = bytes.split_at_checked(middle + inside) else { return false };
    std::thread::scope(|scope| {
        let other = scope.spawn(|| is_text(back));
        is_text(front) && other.join().unwrap_or(false)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_bytes_are_text_exactly_where_the_standard_library_says_so() {
        let whole = "漢".repeat(LARGE / 2).into_bytes();
        assert_eq!(checked(whole.clone()).map(String::into_bytes), Ok(whole.clone()));
        let middle = whole.len() / 2;
        for at in [0, middle - 4, middle - 1, middle, middle + 1, middle + 4, whole.len() - 1] {
            for byte in [b'x', 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] = byte;
                assert_eq!(
                    checked(bytes.clone()).is_ok(),
                    std::str::from_utf8(&bytes).is_ok(),
                    "{at} {byte}"
                );
            }
        }
        let nothing_but_middles = vec![0x80; LARGE * 2];
        assert!(checked(nothing_but_middles).is_err());
        assert!(checked(whole[..whole.len() - 1].to_vec()).is_err());
        assert_eq!(checked(Vec::new()), Ok(String::new()));
    }
}
