//! The body of an HTTP request: where it ends. What comes behind it would be another request, which nobody has checked.

use super::http::Length;
use super::record::Reason;

/// How much of a body is still to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    /// So many bytes.
    Bytes(u64),
    /// Inside the line that says how long the next chunk is: what it says so far, and how many digits that are.
    Size(u64, u8),
    /// After the carriage return of that line.
    SizeEnd(u64),
    /// Inside a chunk.
    Chunk(u64),
    /// After a chunk, before its carriage return.
    ChunkReturn,
    /// After that, before the line feed.
    ChunkEnd,
    /// After the last chunk, before the carriage return.
    LastReturn,
    /// After that, before the line feed.
    LastEnd,
}

impl Body {
    pub(super) fn of(length: Length) -> Body {
        match length {
            Length::Bytes(count) => Body::Bytes(count),
            Length::Chunked => Body::Size(0, 0),
        }
    }

    /// How many of these bytes belong to the body. Chunks have no extensions and no trailers here: hardly anybody sends
    /// them, and what nobody sends need not be understood.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<usize, Reason> {
        let wrong = Err(Reason::NoHttp("a malformed chunk"));
        let mut taken = 0;
        while let Some(rest) = bytes.get(taken..).filter(|rest| !rest.is_empty()) {
            let byte = rest.first().copied().unwrap_or_default();
            let run = |left: u64| (rest.len() as u64).min(left);
            let (next, count) = match (*self, byte) {
                (Body::Bytes(0), _) => break,
                (Body::Bytes(left), _) => (Body::Bytes(left - run(left)), run(left)),
                (Body::Chunk(left), _) if left > run(left) => (Body::Chunk(left - run(left)), run(left)),
                (Body::Chunk(left), _) => (Body::ChunkReturn, left),
                (Body::Size(size, 1..), b'\r') => (Body::SizeEnd(size), 1),
                (Body::Size(size, digits @ 0..15), _) => match char::from(byte).to_digit(16) {
                    Some(digit) => (Body::Size(size * 16 + u64::from(digit), digits + 1), 1),
                    None => return wrong,
                },
                (Body::SizeEnd(0), b'\n') => (Body::LastReturn, 1),
                (Body::SizeEnd(size), b'\n') => (Body::Chunk(size), 1),
                (Body::ChunkReturn, b'\r') => (Body::ChunkEnd, 1),
                (Body::ChunkEnd, b'\n') => (Body::Size(0, 0), 1),
                (Body::LastReturn, b'\r') => (Body::LastEnd, 1),
                (Body::LastEnd, b'\n') => (Body::Bytes(0), 1),
                _ => return wrong,
            };
            *self = next;
            taken += count as usize;
        }
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_ends_where_it_says_however_it_is_cut() {
        let chunked = Length::Chunked;
        let rows: [(Length, &[u8], Option<usize>); 13] = [
            (Length::Bytes(0), b"GET /", Some(0)),
            (Length::Bytes(3), b"abcGET /", Some(3)),
            (chunked, b"0\r\n\r\nGET /", Some(5)),
            (chunked, b"3\r\nabc\r\n0\r\n\r\nGET /", Some(13)),
            (chunked, b"0A\r\n0123456789\r\n00\r\n\r\nGET", Some(22)),
            (chunked, b"\r\n", None),
            (chunked, b"3;x=y\r\nabc\r\n", None),
            (chunked, b"3\nabc\r\n", None),
            (chunked, b"-3\r\nabc\r\n", None),
            (chunked, b"0x3\r\nabc\r\n", None),
            (chunked, b"3\r\nabcd\r\n", None),
            (chunked, b"0\r\nX: y\r\n\r\n", None),
            (chunked, b"ffffffffffffffff\r\n", None),
        ];
        for (length, bytes, expected) in rows {
            for size in 1..=bytes.len() {
                let mut body = Body::of(length);
                let taken: Result<Vec<usize>, Reason> =
                    bytes.chunks(size).map(|part| body.take(part)).collect();
                let taken = taken.ok().map(|taken| taken.into_iter().sum::<usize>());
                assert_eq!(taken, expected, "{:?} by {size}", bytes.escape_ascii().to_string());
                assert!(expected.is_none() || body == Body::Bytes(0));
            }
        }
    }
}
