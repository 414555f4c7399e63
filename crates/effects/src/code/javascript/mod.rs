//! JavaScript, as Node, Deno and Bun run it.

mod knowledge;
mod parse;
mod tokens;

use super::Reading;
use super::walk::walk;

/// Reads a JavaScript program.
pub(super) fn read(text: &str, reading: &mut Reading) {
    let program = parse::program(text);
    walk(&knowledge::JavaScript, &program, reading);
}
