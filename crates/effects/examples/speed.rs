//! How long everyday commands take, from text to effects: `cargo run --release --example speed`.

use std::path::Path;
use std::time::Instant;

use effects::{NoFiles, Surroundings};

static EVERYDAY: &[&str] = &[
    "ls -la",
    "git status",
    "git diff HEAD~1 -- src/lib.rs",
    "cat README.md",
    "grep -rn TODO src",
    "rg --files -g '*.rs'",
    "cargo test -p effects",
    "npm test",
    "pytest -x tests/unit",
    "git add -A && git commit -m 'Fix the parser'",
    "sed -n '1,80p' src/main.rs",
    "find . -name '*.py' -not -path './venv/*'",
    "rm -rf node_modules",
    "mkdir -p src/new && touch src/new/mod.rs",
    "head -50 src/lib.rs | tail -20",
    "wc -l src/*.rs",
    "echo \"done: $status\"",
    "curl -s http://localhost:3000/health",
    "docker ps -a",
    "cd crates/effects && cargo build 2>&1 | tail -5",
];

#[expect(clippy::disallowed_methods, reason = "it measures time")]
fn main() {
    let around = Surroundings {
        cwd: Path::new("/work/project"),
        home: Some(Path::new("/home/me")),
        user: Some("me"),
        workspace: Some(Path::new("/work/project")),
        files: &NoFiles,
    };
    let mut medians = Vec::new();
    for text in EVERYDAY {
        let intents = [call::Intent::Shell {
            text: (*text).to_owned(),
            shell: call::Shell::Bash,
            cwd: None,
            env_names: Vec::new(),
        }];
        let first = Instant::now();
        std::hint::black_box(effects::analyse(&intents, &around));
        let first = first.elapsed();
        let mut times: Vec<u128> = (0..2001)
            .map(|_| {
                let start = Instant::now();
                std::hint::black_box(effects::analyse(std::hint::black_box(&intents), &around));
                start.elapsed().as_nanos()
            })
            .collect();
        times.sort_unstable();
        let median = times.get(times.len() / 2).copied().unwrap_or_default();
        println!(
            "{:>7.2} µs (first {:>7.1} µs)  {text}",
            median as f64 / 1000.0,
            first.as_nanos() as f64 / 1000.0
        );
        medians.push(median);
    }
    medians.sort_unstable();
    println!("median {:.2} µs", medians.get(medians.len() / 2).copied().unwrap_or_default() as f64 / 1000.0);
    for count in [1_000_usize, 2_000, 4_000] {
        for (name, text) in [
            ("a;", "a;".repeat(count * 8)),
            ("rm x;", "rm x;".repeat(count * 3)),
            ("cat a|", format!("{}cat", "cat a|".repeat(count * 2))),
            ("words", format!("rm {}", "abc ".repeat(count * 4))),
            ("options", format!("ls {}", "-l ".repeat(count * 4))),
        ] {
            let intents =
                [call::Intent::Shell { text, shell: call::Shell::Bash, cwd: None, env_names: Vec::new() }];
            let best = (0..7)
                .map(|_| {
                    let start = Instant::now();
                    std::hint::black_box(effects::analyse(&intents, &around));
                    start.elapsed().as_nanos()
                })
                .min()
                .unwrap_or_default();
            println!("{count:>5} × {name:8} {:>8.2} ms", best as f64 / 1e6);
        }
    }
}
