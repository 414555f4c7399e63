//! Other people's MCP clients and servers against ours: the Python SDK, the TypeScript SDK, and the reference server for files, from
//! their registries. They are installed once, below `target`.

use crate::run::{built, command, exists, must, root, succeed};

/// Where they are installed.
const PLACE: &str = "target/clients";
/// Scripts that drive our servers.
const SCRIPTS: &str = "crates/door-mcp/clients";
/// The reference server, once it is installed.
const FILES: &str = "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js";

pub(crate) fn check() -> Result<(), String> {
    let place = root().join(PLACE);
    let python = place.join("python/bin/python");
    if !python.exists() {
        must("virtualenv", &["--quiet", &format!("{PLACE}/python")])?;
    }
    let python = python.display().to_string();
    if !exists(&format!("{PLACE}/python/bin/mcp")) {
        must(&python, &["-m", "pip", "install", "-q", "mcp"])?;
    }
    if !place.join("node_modules/@modelcontextprotocol/sdk").exists() || !place.join(FILES).exists() {
        let packages = ["@modelcontextprotocol/sdk", "@modelcontextprotocol/server-filesystem"];
        let mut words = vec!["install", "--no-fund", "--no-audit", "--prefix", PLACE];
        words.extend(packages);
        must("npm", &words)?;
    }
    let binary = built().display().to_string();
    let files = place.join(FILES).display().to_string();
    let script = format!("{SCRIPTS}/python_sdk.py");
    must("timeout", &["-s", "KILL", "60", &python, &script, &binary, "node", &files])?;
    let script = format!("{SCRIPTS}/python_http.py");
    must("timeout", &["-s", "KILL", "90", &python, &script, &binary])?;
    // The script looks for the SDK where it is run.
    let script = root().join(SCRIPTS).join("typescript_sdk.mjs").display().to_string();
    let words = ["-s", "KILL", "60", "node", script.as_str(), binary.as_str()];
    succeed(command("timeout", &words).current_dir(&place), &format!("node {script}"))
}
