//! In which order two streams came: runs of bytes of the one and the other. Of very many turns, the first and the last are
//! known, and how much came between them.

use std::collections::VecDeque;

use crate::output::Stream;

/// Turns that are remembered of the beginning, and of the end.
const REMEMBERED: usize = 2048;

/// A run of bytes of one stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) stream: Stream,
    pub(crate) length: u64,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Turns {
    first: Vec<Turn>,
    /// What came between: so much of standard output, so much of standard error.
    between: [u64; 2],
    last: VecDeque<Turn>,
}

impl Turns {
    pub(crate) fn push(&mut self, stream: Stream, length: u64) {
        let newest = match self.last.back_mut() {
            Some(turn) => Some(turn),
            None => self.first.last_mut(),
        };
        if let Some(turn) = newest.filter(|turn| turn.stream == stream) {
            turn.length = turn.length.saturating_add(length);
        } else if self.first.len() < REMEMBERED {
            self.first.push(Turn { stream, length });
        } else {
            self.last.push_back(Turn { stream, length });
            if self.last.len() > REMEMBERED
                && let Some(turn) = self.last.pop_front()
                && let Some(sum) = self.between.get_mut(turn.stream as usize)
            {
                *sum = sum.saturating_add(turn.length);
            }
        }
    }

    /// All turns; what is not known in order comes as two long ones.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Turn> {
        let [out, error] = self.between;
        let between =
            [Turn { stream: Stream::Out, length: out }, Turn { stream: Stream::Error, length: error }];
        self.first.iter().copied().chain(between).chain(self.last.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_joined_counted_and_bounded() {
        let mut turns = Turns::default();
        let mut sums = [0u64; 2];
        for number in 0..100_000u64 {
            let stream = if number % 3 == 0 { Stream::Error } else { Stream::Out };
            turns.push(stream, number);
            sums[stream as usize] += number;
        }
        assert!(turns.iter().count() <= 2 * REMEMBERED + 2);
        let mut found = [0u64; 2];
        turns.iter().for_each(|turn| found[turn.stream as usize] += turn.length);
        assert_eq!(found, sums);
        let first: Vec<Turn> = turns.iter().take(3).collect();
        let turn = |stream, length| Turn { stream, length };
        assert_eq!(first, [turn(Stream::Error, 0), turn(Stream::Out, 3), turn(Stream::Error, 3)]);
        assert_eq!(turns.iter().last(), Some(turn(Stream::Error, 99_999)));
    }
}
