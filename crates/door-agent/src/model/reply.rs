//! A model's answer, put together from its pieces.

use crate::conversation::ToolUse;

/// The most calls of one answer.
const MOST_CALLS: usize = 64;
/// The longest answer: text and arguments.
const LONGEST: usize = 16 * 1024 * 1024;

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// More text.
    Text(String),
    /// A call begins.
    Call { index: u64, id: Option<String>, name: Option<String> },
    /// More of a call's arguments.
    Arguments { index: u64, text: String },
    /// What was read, as far as it is known.
    Input(u64),
    /// What was written, as far as it is known.
    Output(u64),
    /// Why it stopped.
    Stop(Stop),
    /// Nothing comes any more.
    End,
    /// The server says that something went wrong.
    Error { retry: bool, message: String },
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It is done, or wants its calls made.
    Done,
    /// It may write no more.
    Length,
    /// It will not answer.
    Refused,
}

/// A whole answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reply {
    /// What it says.
    pub(crate) text: String,
    /// The calls that it wants, in order.
    pub(crate) calls: Vec<ToolUse>,
    /// Tokens that it read; where the server does not say, none.
    pub(crate) input: Option<u64>,
    /// Tokens that it wrote.
    pub(crate) output: Option<u64>,
    /// Why it stopped.
    pub(crate) stop: Stop,
}

/// Puts pieces together.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    text: String,
    calls: Vec<(u64, ToolUse)>,
    input: Option<u64>,
    output: Option<u64>,
    stop: Option<Stop>,
    bytes: usize,
    ended: bool,
}

/// Why an answer is none.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    TooLong,
    TooManyCalls,
    Said { retry: bool, message: String },
}

impl Assembly {
    pub(crate) fn add(&mut self, piece: Piece) -> Result<(), Unfit> {
        match piece {
            Piece::Text(text) => {
                self.grow(text.len())?;
                self.text.push_str(&text);
            }
            Piece::Call { index, id, name } => {
                let use_ = self.call(index)?;
                if let Some(id) = id {
                    use_.id = id;
                }
                if let Some(name) = name {
                    use_.name.push_str(&name);
                }
            }
            Piece::Arguments { index, text } => {
                self.grow(text.len())?;
                self.call(index)?.arguments.push_str(&text);
            }
            Piece::Input(tokens) => self.input = Some(tokens),
            Piece::Output(tokens) => self.output = Some(tokens),
            Piece::Stop(stop) => self.stop = Some(stop),
            Piece::End => self.ended = true,
            Piece::Error { retry, message } => return Err(Unfit::Said { retry, message }),
        }
        Ok(())
    }

    fn grow(&mut self, by: usize) -> Result<(), Unfit> {
        self.bytes = self.bytes.saturating_add(by);
        if self.bytes > LONGEST { Err(Unfit::TooLong) } else { Ok(()) }
    }

    fn call(&mut self, index: u64) -> Result<&mut ToolUse, Unfit> {
        let at = match self.calls.iter().position(|(known, _)| *known == index) {
            Some(at) => at,
            None if self.calls.len() >= MOST_CALLS => return Err(Unfit::TooManyCalls),
            None => {
                let blank = ToolUse { id: String::new(), name: String::new(), arguments: String::new() };
                self.calls.push((index, blank));
                self.calls.len() - 1
            }
        };
        self.calls.get_mut(at).map(|(_, call)| call).ok_or(Unfit::TooManyCalls)
    }

    /// Whether everything has come.
    pub(crate) fn is_ended(&self) -> bool {
        self.ended
    }

    /// The answer, where all of it came. A stream that breaks off before it said why is none.
    pub(crate) fn finish(mut self) -> Option<Reply> {
        let stop = self.stop?;
        self.calls.sort_by_key(|(index, _)| *index);
        let mut calls: Vec<ToolUse> = self.calls.into_iter().map(|(_, call)| call).collect();
        for at in 0..calls.len() {
            // Results are told apart by the ids of their calls: none may be missing or there twice.
            let twice = calls.get(at).is_some_and(|call| {
                call.id.is_empty() || calls.iter().take(at).any(|other| other.id == call.id)
            });
            if twice && let Some(call) = calls.get_mut(at) {
                call.id = format!("call_{at}_{}", call.id.len());
            }
        }
        Some(Reply { text: self.text, calls, input: self.input, output: self.output, stop })
    }
}
