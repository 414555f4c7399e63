//! Compound commands: branches are joined, loops are looked at until nothing new is learnt, functions are kept.

use super::simple::Redirected;
use super::state::{Binding, Key, unknown};
use super::{Flow, Folder, refuse};
use crate::parse::Read;
use crate::syntax::{Arm, Compound, Function, Kind, List, Word};
use crate::{Assignment, Value, Why};

impl<'t, 'a> Folder<'t, 'a> {
    pub(super) fn compound(&mut self, compound: &'t Compound<'a>) -> Read<Flow> {
        if let Kind::Function(function) = &compound.kind {
            self.define(function);
            return self.full(compound);
        }
        let redirected =
            if compound.redirects.is_empty() { None } else { Some(self.redirected(&compound.redirects)?) };
        self.around(redirected, |folder| folder.inside(compound))
    }

    /// Runs something with redirections around it.
    pub(super) fn around(
        &mut self,
        redirected: Option<Redirected>,
        inner: impl FnOnce(&mut Self) -> Read<Flow>,
    ) -> Read<Flow> {
        let (redirects, inputs) = (self.redirects.len(), self.inputs.len());
        if let Some(redirected) = redirected {
            // The nearest come first in a command, so they are kept from the outermost to the nearest, backwards.
            self.redirects.extend(redirected.redirects.into_iter().rev());
            self.inputs.extend(redirected.inputs.into_iter().rev());
        }
        let flow = inner(self);
        self.redirects.truncate(redirects);
        self.inputs.truncate(inputs);
        flow
    }

    fn inside(&mut self, compound: &'t Compound<'a>) -> Read<Flow> {
        match &compound.kind {
            Kind::Subshell(list) => {
                let mark = self.state.mark();
                self.apart(|folder| folder.list(list))?;
                self.state.rollback(mark);
                Ok(Flow::On)
            }
            Kind::Group(list) => {
                let flow = self.list(list)?;
                Ok(flow)
            }
            Kind::If(branches, otherwise) => self.conditional(branches, otherwise.as_ref()),
            Kind::For { name, words, body, select } => {
                self.over(compound, name, words.as_deref(), body, *select)
            }
            Kind::Count(heads, body) => {
                for head in heads {
                    self.arithmetic(head)?;
                }
                self.repeated(compound, |folder| {
                    folder.list(body)?;
                    for head in heads {
                        folder.arithmetic(head)?;
                    }
                    Ok(())
                })
            }
            Kind::While(condition, body) => self.repeated(compound, |folder| {
                folder.list(condition)?;
                folder.list(body)?;
                Ok(())
            }),
            Kind::Case(word, arms) => self.case(word, arms),
            Kind::Function(_) => Ok(Flow::On),
            Kind::Test(words) => {
                self.test(compound, words)?;
                Ok(Flow::On)
            }
            Kind::Arithmetic(arithmetic) => {
                self.arithmetic(arithmetic)?;
                let mark = Value::Text("((".into());
                self.emit(
                    compound.span,
                    Vec::new(),
                    vec![crate::Word { value: mark, span: compound.span }],
                    None,
                )?;
                Ok(Flow::On)
            }
        }
    }

    /// Runs something that may not run, or may run more than once.
    pub(super) fn perhaps<T>(&mut self, inner: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        let conditional = self.standing.conditional;
        self.standing.conditional = true;
        let branches = self.branches;
        self.branches = branches + 1;
        let result = inner(self);
        // Put back, not counted down: a refusal inside a function leaves the function's own count behind.
        self.branches = branches;
        self.standing.conditional = conditional;
        self.failed = None;
        result
    }

    fn conditional(
        &mut self,
        branches: &'t [(List<'a>, List<'a>)],
        otherwise: Option<&'t List<'a>>,
    ) -> Read<Flow> {
        let mut ends = Vec::new();
        let mut exits = true;
        for (index, (condition, body)) in branches.iter().enumerate() {
            // The first condition always runs; the later ones only after the earlier failed.
            if index == 0 {
                self.branches += 1;
                self.list(condition)?;
                self.branches -= 1;
            } else {
                let mark = self.state.mark();
                self.perhaps(|folder| folder.list(condition))?;
                self.state.maybe(mark);
            }
            let mark = self.state.mark();
            let flow = self.perhaps(|folder| folder.list(body))?;
            let changes = self.state.take(mark);
            if flow != Flow::Exits {
                exits = false;
                ends.push(changes);
            }
        }
        if let Some(body) = otherwise {
            let mark = self.state.mark();
            let flow = self.perhaps(|folder| folder.list(body))?;
            let changes = self.state.take(mark);
            if flow != Flow::Exits {
                exits = false;
                ends.push(changes);
            }
            self.state.join(&ends, exits);
        } else {
            self.state.join(&ends, true);
            exits = false;
        }
        Ok(if exits { Flow::Exits } else { Flow::On })
    }

    fn case(&mut self, word: &'t Word<'a>, arms: &'t [Arm<'a>]) -> Read<Flow> {
        self.single(word)?;
        let mut ends = Vec::new();
        let falls = arms.iter().any(|arm| arm.falls);
        for arm in arms {
            self.perhaps(|folder| {
                for pattern in &arm.patterns {
                    folder.single(pattern)?;
                }
                Ok(())
            })?;
            let mark = self.state.mark();
            let flow = self.perhaps(|folder| folder.list(&arm.body))?;
            if falls {
                self.state.maybe(mark);
                continue;
            }
            let changes = self.state.take(mark);
            if flow != Flow::Exits {
                ends.push(changes);
            }
        }
        self.state.join(&ends, true);
        Ok(Flow::On)
    }

    fn over(
        &mut self,
        compound: &'t Compound<'a>,
        name: &'a str,
        words: Option<&'t [Word<'a>]>,
        body: &'t List<'a>,
        select: bool,
    ) -> Read<Flow> {
        let mut values = Vec::new();
        match words {
            Some(words) => {
                for word in words {
                    self.expand(word, &mut values)?;
                }
            }
            None => values.extend(self.arguments(compound.span)),
        }
        let value = if select { unknown(Why::Variable(name.to_owned())) } else { loop_value(name, values) };
        self.assignable(name, compound.span)?;
        // Variables that mean something to other programs are hardly ever in small letters; those of loops are.
        if name.bytes().any(|byte| byte.is_ascii_uppercase() || byte == b'_') {
            let assignment = Assignment {
                name: name.to_owned(),
                value: value.clone(),
                appends: false,
                span: compound.span,
            };
            self.emit(compound.span, vec![assignment], Vec::new(), None)?;
        }
        let entry = self.state.mark();
        self.bind(name, Binding::Set(value.clone()));
        let flow = self.repeated(compound, |folder| {
            folder.bind(name, Binding::Set(value.clone()));
            folder.list(body)?;
            Ok(())
        })?;
        if select {
            self.bind("REPLY", Binding::Lost);
        }
        self.state.maybe(entry);
        Ok(flow)
    }

    /// Follows a loop's body until a further round would change nothing.
    fn repeated(&mut self, compound: &'t Compound<'a>, round: impl Fn(&mut Self) -> Read<()>) -> Read<Flow> {
        self.loops += 1;
        let repeated = std::mem::replace(&mut self.standing.repeated, true);
        let commands = self.program.commands.len();
        let direct = self.direct.len();
        let called = if self.called.is_empty() { Vec::new() } else { self.called.clone() };
        let mut rounds = 0;
        loop {
            let mark = self.state.mark();
            self.perhaps(|folder| round(folder))?;
            // What a round left must be what it found, or the next would run differently.
            if !self.state.differs(mark) {
                self.state.maybe(mark);
                break;
            }
            if rounds == 8 {
                return refuse(compound.span, "a loop whose effect on variables is not settled");
            }
            self.state.widen(mark);
            self.program.commands.truncate(commands);
            self.direct.truncate(direct);
            self.called.clone_from(&called);
            rounds += 1;
        }
        self.standing.repeated = repeated;
        self.loops -= 1;
        Ok(Flow::On)
    }

    fn define(&mut self, function: &'t Function<'a>) {
        self.defined.push(function);
        self.state.set(Key::Function(function.name.into()), Binding::Function(function));
    }

    fn full(&self, compound: &Compound<'_>) -> Read<Flow> {
        if self.state.full {
            return refuse(compound.span, "more variables and functions than are followed");
        }
        Ok(Flow::On)
    }

    /// Lists the bodies of functions that were never called, and of those that are defined in them.
    pub(super) fn uncalled(&mut self) -> Read<()> {
        let mut next = 0;
        while let Some(&function) = self.defined.get(next) {
            next += 1;
            match self.called.get_mut(function.number) {
                Some(called) if !*called => *called = true,
                _ => continue,
            }
            let mark = self.state.mark();
            let standing = self.standing;
            self.state.lose_variables();
            self.state.set(Key::Directory, Binding::Lost);
            self.state.set(Key::Previous, Binding::Lost);
            self.standing.uncalled = true;
            self.standing.conditional = true;
            self.calls.push(function.number);
            self.locals.push(Vec::new());
            self.direct.clear();
            self.perhaps(|folder| folder.compound(&function.body))?;
            self.locals.pop();
            self.calls.pop();
            self.standing = standing;
            self.state.rollback(mark);
        }
        Ok(())
    }

    fn test(&mut self, compound: &'t Compound<'a>, words: &'t [Word<'a>]) -> Read<()> {
        let mut values = vec![crate::Word { value: Value::Text("[[".into()), span: compound.span }];
        for word in words {
            let value = self.single(word)?;
            if let Value::Text(text) = &value
                && text.contains('[')
                && text.contains(['$', '`'])
            {
                return refuse(word.span, "a subscript that the shell would evaluate");
            }
            values.push(crate::Word { value, span: word.span });
        }
        // Where numbers are compared, both sides are arithmetic; and `-v name[…]` evaluates what is in the brackets.
        for (place, word) in values.iter().enumerate() {
            let Value::Text(sign) = &word.value else { continue };
            if sign == "-v"
                && let Some(asked) = values.get(place + 1)
            {
                self.evaluated(asked, asked.span)?;
            }
            let before = place.checked_sub(1);
            let sides = match sign.as_str() {
                "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" => [before, Some(place + 1)],
                _ => continue,
            };
            for side in sides.into_iter().flatten().filter_map(|side| values.get(side)) {
                if let Value::Text(text) = &side.value {
                    self.safe_names(text, side.span, 0)?;
                }
            }
        }
        self.emit(compound.span, Vec::new(), values, None)?;
        self.bind("BASH_REMATCH", Binding::Lost);
        Ok(())
    }
}

/// What a loop's variable is bound to.
fn loop_value(name: &str, words: Vec<crate::Word>) -> Value {
    let mut members: Vec<Value> = Vec::new();
    for word in words {
        match word.value {
            Value::OneOf(inner) => members.extend(inner),
            Value::Unknown(mut inner) => {
                inner.splits = false;
                return unknown_from(name, inner.from);
            }
            value => members.push(value),
        }
        if members.len() > 64 {
            return unknown(Why::Variable(name.to_owned()));
        }
    }
    members.dedup();
    match (members.len(), members.pop()) {
        (1, Some(only)) => only,
        (_, Some(last)) => {
            members.push(last);
            if members.len() > 16 || members.iter().any(|member| matches!(member, Value::Process { .. })) {
                return unknown(Why::Variable(name.to_owned()));
            }
            Value::OneOf(members)
        }
        (_, None) => unknown(Why::Variable(name.to_owned())),
    }
}

fn unknown_from(name: &str, from: Vec<crate::CommandId>) -> Value {
    Value::Unknown(crate::Unknown {
        prefix: String::new(),
        suffix: String::new(),
        splits: false,
        why: Why::Variable(name.to_owned()),
        from,
    })
}
