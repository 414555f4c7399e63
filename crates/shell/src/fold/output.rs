//! What some commands print, where their words and input are constant and the answer is exact.

use super::Folder;
use crate::syntax::{Command, List};
use crate::{CommandId, Dialect, RedirectKind, Source, Span, Value};

impl Folder<'_, '_> {
    /// What a substitution with this body prints.
    pub(super) fn substitution_text(&mut self, body: &List<'_>, ids: &[CommandId]) -> Option<String> {
        let last = self.last_output.take();
        match body.entries.as_slice() {
            [] => Some(String::new()),
            [entry] if entry.rest.is_empty() && !entry.background => match entry.first.stages.as_slice() {
                [Command::Simple(simple)] => match ids {
                    [id] => self.exact_output(*id, simple.span, None),
                    _ => None,
                },
                [_, _, ..] => last,
                _ => None,
            },
            _ => None,
        }
    }

    /// What one command prints, given what it reads.
    pub(super) fn exact_output(&self, id: CommandId, span: Span, input: Option<&str>) -> Option<String> {
        let command = self.program.commands.get(id.0 as usize)?;
        // A function's call has its body's commands in its place.
        if command.span != span || !command.assignments.is_empty() {
            return None;
        }
        let own = command.redirects.len().checked_sub(self.redirects.len())?;
        let document = match command.redirects.get(..own)? {
            [] => None,
            [only] if only.kind == RedirectKind::Text && only.descriptor == Some(0) => Some(&only.target),
            _ => return None,
        };
        let input = match (document, command.input.first()) {
            (Some(Value::Text(text)), _) => Some(text.as_str()),
            (Some(_), _) => return None,
            (None, Some(Source::Pipe(_))) => input,
            (None, _) => None,
        };
        let mut words = command.words.iter().map(|word| match &word.value {
            Value::Text(text) => Some(text.as_str()),
            _ => None,
        });
        let name = words.next()??;
        if !matches!(name, "echo" | "printf" | "pwd" | "cat" | "base64" | "xxd" | "rev" | "tr") {
            return None;
        }
        let arguments: Option<Vec<&str>> = words.collect();
        let arguments = arguments?;
        match name {
            "echo" => echo(&arguments, self.dialect),
            "printf" => printf(&arguments, self.dialect),
            "pwd" => match (&command.cwd, arguments.as_slice()) {
                (Value::Text(cwd), []) => Some(format!("{cwd}\n")),
                _ => None,
            },
            "cat" => matches!(arguments.as_slice(), [] | ["-"]).then(|| input.map(str::to_owned))?,
            "base64" => match arguments.as_slice() {
                ["-d" | "-D" | "--decode"] => text(base64(input?)?),
                _ => None,
            },
            "xxd" => match arguments.as_slice() {
                ["-r", "-p"] | ["-p", "-r"] | ["-rp"] | ["-pr"] | ["-r", "-ps"] => text(hex(input?)?),
                _ => None,
            },
            "rev" if arguments.is_empty() => {
                let input = input?;
                let mut out: String =
                    input.lines().map(|line| line.chars().rev().chain(['\n']).collect::<String>()).collect();
                if !input.ends_with('\n') {
                    out.pop();
                }
                (input.is_ascii() && !input.contains('\r')).then_some(out)
            }
            "tr" => translate(&arguments, input?),
            _ => None,
        }
    }
}

fn text(bytes: Vec<u8>) -> Option<String> {
    if bytes.contains(&0) {
        return None;
    }
    String::from_utf8(bytes).ok()
}

fn echo(arguments: &[&str], dialect: Dialect) -> Option<String> {
    let mut arguments = arguments;
    let mut newline = true;
    while let Some((first, rest)) = arguments.split_first() {
        let is_option =
            first.len() > 1 && first.starts_with('-') && first.bytes().skip(1).all(|b| b"neE".contains(&b));
        if !is_option {
            break;
        }
        if *first != "-n" || dialect == Dialect::Posix && !newline {
            return None;
        }
        newline = false;
        arguments = rest;
    }
    let mut out = arguments.join(" ");
    if dialect == Dialect::Posix && out.contains('\\') {
        return None;
    }
    if newline {
        out.push('\n');
    }
    Some(out)
}

fn printf(arguments: &[&str], dialect: Dialect) -> Option<String> {
    let (mut format, mut rest) = arguments.split_first()?;
    if *format == "--" {
        (format, rest) = rest.split_first()?;
    }
    if format.starts_with('-') {
        return None;
    }
    let mut out: Vec<u8> = Vec::new();
    let mut arguments = rest.iter();
    let mut rounds = 0;
    loop {
        let mut used = false;
        let mut bytes = format.as_bytes();
        while let Some((&byte, after)) = bytes.split_first() {
            bytes = after;
            match byte {
                b'%' => {
                    let (&kind, after) = bytes.split_first()?;
                    bytes = after;
                    match kind {
                        b'%' => out.push(b'%'),
                        b's' => {
                            used = true;
                            out.extend_from_slice(arguments.next().copied().unwrap_or_default().as_bytes());
                        }
                        b'd' => {
                            used = true;
                            let number = arguments.next().copied().unwrap_or("0");
                            let plain = number == "0" || !number.trim_start_matches('-').starts_with('0');
                            let value = number.parse::<i64>().ok()?;
                            if !plain || number.starts_with('+') || number.starts_with("-0") {
                                return None;
                            }
                            out.extend_from_slice(value.to_string().as_bytes());
                        }
                        _ => return None,
                    }
                }
                b'\\' => {
                    let (&kind, after) = bytes.split_first()?;
                    bytes = after;
                    match kind {
                        b'n' => out.push(b'\n'),
                        b't' => out.push(b'\t'),
                        b'\\' => out.push(b'\\'),
                        b'0'..=b'7' => {
                            let mut value = u32::from(kind - b'0');
                            for _ in 0..2 {
                                let Some((&digit @ b'0'..=b'7', after)) = bytes.split_first() else { break };
                                value = value * 8 + u32::from(digit - b'0');
                                bytes = after;
                            }
                            out.push(u8::try_from(value).ok()?);
                        }
                        // A POSIX shell need not know this one.
                        b'x' if dialect == Dialect::Bash => {
                            let (&high, after) = bytes.split_first()?;
                            let (&low, after) = after.split_first()?;
                            let high = char::from(high).to_digit(16)?;
                            let low = char::from(low).to_digit(16)?;
                            out.push(u8::try_from(high * 16 + low).ok()?);
                            bytes = after;
                        }
                        _ => return None,
                    }
                }
                byte => out.push(byte),
            }
        }
        rounds += 1;
        if !used || arguments.len() == 0 {
            break;
        }
        if rounds > 256 || out.len() > 65_536 {
            return None;
        }
    }
    text(out)
}

fn base64(input: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(input.len() / 4 * 3);
    let mut group = 0_u32;
    let mut count = 0;
    let mut padding = 0;
    for byte in input.bytes().filter(|&byte| byte != b'\n') {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' => {
                padding += 1;
                0
            }
            _ => return None,
        };
        if padding > 0 && byte != b'=' {
            return None;
        }
        group = group << 6 | u32::from(value);
        count += 1;
        if count == 4 {
            let [_, first, second, third] = group.to_be_bytes();
            let keep = 3_usize.checked_sub(padding)?;
            out.extend([first, second, third].into_iter().take(keep));
            if padding > 2 {
                return None;
            }
            group = 0;
            count = 0;
        }
    }
    (count == 0).then_some(out)
}

fn hex(input: &str) -> Option<Vec<u8>> {
    let digits: Vec<u32> = input
        .chars()
        .filter(|met| !met.is_ascii_whitespace())
        .map(|met| met.to_digit(16))
        .collect::<Option<_>>()?;
    let (pairs, []) = digits.as_chunks::<2>() else { return None };
    pairs.iter().map(|[high, low]| u8::try_from(high * 16 + low).ok()).collect()
}

fn translate(arguments: &[&str], input: &str) -> Option<String> {
    match arguments {
        ["-d", set] => {
            let set = characters(set)?;
            Some(input.chars().filter(|met| !set.contains(met)).collect())
        }
        [from, to] if !from.starts_with('-') && !to.starts_with('-') => {
            let (from, to) = (characters(from)?, characters(to)?);
            let last = *to.last()?;
            let map = |met: char| match from.iter().rposition(|&known| known == met) {
                Some(at) => to.get(at).copied().unwrap_or(last),
                None => met,
            };
            input.is_ascii().then(|| input.chars().map(map).collect())
        }
        _ => None,
    }
}

/// The characters of a set as `tr` has them, in order; nothing for classes and for what is not plain.
fn characters(set: &str) -> Option<Vec<char>> {
    let mut out = Vec::new();
    let mut rest = set.chars().peekable();
    while let Some(met) = rest.next() {
        if !met.is_ascii() || met == '[' || met == ']' {
            return None;
        }
        let start = if met == '\\' {
            match rest.next()? {
                'n' => '\n',
                't' => '\t',
                '\\' => '\\',
                _ => return None,
            }
        } else {
            met
        };
        if rest.peek() == Some(&'-') {
            rest.next();
            let Some(end) = rest.next() else {
                out.extend([start, '-']);
                break;
            };
            if !start.is_ascii_alphanumeric() || !end.is_ascii_alphanumeric() || end < start {
                return None;
            }
            out.extend(start..=end);
        } else {
            out.push(start);
        }
        if out.len() > 256 {
            return None;
        }
    }
    (!out.is_empty()).then_some(out)
}
