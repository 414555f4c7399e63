//! Bytes as text: cut at the borders of characters.

/// The longest part of the front that ends at the border of a character, if the bytes are UTF-8.
pub(crate) fn head(bytes: &[u8]) -> &[u8] {
    // A character has at most four bytes: look back for the first byte of the last one.
    for back in 1..=bytes.len().min(4) {
        let at = bytes.len() - back;
        let Some(&first) = bytes.get(at) else { break };
        let wanted = match first {
            0x00..=0x7f => 1,
            0x80..=0xbf => continue,
            0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xff => 4,
        };
        return if wanted > back { bytes.get(..at).unwrap_or(bytes) } else { bytes };
    }
    bytes
}

/// The longest part of the back that starts at the border of a character, if the bytes are UTF-8.
pub(crate) fn tail(bytes: &[u8]) -> &[u8] {
    let inside = bytes.iter().take(3).take_while(|byte| (0x80..=0xbf).contains(*byte)).count();
    bytes.get(inside..).unwrap_or(bytes)
}

/// A line of at most so many bytes, with what was left out said.
pub(crate) fn line(bytes: &[u8], whole: u64, most: usize) -> String {
    let kept = if bytes.len() > most { head(bytes.get(..most).unwrap_or(bytes)) } else { bytes };
    let left_out = whole.saturating_sub(kept.len() as u64);
    let text = String::from_utf8_lossy(kept);
    if left_out == 0 { text.into_owned() } else { format!("{text} [… {left_out} more bytes]") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Cutting anywhere leaves whole characters, and loses less than one at each side.
        #[test]
        fn cuts_fall_on_the_borders_of_characters(text in "\\PC{0,40}", front in 0..200_usize, back in 0..200_usize) {
            let bytes = text.as_bytes();
            let (front, back) = (front.min(bytes.len()), back.min(bytes.len()));
            let kept = head(&bytes[..front]);
            prop_assert!(std::str::from_utf8(kept).is_ok());
            prop_assert!(text.as_bytes().starts_with(kept));
            prop_assert!(front - kept.len() < 4);
            prop_assert!(!text.is_char_boundary(front) || kept.len() == front);
            let kept = tail(&bytes[back..]);
            prop_assert!(std::str::from_utf8(kept).is_ok());
            prop_assert!(text.as_bytes().ends_with(kept));
            prop_assert!(bytes.len() - back - kept.len() < 4);
            prop_assert!(!text.is_char_boundary(back) || kept.len() == bytes.len() - back);
        }

        /// Whatever the bytes are, nothing panics and little is lost.
        #[test]
        fn bytes_that_are_no_text_are_cut_as_well(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            prop_assert!(bytes.len() - head(&bytes).len() < 4);
            prop_assert!(bytes.len() - tail(&bytes).len() < 4);
            let _ = line(&bytes, bytes.len() as u64, 10);
        }
    }
}
