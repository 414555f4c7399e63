//! A word in the making: fields that grow from left to right, with what is certain of each kept.

use crate::{CommandId, Unknown, Value, Why};

/// How many alternatives one word may have.
const MAX_ALTERNATIVES: usize = 16;

/// One field under construction.
#[derive(Debug, Clone, Default)]
struct Draft {
    text: String,
    /// Where in `text` unquoted pattern characters stand.
    marks: Vec<usize>,
    hole: Option<Box<Hole>>,
    /// What certainly stands after the last hole.
    tail: String,
    /// It is a field even if it is empty.
    kept: bool,
    /// A bracket pattern with quotes inside: not modelled.
    odd: bool,
}

/// Something unknown inside a field.
#[derive(Debug, Clone)]
struct Hole {
    splits: bool,
    why: Why,
    from: Vec<CommandId>,
    /// The value itself, as long as nothing else stands in the field.
    alone: Option<Value>,
}

/// The fields that one word becomes.
#[derive(Debug)]
pub(super) struct Fields {
    done: Vec<Value>,
    drafts: Vec<Draft>,
    /// Bytes of text made, for the bound on them.
    pub(super) size: usize,
    /// Unquoted expansions seen: with an `IFS` of other than blanks, two of them interact.
    pub(super) splitting: usize,
    /// The word is a single expansion.
    pub(super) alone: bool,
}

impl Fields {
    pub(super) fn new() -> Self {
        Self { done: Vec::new(), drafts: vec![Draft::default()], size: 0, splitting: 0, alone: false }
    }

    /// The field stays even if nothing is added to it.
    pub(super) fn keep(&mut self) {
        for draft in &mut self.drafts {
            draft.kept = true;
        }
    }

    /// Adds text; pattern characters in it are active unless it is quoted.
    pub(super) fn push(&mut self, text: &str, active: bool) {
        self.size += text.len() * self.drafts.len();
        for draft in &mut self.drafts {
            draft.push(text, active);
        }
    }

    /// Adds one of several texts.
    pub(super) fn push_one_of(&mut self, texts: &[&str], active: bool, why: &Why) {
        if self.drafts.len() * texts.len() > MAX_ALTERNATIVES {
            self.hole(unknown_piece(why.clone(), Vec::new()), false);
            return;
        }
        let mut drafts = Vec::with_capacity(self.drafts.len() * texts.len());
        for draft in &self.drafts {
            for text in texts {
                let mut draft = draft.clone();
                draft.push(text, active);
                self.size += draft.text.len() + 64;
                drafts.push(draft);
            }
        }
        self.drafts = drafts;
    }

    /// Adds something that is not known.
    pub(super) fn hole(&mut self, value: Value, splits: bool) {
        let (prefix, suffix, mut hole) = match &value {
            Value::Unknown(unknown) => (
                unknown.prefix.clone(),
                unknown.suffix.clone(),
                Hole {
                    splits: splits || unknown.splits,
                    why: unknown.why.clone(),
                    from: unknown.from.clone(),
                    alone: None,
                },
            ),
            Value::Process { commands, .. } => (
                String::new(),
                String::new(),
                Hole { splits: false, why: Why::Substitution, from: commands.clone(), alone: None },
            ),
            Value::Pattern(pattern) => (
                literal_start(pattern),
                String::new(),
                Hole { splits, why: Why::Form("a pattern inside a word"), from: Vec::new(), alone: None },
            ),
            Value::Text(_) | Value::OneOf(_) => (
                String::new(),
                String::new(),
                Hole { splits, why: Why::Form("alternatives"), from: Vec::new(), alone: None },
            ),
        };
        if !splits {
            hole.alone = Some(value);
        }
        self.size += prefix.len() + suffix.len();
        for draft in &mut self.drafts {
            draft.hole(&prefix, &suffix, &hole);
        }
    }

    /// Ends the present field, if there is one.
    pub(super) fn end_field(&mut self) {
        let drafts = std::mem::replace(&mut self.drafts, vec![Draft::default()]);
        let mut values = drafts.into_iter().filter_map(Draft::finish);
        let Some(first) = values.next() else { return };
        let mut values: Vec<Value> = std::iter::once(first).chain(values).collect();
        values.dedup();
        match (values.len(), values.pop()) {
            (1, Some(only)) => self.done.push(only),
            (_, Some(last)) => {
                values.push(last);
                self.done.push(Value::OneOf(values));
            }
            (_, None) => {}
        }
    }

    /// Ends the present field, which exists even if it is empty.
    pub(super) fn end_field_kept(&mut self) {
        self.keep();
        self.end_field();
    }

    pub(super) fn finish(mut self) -> Vec<Value> {
        self.end_field();
        self.done
    }

    /// The one value, where the word cannot be split.
    pub(super) fn into_one(mut self) -> Value {
        self.end_field_kept();
        match (self.done.len(), self.done.pop()) {
            (1, Some(value)) => value,
            _ => super::state::unknown(Why::Form("several words in the place of one")),
        }
    }
}

fn unknown_piece(why: Why, from: Vec<CommandId>) -> Value {
    Value::Unknown(Unknown { prefix: String::new(), suffix: String::new(), splits: false, why, from })
}

/// What a pattern certainly starts with.
pub(super) fn literal_start(pattern: &str) -> String {
    pattern.split(['*', '?', '[', '\\']).next().unwrap_or_default().to_owned()
}

impl Draft {
    fn push(&mut self, text: &str, active: bool) {
        if text.is_empty() {
            return;
        }
        if let Some(hole) = &mut self.hole {
            hole.alone = None;
            if active && let Some(at) = text.rfind(['*', '?', '[', ']']) {
                self.tail.clear();
                self.tail.push_str(text.get(at + 1..).unwrap_or_default());
                return;
            }
            self.tail.push_str(text);
            return;
        }
        if active {
            let offset = self.text.len();
            let marks = text
                .bytes()
                .enumerate()
                .filter(|(_, byte)| matches!(byte, b'*' | b'?' | b'[' | b']' | b'\\'));
            self.marks.extend(marks.map(|(at, _)| offset + at));
        } else if !self.marks.is_empty() && self.bracket_open() {
            self.odd = true;
        }
        self.text.push_str(text);
    }

    fn bracket_open(&self) -> bool {
        let last = self.marks.iter().rev().find_map(|&at| match self.text.as_bytes().get(at) {
            Some(b'[') => Some(true),
            Some(b']') => Some(false),
            _ => None,
        });
        last == Some(true)
    }

    fn hole(&mut self, prefix: &str, suffix: &str, hole: &Hole) {
        match &mut self.hole {
            Some(present) => {
                present.alone = None;
                present.splits |= hole.splits;
                present.from.extend(hole.from.iter().copied());
                self.tail.clear();
                self.tail.push_str(suffix);
            }
            None => {
                let mut hole = hole.clone();
                if !self.text.is_empty() {
                    hole.alone = None;
                }
                self.text.push_str(prefix);
                self.tail.push_str(suffix);
                self.hole = Some(Box::new(hole));
            }
        }
    }

    fn at(&self, mark: usize) -> u8 {
        self.text.as_bytes().get(mark).copied().unwrap_or(0)
    }

    /// Whether the shell would look for files.
    fn is_pattern(&self) -> bool {
        let mut open = false;
        self.marks.iter().any(|&mark| match self.at(mark) {
            b'*' | b'?' => true,
            b'[' => {
                open = true;
                false
            }
            b']' => open,
            _ => false,
        })
    }

    fn finish(self) -> Option<Value> {
        let pattern = !self.marks.is_empty() && self.is_pattern();
        if let Some(hole) = self.hole {
            if let Some(value) = hole.alone {
                return Some(value);
            }
            let mut prefix = self.text;
            if pattern && let Some(&first) = self.marks.first() {
                prefix.truncate(first);
            }
            return Some(Value::Unknown(Unknown {
                prefix,
                suffix: self.tail,
                splits: hole.splits || pattern,
                why: hole.why,
                from: hole.from,
            }));
        }
        if self.text.is_empty() && !self.kept {
            return None;
        }
        if !pattern {
            return Some(Value::Text(self.text));
        }
        if self.odd || self.marks.iter().any(|&mark| self.at(mark) == b'\\') {
            return Some(unknown_splitting(Why::Form("a pattern with quotes in it")));
        }
        let mut escaped = String::with_capacity(self.text.len() + 4);
        let mut marks = self.marks.iter().copied().peekable();
        for (at, met) in self.text.char_indices() {
            if marks.peek() == Some(&at) {
                marks.next();
            } else if matches!(met, '*' | '?' | '[' | ']' | '\\') {
                escaped.push('\\');
            }
            escaped.push(met);
        }
        Some(Value::Pattern(escaped))
    }
}

/// Something that may become any number of words.
pub(super) fn unknown_splitting(why: Why) -> Value {
    Value::Unknown(Unknown {
        prefix: String::new(),
        suffix: String::new(),
        splits: true,
        why,
        from: Vec::new(),
    })
}
