//! The loop of an agent: what a step costs over gate and tool with a model that answers at once, and fifty agents at one time.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use door_agent::{
    Address, Client, Conversation, Event, Kept, Limits, Manner, Model, Provider, Start, Switchboard, What,
};
use gate::call::{Principal, RawCall};
use gate::{Desk, Gate, Hands, Machine, Terms, Wanted, load};

use crate::scripted::{Protocol, Server, call, text};

const STEPS: usize = 200;
const AGENTS: usize = 50;

/// Prints three lines: a call by itself, a step over it, and the memory of many agents.
pub(crate) fn compare() -> Result<(), String> {
    let directory = std::env::temp_dir().join(format!("bench-agent-{}", std::process::id()));
    std::fs::create_dir_all(directory.join("work")).map_err(|error| error.to_string())?;
    let done = measure(&directory);
    let _left_over = std::fs::remove_dir_all(&directory);
    done
}

#[expect(clippy::disallowed_methods, reason = "a benchmark owns its clock and its files")]
fn measure(directory: &std::path::Path) -> Result<(), String> {
    std::fs::write(directory.join("work/notes.txt"), "notes\n").map_err(|error| error.to_string())?;
    let gate = || gate_in(directory).map(Arc::new);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|e| e.to_string())?;

    let shared = gate()?;
    let hands = Hands::new().map_err(|error| error.to_string())?;
    let read = || RawCall::new("file_read", serde_json::json!({"path": "notes.txt"}));
    let mut alone: Vec<Duration> = Vec::new();
    for _ in 0..STEPS {
        let start = Instant::now();
        let outcome = shared.perform(read(), Terms::default(), &hands);
        alone.push(start.elapsed());
        if !outcome.ok {
            return Err(outcome.stderr);
        }
    }
    let alone = middle(alone);
    let body = Arc::new(OnceLock::new());
    let middle_one = Arc::clone(&body);
    let server = Server::start(Protocol::Anthropic, move |seen, number| {
        if number == STEPS / 2 {
            let _once = middle_one.set(seen.body.to_string());
        }
        if number < STEPS {
            call("file_read", serde_json::json!({"path": "notes.txt"}))
        } else {
            text("done")
        }
    });
    let times = runtime.block_on(async {
        let mut handle = begin(&gate()?, &server, true)?;
        let (mut times, mut since) = (Vec::new(), Instant::now());
        while let Some(event) = handle.events.recv().await {
            if matches!(event.what, What::StepStarted { .. }) {
                times.push(since.elapsed());
                since = Instant::now();
            }
        }
        Ok::<_, String>(times)
    })?;
    let step = middle(times.into_iter().skip(2).collect());
    let bare = bare_request(body.get().ok_or("the run ended early")?, STEPS)?;
    let over = step.saturating_sub(alone).saturating_sub(bare);
    println!(
        "{:<58} {:>12} {:>10} {:>12}",
        "one file_read past the gate, by itself",
        crate::shown(alone),
        "",
        ""
    );
    println!(
        "{:<58} {:>12} {:>10} {:>12}",
        "one answer of the scripted model over HTTP",
        crate::shown(bare),
        "",
        ""
    );
    println!(
        "{:<58} {:>12} {:>10} {:>12}",
        "one step of an agent that makes this call",
        crate::shown(step),
        "",
        ""
    );
    println!("{:<58} {:>12} {:>10} {:>12}", "  over gate, tool and model", crate::shown(over), "", "≤ 2 ms");

    let many = Server::start(Protocol::OpenAi, |seen, _| {
        let turns = seen.body.get("messages").and_then(|all| all.as_array()).map_or(0, Vec::len);
        if turns < 12 { call("file_read", serde_json::json!({"path": "notes.txt"})) } else { text("done") }
    });
    let before = resident_kib();
    let start = Instant::now();
    let peak = runtime.block_on(async {
        let gate = gate()?;
        let mut all = Vec::new();
        for _ in 0..AGENTS {
            all.push(begin(&gate, &many, true)?);
        }
        let mut peak = 0;
        for mut handle in all {
            let mut last = None;
            while let Some(Event { what, .. }) = handle.events.recv().await {
                peak = peak.max(resident_kib());
                last = Some(what);
            }
            if !matches!(last, Some(What::RunCompleted { .. })) {
                return Err(format!("an agent did not complete: {last:?}"));
            }
        }
        Ok::<_, String>(peak)
    })?;
    let what =
        format!("{AGENTS} agents at once, memory (grown by {} MB)", peak.saturating_sub(before) / 1024);
    println!("{what:<58} {:>9} MB {:>10} {:>12}", peak / 1024, crate::shown(start.elapsed()), "≤ 300 MB");
    Ok(())
}

/// A gate whose journal, keys and conversations are the bench's own.
fn gate_in(directory: &std::path::Path) -> Result<Gate, String> {
    let mut world = Machine::world()?;
    world.cwd = directory.join("work");
    (world.managed, world.configuration) = (None, None);
    (world.state, world.keys) = (Some(directory.join("state")), Some(directory.join("keys")));
    let workspace = Some(world.cwd.clone());
    let wanted = Wanted { config: None, flags: Some("profile: dev".into()), workspace: workspace.clone() };
    let config = load(&world, &wanted).map_err(|error| error.to_string())?;
    let (office, key) = Desk::of(&world, &config)?.office(&config, Vec::new())?;
    Ok(Gate::new(config, world, workspace, Machine::digest_key()?).running().with_office(office, key))
}

fn begin(gate: &Arc<Gate>, server: &Server, kept: bool) -> Result<door_agent::Handle, String> {
    let run = door_agent::run_name()?;
    let kept = if kept { Some(Kept::create(gate, &run)?) } else { None };
    let mut limits = Limits::from(gate.config().agent());
    limits.max_steps = 100_000;
    door_agent::start(Start {
        gate: Arc::clone(gate),
        hands: Hands::new().map_err(|error| error.to_string())?,
        client: Arc::new(client(server)?),
        limits,
        session: run.clone(),
        run,
        principal: Principal::default(),
        environment: Vec::new(),
        board: Switchboard::new(),
        kept,
        conversation: Conversation::default(),
        instructions: None,
        manner: Manner::Task(Some("read the notes".into())),
    })
}

fn client(server: &Server) -> Result<Client, String> {
    let provider = match server.protocol {
        Protocol::OpenAi => Provider::OpenAi,
        Protocol::Anthropic => Provider::Anthropic,
    };
    Client::new(Model {
        provider,
        address: Address::read(&server.base_url())?,
        name: "scripted".into(),
        key: None,
    })
}

/// What one answer of the scripted model to this body takes over a plain connection, without anything of ours.
#[expect(clippy::disallowed_methods, reason = "a benchmark owns its clock")]
fn bare_request(body: &str, count: usize) -> Result<Duration, String> {
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    let server = Server::start(Protocol::Anthropic, |_, _| {
        call("file_read", serde_json::json!({"path": "notes.txt"}))
    });
    let failed = |error: std::io::Error| error.to_string();
    let stream = std::net::TcpStream::connect(("127.0.0.1", server.port)).map_err(failed)?;
    stream.set_nodelay(true).map_err(failed)?;
    let mut reader = BufReader::new(stream.try_clone().map_err(failed)?);
    let mut out = stream;
    let request = format!("POST /v1/messages HTTP/1.1\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let mut times = Vec::new();
    for _ in 0..count {
        let start = Instant::now();
        out.write_all(request.as_bytes()).map_err(failed)?;
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            reader.read_line(&mut line).map_err(failed)?;
        }
        loop {
            line.clear();
            reader.read_line(&mut line).map_err(failed)?;
            let size = usize::from_str_radix(line.trim(), 16).map_err(|error| error.to_string())?;
            let mut chunk = vec![0; size + 2];
            reader.read_exact(&mut chunk).map_err(failed)?;
            if size == 0 {
                break;
            }
        }
        times.push(start.elapsed());
    }
    Ok(middle(times))
}

fn middle(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

#[expect(clippy::disallowed_methods, reason = "a benchmark looks at its own process")]
fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
