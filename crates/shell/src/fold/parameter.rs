//! `${…}` forms over constants; everything else stays unknown, and the commands inside are followed.

use super::draft::Fields;
use super::expand::{Mode, QUOTED, Seen, sources};
use super::pattern::{self, Element};
use super::state::{Binding, unknown};
use super::{Folder, refuse};
use crate::parse::Read;
use crate::syntax::{Form, Parameter, Part};
use crate::{Span, Unknown, Value, Why};

impl<'t, 'a> Folder<'t, 'a> {
    pub(super) fn parameter(
        &mut self,
        fields: &mut Fields,
        parameter: &'t Parameter<'a>,
        mode: Mode,
        span: Span,
    ) -> Read<()> {
        let splits = mode.splits && !mode.quoted;
        if let Some(subscript) = &parameter.subscript {
            return self.element(fields, parameter, subscript, mode, span);
        }
        let name = parameter.name;
        let seen = if name == "@" || name == "*" { None } else { Some(self.variable(name)) };
        if parameter.indirect {
            if let Some(Seen::Value(Value::Text(text))) = &seen
                && text.contains('[')
            {
                return refuse(span, "a subscript that the shell would evaluate");
            }
            let from = self.operands(&parameter.form, span)?;
            fields.hole(form_unknown("${!…}", from), splits || mode.splits);
            return Ok(());
        }
        let value = match (&parameter.form, seen) {
            (Form::Plain, Some(Seen::Value(value))) => value,
            (Form::Plain, Some(Seen::Unset)) => return Ok(()),
            (Form::Default { operator, colon, word }, Some(seen)) => {
                return self.default(fields, name, (*operator, *colon, word), seen, mode, span);
            }
            (Form::Length, Some(Seen::Value(Value::Text(text)))) if text.is_ascii() => {
                Value::Text(text.len().to_string())
            }
            (Form::Length, Some(Seen::Unset)) => Value::Text("0".into()),
            (Form::Strip { suffix, longest, pattern }, Some(Seen::Value(Value::Text(text)))) => {
                match self.elements(pattern, text.len(), span)? {
                    Ok(elements) => match pattern::strip(&text, &elements, *suffix, *longest) {
                        Some(text) => Value::Text(text),
                        None => form_unknown("${x%…}", Vec::new()),
                    },
                    Err(from) => form_unknown("${x%…}", from),
                }
            }
            (Form::Replace { mode: kind, pattern, with }, Some(Seen::Value(Value::Text(text)))) => {
                let elements = self.elements(pattern, text.len(), span)?;
                let tilde = matches!(with.first(), Some(Part::Literal(text)) if text.starts_with('~'));
                let with = self.one(with, QUOTED, span)?;
                match (elements, with) {
                    (Ok(elements), Value::Text(with)) if !tilde && !with.contains(['&', '\\']) => {
                        match pattern::replace(&text, &elements, &with, *kind) {
                            Some(text) => Value::Text(text),
                            None => form_unknown("${x/…}", Vec::new()),
                        }
                    }
                    (elements, with) => {
                        let mut from = elements.err().unwrap_or_default();
                        from.extend(sources(with));
                        form_unknown("${x/…}", from)
                    }
                }
            }
            (Form::Slice { offset, length }, Some(Seen::Value(Value::Text(text)))) => {
                let offset = self.number(offset, span)?;
                let length = match length {
                    Some(length) => Some(self.number(length, span)?),
                    None => None,
                };
                match slice(&text, offset, length) {
                    Some(text) => Value::Text(text),
                    None => form_unknown("${x:…}", Vec::new()),
                }
            }
            (Form::Case { upper, all, pattern }, Some(Seen::Value(Value::Text(text))))
                if pattern.is_empty() && text.is_ascii() =>
            {
                let whole = if *upper { text.to_ascii_uppercase() } else { text.to_ascii_lowercase() };
                Value::Text(if *all {
                    whole
                } else {
                    let mut first: String = whole.chars().take(1).collect();
                    first.extend(text.chars().skip(1));
                    first
                })
            }
            (
                Form::Strip { .. } | Form::Replace { .. } | Form::Slice { .. } | Form::Case { .. },
                Some(Seen::Unset),
            ) => {
                self.operands(&parameter.form, span)?;
                return Ok(());
            }
            (form, seen) => {
                let mut from = self.operands(form, span)?;
                if let Some(Seen::Value(value)) = seen {
                    from.extend(sources(value));
                }
                let why = match form {
                    Form::Other(which) => Why::Form(which),
                    _ => Why::Variable(name.to_owned()),
                };
                fields.hole(
                    Value::Unknown(Unknown {
                        prefix: String::new(),
                        suffix: String::new(),
                        splits: false,
                        why,
                        from,
                    }),
                    splits || (mode.splits && name == "@"),
                );
                return Ok(());
            }
        };
        self.push_value(fields, value, mode, span)
    }

    /// `${x:-w}` and its kind.
    fn default(
        &mut self,
        fields: &mut Fields,
        name: &'a str,
        (operator, colon, word): (u8, bool, &'t [Part<'a>]),
        seen: Seen,
        mode: Mode,
        span: Span,
    ) -> Read<()> {
        let present = match &seen {
            Seen::Unset => Some(false),
            Seen::Value(Value::Text(text)) => Some(!colon || !text.is_empty()),
            Seen::Value(Value::OneOf(members)) => {
                let filled =
                    members.iter().all(|member| matches!(member, Value::Text(text) if !text.is_empty()));
                if filled || !colon { Some(true) } else { None }
            }
            // A loop's pattern always gives some text.
            Seen::Value(Value::Pattern(_) | Value::Process { .. }) => Some(true),
            Seen::Value(Value::Unknown(_)) => None,
        };
        let inner = Mode { operand: !mode.quoted, ..mode };
        match (present, operator) {
            (Some(true), b'-' | b'=' | b'?') => {
                let Seen::Value(value) = seen else { return Ok(()) };
                self.unreached(word, span)?;
                self.push_value(fields, value, mode, span)
            }
            (Some(false), b'-') | (Some(true), b'+') => self.parts(fields, word, inner, span),
            (Some(false), b'+') => self.unreached(word, span),
            (Some(false), b'=') => {
                let value = self.one(word, Mode { splits: false, ..inner }, span)?;
                self.assignable(name, span)?;
                self.bind(name, Binding::Set(value.clone()));
                self.push_value(fields, value, mode, span)
            }
            _ => {
                let value = self.perhaps(|folder| folder.one(word, Mode { splits: false, ..inner }, span))?;
                if operator == b'=' {
                    self.assignable(name, span)?;
                    self.bind(name, Binding::Lost);
                }
                let mut from = sources(value);
                if let Seen::Value(value) = seen {
                    from.extend(sources(value));
                }
                let why = Why::Variable(name.to_owned());
                let hole = Value::Unknown(Unknown {
                    prefix: String::new(),
                    suffix: String::new(),
                    splits: false,
                    why,
                    from,
                });
                fields.hole(hole, mode.splits && !mode.quoted);
                Ok(())
            }
        }
    }

    /// Follows an operand that will not be used: its commands do not run, but they are listed as ones that might.
    fn unreached(&mut self, word: &'t [Part<'a>], span: Span) -> Read<()> {
        let mark = self.state.mark();
        self.perhaps(|folder| folder.one(word, QUOTED, span))?;
        self.state.rollback(mark);
        Ok(())
    }

    /// Follows the commands in the operands of a form, and returns them.
    fn operands(&mut self, form: &'t Form<'a>, span: Span) -> Read<Vec<crate::CommandId>> {
        let mut from = Vec::new();
        let operands: [Option<&'t [Part<'a>]>; 2] = match form {
            Form::Plain | Form::Length | Form::Other(_) => [None, None],
            Form::Default { word, .. } => [Some(word), None],
            Form::Strip { pattern, .. } | Form::Case { pattern, .. } => [Some(pattern), None],
            Form::Replace { pattern, with, .. } => [Some(pattern), Some(with)],
            Form::Slice { offset, length } => [Some(offset), length.as_deref()],
        };
        for operand in operands.into_iter().flatten() {
            let value = self.perhaps(|folder| folder.one(operand, QUOTED, span))?;
            if let (Form::Slice { .. }, Value::Text(text)) = (form, &value) {
                self.evaluate(text, false, span)?;
            }
            from.extend(sources(value));
        }
        Ok(from)
    }

    /// A pattern operand as elements; where it is not constant, the commands in it.
    fn elements(
        &mut self,
        parts: &'t [Part<'a>],
        length: usize,
        span: Span,
    ) -> Read<Result<Vec<Element>, Vec<crate::CommandId>>> {
        let mut elements = Vec::new();
        let mut certain = true;
        let mut from = Vec::new();
        for part in parts {
            match part {
                Part::Literal(text) => {
                    for met in text.chars() {
                        match met {
                            '*' => elements.push(Element::Many),
                            '?' => elements.push(Element::One),
                            // A tilde may stand for a directory here too.
                            '[' | '~' => certain = false,
                            met => elements.push(Element::Exactly(met)),
                        }
                    }
                }
                Part::Quoted(text) => elements.extend(text.chars().map(Element::Exactly)),
                part => {
                    let quoted = matches!(part, Part::Double(_) | Part::Ansi(_));
                    match self.one(std::slice::from_ref(part), QUOTED, span)? {
                        Value::Text(text) if quoted || !text.contains(['*', '?', '[', '\\']) => {
                            elements.extend(text.chars().map(Element::Exactly));
                        }
                        value => {
                            certain = false;
                            from.extend(sources(value));
                        }
                    }
                }
            }
        }
        let cost = if elements.contains(&Element::Many) { length.saturating_mul(length) } else { length };
        if length > 128 && elements.contains(&Element::Many) || length > 512 {
            certain = false;
        } else {
            self.made(cost, span)?;
        }
        Ok(if certain { Ok(elements) } else { Err(from) })
    }

    fn number(&mut self, parts: &'t [Part<'a>], span: Span) -> Read<Option<i64>> {
        match self.one(parts, QUOTED, span)? {
            Value::Text(text) => match self.evaluate(&text, false, span)? {
                Value::Text(number) => Ok(number.parse().ok()),
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// `${a[…]}`
    fn element(
        &mut self,
        fields: &mut Fields,
        parameter: &'t Parameter<'a>,
        subscript: &'t [Part<'a>],
        mode: Mode,
        span: Span,
    ) -> Read<()> {
        let index = self.subscript(subscript, span)?;
        let mut from = self.operands(&parameter.form, span)?;
        from.extend(sources(index.clone()));
        let all = matches!(&index, Value::Text(text) if text == "@" || text == "*");
        if let (false, Value::Text(index), Binding::Array(values)) =
            (parameter.indirect, &index, self.state.variable(parameter.name).clone())
        {
            match (&parameter.form, all) {
                (Form::Plain, true) => return self.push_list(fields, &values, index, mode, span),
                (Form::Length, true) => {
                    return self.push_value(fields, Value::Text(values.len().to_string()), mode, span);
                }
                (Form::Plain, false)
                    if index.bytes().all(|byte| byte.is_ascii_digit()) && !index.starts_with("00") =>
                {
                    if (index.len() == 1 || !index.starts_with('0'))
                        && let Some(value) = index.parse::<usize>().ok().and_then(|index| values.get(index))
                    {
                        return self.push_value(fields, value.clone(), mode, span);
                    }
                }
                _ => {}
            }
        }
        let splits = mode.splits && (!mode.quoted || all || parameter.indirect);
        fields.hole(form_unknown("an array", from), splits);
        Ok(())
    }
}

fn form_unknown(form: &'static str, from: Vec<crate::CommandId>) -> Value {
    match unknown(Why::Form(form)) {
        Value::Unknown(unknown) => Value::Unknown(Unknown { from, ..unknown }),
        other => other,
    }
}

/// `${x:o:l}` of ASCII text.
fn slice(text: &str, offset: Option<i64>, length: Option<Option<i64>>) -> Option<String> {
    if !text.is_ascii() {
        return None;
    }
    let size = i64::try_from(text.len()).ok()?;
    let offset = offset?;
    let start = if offset < 0 { size + offset } else { offset };
    if start < 0 || start > size {
        return Some(String::new());
    }
    let end = match length {
        None => size,
        Some(length) => {
            let length = length?;
            let end = if length < 0 { size + length } else { (start + length).min(size) };
            if end < start {
                return None;
            }
            end
        }
    };
    Some(text.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)?.to_owned())
}
