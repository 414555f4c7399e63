//! Files that are made from the code and checked in, so that readers and editors have them.

use crate::run::{output, read, write};

/// What is generated, and by which arguments of the binary.
const FILES: &[(&str, &[&str])] = &[
    ("docs/configuration.md", &["policy", "reference"]),
    ("docs/config.schema.json", &["policy", "schema"]),
    ("docs/tools.schema.json", &["tools", "--json"]),
    ("docs/bailiwick.1", &["man"]),
];

/// Writes them.
pub(crate) fn write_all(made: impl Fn(&str, &str) -> Result<(), String>) -> Result<(), String> {
    for (path, arguments) in FILES {
        let mut words = vec!["run", "--quiet", "--package", "bailiwick", "--"];
        words.extend(*arguments);
        made(path, &output("cargo", &words)?)?;
    }
    Ok(())
}

pub(crate) fn write_files() -> Result<(), String> {
    write_all(write)
}

/// Fails where one of them is not what the code makes.
pub(crate) fn check() -> Result<(), String> {
    write_all(|path, text| {
        if read(path)? == text {
            Ok(())
        } else {
            Err(format!("{path} is out of date: run `cargo xtask generate`"))
        }
    })
}
