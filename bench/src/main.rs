//! One table of figures, all measured in one run. Machines are noisy: compare the ratios, not the times.

mod agent;
mod approval;
mod calls;
mod exec;
mod fence;
mod files;
mod journal;
mod rules;
#[path = "../../crates/door-agent/tests/scripted/mod.rs"]
mod scripted;
mod spawn;
mod tui;

use std::hint::black_box;
use std::time::{Duration, Instant};

use gate::call::{Call, DigestKey, RawCall};
use gate::policy::{Base, Config, Fence, Layer, Origin};
use gate::{Gate, Machine};
use shell::{Dialect, Given};

use crate::calls::EVERYDAY;

fn main() -> Result<(), String> {
    match std::env::args().nth(1).as_deref() {
        Some("fence") => return fence::compare(),
        Some("files") => return files::compare(),
        Some("approval") => return approval::compare(&gate_with("profile: dev")?),
        Some("journal") => return journal::compare(),
        Some("exec") => return exec::compare(),
        Some("agent") => return agent::compare(),
        Some("tui") => return tui::compare(),
        _ => {}
    }
    let yardstick = median(200, || black_box(yardstick()));
    println!("yardstick: hashing 16 KiB with SHA-256, {}", shown(yardstick));
    println!();
    println!("{:<58} {:>12} {:>10} {:>12}", "what", "median", "× yardstick", "goal");
    let row = |what: &str, time: Duration, goal: &str| {
        let ratio = time.as_secs_f64() / yardstick.as_secs_f64();
        println!("{what:<58} {:>12} {ratio:>10.3} {goal:>12}", shown(time));
    };

    for (count, goal) in [(50, "≤ 10 µs"), (1000, "≤ 50 µs")] {
        let gate = gate_with(&rules::yaml(count))?;
        row(&format!("one call of {} everyday ones, {count} rules", EVERYDAY.len()), everyday(&gate), goal);
    }
    row("  of it: reading the shell text", per_call(|text| drop(black_box(read(text)))), "");
    row(
        "  of it: reading the call",
        per_call(|text| drop(black_box(Call::parse(RawCall::command(text))))),
        "",
    );
    let understood = gate_with("profile: dev")?;
    row("  the whole, no rules", everyday(&understood), "");
    row("  of it: parse, fold and effects, no rules, no key", everyday_effects(), "≤ 8 µs");

    for (name, text) in calls::worst() {
        let whole = median(15, || drop(black_box(understood.judge(RawCall::command(text.clone())))));
        row(&format!("64 KiB: {name}"), whole, "≤ 5 ms");
        let half: String = text.chars().take(text.chars().count() / 2).collect();
        let less = median(15, || drop(black_box(understood.judge(RawCall::command(half.clone())))));
        println!(
            "{:<58} {:>12} {:>10.2} {:>12}",
            "  time(2n) / time(n)",
            "",
            whole.as_secs_f64() / less.as_secs_f64(),
            "≤ 2.5"
        );
    }

    let thousand = rules::yaml(1000);
    row(
        "loading a configuration with 1,000 rules",
        median(15, || drop(black_box(config(&thousand)))),
        "≤ 10 ms",
    );

    approval::compare(&understood)?;
    journal::compare()?;
    spawn::compare()?;
    fence::compare()?;
    exec::compare()?;
    files::compare()?;
    tui::compare()?;
    agent::compare()
}

/// A fixed piece of work to compare with.
fn yardstick() -> usize {
    static BYTES: [u8; 16 * 1024] = [7; 16 * 1024];
    gate::call::sha256_hex(black_box(&BYTES)).len()
}

fn config(yaml: &str) -> Result<Config, String> {
    let layer = Layer::parse(Origin::Given, "bench.yaml", yaml).map_err(|error| error.to_string())?;
    let base = Base { cwd: "/work/project".into(), home: Some("/home/user".into()) };
    Config::merge(vec![layer], &base).map_err(|error| error.to_string())
}

/// A gate on the real disk, in the directory where the benchmark runs: symlinks are looked up as they are in earnest.
fn gate_with(yaml: &str) -> Result<Gate, String> {
    let world = Machine::world()?;
    let workspace = Some(world.cwd.clone());
    let gate = Gate::new(config(yaml)?, world, workspace, DigestKey::from_bytes([7; 32]));
    Ok(gate.with_fence(Fence::none("the benchmark has none")))
}

fn read(text: &str) -> Result<shell::Program, shell::Refusal> {
    let given = Given { cwd: Some("/work/project"), home: Some("/home/user"), user: Some("user") };
    shell::read(text, Dialect::Bash, &given)
}

/// The whole way of a call: describe, effects, policy, key.
fn everyday(gate: &Gate) -> Duration {
    per_call(|text| {
        if let Ok(judgement) = gate.judge(RawCall::command(text)) {
            black_box((judgement.ruling.decision, gate.approval_key(&judgement)));
        }
    })
}

fn everyday_effects() -> Duration {
    let around = gate::effects::Surroundings {
        cwd: std::path::Path::new("/work/project"),
        home: Some(std::path::Path::new("/home/user")),
        user: Some("user"),
        workspace: Some(std::path::Path::new("/work/project")),
        files: &gate::effects::NoFiles,
    };
    per_call(|text| {
        let intent = gate::call::Intent::Shell {
            text: text.to_owned(),
            shell: gate::call::Shell::Bash,
            cwd: None,
            env_names: Vec::new(),
        };
        black_box(gate::effects::analyse(&[intent], &around));
    })
}

/// The median over the everyday calls of each one's median.
fn per_call(work: impl Fn(&str)) -> Duration {
    let mut times: Vec<Duration> = EVERYDAY
        .iter()
        .map(|text| {
            // Many at a time: one call is too short for the clock.
            median(41, || {
                for _ in 0..20 {
                    work(black_box(text));
                }
            }) / 20
        })
        .collect();
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

#[expect(clippy::disallowed_methods, reason = "a benchmark owns its clock")]
pub(crate) fn median<T>(rounds: usize, mut work: impl FnMut() -> T) -> Duration {
    for _ in 0..3 {
        black_box(work());
    }
    let mut times: Vec<Duration> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            black_box(work());
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

pub(crate) fn shown(time: Duration) -> String {
    let micros = time.as_secs_f64() * 1e6;
    if micros < 1000.0 { format!("{micros:.2} µs") } else { format!("{:.2} ms", micros / 1000.0) }
}
