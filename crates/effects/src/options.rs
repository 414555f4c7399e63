//! A command line taken apart the way its program would take it apart.

use crate::arg::Arg;
use crate::knowledge::{Action, Choice, Node, Operands, Role, Slot, Style, Takes};

/// A command line in parts.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    /// The program's block, then the subcommands' blocks.
    pub(crate) nodes: Vec<&'static Node>,
    /// The subcommands' names.
    pub(crate) subs: Vec<Arg<'a>>,
    /// Options with their values, in order.
    pub(crate) options: Vec<Set<'a>>,
    /// What is left.
    pub(crate) operands: Vec<Arg<'a>>,
    /// After an option whose value starts a command: what follows that value.
    pub(crate) tail: Vec<Arg<'a>>,
    /// Options that the knowledge does not list.
    pub(crate) unlisted: Vec<String>,
    /// Options that are accepted without being listed.
    pub(crate) accepted: Vec<String>,
    /// Why it could not be taken apart with certainty.
    pub(crate) hazy: Option<&'static str>,
    /// A subcommand that the knowledge does not list, or none where one is needed.
    pub(crate) stray: Option<String>,
    /// The words as they came, for arguments that are a language of their own.
    pub(crate) words: Vec<Arg<'a>>,
    /// What the operands are, where an option changed that.
    changed: Option<&'static Operands<'static>>,
}

/// An option that is given.
#[derive(Debug, Clone)]
pub(crate) struct Set<'a> {
    pub(crate) choice: &'static Choice<'static>,
    pub(crate) value: Option<Arg<'a>>,
}

/// The most letters of one cluster, and the most options before one, that are looked at.
const MOST: usize = 1024;

impl<'a> Line<'a> {
    /// Takes a program's words (without its name) apart.
    pub(crate) fn read(node: &'static Node, words: &[Arg<'a>]) -> Line<'a> {
        let mut line = Line {
            nodes: vec![node],
            subs: Vec::new(),
            options: Vec::new(),
            operands: Vec::new(),
            tail: Vec::new(),
            unlisted: Vec::new(),
            accepted: Vec::new(),
            hazy: None,
            stray: None,
            words: Vec::new(),
            changed: None,
        };
        line.take(words);
        line
    }

    /// Keeps the words where a special reading wants them.
    pub(crate) fn with_words(mut self, words: &[Arg<'a>]) -> Self {
        if self.nodes.iter().any(|node| node.block.special.is_some()) {
            self.words = words.to_vec();
        }
        self
    }

    /// What the operands are.
    pub(crate) fn roles(&self) -> Option<&'static Operands<'static>> {
        self.changed.or_else(|| self.nodes.iter().rev().find_map(|node| node.block.operands.as_ref()))
    }

    /// The innermost block that answers.
    pub(crate) fn innermost<T>(&self, answer: impl Fn(&'static Node) -> Option<T>) -> Option<T> {
        self.nodes.iter().rev().find_map(|node| answer(node))
    }

    fn take(&mut self, words: &[Arg<'a>]) {
        let mut style = self.nodes.last().and_then(|node| node.block.style).unwrap_or_default();
        let mut ended = style == Style::Bare;
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            if !ended {
                if word.text() == Some("--") || word.text() == Some("-") && self.is_shell() {
                    ended = true;
                    continue;
                }
                let lead = word.lead();
                if lead.len() > 1 && lead.starts_with('-')
                    || lead.len() > 1 && lead.starts_with('+') && self.has_plus()
                {
                    let before = self.options.len();
                    self.option(word, style, &mut rest);
                    let closing = self
                        .options
                        .get(before..)
                        .unwrap_or_default()
                        .iter()
                        .any(|set| set.choice.actions.iter().any(|action| matches!(action, Action::End)));
                    ended |= closing;
                    continue;
                }
                self.doubt(word);
            }
            if self.sub(word, &mut style, &mut ended) {
                continue;
            }
            self.operands.push(word.clone());
            if !ended {
                ended = style == Style::Posix || self.belongs_to_another();
            }
        }
        self.finish();
    }

    /// To a shell, a lone dash ends the options; to other programs it is standard input.
    fn is_shell(&self) -> bool {
        self.nodes.first().is_some_and(|node| {
            let first = node.block.operands.as_ref().and_then(|operands| operands.slots.first());
            node.block.input == Some(Role::Shell)
                && first.is_some_and(|slot| matches!(slot.role, Role::Script(_)))
        })
    }

    /// A word that might be an option matters where an option matters.
    fn doubt(&mut self, word: &Arg<'a>) {
        let special = || self.nodes.iter().any(|node| node.block.special.is_some());
        if word.may_be_option() && (self.nodes.iter().any(|node| node.weighty) || special()) {
            self.hazy = Some("a word that is not known may be an option");
        }
        if let Arg::Pattern(pattern) = word
            && pattern.starts_with(['*', '?', '['])
            && self.nodes.iter().any(|node| node.runs)
        {
            self.hazy = Some("a file name may be read as an option that runs something");
        }
    }

    /// Whether this word is a subcommand.
    fn sub(&mut self, word: &Arg<'a>, style: &mut Style, ended: &mut bool) -> bool {
        let Some(node) = self.nodes.last().copied().filter(|node| !node.block.branches.is_empty()) else {
            return false;
        };
        if !self.operands.is_empty() || self.stray.is_some() {
            return false;
        }
        let found = word.text().filter(|name| *name != "-").map(|name| node.branch(name));
        match found {
            Some(Some(branch)) => {
                self.nodes.push(branch);
                self.subs.push(word.clone());
                let outer = if *style == Style::Posix { Style::Gnu } else { *style };
                *style = branch.block.style.unwrap_or(outer);
                *ended = *style == Style::Bare;
                true
            }
            Some(None) | None if node.block.operands.is_some() => {
                if found.is_none() && word.text().is_none() {
                    self.hazy = Some("a subcommand that is not known");
                }
                false
            }
            Some(None) => {
                self.stray = word.text().map(|name| format!("`{name}` is not a subcommand that is known"));
                false
            }
            None => {
                self.stray = Some("a subcommand that is not known".into());
                false
            }
        }
    }

    fn finish(&mut self) {
        let Some(node) = self.nodes.last().copied().filter(|node| !node.block.branches.is_empty()) else {
            return;
        };
        if !self.operands.is_empty() {
            return;
        }
        if let Some(branch) = node.branch("-") {
            self.nodes.push(branch);
        } else if node.block.operands.is_none() && self.changed.is_none() {
            self.stray = Some("no subcommand is given".into());
        }
    }

    /// Whether the last operand starts a command or names a script, to which what follows belongs.
    fn belongs_to_another(&self) -> bool {
        let Some(roles) = self.roles() else { return false };
        let slot = slot_at(&roles.slots, &self.operands, self.operands.len().saturating_sub(1));
        slot.is_some_and(|slot| {
            matches!(slot.role, Role::Command | Role::Elsewhere | Role::Script(_) | Role::Module)
        })
    }

    fn option(&mut self, word: &Arg<'a>, style: Style, rest: &mut std::slice::Iter<'_, Arg<'a>>) {
        if self.options.len().max(self.unlisted.len()) > MOST {
            self.hazy = Some("more options than are looked at");
            return;
        }
        let lead = word.lead();
        if let Some(choice) = self.find("+").filter(|_| lead.starts_with('+')) {
            self.set(choice, Some(word.after(1)), rest);
            return;
        }
        let long = lead.starts_with("--");
        if style == Style::Single || long {
            self.named(word, style, rest);
        } else if let Some(choice) = self.find(lead).filter(|_| lead.len() > 2 && word.is_certain()) {
            self.set(choice, None, rest);
        } else {
            self.cluster(word, style, rest);
        }
    }

    /// `--long`, `--long=value`; with one dash in the style `single`.
    fn named(&mut self, word: &Arg<'a>, style: Style, rest: &mut std::slice::Iter<'_, Arg<'a>>) {
        let lead = word.lead();
        let (name, value) = match lead.find('=') {
            Some(at) => (lead.get(..at).unwrap_or_default(), Some(word.after(at + 1))),
            None if word.is_certain() => (lead, None),
            None => {
                self.hazy = Some("an option that is not known");
                return;
            }
        };
        match self.search(name, style) {
            Search::Found(choice) => self.set(choice, value, rest),
            Search::Several => self.unlisted.push(name.to_owned()),
            Search::None if style == Style::Single && self.is_number(name) => {}
            Search::None if style == Style::Lenient => self.accepted.push(name.to_owned()),
            Search::None => self.unlisted.push(name.to_owned()),
        }
    }

    /// `-abc`, `-ofile`.
    fn cluster(&mut self, word: &Arg<'a>, style: Style, rest: &mut std::slice::Iter<'_, Arg<'a>>) {
        let lead = word.lead();
        let sign = if lead.starts_with('+') { '+' } else { '-' };
        for (at, letter) in lead.char_indices().skip(1) {
            let end = at + letter.len_utf8();
            let Some(choice) = self.find_letter(sign, letter) else {
                if self.is_number(lead.get(at - 1..).filter(|_| at == 1).unwrap_or(lead)) {
                    return;
                }
                if style == Style::Lenient {
                    self.accepted.push(lead.to_owned());
                } else {
                    self.unlisted.push(format!("-{letter}"));
                }
                return;
            };
            if at > MOST {
                self.hazy = Some("more options than are looked at");
                return;
            }
            match choice.takes {
                Takes::Nothing => self.options.push(Set { choice, value: None }),
                Takes::Attached => {
                    let value = word.after(end);
                    self.set(choice, Some(value).filter(|_| end < lead.len() || !word.is_certain()), rest);
                    return;
                }
                Takes::Values(_) => {
                    if end < lead.len() {
                        self.set(choice, Some(word.after(end)), rest);
                    } else if word.is_certain() {
                        self.set(choice, None, rest);
                    } else {
                        // The value is attached, or, where that is empty, the next word.
                        self.hazy = Some("an option's value that is not known");
                        self.set(choice, Some(word.after(end)), rest);
                    }
                    return;
                }
            }
            self.note(choice);
        }
        if !word.is_certain() {
            self.hazy = Some("an option that is not known");
        }
    }

    fn set(
        &mut self,
        choice: &'static Choice<'static>,
        value: Option<Arg<'a>>,
        rest: &mut std::slice::Iter<'_, Arg<'a>>,
    ) {
        let with = |value: Option<&Arg<'a>>| self.valued(choice, value?.text()?);
        let exact = match (&value, choice.takes) {
            (Some(_), _) => with(value.as_ref()),
            (None, Takes::Values(1)) => with(rest.as_slice().first()),
            (None, _) => None,
        };
        if let Some(exact) = exact {
            if value.is_none() {
                rest.next();
            }
            self.options.push(Set { choice: exact, value: None });
            self.note(exact);
            return;
        }
        let value = match (choice.takes, value) {
            (Takes::Nothing, None) => None,
            (Takes::Nothing, Some(_)) => {
                self.unlisted.push(format!("{} with a value", choice.canonical));
                return;
            }
            (Takes::Attached, value) => value,
            (Takes::Values(count), value) => {
                let missing = if value.is_some() { count.saturating_sub(1) } else { count };
                let mut last = value;
                for _ in 0..missing {
                    last = rest.next().cloned().or(last);
                }
                last
            }
        };
        if let Some(Arg::Hazy(hazy)) = &value
            && hazy.splits
            && (self.nodes.iter().any(|node| node.weighty))
        {
            self.hazy = Some("a word that is not known may be an option");
        }
        let takes_rest = choice
            .actions
            .iter()
            .any(|action| matches!(action, Action::Value(Role::Command | Role::Elsewhere | Role::Module)));
        self.options.push(Set { choice, value });
        self.note(choice);
        if takes_rest {
            self.tail = rest.cloned().collect();
            *rest = [].iter();
        }
    }

    /// What is listed for just this value of an option: `--dry-run=client`.
    fn valued(&self, choice: &'static Choice<'static>, value: &str) -> Option<&'static Choice<'static>> {
        if !self.nodes.iter().any(|node| node.valued) {
            return None;
        }
        self.find_by(|known| {
            known.split_once('=').is_some_and(|(option, wanted)| {
                wanted == value && self.find(option).is_some_and(|found| std::ptr::eq(found, choice))
            })
        })
    }

    /// What an option changes about the operands.
    fn note(&mut self, choice: &'static Choice<'static>) {
        for action in &choice.actions {
            if let Action::Operands(operands) = action {
                self.changed = Some(operands);
            }
        }
    }

    fn is_number(&self, text: &str) -> bool {
        let digits = text.trim_start_matches('-');
        self.nodes.iter().any(|node| node.block.numbers)
            && !digits.is_empty()
            && digits.bytes().all(|byte| byte.is_ascii_digit())
    }

    fn find(&self, spelling: &str) -> Option<&'static Choice<'static>> {
        self.find_by(|known| known == spelling)
    }

    fn has_plus(&self) -> bool {
        self.nodes.iter().any(|node| node.plus)
    }

    fn find_letter(&self, sign: char, letter: char) -> Option<&'static Choice<'static>> {
        self.find_by(|known| {
            let mut letters = known.chars();
            letters.next() == Some(sign) && letters.next() == Some(letter) && letters.next().is_none()
        })
    }

    fn find_by(&self, fits: impl Fn(&str) -> bool) -> Option<&'static Choice<'static>> {
        self.innermost(|node| {
            let (_, number) = node.block.spellings.iter().find(|(known, _)| fits(known))?;
            node.block.choices.get(usize::from(*number))
        })
    }

    /// An option by its name: exactly, else by a beginning that only one has.
    fn search(&self, name: &str, style: Style) -> Search {
        if style == Style::Single {
            let bare = name.trim_start_matches('-');
            return match self.find_by(|known| known.trim_start_matches('-') == bare) {
                Some(choice) => Search::Found(choice),
                None => Search::None,
            };
        }
        if let Some(choice) = self.find(name) {
            return Search::Found(choice);
        }
        let mut found: Option<&'static Choice<'static>> = None;
        for node in self.nodes.iter().rev() {
            for (known, number) in &node.block.spellings {
                if !(known.starts_with("--") && known.starts_with(name))
                    || name.len() < 3
                    || known.contains('=')
                {
                    continue;
                }
                let Some(choice) = node.block.choices.get(usize::from(*number)) else { continue };
                if style == Style::Lenient && choice.actions.is_empty() {
                    continue;
                }
                match found {
                    Some(other) if !std::ptr::eq(other, choice) => return Search::Several,
                    _ => found = Some(choice),
                }
            }
        }
        found.map_or(Search::None, Search::Found)
    }
}

enum Search {
    Found(&'static Choice<'static>),
    Several,
    None,
}

/// `NAME=…`
pub(crate) fn is_assignment(word: &Arg<'_>) -> bool {
    word.lead().split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|first: char| first.is_ascii_digit())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// The slots that operands from this place on may fall into, where one of them may be any number of words.
pub(crate) fn slots_from<'s>(slots: &'s [Slot<'static>], place: usize) -> &'s [Slot<'static>] {
    let fixed = slots.iter().position(|slot| slot.repeats).unwrap_or(slots.len());
    slots.get(place.min(fixed)..).unwrap_or_default()
}

/// The slot that the operand at this place falls into. Roles after one that repeats are counted from the end;
/// assignments are taken as long as they look like it.
pub(crate) fn slot_at<'s>(
    slots: &'s [Slot<'static>],
    operands: &[Arg<'_>],
    place: usize,
) -> Option<&'s Slot<'static>> {
    let mut skipped = 0;
    let mut slots = slots;
    if let Some((first, after)) = slots.split_first()
        && first.repeats
        && first.role == Role::Env
    {
        let assignments = operands.iter().take_while(|word| is_assignment(word)).count();
        if place < assignments || after.is_empty() {
            return Some(first);
        }
        skipped = assignments;
        slots = after;
    }
    let place = place - skipped;
    let count = operands.len() - skipped;
    let Some(repeat) = slots.iter().position(|slot| slot.repeats) else {
        return slots
            .get(place)
            .or_else(|| slots.last().filter(|slot| matches!(slot.role, Role::Command | Role::Elsewhere)));
    };
    let needed_after = slots.len() - repeat - 1;
    if place < repeat && (place + needed_after < count || needed_after == 0) {
        return slots.get(place);
    }
    let from_end = count - place;
    if from_end <= needed_after {
        return slots.get(slots.len() - from_end);
    }
    slots.get(repeat)
}
