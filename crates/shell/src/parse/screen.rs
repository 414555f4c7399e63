//! What is refused before a single word is read: size, control characters, other shells' languages.

use super::{Read, span};
use crate::{MAX_BYTES, Refusal};

/// Refuses text that no shell should be given.
pub(super) fn check(text: &str) -> Read<()> {
    if text.len() > MAX_BYTES {
        return Err(Refusal { reason: format!("longer than {MAX_BYTES} bytes"), span: span(0, text.len()) });
    }
    if let Some(at) =
        text.bytes().position(|byte| byte < b' ' && byte != b'\n' && byte != b'\t' || byte == 0x7f)
    {
        let byte = text.as_bytes().get(at).copied().unwrap_or(0);
        let name = match byte {
            b'\r' => "a carriage return".to_owned(),
            0 => "a NUL character".to_owned(),
            _ => format!("a control character U+{byte:04X}"),
        };
        return Err(Refusal { reason: name, span: span(at, at + 1) });
    }
    if !text.is_ascii()
        && let Some((at, met)) = text.char_indices().find(|&(_, met)| ('\u{80}'..='\u{9f}').contains(&met))
    {
        return Err(Refusal {
            reason: format!("a control character U+{:04X}", u32::from(met)),
            span: span(at, at + met.len_utf8()),
        });
    }
    foreign(text)
}

/// Recognizes PowerShell and cmd by what no POSIX shell text starts with.
fn foreign(text: &str) -> Read<()> {
    let start = text.trim_start();
    let first = start.split([' ', '\t', '\n', ';', '|', '(']).next().unwrap_or_default();
    let powershell = first.split_once('-').is_some_and(|(verb, noun)| {
        VERBS.contains(&verb) && noun.starts_with(|letter: char| letter.is_ascii_uppercase())
    }) || start.get(..5).is_some_and(|begin| begin.eq_ignore_ascii_case("$env:"));
    let whole = span(0, text.len());
    if powershell {
        return Err(Refusal { reason: "PowerShell text is not read".into(), span: whole });
    }
    let variable = first.strip_prefix('%').and_then(|rest| rest.split_once('%')).map(|(name, _)| name);
    if variable
        .is_some_and(|name| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'))
        || first.eq_ignore_ascii_case("@echo")
    {
        return Err(Refusal { reason: "cmd text is not read".into(), span: whole });
    }
    Ok(())
}

/// The verbs with which PowerShell's commands start.
const VERBS: [&str; 24] = [
    "Get",
    "Set",
    "New",
    "Remove",
    "Invoke",
    "Start",
    "Stop",
    "Write",
    "Out",
    "Add",
    "Clear",
    "Copy",
    "Move",
    "Rename",
    "Test",
    "Import",
    "Export",
    "Select",
    "Where",
    "ForEach",
    "ConvertTo",
    "ConvertFrom",
    "Expand",
    "Restart",
];

/// Characters that are invisible, turn the direction of text, or look like a blank and are none.
pub(crate) fn deceives(met: char) -> bool {
    matches!(met,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180e}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
        || (!met.is_ascii() && met.is_whitespace())
}
