//! Checks knowledge files: `knowledge-lint FILE…` prints every mistake as `file:line: what`, then a summary.

#[path = "../src/knowledge/check.rs"]
mod check;
#[path = "../src/knowledge/format.rs"]
#[expect(dead_code, reason = "checking needs only a part of what reading finds")]
mod format;

use std::collections::HashMap;
use std::process::ExitCode;

#[expect(
    clippy::disallowed_methods,
    reason = "a tool for those who write knowledge: it reads the files it is given"
)]
fn main() -> ExitCode {
    let mut tally = check::Tally::default();
    let mut seen: HashMap<String, String> = HashMap::new();
    let mut wrong = 0;
    for file in std::env::args().skip(1) {
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) => {
                println!("{file}: {error}");
                wrong += 1;
                continue;
            }
        };
        let (own, mistakes) = check::check(&text);
        tally.programs += own.programs;
        tally.subcommands += own.subcommands;
        tally.options += own.options;
        for mistake in mistakes {
            println!("{file}:{}: {}", mistake.line, mistake.what);
            wrong += 1;
        }
        for entry in check::entries(&text).unwrap_or_default() {
            for name in entry.names.split_whitespace() {
                let here = format!("{file}:{}", entry.line);
                if let Some(there) = seen.insert(name.to_owned(), here.clone()) {
                    println!("{here}: `{name}` already stands at {there}");
                    wrong += 1;
                }
            }
        }
    }
    println!(
        "{} programs, {} subcommands, {} spellings of options, {wrong} mistakes",
        tally.programs, tally.subcommands, tally.options
    );
    if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
