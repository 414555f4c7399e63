//! Server-sent events out of bytes, wherever the bytes are cut.

/// The longest line; what is longer is no answer of a model.
const LONGEST: usize = 8 * 1024 * 1024;

/// Puts lines together.
#[derive(Debug, Default)]
pub(crate) struct Events {
    line: Vec<u8>,
    data: String,
    /// The last byte was a carriage return: a line feed after it belongs to the same end of line.
    returned: bool,
}

/// A line was too long.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

impl Events {
    /// Takes bytes, and gives the data of every event that they complete. The names of events are not looked at: both
    /// protocols repeat them in the data.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Result<Vec<String>, TooLong> {
        let mut complete = Vec::new();
        for byte in bytes {
            match byte {
                b'\n' if self.returned => self.returned = false,
                b'\n' | b'\r' => {
                    self.returned = *byte == b'\r';
                    self.end_line(&mut complete);
                }
                other => {
                    self.returned = false;
                    self.line.push(*other);
                }
            }
            if self.line.len() + self.data.len() > LONGEST {
                return Err(TooLong);
            }
        }
        Ok(complete)
    }

    fn end_line(&mut self, complete: &mut Vec<String>) {
        if self.line.is_empty() {
            if !self.data.is_empty() {
                complete.push(std::mem::take(&mut self.data));
            }
            return;
        }
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        if let Some(data) = line.strip_prefix("data:") {
            if !self.data.is_empty() {
                self.data.push('\n');
            }
            self.data.push_str(data.strip_prefix(' ').unwrap_or(data));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str =
        ": beat\n\nevent: a\ndata: {\"x\": \"ä\"}\n\nid: 7\r\ndata:one\r\ndata: two\r\n\r\ndata: [DONE]\n\n";

    #[test]
    fn data_comes_whole_and_comments_and_names_do_not() {
        let all = Events::default().take(TEXT.as_bytes()).unwrap();
        assert_eq!(all, ["{\"x\": \"ä\"}", "one\ntwo", "[DONE]"]);
    }

    proptest! {
        #[test]
        fn it_does_not_matter_where_the_bytes_are_cut(cuts in proptest::collection::vec(0..TEXT.len(), 0..12)) {
            let mut cuts = cuts;
            cuts.sort_unstable();
            let (mut events, mut got, mut at) = (Events::default(), Vec::new(), 0);
            for cut in cuts.into_iter().chain([TEXT.len()]) {
                got.extend(events.take(&TEXT.as_bytes()[at..cut]).unwrap());
                at = cut;
            }
            prop_assert_eq!(got, ["{\"x\": \"ä\"}", "one\ntwo", "[DONE]"]);
        }
    }

    #[test]
    fn a_line_without_an_end_is_refused_before_it_fills_the_memory() {
        let mut events = Events::default();
        let chunk = vec![b'x'; 1024 * 1024];
        let refused = (0..16).any(|_| events.take(&chunk) == Err(TooLong));
        assert!(refused && events.line.len() <= LONGEST + 1);
    }
}
