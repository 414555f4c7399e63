//! What is measured: commands as agents write them every day, and the worst that fits into the bounds.

/// Twenty everyday commands.
pub(crate) const EVERYDAY: [&str; 20] = [
    "ls -la",
    "git status",
    "git diff --stat HEAD~1",
    "cat src/main.rs",
    "grep -rn 'TODO' src --include='*.rs'",
    "rg -n 'fn main' crates | head -20",
    "find . -name '*.py' -not -path './.venv/*'",
    "sed -n '1,80p' README.md",
    "cargo test --workspace 2>&1 | tail -40",
    "pytest -q tests/test_api.py",
    "npm run build",
    "python3 -c 'import json; print(json.dumps({}))'",
    "mkdir -p build/out && cp src/a.txt build/out/",
    "git add -A && git commit -m 'Fix the parser'",
    "for f in *.md; do wc -l \"$f\"; done",
    "cd crates/shell && cargo check",
    "rm -rf target/debug",
    "curl -s http://localhost:8080/healthz",
    "echo \"done\" > notes.txt",
    "jq '.dependencies | keys' package.json",
];

/// Texts of 64 KiB that are hard on a reader.
pub(crate) fn worst() -> Vec<(&'static str, String)> {
    const SIZE: usize = 64 * 1024 - 16;
    let fill = |unit: &str| unit.repeat(SIZE / unit.len());
    vec![
        ("one long word", format!("echo {}", "a".repeat(SIZE - 8))),
        ("many words", format!("echo {}", fill("a "))),
        ("many commands", fill("ls; ")),
        ("a long pipe", format!("{}cat", fill("cat | "))),
        ("many substitutions", format!("echo {}", fill("$(a) "))),
        ("many assignments and uses", fill("x=$x; ")),
        ("quotes", format!("echo {}", fill("'a'\"b\""))),
        ("braces", format!("echo {}", fill("{a,b}"))),
        ("open parentheses", "(".repeat(SIZE)),
        ("backslashes", format!("echo {}", fill("\\\\"))),
    ]
}
