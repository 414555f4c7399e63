//! The table of `effects.md`: what commands would do, checked row by row. Keeps EFF-1.
//!
//! `BLESS=1 cargo test -p bailiwick-effects --test table -- --nocapture` prints the table as it is now.

use std::path::Path;

use call::{Intent, Shell};
use effects::{Class, NoFiles, Surroundings, analyse};

const TABLE: &str = include_str!("effects.md");

#[test]
fn every_command_does_what_the_table_says() {
    let bless = option_env!("BLESS").is_some();
    let mut wrong = Vec::new();
    let mut rows = 0;
    for line in TABLE.lines() {
        let Some((command, expected)) = row(line) else {
            if bless {
                println!("{line}");
            }
            continue;
        };
        rows += 1;
        let found = shown(&command);
        if bless {
            println!("| `` {} `` | {found} |", command.replace('|', "\\|"));
        } else if found != expected {
            wrong.push(format!("{command}\n    expected {expected}\n    found    {found}"));
        }
    }
    assert!(rows >= 250, "only {rows} rows were read");
    assert!(wrong.is_empty(), "{} rows differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// `| `` command `` | effects |`
fn row(line: &str) -> Option<(String, String)> {
    let rest = line.strip_prefix("| `` ")?;
    let (command, rest) = rest.split_once(" `` | ")?;
    Some((command.replace("\\|", "|"), rest.strip_suffix(" |").unwrap_or(rest).to_owned()))
}

fn shown(command: &str) -> String {
    let around = Surroundings {
        cwd: Path::new("/work/project"),
        home: Some(Path::new("/home/me")),
        user: Some("me"),
        workspace: Some(Path::new("/work/project")),
        files: &NoFiles,
    };
    let intent =
        Intent::Shell { text: command.to_owned(), shell: Shell::Bash, cwd: None, env_names: Vec::new() };
    let analysis = analyse(&[intent], &around);
    let mut effects: Vec<String> = analysis
        .parts
        .iter()
        .flat_map(|part| &part.effects)
        .map(|effect| match effect.class() {
            // Why something is not known is for people, and may be worded anew.
            Some(Class::Unknown) => "unknown".to_owned(),
            Some(class) => format!(
                "{}: {}",
                class.key(),
                effect.to_string().replace("/work/project", "W").replace("/home/me", "~")
            ),
            None => format!("nothing: {effect}"),
        })
        .collect();
    effects.sort_unstable();
    effects.dedup();
    if effects.is_empty() { "none".to_owned() } else { effects.join("; ").replace('|', "\\|") }
}
