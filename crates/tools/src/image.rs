//! What the first bytes of an image say: its type, its width and its height.

/// What an image is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Image {
    pub(crate) media_type: &'static str,
    /// Width and height, where the image says them.
    pub(crate) size: Option<(u32, u32)>,
}

/// What these bytes are an image of; `None` if they are none that is known.
pub(crate) fn told(bytes: &[u8]) -> Option<Image> {
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        let size = bytes.get(12..16).filter(|chunk| *chunk == b"IHDR");
        let size = size.and_then(|_| Some((big(bytes, 16, 4)?, big(bytes, 20, 4)?)));
        return Some(Image { media_type: "image/png", size });
    }
    if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
        let size = || Some((little(bytes, 6, 2)?, little(bytes, 8, 2)?));
        return Some(Image { media_type: "image/gif", size: size() });
    }
    if bytes.starts_with(&[0xff, 0xd8, 0xff]) {
        return Some(Image { media_type: "image/jpeg", size: jpeg(bytes) });
    }
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return Some(Image { media_type: "image/webp", size: webp(bytes) });
    }
    None
}

/// The size stands in the frame's header, behind segments whose lengths lead from one to the next.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        let marker = bytes.get(at..at + 2)?;
        let [0xff, kind] = *marker else { return None };
        match kind {
            // Padding before a marker.
            0xff => at += 1,
            // Markers without a length.
            0x01 | 0xd0..=0xd8 => at += 2,
            // Headers of frames, of every way of coding them; c4, c8 and cc among these numbers are others.
            0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf => {
                return Some((big(bytes, at + 7, 2)?, big(bytes, at + 5, 2)?));
            }
            // The image itself, or its end: no header comes any more.
            0xd9 | 0xda => return None,
            _ => {
                let length = big(bytes, at + 2, 2)?;
                at += 2 + usize::try_from(length.max(2)).ok()?;
            }
        }
    }
}

fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    match bytes.get(12..16)? {
        b"VP8X" => Some((little(bytes, 24, 3)? + 1, little(bytes, 27, 3)? + 1)),
        b"VP8L" if bytes.get(20) == Some(&0x2f) => {
            let bits = little(bytes, 21, 4)?;
            Some(((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1))
        }
        b"VP8 " if bytes.get(23..26) == Some(&[0x9d, 0x01, 0x2a]) => {
            Some((little(bytes, 26, 2)? & 0x3fff, little(bytes, 28, 2)? & 0x3fff))
        }
        _ => None,
    }
}

fn big(bytes: &[u8], at: usize, count: usize) -> Option<u32> {
    Some(bytes.get(at..at + count)?.iter().fold(0, |sum, byte| (sum << 8) | u32::from(*byte)))
}

fn little(bytes: &[u8], at: usize, count: usize) -> Option<u32> {
    Some(bytes.get(at..at + count)?.iter().rev().fold(0, |sum, byte| (sum << 8) | u32::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_and_sizes_are_told_from_the_first_bytes() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\0\0\0\0\x80rest";
        let gif = b"GIF89a\x0a\0\x14\0";
        let jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xc4\0\x03x\xff\xff\xc2\0\x0b\x08\0\x20\0\x40\x03";
        let extended = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x3f\0\0\x1f\0\0";
        let lossless = b"RIFF\0\0\0\0WEBPVP8L\x05\0\0\0\x2f\x3f\xc0\x07\0";
        let lossy = b"RIFF\0\0\0\0WEBPVP8 \x0a\0\0\0\0\0\0\x9d\x01\x2a\x40\0\x20\0";
        type Row<'a> = (&'a [u8], &'static str, Option<(u32, u32)>);
        let table: [Row<'_>; 8] = [
            (png, "image/png", Some((256, 128))),
            (gif, "image/gif", Some((10, 20))),
            (jpeg, "image/jpeg", Some((64, 32))),
            (extended, "image/webp", Some((64, 32))),
            (lossless, "image/webp", Some((64, 32))),
            (lossy, "image/webp", Some((64, 32))),
            (b"\xff\xd8\xff\xda", "image/jpeg", None),
            (b"\x89PNG\r\n\x1a\n", "image/png", None),
        ];
        for (bytes, media_type, size) in table {
            assert_eq!(told(bytes), Some(Image { media_type, size }), "{bytes:?}");
            // Cut anywhere, it is told as far as it goes and nothing breaks.
            for end in 0..bytes.len() {
                let _ = told(&bytes[..end]);
            }
        }
        for bytes in [&b""[..], b"BM", b"<svg", b"RIFF\0\0\0\0WAVE", b"%PDF"] {
            assert_eq!(told(bytes), None);
        }
    }
}
