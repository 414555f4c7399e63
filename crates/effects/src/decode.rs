//! Text that was made unreadable by encoding, made readable again where that is exact.

/// What `base64 -d` prints.
pub(crate) fn base64(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let (mut held, mut count) = (0_u32, 0_u32);
    let mut ended = false;
    for byte in text.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'\n' | b'\r' => continue,
            b'=' => {
                ended = true;
                continue;
            }
            _ => return None,
        };
        if ended {
            return None;
        }
        held = held << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(held >> count & 0xff).ok()?);
            held &= (1 << count) - 1;
        }
    }
    String::from_utf8(bytes).ok()
}

/// What `xxd -r -p` prints.
pub(crate) fn hexadecimal(text: &str) -> Option<String> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .filter(|letter| !letter.is_whitespace())
        .map(|letter| letter.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect();
    let bytes: Option<Vec<u8>> = digits?
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => Some(high << 4 | low),
            _ => None,
        })
        .collect();
    String::from_utf8(bytes?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_text_is_read() {
        assert_eq!(base64("cm0gLXJmIC8=\n").as_deref(), Some("rm -rf /"));
        assert_eq!(base64("bHM=").as_deref(), Some("ls"));
        assert_eq!(base64("a b"), None);
        assert_eq!(hexadecimal("726d 0a").as_deref(), Some("rm\n"));
        assert_eq!(hexadecimal("7"), None);
    }
}
