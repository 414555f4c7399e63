//! What the proxy adds to a `tools/call`: the same server talked to directly and through it, in turns.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Calls for one figure.
const CALLS: usize = 2000;
/// Calls in a row before it is the other's turn.
const TURN: usize = 50;
/// By which this program knows that it is to be the server.
pub(crate) const SERVER: &str = "mcp-server";

/// A server that only echoes.
pub(crate) fn serve() -> Result<(), String> {
    let failed = |error: std::io::Error| error.to_string();
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let message: Value =
            serde_json::from_str(&line.map_err(failed)?).map_err(|error| error.to_string())?;
        let Some(id) = message.get("id") else { continue };
        let result = match message.get("method").and_then(Value::as_str) {
            Some("initialize") => json!({
                "protocolVersion": message.pointer("/params/protocolVersion"), "capabilities": {"tools": {}},
                "serverInfo": {"name": "bench", "version": "1"}
            }),
            Some("tools/list") => json!({"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}),
            _ => json!({"content": [{"type": "text", "text": message.pointer("/params/arguments/text")}]}),
        };
        writeln!(out, "{}", json!({"jsonrpc": "2.0", "id": id, "result": result})).map_err(failed)?;
        out.flush().map_err(failed)?;
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "a benchmark starts what it measures and writes its input")]
pub(crate) fn compare() -> Result<(), String> {
    let failed = |error: std::io::Error| error.to_string();
    let own = std::env::current_exe().map_err(failed)?;
    let home = std::env::temp_dir().join(format!("bailiwick-mcp-bench-{}", std::process::id()));
    let work = home.join("work");
    std::fs::create_dir_all(work.join(".git")).map_err(failed)?;
    std::fs::create_dir_all(home.join(".config/bailiwick")).map_err(failed)?;
    // The server must lie where the fence shows it.
    std::fs::copy(&own, work.join("server")).map_err(failed)?;
    println!();
    println!("One tools/call, {CALLS} of each in turns of {TURN}");
    for sync in ["group", "os"] {
        let yaml = format!(
            "config_version: 1\nprofile: dev\nsafety: {{tool_allowlist: [mcp__bench__echo]}}\njournal: {{sync: {sync}}}\n"
        );
        std::fs::write(home.join(".config/bailiwick/config.yaml"), yaml).map_err(failed)?;
        let mut direct = Talk::start(&home, &work.join("server"), &[SERVER])?;
        let words = ["mcp", "proxy", "--name", "bench", "--", "./server", SERVER];
        let mut proxied = Talk::start(&home, &own.with_file_name("bailiwick"), &words)?;
        let (mut bare, mut through) = (Vec::new(), Vec::new());
        for _ in 0..CALLS / TURN {
            for (talk, times) in [(&mut direct, &mut bare), (&mut proxied, &mut through)] {
                for _ in 0..TURN {
                    times.push(talk.echo()?);
                }
            }
        }
        let at = |times: &mut Vec<Duration>, share: usize| {
            times.sort_unstable();
            times.get(times.len() * share / 100).copied().unwrap_or_default()
        };
        for share in [50, 99] {
            let (bare, through) = (at(&mut bare, share), at(&mut through, share));
            println!(
                "  journal.sync {sync:<6} p{share}: direct {:>8}, through the proxy {:>8}, added {:>8}   goal ≤ 500 µs at p50",
                crate::shown(bare),
                crate::shown(through),
                crate::shown(through.saturating_sub(bare))
            );
        }
    }
    std::fs::remove_dir_all(&home).map_err(failed)
}

/// A conversation with a server.
struct Talk {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Talk {
    #[expect(clippy::disallowed_methods, reason = "a benchmark starts what it measures")]
    fn start(home: &Path, program: &PathBuf, words: &[&str]) -> Result<Talk, String> {
        let mut child = Command::new(program)
            .args(words)
            .current_dir(home.join("work"))
            .env("HOME", home)
            .env_remove("XDG_STATE_HOME")
            .env_remove("XDG_CONFIG_HOME")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        let (input, output) = (child.stdin.take(), child.stdout.take().ok_or("no output")?);
        let mut talk = Talk { child, input, output: BufReader::new(output), next: 0 };
        let client = json!({"name": "bench", "version": "1"});
        talk.call(
            "initialize",
            &json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}),
        )?;
        talk.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        talk.call("tools/list", &json!({}))?;
        for _ in 0..TURN {
            talk.echo()?;
        }
        Ok(talk)
    }

    #[expect(clippy::disallowed_methods, reason = "a benchmark has a clock")]
    fn echo(&mut self) -> Result<Duration, String> {
        let begun = Instant::now();
        let answer = self.call("tools/call", &json!({"name": "echo", "arguments": {"text": "hello"}}))?;
        let took = begun.elapsed();
        match answer.pointer("/result/content/0/text").and_then(Value::as_str) {
            Some("hello") => Ok(took),
            _ => Err(format!("not what was said: {answer}")),
        }
    }

    fn call(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        loop {
            let mut line = String::new();
            let read = self.output.read_line(&mut line).map_err(|error| error.to_string())?;
            if read == 0 {
                return Err("the server went away".into());
            }
            let message: Value = serde_json::from_str(&line).map_err(|error| error.to_string())?;
            if message.get("id").and_then(Value::as_u64) == Some(id) {
                return Ok(message);
            }
        }
    }

    fn send(&mut self, message: &Value) -> Result<(), String> {
        let input = self.input.as_mut().ok_or("it is closed")?;
        writeln!(input, "{message}").and_then(|()| input.flush()).map_err(|error| error.to_string())
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ended = self.child.wait();
    }
}
