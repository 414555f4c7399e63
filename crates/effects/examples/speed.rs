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
    for unit in UNITS {
        let time = |bytes: usize| {
            let text = format!("{}{}{}", unit.0, unit.1.repeat(bytes / unit.1.len()), unit.2);
            let intents =
                [call::Intent::Shell { text, shell: call::Shell::Bash, cwd: None, env_names: Vec::new() }];
            processor_time(|| {
                std::hint::black_box(effects::analyse(&intents, &around));
            })
        };
        // Short texts too: what is just below a bound costs more than what is beyond it.
        let times: Vec<f64> = [1, 2, 4, 6, 8, 12, 16, 32, 63].iter().map(|size| time(size * 1024)).collect();
        let slow = times.iter().any(|time| *time > 3.0);
        let doubled = [(1, 2), (2, 4), (4, 6), (5, 6), (6, 7), (7, 8)];
        let steep = doubled.iter().any(|(one, two)| {
            matches!((times.get(*one), times.get(*two)), (Some(one), Some(two)) if *two > 0.3 && two / one > 2.5)
        });
        let shown: Vec<String> = times.iter().map(|time| format!("{time:>7.2}")).collect();
        println!(
            "{} {}{}  {:?}",
            shown.join(" "),
            if slow { "slow " } else { "" },
            if steep { "steep" } else { "" },
            unit
        );
    }
    for count in [1_000_usize, 2_000, 4_000, 16_000] {
        for word in ["abc", "-l", "../x", "*.txt", ".env", "/etc/passwd"] {
            for program in ["rm", "ls", "find", "git", "tar", "docker"] {
                let mut argv = vec![program.to_owned()];
                argv.extend(std::iter::repeat_n(word.to_owned(), count));
                let intents = [call::Intent::Argv { argv, cwd: None, env_names: Vec::new() }];
                let time = processor_time(|| {
                    std::hint::black_box(effects::analyse(&intents, &around));
                });
                if time > 2.0 {
                    println!("{count:>6} × {program} {word}: {time:.2} ms");
                }
            }
        }
    }
}

/// Milliseconds on the processor, the least of a few rounds: a busy machine does not count.
#[expect(clippy::disallowed_methods, reason = "the kernel says in a file how long this process ran")]
fn processor_time(run: impl Fn()) -> f64 {
    const ROUNDS: u32 = 5;
    const RUNS: u32 = 5;
    let now = || {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        text.split(' ').next().and_then(|first| first.parse::<f64>().ok()).unwrap_or_default()
    };
    // The kernel counts when a thread waits.
    let settle = || std::thread::sleep(std::time::Duration::from_millis(1));
    run();
    let round = |_| {
        settle();
        let start = now();
        (0..RUNS).for_each(|_| run());
        settle();
        (now() - start) / f64::from(RUNS) / 1e6
    };
    (0..ROUNDS).map(round).fold(f64::INFINITY, f64::min)
}

/// What a text is made of that is hard to read: what stands before, what is repeated, what stands after.
static UNITS: &[(&str, &str, &str)] = &[
    ("", "a;", ""),
    ("", "rm x;", ""),
    ("", "rm -rf /x;", ""),
    ("", "cat a|", "cat"),
    ("rm ", "abc ", ""),
    ("rm -rf ", "/abc ", ""),
    ("cat ", "../../x ", ""),
    ("cat ", "*.txt ", ""),
    ("ls ", "-l ", ""),
    ("ls ", "-", ""),
    ("ls -", "l", ""),
    ("tar -", "x", ""),
    ("git log ", "--on ", ""),
    ("git ", "-c a=b ", "log"),
    ("find ", ". ", "-delete"),
    ("find . ", "-name x -o ", "-delete"),
    ("find . ", "( ", ""),
    ("find . ", "-name x ( -name y -o -name z ) ", "-delete"),
    ("find . ", "-exec rm {} ; ", ""),
    ("find . ", "-exec rm {} \\; ", ""),
    ("find a b c d e f g h ", "-exec rm {} + ", ""),
    ("xargs ", "xargs ", ""),
    ("", "env ", "ls"),
    ("", "sudo ", "ls"),
    ("", "eval ", "ls"),
    ("", "eval ls; ", "cat .env"),
    ("", "X=1 ", "ls"),
    ("", "cd a; cat b; ", ""),
    ("", "if a; then cd x; fi; cat y; ", ""),
    ("", "echo $(ls); ", ""),
    ("", "echo x > f; ", ""),
    ("cat ", "< f ", ""),
    ("cat ", "> f ", ""),
    ("", "ln -s a b; cat b; ", ""),
    ("", "cat .env | curl -d @- x; ", ""),
    ("for i in a b c d e f g h; do ", "rm $i; ", "done"),
    ("x=$(ls); ", "rm $x; ", ""),
    ("", "$(ls) ", ""),
    ("", "bash -c 'ls'; ", ""),
    ("python -c '", "import os;", "'"),
    ("python -c '", "open(", "'"),
    ("awk '", "{print $1}", "'"),
    ("sed '", "s/a/b/;", "'"),
    ("psql -c '", "SELECT 1;", "'"),
    ("psql '", "host=a ", "'"),
    ("node -e '", "a(", "'"),
    ("echo ", "a", ""),
    ("cat ", "/a", ""),
    ("cat ", "/..", ""),
    ("cat ", "*", ""),
    ("cat ", "[a", ""),
    ("cat ", "?*", ""),
    ("rm ", "{a,b}", ""),
    ("", "x() { ls; }; x; ", ""),
    ("", "[ -f a ] && ", "ls"),
    ("fzf --bind '", "a:up,", "'"),
    ("fzf --bind 'a:execute(", ")(", "'"),
    ("sysctl ", "a=", ""),
    ("curl ", "-d @a ", "http://x"),
    ("docker run ", "-v /a:/b ", "x"),
    ("<<<< ", "rm -rf / ", ""),
    ("case x in ", "a) rm x;; ", "esac"),
    ("cat ", "/*/s* ", ""),
    ("cat ", ".[a-z]*/c*/x ", ""),
    ("cat ", "**/*e* ", ""),
    ("rm -rf ", ".c*/* ", ""),
    (
        "for a in; do for b in; do for c in; do for d in; do for e in; do ",
        "x=$x$y; y=$x{a,b}; ",
        "done; done; done; done; done",
    ),
    ("vim -c '", "w a|", "'"),
    ("vim -c '", "!ls\n", "'"),
    ("expect -c '", "exec ls;", "'"),
    ("make --eval '", "a: ; ls\n", "'"),
    ("gdb -ex '", "!ls\n", "'"),
    ("", "flock x -c 'ls'; ", ""),
    ("", "vim -c '!ls' x; ", ""),
    ("", "bash <(echo ls); ", ""),
    ("", "source /dev/stdin <<< ls; ", ""),
    ("perl -e '", "system(1);", "'"),
    ("ruby -e '", "a(", "'"),
    ("php -r '", "$a=1;", "'"),
    ("lua -e '", "os.time() ", "'"),
    ("git ", "-c core.pager=x ", "log"),
    ("docker run x ", "sh -c ", "ls"),
];
