//! What is known of the shell's memory at a point of the text: variables, functions, directory, options.
//!
//! Every change is journaled, so that a branch, a subshell or a loop can be undone or joined at the cost of what
//! it changed rather than of all that is known.

use std::borrow::Cow;

use crate::syntax::Function;
use crate::{Unknown, Value, Why};

/// How many names are followed at most.
const MAX_NAMES: usize = 128;
/// How many alternatives are kept for one value.
const MAX_ALTERNATIVES: usize = 16;

/// What a name stands for.
#[derive(Debug, Clone)]
pub(super) enum Binding<'t, 'a> {
    /// Whatever it was before the text ran.
    Outside,
    /// Certainly not set.
    Unset,
    /// Certainly set, to this.
    Set(Value),
    /// An array, or the positional parameters, with these elements.
    Array(Vec<Value>),
    /// Anything.
    Lost,
    /// A function of the text.
    Function(&'t Function<'a>),
}

impl PartialEq for Binding<'_, '_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Outside, Self::Outside) | (Self::Unset, Self::Unset) | (Self::Lost, Self::Lost) => true,
            (Self::Set(a), Self::Set(b)) => a == b,
            (Self::Array(a), Self::Array(b)) => a == b,
            (Self::Function(a), Self::Function(b)) => a.number == b.number,
            _ => false,
        }
    }
}

impl Binding<'_, '_> {
    /// What holds where either may hold.
    pub(super) fn join(self, other: Self) -> Self {
        if self == other {
            return self;
        }
        let (Self::Set(first), Self::Set(second)) = (self, other) else { return Self::Lost };
        let mut all = Vec::new();
        for value in [first, second] {
            match value {
                Value::OneOf(members) => all.extend(members),
                Value::Text(_) | Value::Pattern(_) => all.push(value),
                Value::Process { .. } | Value::Unknown(_) => return Self::Lost,
            }
        }
        let mut unique: Vec<Value> = Vec::with_capacity(all.len());
        for value in all {
            if !unique.contains(&value) {
                unique.push(value);
            }
        }
        if unique.len() > MAX_ALTERNATIVES {
            return Self::Lost;
        }
        Self::Set(Value::OneOf(unique))
    }
}

impl<'t, 'a> Binding<'t, 'a> {
    /// The same for directories: one that is not known stands beside those that are.
    pub(super) fn join_directory(self, other: Self) -> Self {
        if self == other {
            return self;
        }
        let mut known: Vec<Value> = Vec::new();
        let mut open = false;
        for binding in [self, other] {
            let members = match binding {
                Self::Set(Value::OneOf(members)) => members,
                Self::Set(value) => vec![value],
                Self::Lost => Vec::from([unknown(Why::Variable("PWD".into()))]),
                Self::Outside | Self::Unset | Self::Array(_) | Self::Function(_) => return Self::Lost,
            };
            for member in members {
                match member {
                    Value::Text(_) | Value::Pattern(_) if known.contains(&member) => {}
                    Value::Text(_) | Value::Pattern(_) if known.len() < MAX_ALTERNATIVES => {
                        known.push(member)
                    }
                    _ => open = true,
                }
            }
        }
        if known.is_empty() {
            return Self::Lost;
        }
        if open {
            known.push(unknown(Why::Variable("PWD".into())));
        }
        Self::Set(Value::OneOf(known))
    }
}

/// What a slot is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Key<'a> {
    /// A variable.
    Variable(Cow<'a, str>),
    /// A function.
    Function(Cow<'a, str>),
    /// The working directory.
    Directory,
    /// The one before it.
    Previous,
    /// `$1`, `$2`, …
    Arguments,
    /// Unset while patterns are expanded as usual.
    Patterns,
    /// Set while a failing command ends the shell.
    Exits,
    /// Set when variables that the text did not name may have changed.
    Everything,
}

#[derive(Debug, Default)]
pub(super) struct State<'t, 'a> {
    slots: Vec<(Key<'a>, Binding<'t, 'a>)>,
    journal: Vec<(usize, Binding<'t, 'a>)>,
    pub(super) full: bool,
}

/// A place in the journal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark(usize);

/// What a branch changed.
pub(super) type Changes<'t, 'a> = Vec<(usize, Binding<'t, 'a>)>;

impl<'t, 'a> State<'t, 'a> {
    fn find(&self, wanted: &Key<'_>) -> Option<usize> {
        self.slots.iter().position(|(key, _)| key == wanted)
    }

    pub(super) fn get(&self, key: &Key<'_>) -> &Binding<'t, 'a> {
        self.slots.iter().find(|(found, _)| found == key).map_or(&Binding::Outside, |(_, binding)| binding)
    }

    pub(super) fn variable(&self, name: &str) -> &Binding<'t, 'a> {
        let found = self.slots.iter().find(|(key, _)| matches!(key, Key::Variable(known) if known == name));
        match found {
            Some((_, binding)) => binding,
            None if self.lost_all() => &Binding::Lost,
            None => &Binding::Outside,
        }
    }

    pub(super) fn function(&self, name: &str) -> &Binding<'t, 'a> {
        let found = self.slots.iter().find(|(key, _)| matches!(key, Key::Function(known) if known == name));
        found.map_or(&Binding::Outside, |(_, binding)| binding)
    }

    pub(super) fn lost_all(&self) -> bool {
        !self.slots.is_empty() && !matches!(self.get(&Key::Everything), Binding::Outside)
    }

    pub(super) fn set(&mut self, key: Key<'a>, binding: Binding<'t, 'a>) {
        match self.find(&key) {
            Some(index) => self.put(index, binding),
            None => {
                if self.slots.len() >= MAX_NAMES {
                    self.full = true;
                    return;
                }
                let before = match &key {
                    Key::Variable(_) if self.lost_all() => Binding::Lost,
                    _ => Binding::Outside,
                };
                self.slots.push((key, before));
                self.put(self.slots.len() - 1, binding);
            }
        }
    }

    fn put(&mut self, index: usize, binding: Binding<'t, 'a>) {
        if let Some((_, place)) = self.slots.get_mut(index)
            && *place != binding
        {
            let old = std::mem::replace(place, binding);
            self.journal.push((index, old));
        }
    }

    /// Forgets every variable.
    pub(super) fn lose_variables(&mut self) {
        for index in 0..self.slots.len() {
            if matches!(self.slots.get(index), Some((Key::Variable(_) | Key::Arguments, _))) {
                self.put(index, Binding::Lost);
            }
        }
        self.set(Key::Everything, Binding::Unset);
        self.set(Key::Arguments, Binding::Lost);
    }

    pub(super) fn mark(&self) -> Mark {
        Mark(self.journal.len())
    }

    /// Undoes everything since the mark.
    pub(super) fn rollback(&mut self, mark: Mark) {
        while self.journal.len() > mark.0 {
            if let Some((index, old)) = self.journal.pop()
                && let Some((_, place)) = self.slots.get_mut(index)
            {
                *place = old;
            }
        }
    }

    /// Undoes everything since the mark, and returns what the changed slots held at the end.
    pub(super) fn take(&mut self, mark: Mark) -> Changes<'t, 'a> {
        let mut indexes: Vec<usize> = self.journal.iter().skip(mark.0).map(|(index, _)| *index).collect();
        indexes.sort_unstable();
        indexes.dedup();
        let changes =
            indexes.into_iter().filter_map(|index| Some((index, self.slots.get(index)?.1.clone()))).collect();
        self.rollback(mark);
        changes
    }

    /// Goes on where any of several branches may have run: what each changed, and whether none may have run.
    pub(super) fn join(&mut self, branches: &[Changes<'t, 'a>], or_none: bool) {
        let mut indexes: Vec<usize> = branches.iter().flatten().map(|(index, _)| *index).collect();
        indexes.sort_unstable();
        indexes.dedup();
        for index in indexes {
            let Some((key, present)) = self.slots.get(index) else { continue };
            let directory = *key == Key::Directory;
            let present = present.clone();
            let mut joined = or_none.then(|| present.clone());
            for branch in branches {
                let found =
                    branch.binary_search_by_key(&index, |(at, _)| *at).ok().and_then(|at| branch.get(at));
                let value = found.map_or_else(|| present.clone(), |(_, binding)| binding.clone());
                joined = Some(match joined {
                    Some(so_far) if directory => so_far.join_directory(value),
                    Some(so_far) => so_far.join(value),
                    None => value,
                });
            }
            self.put(index, joined.unwrap_or(Binding::Lost));
        }
    }

    /// Goes on where what happened since the mark may have stopped at any point.
    pub(super) fn maybe(&mut self, mark: Mark) {
        let past: Vec<(usize, Binding<'t, 'a>)> = self.journal.iter().skip(mark.0).cloned().collect();
        for (index, old) in past {
            let Some((key, present)) = self.slots.get(index) else { continue };
            let present = present.clone();
            let joined = if *key == Key::Directory { present.join_directory(old) } else { present.join(old) };
            self.put(index, joined);
        }
    }

    /// Forgets what changed since the mark; says whether anything had.
    pub(super) fn widen(&mut self, mark: Mark) -> bool {
        let changes = self.take(mark);
        let mut any = false;
        for (index, binding) in changes {
            let before = self.slots.get(index).map(|(_, present)| present.clone());
            if before.as_ref() != Some(&binding) {
                any = true;
                let widened = match (self.slots.get(index), before) {
                    // Where it was stays possible; where else it may be is anywhere.
                    (Some((Key::Directory, _)), Some(before)) => before.join_directory(Binding::Lost),
                    _ => Binding::Lost,
                };
                self.put(index, widened);
            }
        }
        any
    }

    /// Whether something that was known at the mark has become something else.
    pub(super) fn differs(&self, mark: Mark) -> bool {
        let mut seen: Vec<usize> = Vec::new();
        for (index, old) in self.journal.iter().skip(mark.0) {
            if seen.contains(index) {
                continue;
            }
            seen.push(*index);
            let Some((key, present)) = self.slots.get(*index) else { continue };
            let within = match (old, present) {
                // A directory that may be anywhere cannot become another one.
                (Binding::Set(Value::OneOf(members)), _)
                    if *key == Key::Directory
                        && members.iter().any(|member| matches!(member, Value::Unknown(_))) =>
                {
                    true
                }
                (Binding::Set(Value::OneOf(members)), Binding::Set(value)) => members.contains(value),
                _ => false,
            };
            if *old != Binding::Lost && old != present && !within {
                return true;
            }
        }
        false
    }

    /// Whether anything has changed since the mark.
    pub(super) fn changed(&self, mark: Mark) -> bool {
        self.journal.len() > mark.0
    }

    /// Whether the text defines any function.
    pub(super) fn has_functions(&self) -> bool {
        self.slots
            .iter()
            .any(|(key, binding)| matches!(key, Key::Function(_)) && *binding != Binding::Outside)
    }
}

/// A text of which nothing is known.
pub(super) fn unknown(why: Why) -> Value {
    Value::Unknown(Unknown {
        prefix: String::new(),
        suffix: String::new(),
        splits: false,
        why,
        from: Vec::new(),
    })
}
