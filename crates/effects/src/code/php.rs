//! PHP, by its tokens. Classes, methods and functions by a computed name are not understood.

use std::sync::LazyLock;

use super::Reading;
use super::cursor::Cursor;
use super::light::{Deed, List, Token, Words, operator, scan};

static WORDS: LazyLock<Words> = LazyLock::new(|| Words::new(&LIST));

const LIST: List = List {
    deeds: &[
        (Deed::Shell, "system exec shell_exec passthru popen proc_open"),
        (
            Deed::Read,
            "file_get_contents file readfile fpassthru file_exists is_file is_dir filesize filemtime stat scandir glob parse_ini_file opendir is_readable is_writable highlight_file show_source",
        ),
        (Deed::Write, "file_put_contents mkdir touch chmod chown tempnam"),
        (Deed::Delete, "unlink rmdir"),
        (Deed::Copy, "copy"),
        (Deed::Move, "rename"),
        (Deed::Open, "fopen gzopen"),
        (Deed::Connect, "fsockopen pfsockopen stream_socket_client curl_init ftp_connect mail"),
        (Deed::System, "posix_kill posix_setuid"),
        (Deed::Load, "include include_once require require_once"),
        (
            Deed::Runs,
            "eval assert create_function call_user_func call_user_func_array pcntl_exec pcntl_fork unserialize dl \
             preg_replace_callback extract parse_str putenv ini_set register_shutdown_function ReflectionFunction",
        ),
    ],
    plain: "echo print var_dump print_r printf sprintf vprintf var_export json_encode json_decode phpversion php_uname \
        php_sapi_name count sizeof strlen strtoupper strtolower ucfirst ucwords lcfirst trim ltrim rtrim str_repeat str_replace \
        str_pad str_split strrev strpos strrpos substr substr_count implode explode join in_array array_keys array_values \
        array_merge array_sum array_unique array_reverse array_slice array_combine array_flip array_key_exists array_fill \
        range sort rsort ksort asort arsort max min abs ceil floor round sqrt pow intdiv rand mt_rand random_int date time \
        microtime mktime strtotime md5 sha1 hash base64_encode base64_decode bin2hex hex2bin crc32 urlencode urldecode \
        rawurlencode htmlspecialchars nl2br number_format is_array is_string is_int is_null is_numeric isset empty unset \
        intval floatval strval boolval gettype get_loaded_extensions extension_loaded function_exists memory_get_usage \
        memory_get_peak_usage preg_match preg_match_all preg_split preg_quote ctype_digit ctype_alpha mb_strlen mb_substr \
        mb_strtoupper ord chr dechex hexdec bindec decbin fgets fread fclose feof PHP_VERSION PHP_EOL PHP_OS PHP_INT_MAX \
        PHP_OS_FAMILY STDIN STDOUT STDERR JSON_PRETTY_PRINT JSON_UNESCAPED_SLASHES true false null if else elseif for \
        foreach as while do switch case break continue default return and or not exit die array TRUE FALSE NULL M_PI usleep \
        sleep getmypid gethostname ini_get sys_get_temp_dir version_compare",
    members: "",
    modules: "",
    defining: &[],
    joining: &["or", "and"],
    dots: &["->", "::"],
};

/// Reads a program.
pub(super) fn read(text: &str, reading: &mut Reading) {
    let text = text.trim_start().strip_prefix("<?php").unwrap_or(text);
    let (tokens, whole) = tokens(text);
    if !whole {
        reading.incomplete();
    }
    scan(&tokens, &WORDS, reading);
    for pair in tokens.windows(2) {
        match pair {
            // Functions by a computed name, variables by a computed name, and what comes from outside.
            [
                Token::Variable(_) | Token::Text(_) | Token::Mixed | Token::Op(")" | "]" | "}"),
                Token::Op("("),
            ]
            | [Token::Op("$"), _]
            | [Token::Op("->" | "::" | "\\" | "@"), _] => reading.incomplete(),
            [Token::Variable(name), _] if matches!(name.as_str(), "$_ENV" | "$_SERVER" | "$GLOBALS") => {
                reading.incomplete();
            }
            _ => {}
        }
    }
    for token in &tokens {
        // The names of functions may be given to others as text.
        if let Token::Word(word) = token
            && matches!(
                word.as_str(),
                "array_map" | "usort" | "array_filter" | "array_walk" | "function" | "fn" | "new" | "use"
            )
        {
            reading.incomplete();
        }
    }
}

fn tokens(text: &str) -> (Vec<Token>, bool) {
    let mut cursor = Cursor::new(text);
    let mut found = Vec::new();
    while let Some(c) = cursor.peek() {
        match c {
            _ if c.is_ascii_whitespace() => cursor.skip(1),
            '#' | '/' if c == '#' || cursor.at("//") => {
                let comment = cursor.take_while(|c| c != '\n' && c != '\r');
                // The end of the code ends a comment too.
                if comment.contains("?>") || comment.starts_with("#[") {
                    return (found, false);
                }
            }
            '/' if cursor.at("/*") => {
                cursor.skip(2);
                if !cursor.skip_past("*/") {
                    return (found, false);
                }
            }
            '?' if cursor.at("?>") => return (found, false),
            '<' if cursor.at("<<<") || cursor.at("<?") => return (found, false),
            '\'' | '"' | '`' => match string(&mut cursor) {
                Some(token) => found.push(token),
                None => return (found, false),
            },
            '$' if cursor.ahead(1).is_some_and(|c| c.is_ascii_alphabetic() || c == '_') => {
                cursor.skip(1);
                found.push(Token::Variable(format!("${}", cursor.word())));
            }
            _ if c.is_ascii_digit() => {
                cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '.' || c == '_');
                found.push(Token::Plain);
            }
            _ if c.is_ascii_alphabetic() || c == '_' => {
                // The names of functions know no capitals.
                let word = cursor.word();
                let lower = word.to_ascii_lowercase();
                let called = cursor.peek() == Some('(') || WORDS.is_deed(&lower);
                found.push(Token::Word(if called { lower } else { word }));
            }
            _ => match operator(&cursor) {
                Some(operator) => {
                    cursor.skip(operator.len());
                    found.push(Token::Op(operator));
                }
                None => return (found, false),
            },
        }
    }
    (found, true)
}

fn string(cursor: &mut Cursor) -> Option<Token> {
    let quote = cursor.bump()?;
    let mut text = String::new();
    let mut constant = true;
    loop {
        let c = cursor.bump()?;
        match c {
            _ if c == quote => break,
            '\\' => match (quote, cursor.bump()?) {
                (_, '\\') => text.push('\\'),
                (_, c) if c == quote => text.push(c),
                ('\'', c) => {
                    text.push('\\');
                    text.push(c);
                }
                (_, 'n') => text.push('\n'),
                (_, 't') => text.push('\t'),
                (_, '$') => text.push('$'),
                _ => constant = false,
            },
            '$' if quote != '\'' => {
                // `{$x->f()}` and `${…}` can call.
                let plain = cursor.peek().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
                if text.ends_with('{') || cursor.peek() == Some('{') {
                    return None;
                }
                constant &= !plain;
                text.push(c);
            }
            _ => text.push(c),
        }
    }
    Some(match (quote, constant) {
        ('`', true) => Token::Command(Some(text)),
        ('`', false) => Token::Command(None),
        (_, true) => Token::Text(text),
        (_, false) => Token::Mixed,
    })
}
