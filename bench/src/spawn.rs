//! `check` from spawn to exit, against `/bin/true` in the same loop.

use std::process::{Command, Stdio};

use crate::rules;

/// Processes for one figure.
const RUNS: usize = 200;

#[expect(clippy::disallowed_methods, reason = "a benchmark starts what it measures and writes its input")]
pub(crate) fn compare() -> Result<(), String> {
    let binary = std::env::current_exe().map_err(|error| error.to_string())?.with_file_name("bailiwick");
    let directory = std::env::temp_dir().join(format!("bailiwick-bench-{}", std::process::id()));
    let failed = |error: std::io::Error| error.to_string();
    std::fs::create_dir_all(&directory).map_err(failed)?;
    let config = directory.join("config.yaml");
    std::fs::write(&config, rules::yaml(50)).map_err(failed)?;
    let check = format!("'{}' check --config '{}' 'git status'", binary.display(), config.display());
    let bare = format!("'{}' check 'git status'", binary.display());
    // Interleaved, so that a noisy moment hits both.
    let mut truth = 0.0;
    let mut with_rules = 0.0;
    let mut without = 0.0;
    const ROUNDS: usize = 4;
    for _ in 0..ROUNDS {
        truth += cpu_ms("", "/bin/true")?;
        with_rules += cpu_ms("", &check)?;
        without += cpu_ms("", &bare)?;
    }
    let rounds = f64::from(u32::try_from(ROUNDS).unwrap_or(1));
    let (truth, with_rules, without) = (truth / rounds, with_rules / rounds, without / rounds);
    println!();
    println!("CPU time from spawn to exit, mean of {} runs each", RUNS * ROUNDS);
    println!("  /bin/true                         {truth:>7.2} ms");
    println!("  check, no configuration           {without:>7.2} ms   {:.2} × /bin/true", without / truth);
    println!(
        "  check, 50 rules                   {with_rules:>7.2} ms   {:.2} × /bin/true   goal ≤ 2 × /bin/true + 1 ms = {:.2} ms",
        with_rules / truth,
        2.0 * truth + 1.0
    );
    println!("  memory of check, 50 rules         {:>7} KiB at its highest", peak_memory(&binary, &config)?);
    std::fs::remove_dir_all(&directory).map_err(failed)
}

/// User and system time of one process, in milliseconds: the mean of many, as bash counts its children. `before` is what the shell
/// does first.
#[expect(clippy::disallowed_methods, reason = "a benchmark starts what it measures")]
pub(crate) fn cpu_ms(before: &str, command: &str) -> Result<f64, String> {
    let script = format!(
        "{before}i=0; while [ $i -lt {RUNS} ]; do {command} >/dev/null 2>&1; i=$((i+1)); done; times"
    );
    let output = Command::new("bash").args(["-c", &script]).output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let children = text.lines().nth(1).ok_or("bash printed no times")?;
    let total: f64 = children.split_whitespace().filter_map(seconds).sum();
    let runs = f64::from(u32::try_from(RUNS).unwrap_or(1));
    Ok(total * 1000.0 / runs)
}

/// `0m1.234s`
fn seconds(text: &str) -> Option<f64> {
    let (minutes, rest) = text.split_once('m')?;
    let seconds: f64 = rest.strip_suffix('s')?.replace(',', ".").parse().ok()?;
    Some(minutes.parse::<f64>().ok()? * 60.0 + seconds)
}

/// The peak of resident memory after one call, read while the process waits for the next.
#[expect(clippy::disallowed_methods, reason = "a benchmark starts what it measures")]
fn peak_memory(binary: &std::path::Path, config: &std::path::Path) -> Result<u64, String> {
    use std::io::{BufRead, BufReader, Write};
    let failed = |error: std::io::Error| error.to_string();
    let mut child = Command::new(binary)
        .args(["check", "--jsonl", "--config"])
        .arg(config)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let mut input = child.stdin.take().ok_or("no standard input")?;
    let mut output = BufReader::new(child.stdout.take().ok_or("no standard output")?);
    input.write_all(b"{\"command\": \"git status\"}\n").and_then(|()| input.flush()).map_err(failed)?;
    let mut line = String::new();
    output.read_line(&mut line).map_err(failed)?;
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).map_err(failed)?;
    drop(input);
    child.wait().map_err(failed)?;
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.split_whitespace().next())
        .and_then(|number| number.parse().ok())
        .ok_or_else(|| "the system does not tell a process's peak memory".into())
}
