//! A reader that gives up on a line without an end: a server that never ends its line would otherwise be kept in memory, or be
//! waited for.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

/// Bounds the lines of what it reads.
pub(crate) struct Lines<R> {
    inner: R,
    longest: usize,
    current: usize,
}

impl<R> Lines<R> {
    pub(crate) const fn new(inner: R, longest: usize) -> Lines<R> {
        Lines { inner, longest, current: 0 }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Lines<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;
        let new = buffer.filled().get(before..).unwrap_or_default();
        self.current = match new.iter().rposition(|byte| *byte == b'\n') {
            Some(place) => new.len().saturating_sub(place).saturating_sub(1),
            None => self.current.saturating_add(new.len()),
        };
        if self.current > self.longest {
            // An error comes with nothing read.
            buffer.set_filled(before);
            let why = format!("a message is longer than {} bytes", self.longest);
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, why)));
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt as _;

    #[test]
    fn a_line_that_does_not_end_is_given_up_and_many_lines_are_not() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let read = |bytes: Vec<u8>| {
            let mut all = Vec::new();
            runtime.block_on(Lines::new(bytes.as_slice(), 100).read_to_end(&mut all)).map(|_| all.len())
        };
        assert_eq!(read(b"0123456789\n".repeat(1000)).unwrap(), 11_000);
        assert_eq!(read(vec![b'x'; 100]).unwrap(), 100);
        assert_eq!(read(vec![b'x'; 101]).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
