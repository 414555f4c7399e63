//! One pass over a text that finds the secrets in it.
//!
//! The text is taken apart into tokens (letters, digits, `_`, `-`, `.`) and what stands between them. Each byte is
//! looked at a bounded number of times, so the cost is linear. Only as much of shell and JSON is known as is needed to
//! see where a value ends: which quote is open, and that a backslash covers the next character.

use std::borrow::Cow;
use std::ops::Range;

use super::MASKED;
use super::names::{BY_PLACE, Habit, Name, Way, before_password, habit, name};
use super::opaque;
use super::shapes::{self, Body};
use super::value::is_reference;

pub(super) struct Scanner<'a> {
    pub(super) text: &'a str,
    pub(super) bytes: &'a [u8],
    /// The text is one argument: a header in it goes on to its end, and so does what follows its first `=`.
    argument: bool,
    pub(super) at: usize,
    pub(super) quote: Option<u8>,
    found: Vec<Range<usize>>,
    program: Option<&'static Habit>,
    ready: bool,
    /// Where the part begins that was not yet searched for opaque tokens.
    unsearched: usize,
    /// Where a header ends that was left as it is, so that names inside it are not read to its end again.
    header_end: usize,
    /// The first `@` that is not behind us, as far as it was looked for; the largest number where there is none.
    pub(super) next_at: usize,
    /// The token before: `set` in `set password x`.
    pub(super) before: Range<usize>,
    /// The whole word after `set`, which may be several tokens: `set //registry/:_authToken x`.
    set: Range<usize>,
}

impl<'a> Scanner<'a> {
    /// For a text: a command, a file, a sentence.
    pub(super) fn text(text: &'a str) -> Self {
        Scanner {
            text,
            bytes: text.as_bytes(),
            argument: false,
            at: 0,
            quote: None,
            found: Vec::new(),
            program: None,
            ready: false,
            unsearched: 0,
            header_end: 0,
            next_at: 0,
            before: 0..0,
            set: 0..0,
        }
    }

    /// For one argument of a command.
    pub(super) fn argument(text: &'a str) -> Self {
        Scanner { argument: true, ..Scanner::text(text) }
    }

    pub(super) fn run(mut self) -> Cow<'a, str> {
        while let Some(byte) = self.byte(self.at) {
            if is_token(byte) {
                let start = self.at;
                let end = self.token_end(start);
                self.at = end;
                self.token(start, end);
                self.before = start..end;
            } else {
                self.between(byte);
            }
        }
        self.replaced()
    }

    /// One byte that belongs to no token.
    fn between(&mut self, byte: u8) {
        match byte {
            b'\\' if self.quote != Some(b'\'') => self.at += 1,
            b'\'' | b'"' if self.quote == Some(byte) => self.quote = None,
            b'\'' | b'"' if self.quote.is_none() => self.quote = Some(byte),
            b':' if self.next_at != usize::MAX => self.colon(self.at),
            b'\n' | b';' | b'|' | b'&' if self.quote.is_none() => self.program = None,
            _ => {}
        }
        self.at += 1;
    }

    fn token(&mut self, start: usize, end: usize) {
        if !self.is_plain(start, end) {
            self.look_closely(start, end);
        }
        self.habits(start, end);
        self.bearer(start, end);
        let token = self.bytes.get(start..end).unwrap_or_default();
        if token.eq_ignore_ascii_case(b"set") && self.byte(end) == Some(b' ') {
            let from = end + self.count_from(end, |byte| byte == b' ');
            self.set = from..from + self.count_from(from, |byte| !byte.is_ascii_whitespace());
        } else if token == BY_PLACE && self.program.is_none() {
            self.by_place(end);
        }
    }

    /// Most words are short, stand before another word and name nothing: neither they nor what follows can be a secret, unless
    /// by what the program before them is.
    fn is_plain(&self, start: usize, end: usize) -> bool {
        let apart = match self.byte(end) {
            None => true,
            Some(b' ' | b'\t') => self.byte(end + 1).is_none_or(is_token) && !self.follows_set(end),
            Some(next) => !is_telling(next),
        };
        apart && end - start < shapes::SHORTEST && self.byte(start) != Some(b'-')
    }

    fn look_closely(&mut self, start: usize, end: usize) {
        if end - start >= 5
            && self.bytes.get(start..end).is_some_and(|token| token.starts_with(b"-----BEGIN"))
        {
            self.private_key(start);
        }
        if end - start >= shapes::SHORTEST || self.byte(end) == Some(b'/') {
            self.shapes(start, end);
        }
        if start >= self.unsearched && self.may_be_long(start) {
            let length = self.count_from(start, is_wide);
            self.unsearched = start + length;
            if length >= opaque::SHORTEST {
                self.opaque(start..start + length);
            }
        }
        self.named(start, end);
    }

    // ── by shape ────────────────────────────────────────────────────────────

    fn shapes(&mut self, start: usize, end: usize) {
        let last_dot =
            self.bytes.get(start..end).and_then(|token| token.iter().rposition(|byte| *byte == b'.'));
        let last_dot = last_dot.map_or(start, |dot| start + dot);
        let mut at = start;
        while at < end {
            if let Some(length) = self.shape_at(at, last_dot > at) {
                self.found.push(at..at + length);
                at += length;
            } else {
                at += 1;
            }
            // A shape begins where a word begins.
            while at < end && !matches!(self.byte(at.wrapping_sub(1)), Some(b'_' | b'-' | b'.')) {
                at += 1;
            }
        }
    }

    fn shape_at(&self, at: usize, dotted: bool) -> Option<usize> {
        let rest = self.bytes.get(at..)?;
        shapes::beginning_with(*rest.first()?).iter().find_map(|shape| {
            let body = rest.strip_prefix(shape.prefix.as_bytes())?;
            if !dotted && matches!(shape.body, Body::Dotted) {
                return None;
            }
            let length = body.iter().take_while(|byte| shape.body.takes(**byte)).count();
            let taken = body.get(..length)?;
            let fits = length >= shape.least
                && match shape.body {
                    Body::CapitalsExactly => {
                        length == shape.least && !body.get(length).is_some_and(u8::is_ascii_alphanumeric)
                    }
                    Body::WithDigit => taken.iter().any(u8::is_ascii_digit),
                    Body::Alnum | Body::Hex | Body::Word | Body::Dotted | Body::Path => true,
                };
            fits.then_some(shape.prefix.len() + length)
        })
    }

    /// Few words are followed, at each of these places, by more of the same: the rest need not be measured.
    fn may_be_long(&self, start: usize) -> bool {
        [opaque::SHORTEST - 1, 16, 8, 4].iter().all(|ahead| self.byte(start + ahead).is_some_and(is_wide))
    }

    fn opaque(&mut self, run: Range<usize>) {
        let bytes = self.bytes.get(run.clone()).unwrap_or_default();
        let found = &mut self.found;
        opaque::find(bytes, run.start, |token| found.push(token));
    }

    /// A block from `-----BEGIN … PRIVATE KEY` to its end, or to the end of the text.
    fn private_key(&mut self, start: usize) {
        let rest = self.text.get(start..).unwrap_or_default();
        let header: String = rest.chars().take(64).collect();
        if !header.contains("PRIVATE KEY") {
            return;
        }
        let end = match rest.find("-----END").and_then(|at| Some((at, rest.get(at + 8..)?))) {
            Some((at, after)) => at + 8 + after.find("-----").map_or(after.len(), |close| close + 5),
            None => rest.len(),
        };
        self.found.push(start..start + end);
        self.at = self.at.max(start + end);
    }

    // ── by name ─────────────────────────────────────────────────────────────

    /// A name and its value: `name=value`, `name: value`, `"name": "value"`, `--name value`.
    fn named(&mut self, start: usize, end: usize) {
        let next = self.byte(end);
        let token = self.bytes.get(start..end).unwrap_or_default();
        match next {
            Some(b'=' | b':' | b'"' | b'\'' | b'\\') => {}
            // Most words of a command end here.
            Some(b' ' | b'\t') if token.starts_with(b"-") || self.announces(end) => {}
            _ => return,
        }
        // `--password-stdin <<< x`
        let kind = name(token.strip_suffix(b"-stdin").unwrap_or(token));
        let expanded = start.checked_sub(1).and_then(|at| self.byte(at));
        if kind == Name::Plain || matches!(expanded, Some(b'$' | b'{')) && self.is_expanded(start) {
            return;
        }
        // The user of `https://access-token:secret@host` is no name; what follows is found by its place.
        if start.checked_sub(2).is_some_and(|slashes| self.bytes.get(slashes..start) == Some(b"//")) {
            return;
        }
        let option = token.starts_with(b"-");
        let Some((separator, after)) = self.separator(end) else {
            self.named_without_separator(start, end, option);
            return;
        };
        let from = after + self.count_from(after, |byte| matches!(byte, b' ' | b'\t'));
        if self.byte(from) == Some(b'=') || self.bytes.get(after..after + 2) == Some(b"//") {
            return;
        }
        match (kind, separator) {
            (Name::Header, b':') => return self.header(start, from),
            // `auth: fix the login` and `-v $PWD:/src` are no secrets; `pass:x` is how openssl takes one.
            (Name::SecretIfSet, b':') if !(token == b"pass" && from == after) => return,
            (Name::SecretIfSet, _) if is_directory(self.bytes.get(from..).unwrap_or_default(), token) => {
                return;
            }
            _ => {}
        }
        if self.argument && (start == 0 && after == end + 1 && from == after) && !is_quote(self.byte(from)) {
            let rest = from..self.bytes.len();
            return self.hide_unless_reference(rest);
        }
        let Some(value) = self.value(from) else { return };
        let spaced = from > after;
        let quoted = is_quote(self.byte(from)) || self.byte(from) == Some(b'\\');
        let prose = is_word(token) && separator == b':' && self.is_prose(&value);
        if spaced && !quoted && (prose || self.is_code(&value)) {
            return;
        }
        self.hide_unless_reference(value);
    }

    /// What stands around a word without an `=` could make it the name of what follows.
    fn announces(&self, end: usize) -> bool {
        let set = self.follows_set(end);
        let spaces = self.count_from(end, |byte| matches!(byte, b' ' | b'\t'));
        let next = self.byte(end + spaces);
        set || next == Some(b'=') || (self.quote.is_some() && is_quote(next))
    }

    fn follows_set(&self, end: usize) -> bool {
        self.set.end == end
            || self.bytes.get(self.before.clone()).is_some_and(|word| word.eq_ignore_ascii_case(b"set"))
    }

    /// `--password x`, `set password x`, `PASSWORD 'x'`.
    fn named_without_separator(&mut self, start: usize, end: usize, option: bool) {
        let from = end + self.count_from(end, |byte| matches!(byte, b' ' | b'\t'));
        if from == end {
            return;
        }
        let set = self.follows_set(end);
        let token = self.bytes.get(start..end).unwrap_or_default();
        // SQL: a literal in the other kind of quote.
        let literal = self.quote.is_some()
            && is_quote(self.byte(from))
            && self.byte(from) != self.quote
            && token.to_ascii_lowercase().ends_with(b"password");
        if !(option || set || literal) {
            return;
        }
        // `--with-token <<< x`: it reads the secret, and the text gives it.
        let given = self.bytes.get(from..).is_some_and(|rest| option && rest.starts_with(b"<<<"));
        if !given && token.ends_with(b"-stdin") {
            return;
        }
        let from = if given { from + 3 + self.count_from(from + 3, |byte| byte == b' ') } else { from };
        if matches!(self.byte(from), Some(b'-' | b'|' | b'&' | b';' | b'<' | b'>' | b')' | b'#')) {
            return;
        }
        if let Some(value) = self.value(from) {
            self.hide_unless_reference(value);
        }
    }

    /// The `=` or `:` after a name, and where what follows it begins. A quote may close in between, as in JSON.
    fn separator(&self, end: usize) -> Option<(u8, usize)> {
        let mut at = end;
        if self.byte(at) == Some(b'\\') && is_quote(self.byte(at + 1)) {
            at += 2;
        } else if is_quote(self.byte(at)) {
            at += 1;
        }
        let spaces = self.count_from(at, |byte| byte == b' ').min(4);
        let separator = self.byte(at + spaces)?;
        // `name = value`, but not `name :` of prose, and no `-=`.
        let fits = separator == b'=' || (separator == b':' && (spaces == 0 || at > end));
        fits.then_some((separator, at + spaces + 1))
    }

    fn is_expanded(&self, start: usize) -> bool {
        let before = |back: usize| start.checked_sub(back).and_then(|at| self.byte(at));
        before(1) == Some(b'$') || (before(1) == Some(b'{') && before(2) == Some(b'$'))
    }

    /// `Authorization: …`: all of it, as far as the header goes.
    fn header(&mut self, start: usize, from: usize) {
        if start < self.header_end {
            return;
        }
        let line_start = start == 0 || self.byte(start - 1) == Some(b'\n');
        let open = self.quote;
        let end = match open {
            Some(quote) if self.byte(from) != Some(quote) => self.closing(from, quote),
            None if self.argument || line_start => {
                from + self.count_from(from, |byte| !matches!(byte, b'\n' | b'\r'))
            }
            _ => {
                let Some(value) = self.value(from) else { return };
                let gap = self.count_from(value.end, |byte| byte == b' ');
                // The scheme and what follows it.
                let scheme = self.bytes.get(value.clone()).is_some_and(|word| {
                    [&b"bearer"[..], b"basic", b"token", b"digest", b"apikey", b"negotiate"]
                        .iter()
                        .any(|known| word.eq_ignore_ascii_case(known))
                });
                if scheme && gap > 0 {
                    self.value(value.end + gap).map_or(value.end, |next| next.end)
                } else {
                    return self.hide_unless_reference(value);
                }
            }
        };
        // Only up to the end: the next line feed may be far away, and many headers may stand before it.
        let inside = self.bytes.get(from..end).unwrap_or_default();
        let value = from..from + inside.iter().take_while(|byte| **byte != b'\n').count();
        let last = self.bytes.get(value.clone()).and_then(|value| value.rsplit(|byte| *byte == b' ').next());
        // `Authorization: Bearer $TOKEN`
        if last.is_some_and(|last| std::str::from_utf8(last).is_ok_and(is_reference)) {
            self.header_end = value.end;
        } else {
            self.hide(value);
        }
    }

    /// `Bearer x`, wherever it stands.
    fn bearer(&mut self, start: usize, end: usize) {
        let token = self.bytes.get(start..end).unwrap_or_default();
        if self.byte(end) != Some(b' ')
            || !(token.eq_ignore_ascii_case(b"bearer") || token == b"Basic" || token == b"Token")
        {
            return;
        }
        let from = end + self.count_from(end, |byte| byte == b' ');
        let length = self.count_from(from, |byte| is_wide(byte) || byte == b'.');
        let word = self.bytes.get(from..from + length).unwrap_or_default();
        let plain = word.iter().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'.'))
            || (!token.eq_ignore_ascii_case(b"bearer") && (length < 16 || is_word(word)))
            || word.iter().skip(1).all(|byte| byte.is_ascii_lowercase());
        if length >= 6 && !plain {
            self.hide(from..from + length);
        }
    }

    // ── by program ──────────────────────────────────────────────────────────

    /// Options that hold a password only with certain programs.
    fn habits(&mut self, start: usize, end: usize) {
        let token = self.bytes.get(start..end).unwrap_or_default();
        let Some(known) = self.program else {
            let apart = start.checked_sub(1).and_then(|at| self.byte(at));
            let command = !apart.is_some_and(|byte| matches!(byte, b'=' | b':' | b'@' | b'$'));
            if command && (2..=13).contains(&token.len()) {
                self.program = habit(token);
                self.ready = self.program.is_some_and(|habit| habit.after.is_none());
            }
            return;
        };
        if !self.ready {
            self.ready = known.after.is_some_and(|word| word.as_bytes() == token);
            return;
        }
        if !token.starts_with(b"-") {
            return;
        }
        for (option, way) in known.options {
            let Some(rest) = token.strip_prefix(option.as_bytes()) else { continue };
            if rest.is_empty() {
                let separated = matches!(self.byte(end), Some(b' ' | b'\t' | b'='));
                let from = end + self.count_from(end, |byte| matches!(byte, b' ' | b'\t' | b'='));
                // `-p'secret'`, `-p!secret`
                let ends = |byte: u8| {
                    byte.is_ascii_whitespace()
                        || matches!(byte, b';' | b'|' | b'&' | b'<' | b'>' | b')' | b'=')
                };
                let adjoined = *way != Way::Next && self.byte(end).is_some_and(|byte| !ends(byte));
                if (separated && *way != Way::Attached) || adjoined {
                    self.by_habit(from, *way);
                }
                return;
            }
            if !option.starts_with("--") && *way != Way::Next {
                self.by_habit(start + option.len(), *way);
                return;
            }
        }
    }

    /// The password among the operands of a program that takes it so.
    fn by_place(&mut self, from: usize) {
        let (mut at, mut operands) = (from, None::<usize>);
        loop {
            let start = at + self.count_from(at, |byte| matches!(byte, b' ' | b'\t'));
            let Some(value) = self.value(start).filter(|_| start > at) else { return };
            at = value.end + usize::from(value.start > start);
            let word = self.bytes.get(value.clone()).unwrap_or_default();
            if word.starts_with(b"-") {
                operands = before_password(word).or(operands);
            } else if operands == Some(0) {
                return self.hide_unless_reference(value);
            } else {
                operands = operands.and_then(|count| count.checked_sub(1));
            }
        }
    }

    fn by_habit(&mut self, from: usize, way: Way) {
        if self.byte(from) == Some(b'-') {
            return;
        }
        let Some(value) = self.value(from) else { return };
        let mark = match way {
            Way::Next | Way::Attached | Way::Either => return self.hide_unless_reference(value),
            Way::AfterColon => b':',
            Way::AfterPercent => b'%',
        };
        let colon =
            self.bytes.get(value.clone()).and_then(|value| value.iter().position(|byte| *byte == mark));
        if let Some(colon) = colon {
            self.hide_unless_reference(value.start + colon + 1..value.end);
        }
    }

    // ── what was found ──────────────────────────────────────────────────────

    pub(super) fn hide_unless_reference(&mut self, value: Range<usize>) {
        let text = self.text.get(value.clone()).unwrap_or_default();
        let quote = value.start.checked_sub(1).and_then(|at| self.byte(at));
        let literal = quote == Some(b'\'') || self.quote == Some(b'\'');
        let referred = is_reference(text) && !literal;
        let harmless = matches!(text, "true" | "false" | "null" | "none" | "None" | "True" | "False");
        if !(referred || harmless) {
            self.hide(value);
        }
    }

    pub(super) fn hide(&mut self, value: Range<usize>) {
        if value.start < value.end {
            // What is hidden need not be read; its quotes must be, to know which is open.
            if self
                .bytes
                .get(value.clone())
                .is_some_and(|value| !value.iter().any(|byte| is_quote(Some(*byte))))
            {
                let quoted = self.bytes.get(self.at..value.start).unwrap_or_default();
                if !quoted.iter().any(|byte| is_quote(Some(*byte)) || *byte == b'\\') {
                    self.at = self.at.max(value.end);
                }
            }
            self.found.push(value);
        }
    }

    fn replaced(mut self) -> Cow<'a, str> {
        if self.found.is_empty() {
            return Cow::Borrowed(self.text);
        }
        self.found.sort_unstable_by_key(|range| range.start);
        let mut masked = String::with_capacity(self.text.len());
        let mut shown = 0;
        for range in &self.found {
            if range.start >= shown {
                let Some(before) = self.text.get(shown..range.start) else {
                    // FAIL-CLOSED: a place inside a character would be our mistake; then nothing is shown.
                    return Cow::Borrowed(MASKED);
                };
                masked.push_str(before);
                masked.push_str(MASKED);
            }
            shown = shown.max(range.end);
        }
        match self.text.get(shown..) {
            Some(rest) => masked.push_str(rest),
            None => return Cow::Borrowed(MASKED),
        }
        Cow::Owned(masked)
    }

    // ── bytes ───────────────────────────────────────────────────────────────

    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    fn token_end(&self, start: usize) -> usize {
        start + self.count_from(start, is_token)
    }

    pub(super) fn count_from(&self, from: usize, fits: impl Fn(u8) -> bool) -> usize {
        self.bytes.get(from..).unwrap_or_default().iter().take_while(|byte| fits(**byte)).count()
    }
}

/// Letters, digits, `_`, `-` and `.`.
pub(super) fn is_token(byte: u8) -> bool {
    KINDS.get(usize::from(byte)).is_some_and(|kind| kind & TOKEN != 0)
}

/// What an opaque token is made of.
fn is_wide(byte: u8) -> bool {
    KINDS.get(usize::from(byte)).is_some_and(|kind| kind & WIDE != 0)
}

/// What makes the word before it a name, or part of something longer.
fn is_telling(byte: u8) -> bool {
    KINDS.get(usize::from(byte)).is_some_and(|kind| kind & (WIDE | TELLING) != 0)
}

const TOKEN: u8 = 1;
const WIDE: u8 = 2;
const TELLING: u8 = 4;

/// A table, since every byte is looked up.
static KINDS: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        let token = byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        #[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
        {
            table[byte as usize] = if token { TOKEN } else { 0 }
                | if opaque::is_wide(byte) { WIDE } else { 0 }
                | if matches!(byte, b':' | b'"' | b'\'' | b'\\') { TELLING } else { 0 };
        }
        byte += 1;
    }
    table
};

pub(super) fn is_quote(byte: Option<u8>) -> bool {
    matches!(byte, Some(b'\'' | b'"'))
}

pub(super) fn is_word(word: &[u8]) -> bool {
    !word.is_empty() && word.iter().all(u8::is_ascii_alphabetic)
}

/// `PWD=/work` names a directory; `Pwd=secret` does not.
fn is_directory(value: &[u8], name: &[u8]) -> bool {
    let value = value.strip_prefix(b"\"").or_else(|| value.strip_prefix(b"'")).unwrap_or(value);
    name.eq_ignore_ascii_case(b"pwd") && matches!(value.first(), Some(b'/' | b'~' | b'.' | b'$' | b'`'))
}
