//! Packs the knowledge: checks every file of `knowledge/`, joins them into one text and writes a sorted index of
//! names with plain numbers, so that starting up costs nothing.

#[path = "src/knowledge/check.rs"]
mod check;
#[path = "src/knowledge/format.rs"]
#[expect(dead_code, reason = "checking needs only a part of what reading finds")]
mod format;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=knowledge");
    println!("cargo::rerun-if-changed=src/knowledge/format.rs");
    println!("cargo::rerun-if-changed=src/knowledge/check.rs");
    match pack() {
        Ok(()) => {}
        Err(mistakes) => {
            for mistake in mistakes {
                println!("cargo::error={mistake}");
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a build script reads its inputs and writes its output")]
fn pack() -> Result<(), Vec<String>> {
    let one = |error: &dyn std::fmt::Display| vec![error.to_string()];
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    let mut files: Vec<PathBuf> = std::fs::read_dir(root.join("knowledge"))
        .map_err(|error| one(&error))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .collect();
    files.sort();

    let mut wrong: Vec<String> = Vec::new();
    let mut blob = String::new();
    // Name, where it stands in the blob, where the block's body stands.
    let mut names: Vec<Named> = Vec::new();
    for file in &files {
        let text = std::fs::read_to_string(file).map_err(|error| one(&error))?;
        let shown = file.strip_prefix(&root).unwrap_or(Path::new("")).display().to_string();
        let (_, mistakes) = check::check(&text);
        wrong.extend(mistakes.iter().map(|mistake| format!("{shown}:{}: {}", mistake.line, mistake.what)));
        for entry in check::entries(&text).unwrap_or_default() {
            let start = blob.len();
            blob.push_str(entry.names);
            blob.push('\n');
            let body = (blob.len(), entry.body.len());
            blob.push_str(entry.body);
            let mut at = start;
            for name in entry.names.split(' ') {
                if !name.is_empty() {
                    let place = format!("{shown}:{}", entry.line);
                    names.push(Named { name: name.to_owned(), at, body, place });
                }
                at += name.len() + 1;
            }
        }
    }
    names.sort_by(|one, two| one.name.cmp(&two.name));
    for pair in names.windows(2) {
        if let [one, two] = pair
            && one.name == two.name
        {
            wrong.push(format!("{}: `{}` already stands at {}", two.place, two.name, one.place));
        }
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }

    let mut index = String::from("// Made by build.rs.\n");
    let (wild, plain): (Vec<_>, Vec<_>) = names.iter().partition(|named| named.name.contains('*'));
    let mut bodies: Vec<(usize, usize)> = names.iter().map(|named| named.body).collect();
    bodies.sort_unstable();
    bodies.dedup();
    for (title, list) in [("NAMES", plain), ("WILD", wild)] {
        let _ = writeln!(index, "pub(super) static {title}: [Row; {}] = [", list.len());
        for named in list {
            let number = bodies.binary_search(&named.body).unwrap_or_default();
            let _ = writeln!(
                index,
                "    Row {{ at: {}, length: {}, body: {number} }},",
                named.at,
                named.name.len()
            );
        }
        index.push_str("];\n");
    }
    let _ = writeln!(index, "pub(super) static BODIES: [(u32, u32); {}] = [", bodies.len());
    for (start, length) in &bodies {
        let _ = writeln!(index, "    ({start}, {length}),");
    }
    index.push_str("];\n");
    let _ = writeln!(index, "pub(super) const COUNT: usize = {};", bodies.len());
    std::fs::write(out.join("knowledge.txt"), blob).map_err(|error| one(&error))?;
    std::fs::write(out.join("index.rs"), index).map_err(|error| one(&error))?;
    Ok(())
}

struct Named {
    name: String,
    at: usize,
    body: (usize, usize),
    place: String,
}
