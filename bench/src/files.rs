//! The file tools against what they must keep up with: `file_read` of 100 MB against `cat` into a pipe, `grep_files` over a
//! large tree against `rg`. Whole commands and calls, interleaved in one loop. Both sides of a row bring the same: the bytes of the
//! file, all of them kept in memory, or the same lines of the same files.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use gate::fence::rooted::{Area, Listed, Right};
use serde_json::{Value, json};
use tools::{Outcome, Setting, file_read, grep_files};

const ROUNDS: usize = 15;
const SIZE: usize = 100_000_000;
const DIRECTORIES: usize = 1_000;
const FILES: usize = 30;

/// What is searched for: a rare word, a word in every file, a pattern with no word to look for first.
const PATTERNS: [(&str, &str); 3] = [
    ("a rare word", "needle_in_hay"),
    ("a regular expression", r"fn \w+_417\("),
    ("no literal", r"\b[a-z]{9}\d{4}\b"),
];

pub(crate) fn compare() -> Result<(), String> {
    let failed = |error: std::io::Error| error.to_string();
    let base = std::env::temp_dir().join(format!("bailiwick-bench-files-{}", std::process::id()));
    std::fs::create_dir_all(&base).map_err(failed)?;
    let base = base.canonicalize().map_err(failed)?;
    let measured = measure(&base);
    std::fs::remove_dir_all(&base).map_err(failed)?;
    measured
}

#[expect(clippy::disallowed_methods, reason = "a benchmark writes what it reads")]
fn measure(base: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| error.to_string();
    let line = "The quick brown fox jumps over the lazy dog, and says grüezi on the way; 0123456789\n";
    let large = base.join("large");
    std::fs::write(&large, line.repeat(SIZE / line.len())).map_err(failed)?;
    let area = Area::new([(base.to_path_buf(), Right::Read)], Box::new(Listed::default()))
        .map_err(|refused| refused.to_string())?;
    let setting = Setting { area: &area, cwd: base, home: None, stop: None };

    println!();
    println!("The file tools: median of {ROUNDS} interleaved runs");
    let arguments = arguments(json!({"path": "large", "max_bytes": SIZE}))?;
    side_by_side(
        "file_read, 100 MB",
        ("file_read", &mut || size(&file_read::run(&arguments, &setting))),
        ("cat into a pipe", &mut || drained(Command::new("cat").arg(&large))),
    )?;

    let tree = base.join("tree");
    let count = plant(&tree)?;
    for (name, pattern) in PATTERNS {
        let search = self::arguments(json!({"pattern": pattern, "path": "tree", "limit": 10_000}))?;
        let mut theirs = Command::new("rg");
        theirs.args(["--no-heading", "--line-number", pattern]).arg(&tree);
        let found = grep_files::run(&search, &setting);
        same_lines(&found.stdout, &collected(&mut theirs)?, base)?;
        side_by_side(
            &format!("grep_files, {count} files, {name}"),
            ("grep_files", &mut || size(&grep_files::run(&search, &setting))),
            ("rg", &mut || drained(&mut theirs)),
        )?;
    }
    Ok(())
}

/// A piece of work that says how much it brought.
type Work<'a> = (&'a str, &'a mut dyn FnMut() -> Result<usize, String>);

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
fn side_by_side(title: &str, ours: Work<'_>, theirs: Work<'_>) -> Result<(), String> {
    let (mut our_times, mut their_times) = (Vec::new(), Vec::new());
    let (mut our_size, mut their_size) = (0, 0);
    let timed = |work: &mut dyn FnMut() -> Result<usize, String>, size: &mut usize| {
        let start = Instant::now();
        *size = work()?;
        Ok::<_, String>(start.elapsed())
    };
    for round in 0..=ROUNDS {
        let mine = timed(ours.1, &mut our_size)?;
        let other = timed(theirs.1, &mut their_size)?;
        // The first round warms caches.
        if round > 0 {
            our_times.push(mine);
            their_times.push(other);
        }
    }
    let median = |times: &mut Vec<Duration>| {
        times.sort_unstable();
        times.get(times.len() / 2).copied().unwrap_or_default()
    };
    let (first, second) = (median(&mut our_times), median(&mut their_times));
    println!("  {title}");
    for (name, time, size) in [(ours.0, first, our_size), (theirs.0, second, their_size)] {
        println!("    {name:<20} {:>9.2} ms, {size} bytes", time.as_secs_f64() * 1e3);
    }
    let best = |times: &[Duration]| times.first().map_or(1.0, Duration::as_secs_f64);
    println!(
        "    ratio                {:>9.2}      goal ≤ 1.2; of the best runs {:.2}",
        first.as_secs_f64() / second.as_secs_f64(),
        best(&our_times) / best(&their_times)
    );
    Ok(())
}

fn size(outcome: &Outcome) -> Result<usize, String> {
    if outcome.ok { Ok(outcome.stdout.len()) } else { Err(outcome.stderr.clone()) }
}

/// FAIL-CLOSED: a figure is worth nothing where one side finds less than the other.
fn same_lines(ours: &str, theirs: &[u8], base: &Path) -> Result<(), String> {
    let theirs = String::from_utf8_lossy(theirs);
    let prefix = format!("{}/", base.display());
    let sorted = |text: &str| {
        let mut lines: Vec<String> =
            text.lines().map(|line| line.strip_prefix(&prefix).unwrap_or(line).to_owned()).collect();
        lines.sort_unstable();
        lines
    };
    let (ours, theirs) = (sorted(ours), sorted(&theirs));
    match ours == theirs {
        true => Ok(()),
        false => {
            let different = ours.iter().zip(&theirs).find(|(one, other)| one != other);
            Err(format!("grep_files found {} lines, rg {}: {different:?}", ours.len(), theirs.len()))
        }
    }
}

/// What a command writes, kept as a tool's answer is.
fn drained(command: &mut Command) -> Result<usize, String> {
    collected(command).map(|kept| kept.len())
}

fn collected(command: &mut Command) -> Result<Vec<u8>, String> {
    let failed = |error: std::io::Error| error.to_string();
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(failed)?;
    let mut output = child.stdout.take().ok_or("no standard output")?;
    let mut kept = Vec::new();
    output.read_to_end(&mut kept).map_err(failed)?;
    child.wait().map_err(failed)?;
    Ok(kept)
}

/// A tree of source files with rules of what to pass over.
#[expect(clippy::disallowed_methods, reason = "a benchmark writes what it reads")]
fn plant(tree: &Path) -> Result<usize, String> {
    let failed = |error: std::io::Error| error.to_string();
    std::fs::create_dir_all(tree.join(".git")).map_err(failed)?;
    std::fs::write(tree.join(".gitignore"), "target/\n*.log\nnode_modules\n/build\n").map_err(failed)?;
    let mut seed = 7_u64;
    let mut next = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        seed >> 33
    };
    for directory in 0..DIRECTORIES {
        let path: PathBuf = tree.join(format!("part{}/module{directory}", directory % 40));
        std::fs::create_dir_all(&path).map_err(failed)?;
        for file in 0..FILES {
            let mut text = String::new();
            for _ in 0..(next() % 120) {
                let number = next() % 1_000_000;
                text.push_str(&format!(
                    "    let value_{number} = call(first, second, {number}); // says so\n"
                ));
            }
            text.push_str(&format!("fn function_{}() {{}}\n", next() % 20_000));
            if directory % 97 == 0 && file == 3 {
                text.push_str("needle_in_hay here\nand abcdefghi1234 there\n");
            }
            let ending = if file % 10 == 9 { "log" } else { "rs" };
            std::fs::write(path.join(format!("file{file}.{ending}")), text).map_err(failed)?;
        }
    }
    Ok(DIRECTORIES * FILES)
}

/// A tool's arguments, as a call brings them.
fn arguments<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}
