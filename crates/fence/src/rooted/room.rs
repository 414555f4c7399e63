//! Room for the content of a large file, and its way to text.

use crate::sys;

/// Less is not worth the asking.
const LARGE: usize = 4 * 1024 * 1024;

/// So many zero bytes, in large pages where that is much.
#[must_use]
pub fn room(bytes: usize) -> Vec<u8> {
    let mut memory = vec![0; bytes];
    if bytes >= LARGE {
        sys::pages::prefer_large(&mut memory);
    }
    memory
}

/// The text that these bytes are, without a copy; or the bytes, if they are none.
///
/// # Errors
/// They are no UTF-8.
pub fn text_of(bytes: Vec<u8>) -> Result<String, Vec<u8>> {
    sys::text::checked(bytes)
}
