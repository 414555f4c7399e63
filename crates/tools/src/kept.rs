//! What is kept of a stream that may be longer than memory: its beginning and its end, and how much there was between them.

/// A bounded piece of a stream.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    head: Vec<u8>,
    /// A ring, once it is full.
    tail: Vec<u8>,
    /// Where the ring begins.
    first: usize,
    room: usize,
    total: u64,
}

/// What was kept, cut to a size: at the borders of characters, where it is text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) head: Vec<u8>,
    pub(crate) omitted: u64,
    pub(crate) tail: Vec<u8>,
}

impl Kept {
    /// Keeps at most this many bytes.
    pub(crate) fn new(room: usize) -> Kept {
        Kept { head: Vec::new(), tail: Vec::new(), first: 0, room, total: 0 }
    }

    /// How much there was, kept or not.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// How much is kept.
    pub(crate) fn len(&self) -> usize {
        self.head.len().saturating_add(self.tail.len())
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total = self.total.saturating_add(bytes.len() as u64);
        let head_room = self.room / 2;
        let (now, later) = bytes
            .split_at_checked(head_room.saturating_sub(self.head.len()))
            .unwrap_or((bytes, Default::default()));
        self.head.extend_from_slice(now);
        self.push_tail(later);
    }

    fn push_tail(&mut self, bytes: &[u8]) {
        let room = self.room.saturating_sub(self.room / 2);
        let last = bytes.get(bytes.len().saturating_sub(room)..).unwrap_or_default();
        if last.len() == room {
            self.tail.clear();
            self.first = 0;
        }
        let free = room.saturating_sub(self.tail.len());
        let (fits, over) = last.split_at_checked(free).unwrap_or((last, Default::default()));
        self.tail.extend_from_slice(fits);
        // The ring is full: what comes now takes the place of what is oldest.
        let mut rest = over;
        while !rest.is_empty() {
            let Some(place) = self.tail.get_mut(self.first..) else { return };
            let count = place.len().min(rest.len());
            if count == 0 {
                return;
            }
            let (now, later) = rest.split_at_checked(count).unwrap_or((rest, Default::default()));
            if let Some(place) = place.get_mut(..count) {
                place.copy_from_slice(now);
            }
            self.first = (self.first.saturating_add(count)) % room.max(1);
            rest = later;
        }
    }

    /// The beginning, and the two parts of the end.
    pub(crate) fn parts(&self) -> (&[u8], &[u8], &[u8]) {
        let (newer, older) =
            self.tail.split_at_checked(self.first).unwrap_or((Default::default(), &self.tail));
        (&self.head, older, newer)
    }

    /// What is kept, cut to this many bytes.
    pub(crate) fn cut(&self, limit: usize) -> Cut {
        let (head, older, newer) = self.parts();
        let lost = self.total.saturating_sub(self.len() as u64);
        let mut whole = Vec::with_capacity(self.len());
        whole.extend_from_slice(head);
        whole.extend_from_slice(older);
        whole.extend_from_slice(newer);
        if lost == 0 && whole.len() <= limit {
            return Cut { head: whole, omitted: 0, tail: Vec::new() };
        }
        // Where something is lost, the gap is behind the head.
        let gap = if lost == 0 { whole.len() } else { head.len() };
        let head_end = (limit / 2).min(gap);
        let tail_room = limit.saturating_sub(limit / 2);
        let tail_start = whole.len().saturating_sub(tail_room).max(if lost == 0 { head_end } else { gap });
        let first = whole.get(..head_end).unwrap_or_default();
        let first = first.get(..first.len().saturating_sub(unfinished(first))).unwrap_or_default();
        let last = whole.get(tail_start..).unwrap_or_default();
        let inside = last.iter().take(3).take_while(|byte| is_continuation(**byte)).count();
        let last = last.get(inside..).unwrap_or_default();
        let shown = (first.len() as u64).saturating_add(last.len() as u64);
        Cut { head: first.to_vec(), omitted: self.total.saturating_sub(shown), tail: last.to_vec() }
    }

    /// What is kept, cut, and a fresh start. A character whose end has not come yet is left for the next time, unless nothing
    /// more will come.
    pub(crate) fn take(&mut self, limit: usize, last: bool) -> Cut {
        let held = if last { Vec::new() } else { self.unfinished_end() };
        if !held.is_empty() {
            self.drop_end(held.len());
        }
        let cut = self.cut(limit);
        *self = Kept::new(self.room);
        self.push(&held);
        cut
    }

    fn unfinished_end(&self) -> Vec<u8> {
        let (head, older, newer) = self.parts();
        let mut end: Vec<u8> =
            newer.iter().rev().chain(older.iter().rev()).chain(head.iter().rev()).take(4).copied().collect();
        end.reverse();
        let count = unfinished(&end);
        end.split_off(end.len().saturating_sub(count))
    }

    fn drop_end(&mut self, count: usize) {
        let first = self.first.min(self.tail.len());
        self.tail.rotate_left(first);
        self.first = 0;
        for _ in 0..count {
            if self.tail.pop().or_else(|| self.head.pop()).is_some() {
                self.total = self.total.saturating_sub(1);
            }
        }
    }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

/// How many bytes at the end begin a character that is not complete.
pub(crate) fn unfinished(bytes: &[u8]) -> usize {
    for (back, byte) in bytes.iter().rev().take(4).enumerate() {
        if is_continuation(*byte) {
            continue;
        }
        let wanted = match byte {
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            _ => 1,
        };
        let have = back.saturating_add(1);
        return if wanted > have { have } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_beginning_and_the_end_are_kept_whatever_the_pieces(
            pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..30),
            room in 0usize..100,
            limit in 0usize..120,
        ) {
            let mut kept = Kept::new(room);
            let mut all = Vec::new();
            for piece in &pieces {
                kept.push(piece);
                all.extend_from_slice(piece);
                prop_assert!(kept.len() <= room);
            }
            prop_assert_eq!(kept.total(), all.len() as u64);
            let (head, older, newer) = kept.parts();
            prop_assert!(all.starts_with(head));
            let tail = [older, newer].concat();
            prop_assert!(all.ends_with(&tail));
            prop_assert_eq!(kept.len(), all.len().min(room));
            let cut = kept.cut(limit);
            prop_assert!(cut.head.len() + cut.tail.len() <= limit);
            prop_assert!(all.starts_with(&cut.head) && all.ends_with(&cut.tail));
            prop_assert_eq!(cut.omitted, (all.len() - cut.head.len() - cut.tail.len()) as u64);
            if all.len() <= room && all.len() <= limit {
                prop_assert_eq!(&cut.head, &all);
            }
        }

        #[test]
        fn text_that_is_cut_or_taken_in_parts_is_cut_between_characters(
            text in "[aé中👨]{0,60}",
            at in proptest::collection::vec(0usize..200, 0..6),
            room in 16usize..80,
            limit in 0usize..80,
        ) {
            let bytes = text.as_bytes();
            let mut borders: Vec<usize> = at.iter().map(|at| at % (bytes.len() + 1)).collect();
            borders.sort_unstable();
            let mut kept = Kept::new(room);
            let mut whole = String::new();
            let mut before = 0;
            for border in borders {
                kept.push(&bytes[before..border]);
                before = border;
                let cut = kept.take(limit.max(4), false);
                prop_assert!(std::str::from_utf8(&cut.head).is_ok());
                prop_assert!(std::str::from_utf8(&cut.tail).is_ok(), "{:?}", cut);
                whole.push_str(&String::from_utf8_lossy(&cut.head));
                whole.push_str(&String::from_utf8_lossy(&cut.tail));
            }
            kept.push(&bytes[before..]);
            let cut = kept.take(limit.max(4), true);
            prop_assert!(std::str::from_utf8(&cut.head).is_ok());
            whole.push_str(&String::from_utf8_lossy(&cut.head));
            whole.push_str(&String::from_utf8_lossy(&cut.tail));
            if bytes.len() <= room && bytes.len() <= limit {
                prop_assert_eq!(whole, text);
            }
        }
    }

    #[test]
    fn an_unfinished_character_is_found_at_the_end() {
        for (bytes, count) in [
            (&b""[..], 0),
            (b"a", 0),
            ("é".as_bytes(), 0),
            (b"a\xc3", 1),
            (b"a\xe4\xb8", 2),
            (b"a\xf0\x9f\x91", 3),
            ("👨".as_bytes(), 0),
            (b"\xff", 0),
            (b"\x80\x80\x80\x80", 0),
        ] {
            assert_eq!(unfinished(bytes), count, "{bytes:?}");
        }
    }
}
