//! SQL, as psql, mysql, sqlite3, duckdb and their like take it, with their own commands between the statements.
//!
//! Which of them it is, is not known here. Where they read the same text differently, the reading is incomplete.

mod commands;
mod knowledge;
mod statement;
mod tokens;

use super::Reading;
use tokens::Token;

/// Reads statements and commands.
pub(super) fn read(text: &str, reading: &mut Reading) {
    let (tokens, whole) = tokens::tokens(text);
    if !whole {
        reading.incomplete();
    }
    let mut from = 0;
    for (at, token) in tokens.iter().enumerate() {
        let command = matches!(token, Token::Backslash(_) | Token::Dot(_));
        if !command && *token != Token::End {
            continue;
        }
        statement::read(tokens.get(from..at).unwrap_or_default(), reading);
        from = at + 1;
        match token {
            Token::Backslash(line) => commands::backslash(line, reading),
            Token::Dot(line) => commands::dot(line, reading),
            _ => {}
        }
    }
    statement::read(tokens.get(from..).unwrap_or_default(), reading);
}
