//! The escapes of `$'…'`.

/// Decodes the inside of `$'…'`; nothing where the result is not certain or not text.
pub(crate) fn ansi(inner: &str) -> Option<String> {
    if !inner.contains('\\') {
        return Some(inner.to_owned());
    }
    let mut out: Vec<u8> = Vec::with_capacity(inner.len());
    let mut rest = inner.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let (&kind, after) = rest.split_first()?;
        rest = after;
        match kind {
            b'a' => out.push(7),
            b'b' => out.push(8),
            b'e' | b'E' => out.push(27),
            b'f' => out.push(12),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'v' => out.push(11),
            b'\\' | b'\'' | b'"' | b'?' => out.push(kind),
            b'0'..=b'7' => {
                let mut value = u32::from(kind - b'0');
                for _ in 0..2 {
                    let Some((&digit @ b'0'..=b'7', after)) = rest.split_first() else { break };
                    value = value * 8 + u32::from(digit - b'0');
                    rest = after;
                }
                out.push(u8::try_from(value & 0xff).ok()?);
            }
            b'x' | b'u' | b'U' => {
                let most = match kind {
                    b'x' => 2,
                    b'u' => 4,
                    _ => 8,
                };
                let mut value = 0_u32;
                let mut digits = 0;
                while digits < most {
                    let Some((&digit, after)) = rest.split_first() else { break };
                    let Some(number) = char::from(digit).to_digit(16) else { break };
                    value = value * 16 + number;
                    rest = after;
                    digits += 1;
                }
                // What comes of a character beyond ASCII depends on the locale.
                if digits == 0 || (kind != b'x' && value > 0x7f) {
                    return None;
                }
                out.push(u8::try_from(value).ok()?);
            }
            _ => return None,
        }
    }
    if out.contains(&0) {
        return None;
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn escapes_become_the_characters_that_bash_makes_of_them() {
        for (inner, expected) in [
            ("abc", Some("abc")),
            (r"\x72m", Some("rm")),
            (r"\162\155", Some("rm")),
            (r"\u0072m", Some("rm")),
            (r"a\nb\tc", Some("a\nb\tc")),
            (r"\'\\", Some("'\\")),
            (r"\0", None),
            (r"\xff", None),
            (r"\xc3\xa9", Some("é")),
            (r"\x{72}", None),
            (r"\q", None),
        ] {
            assert_eq!(super::ansi(inner).as_deref(), expected, "{inner}");
        }
    }
}
