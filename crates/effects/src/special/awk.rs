//! `awk`: a program is harmless but for `system`, pipes, redirections, `getline` from a file and what changes its
//! own arguments.

use crate::arg::Arg;
use crate::classify::Purpose;
use crate::doing::Inner;
use crate::effect::{Carries, Origin, Peer};
use crate::evaluate::Evaluation;
use crate::knowledge::Role;
use crate::options::{self, Line};

pub(super) fn read<'a>(evaluation: &mut Evaluation<'_, '_, '_, '_, 'a>, line: &Line<'a>) -> bool {
    let given = super::has(line, &["-f", "--file", "-e", "--source", "-E", "--exec"]);
    let mut files = line.operands.iter();
    if !given && let Some(text) = files.next() {
        match text.written() {
            Some(text) => program(&text, evaluation),
            None => evaluation.doing.code("awk", Origin::Unresolved),
        }
    }
    for file in files {
        if !options::is_assignment(file) {
            evaluation.role(Role::Read, file, line, false);
        }
    }
    evaluation.doing.code_given = true;
    true
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    Text(String),
    Mark(char),
    End,
}

/// Reads a program.
pub(super) fn program(text: &str, evaluation: &mut Evaluation<'_, '_, '_, '_, '_>) {
    let Some(tokens) = tokens(text) else {
        evaluation.doing.code("awk", Origin::Written);
        return;
    };
    let mut depth = 0_i32;
    let mut prints = false;
    let mut previous = Token::End;
    let mut rest = tokens.iter().peekable();
    while let Some(token) = rest.next() {
        match token {
            Token::Word(word) => match word.as_str() {
                "print" | "printf" => {
                    prints = true;
                    depth = 0;
                }
                "system" => run(&mut rest, '(', evaluation),
                "getline" => {
                    let from_file = matches!(
                        (rest.clone().next(), rest.clone().nth(1)),
                        (Some(Token::Mark('<')), _) | (Some(Token::Word(_)), Some(Token::Mark('<')))
                    );
                    if from_file {
                        while let Some(token) = rest.next() {
                            if *token == Token::Mark('<') {
                                break;
                            }
                        }
                        match rest.peek() {
                            Some(Token::Text(path)) => {
                                let path = Arg::owned(path.clone());
                                evaluation.doing.path(
                                    &path,
                                    Purpose::Read,
                                    &evaluation.cwds,
                                    evaluation.engine.around,
                                );
                            }
                            _ => evaluation.doing.unknown("reads a path that is not known"),
                        }
                    }
                }
                "ARGV" | "ARGC" => evaluation.doing.unknown("a program that changes its own arguments"),
                "ENVIRON" => evaluation.doing.prints_environment = true,
                _ => {}
            },
            Token::Mark('(') => depth += 1,
            Token::Mark(')') => depth -= 1,
            Token::Mark(';' | '{' | '}' | '\n') => prints = false,
            Token::Mark('@') => evaluation.doing.unknown("loads another program or calls by name"),
            Token::Mark('>') if prints && depth <= 0 => {
                if rest.peek() == Some(&&Token::Mark('>')) {
                    rest.next();
                }
                match (rest.next(), rest.peek()) {
                    (Some(Token::Text(path)), None | Some(Token::Mark(';' | '}' | '\n'))) => {
                        let path = Arg::owned(path.clone());
                        evaluation.doing.path(
                            &path,
                            Purpose::Write,
                            &evaluation.cwds,
                            evaluation.engine.around,
                        );
                    }
                    _ => evaluation.doing.unknown("writes to a path that is not known"),
                }
            }
            Token::Mark('|') => {
                if rest.peek() == Some(&&Token::Mark('&')) {
                    rest.next();
                }
                if matches!(rest.peek(), Some(Token::Word(word)) if word == "getline") {
                    match &previous {
                        Token::Text(command) => {
                            evaluation.doing.inner.push(Inner::Shell("sh", Arg::owned(command.clone())));
                        }
                        _ => evaluation.doing.code("shell", Origin::Unresolved),
                    }
                } else {
                    run(&mut rest, ' ', evaluation);
                }
            }
            Token::Text(text) if text.starts_with("/inet") => {
                evaluation.doing.connect(Peer::Unnamed, Carries::Data);
            }
            Token::Text(_) | Token::Mark(_) | Token::End => {}
        }
        previous = token.clone();
    }
}

/// A command that is run: a literal that stands alone, or something that is not known.
fn run<'t>(
    rest: &mut std::iter::Peekable<std::slice::Iter<'t, Token>>,
    open: char,
    evaluation: &mut Evaluation<'_, '_, '_, '_, '_>,
) {
    if open == '(' {
        rest.next();
    }
    let literal = match rest.peek() {
        Some(Token::Text(command)) => {
            let alone = match rest.clone().nth(1) {
                None => true,
                Some(Token::Mark(mark)) => matches!(mark, ')' | ';' | '}' | '\n'),
                Some(_) => false,
            };
            alone.then(|| command.clone())
        }
        _ => None,
    };
    match literal {
        Some(command) => evaluation.doing.inner.push(Inner::Shell("sh", Arg::owned(command))),
        None => evaluation.doing.code("shell", Origin::Unresolved),
    }
}

/// Words, literals and marks. `||`, `&&`, `>=` and regular expressions are left out. `None`: not understood.
fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut letters = text.chars().peekable();
    // Whether a slash would divide.
    let mut operand = false;
    while let Some(letter) = letters.next() {
        match letter {
            ' ' | '\t' | '\r' => {}
            '\\' => {
                letters.next();
            }
            '#' => {
                while letters.peek().is_some_and(|letter| *letter != '\n') {
                    letters.next();
                }
            }
            '"' => {
                let mut literal = String::new();
                loop {
                    match letters.next()? {
                        '"' => break,
                        '\\' => match letters.next()? {
                            '"' => literal.push('"'),
                            '\\' => literal.push('\\'),
                            '/' => literal.push('/'),
                            'n' => literal.push('\n'),
                            't' => literal.push('\t'),
                            // Codes such as `\x72` could spell anything.
                            'x' | '0'..='9' | 'u' => return None,
                            other => literal.push(other),
                        },
                        letter => literal.push(letter),
                    }
                }
                tokens.push(Token::Text(literal));
                operand = true;
            }
            '/' if !operand => {
                let mut bracket = false;
                loop {
                    match letters.next()? {
                        '\\' => {
                            letters.next()?;
                        }
                        '[' => bracket = true,
                        ']' => bracket = false,
                        '/' if !bracket => break,
                        '\n' => return None,
                        _ => {}
                    }
                }
                operand = true;
            }
            _ if letter.is_ascii_alphabetic() || letter == '_' => {
                let mut word = String::from(letter);
                while let Some(next) =
                    letters.peek().copied().filter(|next| next.is_ascii_alphanumeric() || *next == '_')
                {
                    word.push(next);
                    letters.next();
                }
                operand = !matches!(
                    word.as_str(),
                    "print" | "printf" | "return" | "in" | "else" | "do" | "getline" | "delete"
                );
                tokens.push(Token::Word(word));
            }
            _ if letter.is_ascii_digit() => operand = true,
            '|' if letters.peek() == Some(&'|') => {
                letters.next();
                operand = false;
            }
            '&' if letters.peek() == Some(&'&') => {
                letters.next();
                operand = false;
            }
            '>' | '<' | '=' | '!' if letters.peek() == Some(&'=') => {
                letters.next();
                operand = false;
            }
            _ => {
                operand = matches!(letter, ')' | ']' | '$' | '.');
                tokens.push(Token::Mark(letter));
            }
        }
    }
    Some(tokens)
}
