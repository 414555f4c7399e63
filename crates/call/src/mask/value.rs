//! Where a value begins and ends, and whether it is one.

use std::ops::Range;

use super::MASKED;
use super::scan::{Scanner, is_quote, is_token, is_word};

/// How far ahead the end of a substitution is looked for.
const SUBSTITUTION: usize = 128;

impl Scanner<'_> {
    /// The value that begins at `from`, without its quotes; nothing where there is none.
    pub(super) fn value(&self, from: usize) -> Option<Range<usize>> {
        let first = self.byte(from)?;
        let range = if first == b'\\' && is_quote(self.byte(from + 1)) {
            let quote = self.byte(from + 1)?;
            let start = from + 2;
            let inside = self.bytes.get(start..)?;
            let length = inside.windows(2).position(|pair| pair == [b'\\', quote]).unwrap_or(inside.len());
            start..start + length
        } else if is_quote(Some(first)) {
            if self.quote == Some(first) && !self.reopened(from) {
                return None;
            }
            from + 1..self.closing(from + 1, first)
        } else {
            from..self.unquoted_end(from)
        };
        (range.start < range.end).then_some(range)
    }

    /// The open quote was closed again between the name and its value: `"name": "value"`.
    fn reopened(&self, from: usize) -> bool {
        let between = self.bytes.get(self.at..from).unwrap_or_default();
        between.iter().filter(|byte| Some(**byte) == self.quote).count() % 2 == 1
    }

    /// Where the quote closes, or the end of the text.
    pub(super) fn closing(&self, from: usize, quote: u8) -> usize {
        let mut at = from;
        while let Some(byte) = self.byte(at) {
            match byte {
                b'\\' if quote == b'"' => at += 2,
                _ if byte == quote => return at,
                _ => at += 1,
            }
        }
        self.bytes.len()
    }

    fn unquoted_end(&self, from: usize) -> usize {
        let mut at = from;
        while let Some(byte) = self.byte(at) {
            let ends = match byte {
                b'"' | b'\'' | b'`' | b';' => true,
                b'|' | b'<' | b'>' | b'(' | b')' => self.quote.is_none(),
                b'&' | b',' => self.another_name_follows(at + 1) || (byte == b'&' && self.quote.is_none()),
                b'$' if self.byte(at + 1) == Some(b'(') || self.byte(at + 1) == Some(b'{') => {
                    at = self.past_substitution(at + 1).unwrap_or(at + 1);
                    continue;
                }
                b'\\' if is_quote(self.byte(at + 1)) => true,
                _ => byte.is_ascii_whitespace(),
            };
            if ends {
                return at;
            }
            at += 1;
        }
        self.bytes.len()
    }

    /// The end of `(…)` or `{…}`, where it is near.
    fn past_substitution(&self, open: usize) -> Option<usize> {
        let (opening, closing) = if self.byte(open) == Some(b'(') { (b'(', b')') } else { (b'{', b'}') };
        let mut depth = 0_usize;
        for (at, byte) in self.bytes.iter().enumerate().skip(open).take(SUBSTITUTION) {
            if *byte == opening {
                depth += 1;
            } else if *byte == closing {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at + 1);
                }
            }
        }
        None
    }

    fn another_name_follows(&self, from: usize) -> bool {
        let from = from + self.count_from(from, |byte| byte == b' ').min(2);
        let length = self.count_from(from, |byte| is_token(byte) || matches!(byte, b'[' | b']'));
        length > 0 && matches!(self.byte(from + length), Some(b'=' | b':'))
    }

    /// `token: handle expiry in the parser`
    pub(super) fn is_prose(&self, value: &Range<usize>) -> bool {
        let word = self.bytes.get(value.clone()).unwrap_or_default();
        let next = self.bytes.get(value.end..).unwrap_or_default();
        is_word(word)
            && next.first() == Some(&b' ')
            && next.get(1).is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'\'')
    }

    /// `token = fetch_token(x)`
    pub(super) fn is_code(&self, value: &Range<usize>) -> bool {
        let word = self.bytes.get(value.clone()).unwrap_or_default();
        matches!(self.byte(value.end), Some(b'('))
            || word.iter().any(|byte| matches!(byte, b'(' | b'[' | b'{'))
    }
}

/// `$NAME`, `${…}`, `$(…)`, `` `…` ``, `{{…}}`: where a secret comes from, not what it is.
pub(super) fn is_reference(value: &str) -> bool {
    let value = value.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')).unwrap_or(value);
    if let Some(variable) = value.strip_prefix('$') {
        let braced = variable.strip_prefix('{').is_some_and(|rest| {
            rest.strip_suffix('}').is_some_and(|inside| !inside.contains([':', '-', '=', '}']))
        });
        let substituted = closes_at_its_end(variable);
        let named = !variable.is_empty()
            && variable.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && !variable.bytes().next().is_some_and(|byte| byte.is_ascii_digit() && variable.len() > 1);
        return braced || substituted || named;
    }
    (value.starts_with("{{") && value.ends_with("}}"))
        || (value.len() > 2 && value.starts_with('`') && value.ends_with('`'))
        || value == MASKED
}

/// `(…)` whose first parenthesis is closed by its last character.
fn closes_at_its_end(text: &str) -> bool {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at > 0 && at + 1 == text.len();
        }
    }
    false
}
