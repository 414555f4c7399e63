//! One statement.

use super::super::{Finding, Reading};
use super::knowledge::{Call, PRAGMAS, PRAGMAS_ALONE, call};
use super::tokens::Token;

/// Statements that change data or structure, and nothing else.
const CHANGING: &[&str] =
    &["insert", "replace", "upsert", "merge", "create", "alter", "comment", "grant", "revoke"];
/// Statements that keep the database in order.
const KEEPING: &[&str] =
    &["vacuum", "reindex", "analyze", "cluster", "refresh", "optimize", "checkpoint", "repair"];
/// What is created runs later, or somewhere else.
const ACTIVE: &[&str] = &[
    "function",
    "procedure",
    "trigger",
    "event",
    "extension",
    "language",
    "rule",
    "server",
    "subscription",
    "mapping",
    "aggregate",
    "operator",
    "cast",
    "macro",
    "secret",
    "assembly",
    "foreign",
    "login",
    "user",
    "role",
    "virtual",
];
const TRANSACTION: &[&str] =
    &["begin", "commit", "rollback", "start", "end", "savepoint", "release", "abort", "go"];

/// So many changes inside a statement are looked at, and so many tokens of a call's arguments.
const MOST_INNER: usize = 32;
const LONGEST_CALL: usize = 64;

/// Reads the tokens of one statement, without the `;`.
pub(super) fn read(tokens: &[Token], reading: &mut Reading) {
    let Some(first) = tokens.first() else { return };
    let Token::Word(verb) = first else {
        // A query in brackets.
        if *first == Token::Symbol('(')
            && matches!(tokens.get(1), Some(Token::Word(word)) if word == "select")
        {
            query(tokens, reading);
        } else {
            reading.incomplete();
        }
        return;
    };
    match verb.as_str() {
        "select" | "with" | "values" | "table" | "from" => query(tokens, reading),
        "explain" | "describe" | "desc" => explain(tokens, reading),
        "show" | "use" | "summarize" => calls(tokens, reading, false),
        "help" if tokens.len() <= 2 => {}
        "pragma" => pragma(tokens, reading),
        "set" | "reset" => set(tokens, reading),
        "update" | "delete" => {
            calls(tokens, reading, true);
            rows(tokens, reading);
        }
        "drop" | "truncate" => {
            reading.found(Finding::History(words(tokens)));
        }
        "copy" => copy(tokens, reading),
        "load" if has(tokens, "infile") => {
            file_after(tokens, "infile", reading, Finding::Read);
            reading.found(Finding::Data("LOAD".to_owned()));
        }
        "load" | "install" | "source" => reading.runs_unknown(),
        "attach" => match tokens.iter().find_map(text_of) {
            Some(file) => reading.found(Finding::Write(file)),
            None => reading.incomplete(),
        },
        "detach" => {}
        "export" => first_file(tokens, reading, Finding::Write),
        "import" => {
            first_file(tokens, reading, Finding::Read);
            reading.found(Finding::Data("IMPORT".to_owned()));
            reading.incomplete();
        }
        "kill" | "shutdown" => reading.found(Finding::System(verb.to_uppercase())),
        "exec" | "execute" | "call" | "do" => {
            if has(tokens, "xp_cmdshell") {
                match tokens.iter().find_map(text_of) {
                    Some(command) => reading.found(Finding::RunShell(command)),
                    None => reading.runs_unknown(),
                }
            } else {
                reading.found(Finding::Data(verb.to_uppercase()));
            }
            reading.incomplete();
        }
        _ if CHANGING.contains(&verb.as_str()) => change(verb, tokens, reading),
        _ if KEEPING.contains(&verb.as_str()) => reading.found(Finding::Data(verb.to_uppercase())),
        _ if TRANSACTION.contains(&verb.as_str()) => {
            if tokens.iter().any(|token| matches!(token, Token::Text(_))) {
                reading.incomplete();
            }
        }
        _ => reading.incomplete(),
    }
}

fn change(verb: &str, tokens: &[Token], reading: &mut Reading) {
    let replaces = verb == "create" && (has(tokens, "replace") && has(tokens, "table"));
    if verb == "alter"
        && matches!(tokens.get(1), Some(Token::Word(word)) if word == "system" || word == "server")
    {
        reading.found(Finding::System("ALTER SYSTEM".to_owned()));
    } else if replaces || (verb == "alter" && (has(tokens, "drop") || has(tokens, "truncate"))) {
        reading.found(Finding::History(words(tokens)));
    } else {
        reading.found(Finding::Data(verb.to_uppercase()));
    }
    let active = |token: &Token| matches!(token, Token::Word(word) if ACTIVE.contains(&word.as_str()));
    if matches!(verb, "create" | "alter") && tokens.iter().take(6).any(active) {
        reading.incomplete();
    }
    calls(tokens, reading, true);
    inner_changes(tokens, reading);
}

/// A query: nothing changes, unless it goes into something or changes within.
fn query(tokens: &[Token], reading: &mut Reading) {
    calls(tokens, reading, false);
    inner_changes(tokens, reading);
    for (at, token) in tokens.iter().enumerate() {
        if !matches!(token, Token::Word(word) if word == "into") {
            continue;
        }
        let inserts = at > 0
            && matches!(tokens.get(at - 1), Some(Token::Word(word)) if matches!(word.as_str(), "insert" | "replace" | "merge" | "ignore"));
        match tokens.get(at + 1) {
            _ if inserts => {}
            Some(Token::Word(word)) if word == "outfile" || word == "dumpfile" => match tokens.get(at + 2) {
                Some(Token::Text(file) | Token::Quoted(file)) => reading.found(Finding::Write(file.clone())),
                _ => reading.incomplete(),
            },
            _ => reading.found(Finding::Data("SELECT INTO".to_owned())),
        }
    }
}

/// `with x as (delete from t returning *) …`, `with x as (…) update …`.
fn inner_changes(tokens: &[Token], reading: &mut Reading) {
    let mut changes = 0;
    for (at, pair) in tokens.windows(2).enumerate() {
        if changes > MOST_INNER {
            reading.incomplete();
            return;
        }
        let [before, Token::Word(verb)] = pair else { continue };
        if !matches!(before, Token::Symbol('(' | ')')) {
            continue;
        }
        let rest = tokens.get(at + 1..).unwrap_or_default();
        let called = matches!(rest.get(1), Some(Token::Symbol('(')));
        match verb.as_str() {
            "insert" | "merge" => reading.found(Finding::Data(verb.to_uppercase())),
            "replace" if !called => reading.found(Finding::Data(verb.to_uppercase())),
            "update" | "delete" if !called => {
                changes += 1;
                rows(inside(rest), reading);
            }
            _ => {}
        }
    }
}

/// The tokens up to the bracket that closes what is open already.
fn inside(tokens: &[Token]) -> &[Token] {
    let mut open = 0usize;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Symbol('(') => open += 1,
            Token::Symbol(')') if open == 0 => return tokens.get(..at).unwrap_or_default(),
            Token::Symbol(')') => open -= 1,
            _ => {}
        }
    }
    tokens
}

/// An update or a delete: of some rows, or of all.
fn rows(tokens: &[Token], reading: &mut Reading) {
    let mut open = 0usize;
    let mut condition = None;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Symbol('(') => open += 1,
            Token::Symbol(')') => open = open.saturating_sub(1),
            Token::Word(word) if word == "where" && open == 0 => condition = tokens.get(at + 1..),
            _ => {}
        }
    }
    // `where 1=1` chooses nothing.
    let chooses = condition.is_some_and(|condition| {
        condition.iter().any(|token| match token {
            Token::Word(word) => {
                !matches!(word.as_str(), "true" | "or" | "and" | "not" | "false" | "is" | "null")
            }
            Token::Quoted(_) => true,
            _ => false,
        })
    });
    if chooses {
        let verb = tokens.first().map_or(String::new(), name_of).to_uppercase();
        reading.found(Finding::Data(verb));
    } else {
        reading.found(Finding::History(words(tokens)));
    }
}

fn explain(tokens: &[Token], reading: &mut Reading) {
    let mut analyzes = false;
    for (at, token) in tokens.iter().enumerate().skip(1) {
        let Token::Word(word) = token else { continue };
        match word.as_str() {
            "analyze" | "analyse" => analyzes = true,
            "select" | "with" | "insert" | "update" | "delete" | "merge" | "values" | "table" | "create"
            | "replace" | "execute" | "call" => {
                if analyzes {
                    read(tokens.get(at..).unwrap_or_default(), reading);
                } else {
                    // Constant functions may be run while planning.
                    calls(tokens, reading, false);
                }
                return;
            }
            _ => {}
        }
    }
    if analyzes {
        reading.incomplete();
    }
}

fn pragma(tokens: &[Token], reading: &mut Reading) {
    // `pragma main.table_info(x)`
    let qualified = matches!(tokens.get(2), Some(Token::Symbol('.')));
    let at = if qualified { 3 } else { 1 };
    let name = tokens.get(at).map_or(String::new(), name_of);
    let given = tokens.get(at + 1).is_some();
    let sets = tokens.contains(&Token::Symbol('='));
    if PRAGMAS.contains(&name.as_str()) && !sets || PRAGMAS_ALONE.contains(&name.as_str()) && !given {
        return;
    }
    reading.found(Finding::Data("PRAGMA".to_owned()));
    // `writable_schema`, `temp_store_directory` and the like.
    if !PRAGMAS_ALONE.contains(&name.as_str()) {
        reading.incomplete();
    }
}

fn set(tokens: &[Token], reading: &mut Reading) {
    let second = tokens.get(1).map_or(String::new(), name_of);
    if matches!(second.as_str(), "global" | "persist" | "persist_only" | "password" | "@@global") {
        reading.found(Finding::System(format!("SET {}", second.to_uppercase())));
    } else if matches!(second.as_str(), "role" | "session" | "default") || second.starts_with("@@") {
        reading.incomplete();
    } else {
        calls(tokens, reading, false);
    }
}

/// `copy t to 'f'`, `copy t from program 'c'`.
fn copy(tokens: &[Token], reading: &mut Reading) {
    calls(tokens, reading, true);
    inner_changes(tokens, reading);
    let mut open = 0usize;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Symbol('(') => open += 1,
            Token::Symbol(')') => open = open.saturating_sub(1),
            Token::Word(word) if open == 0 && (word == "to" || word == "from") => {
                match (tokens.get(at + 1), tokens.get(at + 2)) {
                    (Some(Token::Word(program)), Some(Token::Text(command))) if program == "program" => {
                        reading.found(Finding::RunShell(command.clone()));
                    }
                    (Some(Token::Word(stream)), _) if stream == "stdin" || stream == "stdout" => {}
                    (Some(Token::Text(file)), _) if word == "to" => {
                        reading.found(Finding::Write(file.clone()));
                    }
                    (Some(Token::Text(file)), _) => file_read(file, reading),
                    _ => reading.incomplete(),
                }
                if word == "from" {
                    reading.found(Finding::Data("COPY".to_owned()));
                }
                return;
            }
            _ => {}
        }
    }
    reading.incomplete();
}

/// Every call in the statement, and every file that stands where a table should.
fn calls(tokens: &[Token], reading: &mut Reading, changes: bool) {
    for (at, token) in tokens.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| tokens.get(at));
        let after_table_word = matches!(before, Some(Token::Word(word)) if word == "from" || word == "join");
        match token {
            // duckdb reads a file that is named like a table.
            Token::Text(file) if after_table_word => file_read(file, reading),
            Token::Quoted(file) if after_table_word && file.contains(['.', '/']) => {
                file_read(file, reading);
            }
            Token::Word(name) | Token::Quoted(name)
                if matches!(tokens.get(at + 1), Some(Token::Symbol('('))) =>
            {
                let lower = name.to_lowercase();
                let names_something = match before {
                    Some(Token::Word(word)) => {
                        matches!(word.as_str(), "with" | "recursive") || changes && names_next(word, tokens)
                    }
                    // `insert into public.users(id)`
                    Some(Token::Symbol('.')) => {
                        let word =
                            at.checked_sub(3).and_then(|at| tokens.get(at)).map_or(String::new(), name_of);
                        changes && names_next(&word, tokens)
                    }
                    _ => false,
                };
                if !names_something {
                    called(&lower, tokens.get(at + 1..).unwrap_or_default(), reading);
                }
            }
            _ => {}
        }
    }
}

/// Is what follows this word the name of a thing with its columns, and no call?
fn names_next(word: &str, tokens: &[Token]) -> bool {
    let creates = matches!(tokens.first(), Some(Token::Word(verb)) if verb == "create");
    matches!(
        word,
        "into" | "table" | "exists" | "references" | "key" | "index" | "view" | "copy" | "constraint"
    ) || word == "on" && creates
}

fn called(name: &str, rest: &[Token], reading: &mut Reading) {
    let file = || {
        let rest = rest.get(1..).unwrap_or_default();
        let arguments = inside(rest.get(..rest.len().min(LONGEST_CALL)).unwrap_or_default());
        // Text put together is not the text that is written.
        let joined = arguments.windows(2).any(|pair| *pair == [Token::Symbol('|'), Token::Symbol('|')]);
        if joined { None } else { arguments.iter().find_map(text_of) }
    };
    match call(name) {
        Call::Plain => {}
        Call::Reads => match file() {
            Some(path) => file_read(&path, reading),
            None => reading.incomplete(),
        },
        Call::Writes => match file() {
            Some(path) => reading.found(Finding::Write(path)),
            None => reading.incomplete(),
        },
        Call::Changes => reading.found(Finding::Data(name.to_uppercase())),
        Call::System => reading.found(Finding::System(name.to_owned())),
        Call::Runs => reading.runs_unknown(),
        Call::Connects => {
            reading.found(Finding::Connect(None));
            reading.incomplete();
        }
        Call::Unknown => reading.incomplete(),
    }
}

/// A file, or an address.
fn file_read(path: &str, reading: &mut Reading) {
    match path.split_once("://") {
        None => reading.found(Finding::Read(path.to_owned())),
        Some((_, rest)) => {
            let host = rest.split(['/', '?', ':']).next().unwrap_or_default();
            let fine =
                !host.is_empty() && host.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '.');
            reading.found(Finding::Connect(fine.then(|| host.to_owned())));
        }
    }
}

fn first_file(tokens: &[Token], reading: &mut Reading, finding: impl Fn(String) -> Finding) {
    match tokens.iter().find_map(text_of) {
        Some(file) => reading.found(finding(file)),
        None => reading.incomplete(),
    }
}

fn file_after(tokens: &[Token], word: &str, reading: &mut Reading, finding: impl Fn(String) -> Finding) {
    let at = tokens.iter().position(|token| matches!(token, Token::Word(found) if found == word));
    match at.and_then(|at| tokens.get(at + 1)) {
        Some(Token::Text(file) | Token::Quoted(file)) => reading.found(finding(file.clone())),
        _ => reading.incomplete(),
    }
}

fn has(tokens: &[Token], wanted: &str) -> bool {
    tokens.iter().any(|token| matches!(token, Token::Word(word) if word == wanted))
}

fn text_of(token: &Token) -> Option<String> {
    match token {
        Token::Text(text) => Some(text.clone()),
        _ => None,
    }
}

fn name_of(token: &Token) -> String {
    match token {
        Token::Word(word) => word.clone(),
        Token::Quoted(name) => name.to_lowercase(),
        _ => String::new(),
    }
}

/// The first words of a statement: keywords in capitals, names as they are, no literals.
fn words(tokens: &[Token]) -> String {
    const KEYWORDS: &[&str] = &[
        "drop",
        "truncate",
        "delete",
        "update",
        "alter",
        "table",
        "from",
        "database",
        "schema",
        "index",
        "view",
        "column",
        "if",
        "exists",
        "cascade",
        "only",
        "create",
        "or",
        "replace",
        "constraint",
        "user",
        "role",
        "function",
        "trigger",
        "materialized",
        "sequence",
        "type",
        "extension",
        "set",
        "where",
    ];
    let mut all = String::new();
    for token in tokens.iter().take(8) {
        let (word, glue) = match token {
            Token::Word(word) if matches!(word.as_str(), "set" | "where" | "cascade" | "returning") => break,
            Token::Word(word) if KEYWORDS.contains(&word.as_str()) => (word.to_uppercase(), true),
            Token::Word(word) => (word.clone(), true),
            Token::Quoted(name) => (name.clone(), true),
            Token::Symbol('.') => (".".to_owned(), false),
            _ => break,
        };
        if glue && !all.is_empty() && !all.ends_with('.') {
            all.push(' ');
        }
        all.push_str(&word);
    }
    all
}
