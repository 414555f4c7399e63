//! Chores of the project: `cargo xtask test`, `bench`, `fuzz`, `generate`, `hosts`.

mod bench;
mod clients;
mod fuzz;
mod generate;
mod graph;
mod hosts;
mod interface;
mod promises;
mod run;
mod test;

use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask test               everything that must pass; installs what the tests need
cargo xtask bench              one table of figures, measured in one run
cargo xtask fuzz [TARGET] [SECONDS]
                               fuzz one target, or each of them, for so long (60)
cargo xtask generate           write the files that are made from the code
cargo xtask hosts              install coding agents' own programs and try the hooks in them";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["test"] => test::all(),
        ["bench"] => bench::run(),
        ["fuzz", rest @ ..] => fuzz::run(rest),
        ["generate"] => generate::write_files(),
        ["hosts"] => hosts::run(),
        _ => Err(USAGE.to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}
