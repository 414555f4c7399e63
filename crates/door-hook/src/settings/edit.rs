//! Adding an item to a container in a text, and taking it out again, so that both together change nothing.
//!
//! How an item was added can be seen from the text alone: in a container that was empty before, it stands right behind the
//! opening bracket; in a container that was made for it, there is a blank or a line break between them. So taking it out
//! knows whether the container goes with it.

use serde_json::Value as Json;

use super::jsonc::{Item, Node};

/// A text on its way to another one.
pub(super) struct Form<'a> {
    newline: &'a str,
    unit: String,
}

impl Form<'_> {
    /// How this text breaks lines and indents.
    pub(super) fn of(text: &str) -> Form<'static> {
        let indented = text.lines().find_map(|line| {
            let inner = line.trim_start_matches([' ', '\t']);
            let blank = line.len().saturating_sub(inner.len());
            let starts = inner.starts_with(['"', '{', '[']);
            (blank > 0 && starts).then(|| line.get(..blank).unwrap_or_default().to_owned())
        });
        Form {
            newline: if text.contains("\r\n") { "\r\n" } else { "\n" },
            unit: indented.filter(|unit| unit.len() <= 8).unwrap_or_else(|| "  ".into()),
        }
    }

    /// A value on several lines, its first where the caller is.
    pub(super) fn pretty(&self, value: &Json, indent: &str) -> String {
        let inner = format!("{indent}{}", self.unit);
        let lines = |items: Vec<String>, open: char, close: char| {
            if items.is_empty() {
                return format!("{open}{close}");
            }
            let between = format!(",{}{inner}", self.newline);
            format!("{open}{}{inner}{}{}{indent}{close}", self.newline, items.join(&between), self.newline)
        };
        match value {
            Json::Object(members) => {
                let member = |(key, value): (&String, &Json)| {
                    format!("{}: {}", Json::from(key.as_str()), self.pretty(value, &inner))
                };
                lines(members.iter().map(member).collect(), '{', '}')
            }
            Json::Array(items) => {
                lines(items.iter().map(|item| self.pretty(item, &inner)).collect(), '[', ']')
            }
            other => other.to_string(),
        }
    }

    /// A value on one line, with a blank behind each opening bracket.
    fn compact(value: &Json) -> String {
        match value {
            Json::Object(members) if !members.is_empty() => {
                let member = |(key, value): (&String, &Json)| {
                    format!("{}: {}", Json::from(key.as_str()), Form::compact(value))
                };
                format!("{{ {} }}", members.iter().map(member).collect::<Vec<_>>().join(", "))
            }
            Json::Array(items) if !items.is_empty() => {
                format!("[ {} ]", items.iter().map(Form::compact).collect::<Vec<_>>().join(", "))
            }
            other => other.to_string(),
        }
    }

    /// The line break of this text.
    pub(super) const fn newline(&self) -> &str {
        self.newline
    }
}

/// The text with one more item at the end of a container. `key` is the item's key in an object.
pub(super) fn append(text: &str, container: &Node, key: Option<&str>, value: &Json) -> String {
    let form = Form::of(text);
    let named = |rendered: String| match key {
        Some(key) => format!("{}: {rendered}", Json::from(key)),
        None => rendered,
    };
    let Some(last) = container.items().last() else {
        let inside = container.at.start.saturating_add(1);
        return insert(text, &[(inside, &named(Form::compact(value)))]);
    };
    let (blank, item) = match indent_of(text, last.at.start) {
        Some(indent) => (format!("{}{indent}", form.newline()), named(form.pretty(value, indent))),
        None => (" ".to_owned(), named(Form::compact(value))),
    };
    match last.comma {
        Some(comma) => {
            let place = behind_comment(text, comma.saturating_add(1));
            insert(text, &[(place, &format!("{blank}{item},"))])
        }
        None => {
            let place = behind_comment(text, last.at.end);
            insert(text, &[(last.at.end, ","), (place, &format!("{blank}{item}"))])
        }
    }
}

/// The text without one item, and whether its container was made for it and is empty now.
pub(super) fn remove(text: &str, container: &Node, index: usize) -> Option<(String, bool)> {
    let item = container.items().get(index)?;
    let before = text.get(..item.at.start)?;
    let blank = before.trim_end_matches([' ', '\t', '\r', '\n']).len();
    let alone = container.items().len() == 1;
    let adjacent = item.at.start == container.at.start.saturating_add(1);
    let previous = index.checked_sub(1).and_then(|index| container.items().get(index));
    let end = item.comma.map_or(item.at.end, |comma| comma.saturating_add(1));
    let joint = match (item.comma, previous.and_then(|item: &Item| item.comma)) {
        // The comma in front goes with the last item.
        (None, Some(comma)) => comma..comma.saturating_add(1),
        _ => blank..blank,
    };
    let cut = [joint.clone(), blank.max(joint.end)..end];
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    for range in cut {
        kept.push_str(text.get(from..range.start)?);
        from = range.end;
    }
    kept.push_str(text.get(from..)?);
    Some((kept, alone && !adjacent))
}

/// The blanks before a place, where there is nothing else on its line.
fn indent_of(text: &str, place: usize) -> Option<&str> {
    let before = text.get(..place)?;
    let line = before.rfind('\n').map_or(0, |newline| newline.saturating_add(1));
    // On the first line there is an opening bracket at least.
    (line > 0).then(|| before.get(line..)).flatten().filter(|blank| blank.trim().is_empty())
}

/// Behind the comment that follows on the same line, where there is one.
fn behind_comment(text: &str, place: usize) -> usize {
    let rest = text.get(place..).unwrap_or_default();
    let line = rest.split(['\r', '\n']).next().unwrap_or_default();
    let inner = line.trim_start_matches([' ', '\t']);
    if inner.starts_with("//") {
        place.saturating_add(line.trim_end().len())
    } else if inner.starts_with("/*") {
        let end = line.find("*/").map_or(0, |end| end.saturating_add(2));
        place.saturating_add(end)
    } else {
        place
    }
}

fn insert(text: &str, pieces: &[(usize, &str)]) -> String {
    let mut out = String::with_capacity(text.len().saturating_add(512));
    let mut from = 0;
    for (place, piece) in pieces {
        out.push_str(text.get(from..*place).unwrap_or_default());
        out.push_str(piece);
        from = *place;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}
