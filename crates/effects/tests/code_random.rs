//! Random and mutated code: reading never panics, and gives the same twice.

use effects::code::read;

const TABLES: &[(&str, &str)] = &[
    ("python", include_str!("code_tables/python.txt")),
    ("javascript", include_str!("code_tables/javascript.txt")),
    ("sql", include_str!("code_tables/sql.txt")),
    ("awk", include_str!("code_tables/awk.txt")),
    ("sed", include_str!("code_tables/sed.txt")),
    ("perl", include_str!("code_tables/perl.txt")),
    ("ruby", include_str!("code_tables/ruby.txt")),
    ("php", include_str!("code_tables/php.txt")),
    ("lua", include_str!("code_tables/lua.txt")),
];

/// What programs are made of, and what breaks tokenizers.
const PIECES: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "'",
    "\"",
    "`",
    "\\",
    "/",
    "#",
    "\n",
    "\r",
    " ",
    ";",
    ":",
    ",",
    ".",
    "$",
    "@",
    "%",
    "|",
    "&",
    "=",
    "<",
    ">",
    "-",
    "+",
    "*",
    "!",
    "?",
    "~",
    "^",
    "0",
    "9",
    "a",
    "s",
    "e",
    "w",
    "y",
    "r",
    "q",
    "m",
    "\u{0}",
    "é",
    "\u{2028}",
    "😀",
    "'''",
    "\"\"\"",
    "f'",
    "f\"{",
    "${",
    "#{",
    "/*",
    "*/",
    "//",
    "--",
    "[[",
    "]]",
    "$$",
    "$a$",
    "<<",
    "->",
    "=>",
    "**",
    ":=",
    "import os",
    "os.system(",
    "open(",
    "lambda x:",
    "for x in ",
    "if ",
    " else ",
    "with ",
    " as ",
    "def f(",
    "return ",
    "require(",
    "const ",
    "function ",
    "async ",
    "await ",
    "new ",
    "typeof ",
    "in ",
    "of ",
    "SELECT ",
    "DELETE FROM t",
    " WHERE ",
    "WITH a AS (",
    "COPY t TO ",
    "EXPLAIN ANALYZE ",
    "\\copy ",
    ".read ",
    "print ",
    "getline < ",
    "| getline",
    "system(",
    "qw(",
    "s/",
    "tr/",
    "q{",
    "use ",
    "%w[",
    "<?php ",
    "?>",
    "--[[",
    "[==[",
];

/// A small generator of numbers, so that the tests need nothing else and every run is the same.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or(0) % bound.max(1)
    }
}

fn codes(table: &str) -> Vec<Vec<char>> {
    table
        .lines()
        .filter_map(|line| line.splitn(3, '\t').nth(2))
        .map(|code| code.replace('⏎', "\n").chars().collect())
        .collect()
}

#[test]
fn random_pieces_never_panic_and_are_read_the_same_twice() {
    let mut random = Random(0x5eed);
    for (language, _) in TABLES {
        for _ in 0..2000 {
            let text: String = (0..random.below(40)).map(|_| PIECES[random.below(PIECES.len())]).collect();
            assert_eq!(read(language, &text), read(language, &text), "{language}: {text:?}");
        }
    }
}

#[test]
fn mutated_rows_never_panic() {
    let mut random = Random(0xc0de);
    for (language, table) in TABLES {
        let codes = codes(table);
        for _ in 0..3000 {
            let mut text = codes[random.below(codes.len())].clone();
            for _ in 0..=random.below(4) {
                let at = random.below(text.len() + 1).min(text.len());
                match random.below(3) {
                    0 => {
                        text.splice(at..at, PIECES[random.below(PIECES.len())].chars());
                    }
                    1 if at < text.len() => {
                        text.remove(at);
                    }
                    _ => {
                        let other = &codes[random.below(codes.len())];
                        let from = random.below(other.len());
                        text.truncate(at);
                        text.extend_from_slice(&other[from..]);
                    }
                }
            }
            let text: String = text.into_iter().collect();
            let _ = read(language, &text);
        }
    }
}

/// A comment or blank before a program changes nothing; a dangerous line behind it takes nothing away.
#[test]
fn what_is_added_to_a_row_takes_nothing_away() {
    let tail = [
        ("python", "\nimport os; os.system('planted')"),
        ("javascript", "\n;require('child_process').execSync('planted')"),
        ("sql", "\n;\n\\! planted"),
        ("awk", "\nBEGIN {system(\"planted\")}"),
        ("sed", "\ne planted"),
        ("perl", "\n;system('planted')"),
        ("ruby", "\n;system('planted')"),
        ("php", "\n;system('planted');"),
        ("lua", "\n;os.execute('planted')"),
    ];
    for ((language, table), (same, planted)) in TABLES.iter().zip(tail) {
        assert_eq!(*language, same);
        for code in codes(table) {
            let code: String = code.into_iter().collect();
            let alone = read(language, &code);
            let both = read(language, &format!("{code}{planted}"));
            let found = both.findings.iter().any(|finding| format!("{finding:?}").contains("planted"));
            assert!(found || !both.complete, "{language}: {code}: {both:?}");
            assert!(alone.complete || !both.complete, "{language}: the tail completed {code}");
        }
    }
}

#[test]
fn deep_nesting_and_long_chains_are_refused_without_harm() {
    let long = 16_000;
    for (language, _) in TABLES {
        for piece in PIECES.iter().copied().chain([
            "a.b", "(a", "x[", "f(", "a=>", "not ", "!", "-", "lambda:", "{a:", "`${", "f'{", "select (",
            "delete (", "(delete ",
        ]) {
            let text = piece.repeat(long / piece.len().max(1));
            let _ = read(language, &text);
            let _ = read(language, &format!("x = {text}"));
        }
    }
}
