//! Time-boxed fuzzing. The targets live in `fuzz/`; what they found interesting is replayed by the ordinary tests.

use crate::run::{command, exists, must, root, succeed};

/// The targets.
const TARGETS: &[&str] = &["shell_read", "fold_words", "effects_analyse", "config_load", "call_parse"];

pub(crate) fn run(arguments: &[&str]) -> Result<(), String> {
    let (targets, seconds) = match arguments {
        [] => (TARGETS.to_vec(), "60"),
        [one] if one.bytes().all(|b| b.is_ascii_digit()) => (TARGETS.to_vec(), *one),
        [target] => (vec![*target], "60"),
        [target, seconds] => (vec![*target], *seconds),
        _ => return Err("cargo xtask fuzz [TARGET] [SECONDS]".into()),
    };
    if let Some(unknown) = targets.iter().find(|target| !TARGETS.contains(target)) {
        return Err(format!("there is no target `{unknown}`; there are {}", TARGETS.join(", ")));
    }
    if !exists("cargo-fuzz") {
        must("cargo", &["install", "--locked", "cargo-fuzz"])?;
    }
    for target in targets {
        let limit = format!("-max_total_time={seconds}");
        let dictionary = format!("-dict=fuzz/dictionaries/{target}.dict");
        // What is found goes to a directory of its own; the corpus that is checked in is only read.
        let found = format!("fuzz/artifacts/found-{target}");
        must("mkdir", &["-p", &found])?;
        let corpus = format!("fuzz/corpus/{target}");
        let words = [
            "fuzz",
            "run",
            target,
            &found,
            &corpus,
            "--",
            &limit,
            &dictionary,
            "-timeout=2",
            "-rss_limit_mb=2048",
            "-max_len=65536",
            "-len_control=50",
            "-entropic=0",
            "-print_funcs=0",
        ];
        let line = format!("cargo {}", words.join(" "));
        eprintln!("$ {line}");
        // The sanitizer's flags are unstable; this compiler is a stable one.
        let mut fuzz = command("cargo", &words);
        succeed(fuzz.env("RUSTC_BOOTSTRAP", "1").current_dir(root()), &line)?;
    }
    Ok(())
}
