//! Files that are made from the code and checked in, so that readers and editors have them.

use crate::run::{built, must, output, read, write};

/// What is generated, and by which arguments of the binary.
const FILES: &[(&str, &[&str])] = &[
    ("docs/configuration.md", &["policy", "reference"]),
    ("docs/config.schema.json", &["policy", "schema"]),
    ("docs/tools.schema.json", &["tools", "--json"]),
    ("docs/bailiwick.1", &["man"]),
];

/// Makes them with the binary that is built.
fn make(made: impl Fn(&str, &str) -> Result<(), String>) -> Result<(), String> {
    let binary = built().display().to_string();
    FILES.iter().try_for_each(|(path, arguments)| made(path, &output(&binary, arguments)?))
}

/// Writes them.
pub(crate) fn write_files() -> Result<(), String> {
    must("cargo", &["build", "--package", "bailiwick"])?;
    make(write)
}

/// Fails where one of them is not what the code makes.
pub(crate) fn check() -> Result<(), String> {
    make(|path, text| {
        if read(path)? == text {
            Ok(())
        } else {
            Err(format!("{path} is out of date: run `cargo xtask generate`"))
        }
    })
}
