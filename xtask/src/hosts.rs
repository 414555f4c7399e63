//! The coding agents' own programs, installed below `target/hosts` and started against a model on this machine: do they take the
//! settings that `init` writes, and do what the hook says? It needs the network once, so it is no part of `cargo xtask test`.

use crate::run::{command, must, root, succeed};

/// Those that start without an account.
const PACKAGES: [&str; 5] =
    ["@anthropic-ai/claude-code", "@openai/codex", "@google/gemini-cli", "@github/copilot", "opencode-ai"];

pub(crate) fn run() -> Result<(), String> {
    let directory = root().join("target/hosts");
    let shown = directory.display().to_string();
    must("mkdir", &["-p", &shown])?;
    let mut words = vec!["install", "--no-audit", "--no-fund", "--prefix", &shown];
    words.extend(PACKAGES);
    must("npm", &words)?;
    let words = ["test", "--package", "bailiwick", "--test", "real"];
    let line = format!("cargo {}", words.join(" "));
    eprintln!("$ {line}");
    let mut test = command("cargo", &words);
    succeed(test.env("BAILIWICK_HOSTS", directory.join("node_modules/.bin")), &line)
}
