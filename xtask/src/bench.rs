//! `cargo xtask bench`: builds what is measured, then measures.

use crate::run::must;

pub(crate) fn run() -> Result<(), String> {
    must("cargo", &["build", "--release", "--locked", "--package", "bailiwick", "--package", "bench"])?;
    must("target/release/bench", &[])
}
