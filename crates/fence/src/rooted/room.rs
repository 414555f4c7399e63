//! Room for the text of a large file.

use crate::sys::pages::prefer_large;

/// Less is not worth the asking.
const LARGE: usize = 4 * 1024 * 1024;

/// An empty text with room for so many bytes, in large pages where that is much.
#[must_use]
pub fn room(bytes: usize) -> String {
    let mut text: Vec<u8> = Vec::with_capacity(bytes);
    if bytes >= LARGE {
        prefer_large(text.spare_capacity_mut());
    }
    // INVARIANT: it is empty, so it is text.
    String::from_utf8(text).unwrap_or_default()
}
