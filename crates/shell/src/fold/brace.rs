//! Brace expansion: `{a,b}`, `{1..5}`, nested and repeated, bounded.

use crate::syntax::Part;

/// A word between brace expansion and the others.
#[derive(Debug, Clone)]
pub(super) enum Atom<'t, 'a> {
    /// Unquoted characters.
    Text(String),
    /// Anything else.
    Part(&'t Part<'a>),
}

/// What brace expansion makes of a word.
#[derive(Debug)]
pub(super) enum Braces<'t, 'a> {
    /// Nothing to expand.
    None,
    /// These words.
    Words(Vec<Vec<Atom<'t, 'a>>>),
    /// Something to expand, but too much of it, or in a way that is not modelled.
    Unsure,
}

const MAX_WORDS: usize = 256;
const MAX_NESTING: usize = 8;

#[derive(Debug, Clone, Copy)]
enum Token<'t, 'a> {
    Open,
    Comma,
    Close,
    Text(&'t str),
    Part(&'t Part<'a>),
}

/// What expanding has come to so far.
#[derive(Debug, Default)]
struct Work {
    /// There was something to expand.
    expanded: bool,
    /// How many words were made, those on the way included.
    made: usize,
}

/// Expands the braces of a word. How many words that made, those on the way included, says what it cost.
pub(super) fn expand<'t, 'a>(parts: &'t [Part<'a>]) -> (Braces<'t, 'a>, usize) {
    let tokens = tokens(parts);
    if let Some(known) = beforehand(&tokens) {
        return (known, 0);
    }
    let mut work = Work::default();
    let braces = match words(&tokens, &mut work) {
        Some(_) if !work.expanded => Braces::None,
        Some(words) => Braces::Words(words),
        None => Braces::Unsure,
    };
    (braces, work.made)
}

fn tokens<'t, 'a>(parts: &'t [Part<'a>]) -> Vec<Token<'t, 'a>> {
    let mut tokens = Vec::new();
    for part in parts {
        let Part::Literal(text) = part else {
            tokens.push(Token::Part(part));
            continue;
        };
        let mut rest: &str = text;
        while let Some(at) = rest.find(['{', ',', '}']) {
            let (before, from) = rest.split_at(at);
            if !before.is_empty() {
                tokens.push(Token::Text(before));
            }
            tokens.push(match from.as_bytes().first() {
                Some(b'{') => Token::Open,
                Some(b',') => Token::Comma,
                _ => Token::Close,
            });
            rest = from.get(1..).unwrap_or_default();
        }
        if !rest.is_empty() {
            tokens.push(Token::Text(rest));
        }
    }
    tokens
}

/// What can be said without expanding anything.
fn beforehand<'t, 'a>(tokens: &[Token<'t, 'a>]) -> Option<Braces<'t, 'a>> {
    let mut open = 0_usize;
    let mut deepest = 0;
    let mut balanced = true;
    let mut could = false;
    for token in tokens {
        match token {
            Token::Open => {
                open += 1;
                deepest = deepest.max(open);
            }
            Token::Close if open == 0 => balanced = false,
            Token::Close => open -= 1,
            Token::Comma => could = true,
            Token::Text(text) => could |= text.contains(".."),
            Token::Part(_) => {}
        }
    }
    if !could || deepest == 0 {
        return Some(Braces::None);
    }
    if !balanced || open > 0 || deepest > MAX_NESTING || tokens.len() > 2048 {
        return Some(Braces::Unsure);
    }
    // Braces are expanded as text: what comes after them could join a name before them.
    let mut before: Option<&Token<'_, '_>> = None;
    for token in tokens {
        let joins = match before {
            Some(Token::Part(Part::Variable(name))) => super::expand::is_identifier(name),
            _ => false,
        };
        if joins && matches!(token, Token::Open | Token::Comma | Token::Close) {
            return Some(Braces::Unsure);
        }
        // A lone `$` would join too, and keeps bash from splitting.
        if matches!(token, Token::Text(text) if text.contains('$')) {
            return Some(Braces::Unsure);
        }
        before = Some(token);
    }
    None
}

/// Expands balanced tokens into words; nothing where that is too much or not certain.
fn words<'t, 'a>(tokens: &[Token<'t, 'a>], work: &mut Work) -> Option<Vec<Vec<Atom<'t, 'a>>>> {
    let mut results: Vec<Vec<Atom<'t, 'a>>> = vec![Vec::new()];
    let mut rest = tokens;
    while let Some((token, after)) = rest.split_first() {
        rest = after;
        let choices = match *token {
            Token::Open => {
                let close = closing(rest)?;
                let inside = rest.get(..close)?;
                rest = rest.get(close + 1..)?;
                group(inside, work)?
            }
            Token::Comma => vec![vec![Atom::Text(",".into())]],
            Token::Close => vec![vec![Atom::Text("}".into())]],
            Token::Text(text) => vec![vec![Atom::Text(text.into())]],
            Token::Part(part) => vec![vec![Atom::Part(part)]],
        };
        if results.len() * choices.len() > MAX_WORDS {
            return None;
        }
        work.made += results.len() * choices.len();
        if let [only] = choices.as_slice() {
            for result in &mut results {
                append(result, only);
            }
            continue;
        }
        let mut next = Vec::with_capacity(results.len() * choices.len());
        for result in &results {
            for choice in &choices {
                let mut word = result.clone();
                append(&mut word, choice);
                next.push(word);
            }
        }
        if next.iter().map(Vec::len).sum::<usize>() > 4096 {
            return None;
        }
        results = next;
    }
    Some(results)
}

fn append<'t, 'a>(word: &mut Vec<Atom<'t, 'a>>, more: &[Atom<'t, 'a>]) {
    for atom in more {
        match (word.last_mut(), atom) {
            (Some(Atom::Text(text)), Atom::Text(added)) => text.push_str(added),
            _ => word.push(atom.clone()),
        }
    }
}

fn closing(tokens: &[Token<'_, '_>]) -> Option<usize> {
    let mut open = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Open => open += 1,
            Token::Close if open == 0 => return Some(at),
            Token::Close => open -= 1,
            _ => {}
        }
    }
    None
}

/// The inside of one pair of braces.
fn group<'t, 'a>(inside: &[Token<'t, 'a>], work: &mut Work) -> Option<Vec<Vec<Atom<'t, 'a>>>> {
    let mut pieces = Vec::new();
    let mut open = 0_usize;
    let mut from = 0;
    for (at, token) in inside.iter().enumerate() {
        match token {
            Token::Open => open += 1,
            Token::Close => open = open.saturating_sub(1),
            Token::Comma if open == 0 => {
                pieces.push(inside.get(from..at)?);
                from = at + 1;
            }
            _ => {}
        }
    }
    pieces.push(inside.get(from..)?);
    if pieces.len() > 1 {
        work.expanded = true;
        let mut all = Vec::new();
        for piece in pieces {
            all.extend(words(piece, work)?);
            if all.len() > MAX_WORDS {
                return None;
            }
        }
        return Some(all);
    }
    if let [Token::Text(text)] = inside {
        if text.contains("..") {
            match range(text) {
                Range::Items(items) => {
                    work.expanded = true;
                    return Some(items.into_iter().map(|item| vec![Atom::Text(item)]).collect());
                }
                Range::Unsure => return None,
                Range::No => {}
            }
        }
    } else if inside.iter().any(|token| matches!(token, Token::Text(text) if text.contains(".."))) {
        return None;
    }
    // Not a brace expression: the braces are characters, what is between them may still expand.
    let mut all = Vec::new();
    for word in words(inside, work)? {
        let mut whole = vec![Atom::Text("{".into())];
        append(&mut whole, &word);
        append(&mut whole, &[Atom::Text("}".into())]);
        all.push(whole);
    }
    Some(all)
}

enum Range {
    Items(Vec<String>),
    No,
    Unsure,
}

/// `1..5`, `a..e`, `1..9..2`
fn range(text: &str) -> Range {
    let mut fields = text.split("..");
    let (Some(first), Some(last)) = (fields.next(), fields.next()) else { return Range::No };
    let step = fields.next();
    if fields.next().is_some() || text.contains("...") {
        return Range::Unsure;
    }
    let step = match step {
        None => 1,
        Some(text) => match number(text) {
            Some(value) => value.unsigned_abs().max(1),
            None => return if text.is_empty() { Range::Unsure } else { Range::No },
        },
    };
    if let (Some(start), Some(end)) = (number(first), number(last)) {
        let padded = |text: &str| text.len() > 1 && text.trim_start_matches('-').starts_with('0');
        let signed = first.contains(['-', '+']) || last.contains(['-', '+']);
        let width = match (padded(first) || padded(last), signed) {
            (false, _) if !first.starts_with('+') && !last.starts_with('+') => 0,
            (true, false) => first.len().max(last.len()),
            _ => return Range::Unsure,
        };
        return items(start, end, step, |value| format!("{value:0width$}"));
    }
    let letter = |text: &str| match text.as_bytes() {
        [byte] if byte.is_ascii_alphabetic() => Some(*byte),
        _ => None,
    };
    match (letter(first), letter(last)) {
        (Some(start), Some(end)) if start.is_ascii_lowercase() == end.is_ascii_lowercase() => {
            items(i64::from(start), i64::from(end), step, |value| {
                u8::try_from(value).map_or_else(|_| String::new(), |byte| char::from(byte).to_string())
            })
        }
        (Some(_), Some(_)) => Range::Unsure,
        _ if first.is_empty() || last.is_empty() => Range::No,
        _ if text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'/') => {
            // A single character that is no letter, or a letter and a number: bash leaves them.
            if first.len() == 1 && last.len() == 1 && !first.is_ascii() { Range::Unsure } else { Range::No }
        }
        _ => Range::Unsure,
    }
}

fn number(text: &str) -> Option<i64> {
    if text.len() > 9 || text.starts_with("+-") {
        return None;
    }
    text.parse().ok()
}

fn items(start: i64, end: i64, step: u64, show: impl Fn(i64) -> String) -> Range {
    let step = i64::try_from(step).unwrap_or(i64::MAX);
    let count = (end - start).abs() / step;
    if usize::try_from(count).map_or(true, |count| count >= MAX_WORDS) {
        return Range::Unsure;
    }
    let direction = if end < start { -step } else { step };
    Range::Items((0..=count).map(|index| show(start + index * direction)).collect())
}
