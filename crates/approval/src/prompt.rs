//! What a person at a terminal is shown: a pure function from the question to text.
//!
//! Everything that comes from a call is masked, spelt out where it could deceive, and set off with a bar at the left, so that no
//! line of it can pass for a line of the prompt. Nothing is cut at its end: of a very long text the middle is left out, and said
//! to be.

use std::time::Duration;

use call::{mask, visible, visible_lines};
use serde_json::Value;

use crate::asked::{Asked, quoted};
use crate::style::Style;

/// How many lines of a command are shown before its middle is left out.
const MOST_LINES: usize = 24;
/// How many effects are shown before `explain`.
const MOST_EFFECTS: usize = 8;
/// The narrowest terminal that is laid out for.
const NARROWEST: usize = 24;
/// The widest: longer lines are hard to read.
const WIDEST: usize = 100;
const LABEL: usize = 9;

/// The question, for a terminal of this width.
#[must_use]
pub fn prompt(asked: &Asked, width: usize, style: Style, left: Duration) -> String {
    let page = Page { width: width.clamp(NARROWEST, WIDEST), style };
    let (level, _) = asked.warning();
    let mut out = String::new();
    page.head(&mut out, level);
    page.line(&mut out, &format!("{} wants to use {}:", shown(asked.principal.as_str()), shown(&asked.tool)));
    out.push('\n');
    page.block(&mut out, &what(asked), Some(MOST_LINES));
    out.push('\n');
    let effects = asked.facts.effects();
    let hidden = effects.len().saturating_sub(MOST_EFFECTS);
    for (index, effect) in effects.iter().take(MOST_EFFECTS).enumerate() {
        page.field(&mut out, if index == 0 { "would" } else { "" }, effect);
    }
    if hidden > 0 {
        page.field(&mut out, "", &format!("and {hidden} more (e shows them)"));
    }
    page.field(&mut out, "risk", &risk(asked));
    page.field(&mut out, "because", &shown(asked.reason.as_str()));
    page.field(&mut out, "rule", &shown(asked.rule.as_str()));
    if let Some(place) = place(asked) {
        page.field(&mut out, "in", &place);
    }
    page.field(&mut out, "waits", &format!("{} s, then it is denied", left.as_secs()));
    out.push('\n');
    page.keys(&mut out, asked);
    out
}

/// Everything about the question, without leaving anything out.
#[must_use]
pub fn explanation(asked: &Asked, width: usize, style: Style) -> String {
    let page = Page { width: width.clamp(NARROWEST, WIDEST), style };
    let mut out = String::new();
    page.title(&mut out, "The whole call");
    for (name, value) in asked.request.fields() {
        let text = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        page.line(&mut out, &format!("{}:", shown(name)));
        page.block(&mut out, &visible_lines(&mask(&text)), None);
    }
    page.title(&mut out, "What would run");
    for command in asked.facts.commands() {
        page.block(&mut out, &command, None);
    }
    page.title(&mut out, "What it would do");
    for effect in asked.facts.effects() {
        page.line(&mut out, &effect);
    }
    let classes = asked.facts.classes();
    for class in &classes {
        page.line(&mut out, &format!("{}: would {}", class.key(), class.about()));
    }
    page.title(&mut out, "What a yes is bound to");
    page.line(&mut out, &format!("key {}", asked.key));
    page.line(&mut out, &format!("session {}", shown(&asked.session)));
    page.line(&mut out, &format!("question {}", asked.id));
    if let Some(proposal) = &asked.always {
        page.title(&mut out, "What `always` would save");
        page.block(&mut out, &proposal.snippet(), None);
        for line in proposal.radius_lines() {
            page.line(&mut out, &shown(&line));
        }
    }
    out
}

/// What is asked before a rule is saved.
#[must_use]
pub fn always_prompt(asked: &Asked, width: usize, style: Style) -> String {
    let page = Page { width: width.clamp(NARROWEST, WIDEST), style };
    let mut out = String::new();
    if let Some(proposal) = &asked.always {
        page.line(&mut out, "This rule would be added to your configuration:");
        page.block(&mut out, &proposal.snippet(), None);
        for line in proposal.radius_lines() {
            page.line(&mut out, &shown(&line));
        }
        page.line(&mut out, "Save it? y yes, n back to the question");
    }
    out
}

fn shown(text: &str) -> String {
    visible(&mask(text))
}

/// What would run, or be touched, in the call's own words: masked and made visible, whole, line by line.
pub(crate) fn what(asked: &Asked) -> String {
    what_of(asked.request.fields())
}

/// The same, short: of a command its whole text, of any other call what it is about.
pub(crate) fn told(asked: &Asked) -> String {
    let fields = asked.request.fields();
    if ["argv", "command", "cmd"].iter().any(|name| fields.contains_key(*name)) {
        what(asked)
    } else {
        asked.facts.commands().join("; ")
    }
}

/// The same of a sanitized request.
#[must_use]
pub fn what_of(fields: &serde_json::Map<String, Value>) -> String {
    let words = |name: &str| {
        let items = fields.get(name)?.as_array()?;
        let words: Option<Vec<String>> = items.iter().map(|item| item.as_str().map(str::to_owned)).collect();
        words.map(|words| visible(&quoted(&call::mask_argv(&words))))
    };
    let text = |name: &str| fields.get(name).and_then(Value::as_str).map(|text| visible_lines(&mask(text)));
    let found = ["argv", "command"].iter().find_map(|name| words(name));
    found.or_else(|| ["command", "cmd"].iter().find_map(|name| text(name))).unwrap_or_else(|| {
        let mut lines = Vec::new();
        for (name, value) in fields {
            let value = match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            lines.push(format!("{} {}", shown(name), visible_lines(&mask(&value))));
        }
        lines.join("\n")
    })
}

/// The directory that the call names.
#[must_use]
pub fn place(asked: &Asked) -> Option<String> {
    ["cwd", "workdir", "directory"]
        .iter()
        .find_map(|name| asked.request.fields().get(*name)?.as_str())
        .map(shown)
}

fn risk(asked: &Asked) -> String {
    let level = asked.risk.level.name();
    if asked.risk.factors.is_empty() {
        level.to_owned()
    } else {
        format!("{level}: {}", asked.risk.factors.join(", "))
    }
}

/// A page of one width.
struct Page {
    width: usize,
    style: Style,
}

impl Page {
    fn head(&self, out: &mut String, level: &str) {
        let title = match self.width {
            0..36 => format!("-- {level} "),
            _ => format!("-- bailiwick asks -- {level} "),
        };
        let rule = "-".repeat(self.width.saturating_sub(columns(&title)));
        out.push_str(&self.style.level(level, &format!("{title}{rule}")));
        out.push('\n');
    }

    fn title(&self, out: &mut String, text: &str) {
        out.push('\n');
        out.push_str(&self.style.bold(text));
        out.push('\n');
    }

    /// Text of our own, wrapped.
    fn line(&self, out: &mut String, text: &str) {
        for line in wrapped(text, self.width.saturating_sub(1)) {
            out.push(' ');
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }

    fn field(&self, out: &mut String, name: &str, text: &str) {
        // On a narrow terminal the label gets a line of its own.
        let narrow = self.width < 40;
        let room = if narrow { self.width.saturating_sub(3) } else { self.width.saturating_sub(LABEL + 1) };
        for (index, line) in wrapped(text, room).iter().enumerate() {
            let label = if index == 0 { name } else { "" };
            let line = line.trim_end();
            match (narrow, label.is_empty()) {
                (true, false) => {
                    out.push_str(&format!(" {}\n   {line}\n", self.style.dim(label)));
                }
                (true, true) => out.push_str(&format!("   {line}\n")),
                (false, _) => {
                    out.push_str(&format!(" {}{line}\n", self.style.dim(&format!("{label:<LABEL$}"))))
                }
            }
        }
    }

    /// Text that is not ours, with a bar at its left. With a limit, the middle is left out, never an end.
    fn block(&self, out: &mut String, text: &str, most: Option<usize>) {
        let room = self.width.saturating_sub(5);
        let lines: Vec<String> = text.split('\n').flat_map(|line| wrapped(line, room)).collect();
        let half = most.map_or(lines.len(), |most| most / 2);
        let left_out = lines.len().saturating_sub(2 * half);
        for (index, line) in lines.iter().enumerate() {
            if left_out > 0 && most.is_some() && index == half {
                let note = format!("... {left_out} lines left out here: e shows all ...");
                for line in wrapped(&note, self.width.saturating_sub(3)) {
                    out.push_str(&format!("   {}\n", self.style.bold(line.trim_end())));
                }
            }
            if most.is_none() || index < half || index >= half + left_out {
                out.push_str(&format!("   {} {line}\n", self.style.dim("|")));
            }
        }
    }

    fn keys(&self, out: &mut String, asked: &Asked) {
        let mut keys: Vec<String> = Vec::new();
        if let Some(words) = asked.confirmation {
            self.line(out, &format!("To approve this, type the words: {words}"));
        } else {
            keys.push("y yes, once".into());
        }
        keys.push("n no".into());
        if asked.may_grant_session() {
            keys.push("s yes, for this session".into());
        }
        if asked.always.is_some() && asked.confirmation.is_none() {
            keys.push("a always".into());
        }
        keys.push("e explain".into());
        keys.push("q no, and stop".into());
        let mut line = String::new();
        for key in keys {
            if !line.is_empty() && columns(&line) + 3 + columns(&key) >= self.width {
                self.line(out, &std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push_str("   ");
            }
            line.push_str(&key);
        }
        self.line(out, &line);
    }
}

/// Lines of at most so many columns: broken at spaces where that is possible, in the middle of a word where it is not.
fn wrapped(text: &str, room: usize) -> Vec<String> {
    let room = room.max(8);
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    for word in text.split_inclusive([' ', '\t']) {
        let word = word.replace('\t', "    ");
        let length = columns(word.trim_end());
        if used > 0 && used + length > room {
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        for character in word.chars() {
            let columns = wide(character);
            if used + columns > room {
                lines.push(std::mem::take(&mut line));
                used = 0;
                if character == ' ' {
                    continue;
                }
            }
            line.push(character);
            used += columns;
        }
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

fn columns(text: &str) -> usize {
    text.chars().map(wide).sum()
}

/// How many columns a character takes: two for what is written in squares, and for what terminals show as pictures.
fn wide(character: char) -> usize {
    match u32::from(character) {
        0x1100..=0x115f
        | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1_f300..=0x1_faff
        | 0x2_0000..=0x3_fffd => 2,
        _ => 1,
    }
}
