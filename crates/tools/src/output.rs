//! What a program writes to its standard output and error: all of it is taken, a bounded part is kept, the rest is counted.

use fence::Limits;
use sha2::{Digest, Sha256};

use crate::kept::{Cut, Kept, unfinished};
use crate::readable::{self, From, Text};
use crate::turns::Turns;

/// About how many bytes a token has.
const BYTES_PER_TOKEN: u64 = 4;
/// Nobody is answered with more, whatever is configured.
const MOST: u64 = 256 * 1024 * 1024;

/// So much of a stream goes into its digest, unless somebody wants more.
pub(crate) const DIGESTED: u64 = 64 * 1024 * 1024;

/// One of the two streams that a program writes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stream {
    /// Standard output, or the terminal.
    Out = 0,
    /// Standard error.
    Error = 1,
}

/// How much of an output is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes of both streams together.
    pub bytes: usize,
    /// A stream of at most so many bytes has a digest of everything, also of what is not kept; a longer one has none. Making it
    /// costs several times what all the rest costs.
    pub digest_bytes: u64,
}

impl Bounds {
    /// The tighter of what the plan and the call say.
    #[must_use]
    pub fn new(limits: &Limits, max_output_tokens: Option<u64>) -> Bounds {
        let bytes = in_bytes(max_output_tokens).min(limits.output_bytes).min(MOST);
        Bounds { bytes: usize::try_from(bytes).unwrap_or(usize::MAX), digest_bytes: DIGESTED }
    }
}

/// How many bytes an answer of so many tokens may have.
pub(crate) fn in_bytes(tokens: Option<u64>) -> u64 {
    tokens.map_or(u64::MAX, |tokens| tokens.saturating_mul(BYTES_PER_TOKEN))
}

/// What a program wrote.
#[derive(Debug, Clone)]
pub struct Output {
    kept: [Kept; 2],
    turns: Turns,
    digests: [Option<Sha256>; 2],
    digest_bytes: u64,
    limit: usize,
    from: From,
}

impl Output {
    /// Nothing yet.
    #[must_use]
    pub fn new(bounds: Bounds) -> Output {
        Output {
            kept: [Kept::new(bounds.bytes), Kept::new(bounds.bytes)],
            turns: Turns::default(),
            digests: [Some(Sha256::new()), Some(Sha256::new())],
            digest_bytes: bounds.digest_bytes,
            limit: bounds.bytes,
            from: From::Stream,
        }
    }

    pub(crate) fn of_terminal(mut self) -> Output {
        self.from = From::Terminal;
        self
    }

    /// Takes what a program wrote. The order of the calls is the order of the whole.
    pub fn push(&mut self, stream: Stream, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let at = stream as usize;
        if let (Some(kept), Some(digest)) = (self.kept.get_mut(at), self.digests.get_mut(at)) {
            kept.push(bytes);
            if kept.total() > self.digest_bytes {
                *digest = None;
            }
            if let Some(digest) = digest {
                digest.update(bytes);
            }
        }
        self.turns.push(stream, bytes.len() as u64);
    }

    /// Standard output. A terminal is both in one.
    #[must_use]
    pub fn stdout(&self) -> Text {
        self.text(Stream::Out)
    }

    /// Standard error.
    #[must_use]
    pub fn stderr(&self) -> Text {
        self.text(Stream::Error)
    }

    /// How many bytes a stream had, kept or not.
    #[must_use]
    pub fn bytes(&self, stream: Stream) -> u64 {
        self.kept.get(stream as usize).map_or(0, Kept::total)
    }

    /// Whether something is left out.
    #[must_use]
    pub fn truncated(&self) -> bool {
        self.stdout().omitted > 0 || self.stderr().omitted > 0
    }

    /// The SHA-256 digest of everything that a stream had, in hexadecimal, unless it was too much.
    #[must_use]
    pub fn sha256(&self, stream: Stream) -> Option<String> {
        let digest = self.digests.get(stream as usize)?.clone()?.finalize();
        Some(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Both streams in the order in which they came. Two pipes are read when something is in them: of what was written to both
    /// in the same instant, the order is not known. Where it matters, both go into one ([`crate::exec::Capture::together`]).
    #[must_use]
    pub fn interleaved(&self) -> Text {
        let mut all = Text::default();
        let mut sides = [self.side(Stream::Out), self.side(Stream::Error)];
        let mut missing = 0u64;
        for turn in self.turns.iter() {
            let Some(side) = sides.get_mut(turn.stream as usize) else { continue };
            all.bytes = all.bytes.saturating_add(turn.length);
            side.pass(turn.length, &mut all.text, &mut missing);
        }
        leave_out(&mut all.text, &mut missing);
        for side in &sides {
            readable::append(&mut all.text, &side.unfinished);
            all.omitted = all.omitted.saturating_add(side.omitted);
            all.binary |= side.binary.is_some();
        }
        all
    }

    fn text(&self, stream: Stream) -> Text {
        readable::text(&self.cut(stream), self.bytes(stream), self.from)
    }

    fn cut(&self, stream: Stream) -> Cut {
        let [out, error] = &self.kept;
        let share = share(out.len(), error.len(), self.limit);
        match stream {
            Stream::Out => out.cut(share.0),
            Stream::Error => error.cut(share.1),
        }
    }

    fn side(&self, stream: Stream) -> Side {
        let cut = self.cut(stream);
        let total = self.bytes(stream);
        let shown = readable::text(&cut, total, self.from);
        Side {
            at: 0,
            gap: cut.head.len() as u64,
            tail: total.saturating_sub(cut.tail.len() as u64),
            omitted: shown.omitted,
            binary: shown.binary.then_some(shown.text),
            cut,
            unfinished: Vec::new(),
        }
    }
}

/// A stream while both are put together.
struct Side {
    cut: Cut,
    /// How far we are, where the gap begins and where it ends.
    at: u64,
    gap: u64,
    tail: u64,
    omitted: u64,
    binary: Option<String>,
    /// The beginning of a character whose end comes with the stream's next turn.
    unfinished: Vec<u8>,
}

impl Side {
    fn pass(&mut self, length: u64, all: &mut String, missing: &mut u64) {
        let start = self.at;
        let end = start.saturating_add(length);
        self.at = end;
        if let Some(binary) = &self.binary {
            if start == 0 && end > 0 {
                all.push_str(binary);
            }
            return;
        }
        self.show(Part::Head, start, end.min(self.gap), all, missing);
        let lost = end.min(self.tail).saturating_sub(start.max(self.gap));
        *missing = missing.saturating_add(lost);
        self.show(Part::Tail, start.max(self.tail).max(self.gap), end, all, missing);
    }

    fn show(&mut self, part: Part, start: u64, end: u64, all: &mut String, missing: &mut u64) {
        if start >= end {
            return;
        }
        let (bytes, offset) = match part {
            Part::Head => (&self.cut.head, 0),
            Part::Tail => (&self.cut.tail, self.tail),
        };
        let place = |position: u64| usize::try_from(position.saturating_sub(offset)).unwrap_or(usize::MAX);
        let Some(bytes) = bytes.get(place(start)..place(end)) else { return };
        leave_out(all, missing);
        self.unfinished.extend_from_slice(bytes);
        let complete = self.unfinished.len().saturating_sub(unfinished(&self.unfinished));
        let rest = self.unfinished.split_off(complete);
        readable::append(all, &self.unfinished);
        self.unfinished = rest;
    }
}

#[derive(Clone, Copy)]
enum Part {
    Head,
    Tail,
}

fn leave_out(all: &mut String, missing: &mut u64) {
    if *missing > 0 {
        readable::leave_out(all, *missing);
        *missing = 0;
    }
}

/// How two streams share the room: neither takes from the other what that could use within its half.
pub(crate) fn share(out: usize, error: usize, limit: usize) -> (usize, usize) {
    let half = limit / 2;
    if error <= half {
        (limit.saturating_sub(error), error)
    } else if out <= half {
        (out, limit.saturating_sub(out))
    } else {
        (limit.saturating_sub(half), half)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn output(bytes: usize, pieces: &[(Stream, &[u8])]) -> Output {
        let mut output = Output::new(Bounds { bytes, digest_bytes: 1000 });
        pieces.iter().for_each(|(stream, bytes)| output.push(*stream, bytes));
        output
    }

    #[test]
    fn what_came_is_shown_each_by_itself_and_both_in_order() {
        let all = output(
            100,
            &[
                (Stream::Out, b"one\n"),
                (Stream::Error, b"two\n"),
                (Stream::Out, b"thr"),
                (Stream::Out, b"ee\n"),
                (Stream::Error, b"four\n"),
            ],
        );
        assert_eq!(all.stdout().text, "one\nthree\n");
        assert_eq!(all.stderr().text, "two\nfour\n");
        assert_eq!(all.interleaved().text, "one\ntwo\nthree\nfour\n");
        assert!(!all.truncated());
        assert_eq!(all.sha256(Stream::Out), Some(call::sha256_hex(b"one\nthree\n")));
        assert_eq!(all.sha256(Stream::Error), Some(call::sha256_hex(b"two\nfour\n")));
    }

    #[test]
    fn a_character_that_both_streams_share_out_is_put_together() {
        let all = output(
            100,
            &[
                (Stream::Out, b"\xe4\xb8"),
                (Stream::Error, b"!"),
                (Stream::Out, b"\xad\n"),
                (Stream::Out, b"\xe4"),
            ],
        );
        assert_eq!(all.interleaved().text, "!中\n\\xe4");
        assert_eq!(all.stdout().text, "中\n\\xe4");
    }

    #[test]
    fn the_room_is_shared_and_what_is_left_out_is_said_once() {
        for (out, error, limit, expected) in [
            (10, 10, 100, (90, 10)),
            (1000, 10, 100, (90, 10)),
            (10, 1000, 100, (10, 90)),
            (1000, 1000, 101, (51, 50)),
            (0, 0, 0, (0, 0)),
        ] {
            assert_eq!(share(out, error, limit), expected);
        }
        let all = output(8, &[(Stream::Error, b"E"), (Stream::Out, &[b'x'; 1000]), (Stream::Error, b"F")]);
        assert_eq!(all.interleaved().text, "Exxx\n[… 994 bytes left out …]\nxxxF");
        assert!(all.truncated());
        assert_eq!(all.sha256(Stream::Out), Some(call::sha256_hex(&[b'x'; 1000])));
        let longer = output(8, &[(Stream::Out, &[b'x'; 1000]), (Stream::Out, b"x"), (Stream::Error, b"F")]);
        assert_eq!(longer.sha256(Stream::Out), None, "a digest of a part would look like one of the whole");
        assert_eq!(longer.sha256(Stream::Error), Some(call::sha256_hex(b"F")));
    }

    #[test]
    fn bounds_are_the_tighter_of_tokens_and_plan() {
        let limits = |output_bytes| Limits {
            memory_mb: 1,
            wall_ms: None,
            cpu_s: None,
            processes: 1,
            open_files: 1,
            file_mb: 1,
            scratch_mb: 1,
            output_bytes,
        };
        for (bytes, tokens, expected) in [
            (1000, None, 1000),
            (1000, Some(10), 40),
            (1000, Some(u64::MAX), 1000),
            (u64::MAX, None, 1 << 28),
        ] {
            assert_eq!(Bounds::new(&limits(bytes), tokens).bytes, expected);
        }
    }

    proptest! {
        #[test]
        fn every_view_is_bounded_and_counts_what_it_leaves_out(
            pieces in proptest::collection::vec((any::<bool>(), proptest::collection::vec(any::<u8>(), 0..50)), 0..40),
            limit in 0usize..300,
        ) {
            let streams = |out: bool| if out { Stream::Out } else { Stream::Error };
            let pieces: Vec<(Stream, &[u8])> = pieces.iter().map(|(out, bytes)| (streams(*out), bytes.as_slice())).collect();
            let all = output(limit, &pieces);
            let total: usize = pieces.iter().map(|(_, bytes)| bytes.len()).sum();
            let whole = all.interleaved();
            prop_assert_eq!(whole.bytes, total as u64);
            prop_assert_eq!(whole.omitted, all.stdout().omitted + all.stderr().omitted);
            // Four letters for a byte that is no text, and a line for what is left out, again and again at most.
            prop_assert!(whole.text.len() <= limit * 4 + 400 + 45 * pieces.len());
            if total <= limit {
                prop_assert!(!all.truncated() || all.stdout().binary || all.stderr().binary);
            }
        }

        #[test]
        fn text_within_its_bounds_comes_back_as_it_was(
            pieces in proptest::collection::vec((any::<bool>(), "[aé中\n]{1,9}"), 0..40),
        ) {
            let streams = |out: bool| if out { Stream::Out } else { Stream::Error };
            let texts: Vec<(Stream, &[u8])> = pieces.iter().map(|(out, text)| (streams(*out), text.as_bytes())).collect();
            let all = output(10_000, &texts);
            let expected: String = pieces.iter().map(|(_, text)| text.as_str()).collect();
            prop_assert_eq!(all.interleaved().text, expected);
        }
    }
}
