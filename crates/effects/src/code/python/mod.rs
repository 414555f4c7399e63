//! Python.

mod knowledge;
mod parse;
mod tokens;

use super::Reading;
use super::walk::walk;

/// Reads a Python program.
pub(super) fn read(text: &str, reading: &mut Reading) {
    let program = parse::program(text);
    walk(&knowledge::Python, &program, reading);
}
