//! A coding agent's hook for an ordinary shell command, from spawn to exit with its record in the journal, against `/bin/true`; and
//! the command as the hook rewrote it, end to end, against the bare one. Interleaved in one loop.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::spawn::cpu_ms;

const ROUNDS: usize = 200;
const COMMAND: &str = "ls -la";

pub(crate) fn compare() -> Result<(), String> {
    let failed = |error: std::io::Error| error.to_string();
    let home = std::env::temp_dir().join(format!("bailiwick-bench-hook-{}", std::process::id()));
    std::fs::create_dir_all(home.join("work/.git")).map_err(failed)?;
    let home = home.canonicalize().map_err(failed)?;
    let measured = measure(&home);
    std::fs::remove_dir_all(&home).map_err(failed)?;
    measured
}

#[expect(clippy::disallowed_methods, reason = "a benchmark writes what it reads")]
fn measure(home: &Path) -> Result<(), String> {
    let binary = std::env::current_exe().map_err(|error| error.to_string())?.with_file_name("bailiwick");
    let work = home.join("work");
    let question = json!({
        "session_id": "bench", "transcript_path": "/t", "cwd": work, "hook_event_name": "PreToolUse",
        "permission_mode": "default", "tool_use_id": "toolu_1", "tool_name": "Bash",
        "tool_input": {"command": COMMAND, "description": "Looks around"},
    });
    let asked = home.join("question.json");
    std::fs::write(&asked, question.to_string()).map_err(|error| error.to_string())?;

    let hook = [binary.as_os_str(), "hook".as_ref(), "claude-code".as_ref()];
    let answer = run(home, &hook, Some(&asked), Stdio::piped())?.1;
    let answer: Value = serde_json::from_slice(&answer).map_err(|error| error.to_string())?;
    let rewritten = answer.pointer("/hookSpecificOutput/updatedInput/command").and_then(Value::as_str);
    let rewritten = rewritten.ok_or_else(|| format!("the hook did not rewrite the command: {answer}"))?;

    let [mut truth, mut hooked, mut bare, mut fenced] = [const { Vec::new() }; 4];
    for _ in 0..ROUNDS {
        truth.push(run(home, &["/bin/true".as_ref()], Some(&asked), Stdio::piped())?.0);
        // An answer that nobody can read would be a refusal.
        hooked.push(run(home, &hook, Some(&asked), Stdio::piped())?.0);
        bare.push(
            run(home, &["/bin/bash".as_ref(), "-c".as_ref(), COMMAND.as_ref()], None, Stdio::null())?.0,
        );
        fenced.push(
            run(home, &["/bin/bash".as_ref(), "-c".as_ref(), rewritten.as_ref()], None, Stdio::null())?.0,
        );
    }
    let [truth, hooked, bare, fenced] = [truth, hooked, bare, fenced].map(median_ms);
    let at_home = format!("cd '{}'; export HOME='{}'; ", work.display(), home.display());
    let streams = format!("< '{}' > '{}'", asked.display(), home.join("answer").display());
    let of_hook = format!("{{ '{}' hook claude-code {streams}; }}", binary.display());
    let (mut true_cpu, mut hook_cpu) = (0.0, 0.0);
    for _ in 0..2 {
        true_cpu += cpu_ms(&at_home, &format!("{{ /bin/true {streams}; }}"))? / 2.0;
        hook_cpu += cpu_ms(&at_home, &of_hook)? / 2.0;
    }
    println!();
    println!("A hook, `{COMMAND}` asked about by Claude Code: median of {ROUNDS} interleaved runs");
    println!("  /bin/true, spawn to exit          {truth:>7.2} ms   CPU {true_cpu:.2} ms");
    println!(
        "  hook claude-code                  {hooked:>7.2} ms   goal ≤ 3 × /bin/true + 1 ms = {:.2} ms   CPU {hook_cpu:.2} ms, goal ≤ 2 ms",
        3.0 * truth + 1.0
    );
    println!("  the command in a shell            {bare:>7.2} ms");
    println!(
        "  the command as it was rewritten   {fenced:>7.2} ms   {:.2} ms more, goal ≤ 3 ms",
        fenced - bare
    );
    Ok(())
}

/// Runs a program to its end: how long that took, and what it wrote.
#[expect(clippy::disallowed_methods, reason = "a benchmark starts what it measures, and owns its clock")]
fn run(
    home: &Path,
    words: &[&std::ffi::OsStr],
    input: Option<&Path>,
    output: Stdio,
) -> Result<(Duration, Vec<u8>), String> {
    let failed = |error: std::io::Error| error.to_string();
    let (program, arguments) = words.split_first().ok_or("no program")?;
    let input = match input {
        Some(path) => Stdio::from(File::open(path).map_err(failed)?),
        None => Stdio::null(),
    };
    let mut command = Command::new(program);
    command.args(arguments).current_dir(home.join("work")).env("HOME", home);
    for variable in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"] {
        command.env_remove(variable);
    }
    let start = Instant::now();
    let child = command.stdin(input).stdout(output).stderr(Stdio::null()).spawn().map_err(failed)?;
    let output = child.wait_with_output().map_err(failed)?;
    let time = start.elapsed();
    if !output.status.success() {
        return Err(format!("{} ended with {}", program.display(), output.status));
    }
    Ok((time, output.stdout))
}

fn median_ms(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default().as_secs_f64() * 1e3
}
