//! A server with a home of its own, and a client that writes what it is told to.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use door_serve::{App, Loader, Presence, Setup, Tokens, Unfit, bind, new_token, serve};
use gate::approval::{Later, Provider};
use gate::call::DigestKey;
use gate::policy::Fence;
use gate::{Desk, Gate, Machine, Wanted, World, load_for};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

/// Writing below `asked` is asked about.
pub(crate) const ASKING: &str =
    "profile: dev\nrules: [{name: careful, action: ask, tool: file_write, path_patterns: ['/asked/']}]";

/// A server, until it is dropped.
pub(crate) struct Served {
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
    pub(crate) app: Arc<App>,
    pub(crate) home: PathBuf,
    stop: Option<oneshot::Sender<()>>,
}

/// What came back.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (known, value) = line.split_once(':')?;
            known.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

/// Gates for a home of a test.
pub(crate) struct Yaml {
    pub(crate) yaml: String,
    pub(crate) home: PathBuf,
}

pub(crate) fn world(home: &Path) -> World {
    let mut world = Machine::world().expect("a world");
    world.cwd = home.join("work");
    world.home = Some(home.to_path_buf());
    world.managed = None;
    world.configuration = Some(home.join("config"));
    world.state = Some(home.join("state"));
    world.keys = Some(home.join("data"));
    world
}

impl Loader for Yaml {
    fn gate(&self, directory: Option<&str>, request: Option<&str>) -> Result<Gate, Unfit> {
        let mut world = world(&self.home);
        if let Some(directory) = directory {
            world.cwd = world.cwd.join(directory);
        }
        let workspace = Some(self.home.join("work"));
        let wanted = Wanted { flags: Some(self.yaml.clone()), workspace: workspace.clone(), config: None };
        let config = load_for(&world, &wanted, request).map_err(|error| match error.of_request() {
            true => Unfit::Request(error.to_string()),
            false => Unfit::Configuration(error.to_string()),
        })?;
        let gate = Gate::new(config, world, workspace, DigestKey::from_bytes([7; 32]));
        Ok(gate.with_fence(Fence::none("the test has none")).running())
    }

    fn stamp(&self) -> String {
        let file = self.home.join("config/config.yaml");
        format!("{:?}", file.metadata().ok().and_then(|found| found.modified().ok()))
    }
}

fn fresh_home() -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("served-{}-{number}", std::process::id()));
    let _left_over = std::fs::remove_dir_all(&home);
    std::fs::create_dir_all(home.join("work/asked")).expect("a workspace");
    home
}

impl Served {
    pub(crate) async fn new() -> Served {
        Served::with(ASKING, None).await
    }

    /// One that soon gives up on whoever leaves.
    pub(crate) async fn impatient() -> Served {
        Served::impatient_with(ASKING).await
    }

    pub(crate) async fn impatient_with(yaml: &str) -> Served {
        Served::built(fresh_home(), yaml, None, Duration::from_millis(300)).await
    }

    pub(crate) async fn with(yaml: &str, more_tokens: Option<&str>) -> Served {
        Served::at(fresh_home(), yaml, more_tokens).await
    }

    /// A server over a home that may have been used before.
    pub(crate) async fn at(home: PathBuf, yaml: &str, more_tokens: Option<&str>) -> Served {
        Served::built(home, yaml, more_tokens, Duration::from_secs(10)).await
    }

    async fn built(home: PathBuf, yaml: &str, more_tokens: Option<&str>, grace: Duration) -> Served {
        let loader = Yaml { yaml: yaml.to_owned(), home: home.clone() };
        let presence = Presence::patient(Some(home.join("console.lock")), grace);
        let office = |providers: Vec<Box<dyn Provider>>| {
            let gate = loader.gate(None, None).expect("a gate");
            let desk = Desk::of(gate.world(), gate.config()).expect("a desk");
            let (office, key) = desk.office(gate.config(), providers).expect("an office");
            gate.with_office(office, key)
        };
        let gate = office(vec![Box::new(presence.provider())]);
        let hosted = office(vec![Box::new(Later)]);
        let token = new_token().expect("a token");
        let app = App::new(Setup {
            gate,
            hosted,
            loader: Box::new(loader),
            presence,
            journal: home.join("state/journal"),
            always_file: None,
            user: "tester".into(),
            tokens: Tokens::of(&token, more_tokens).expect("tokens"),
            token_directory: None,
        })
        .expect("a server");
        let listening = bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.expect("a port");
        let door_serve::Place::Address(address) = listening.place().expect("a place") else {
            panic!("no address")
        };
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = Arc::clone(&app);
        tokio::spawn(async move { serve(serving, listening, async { drop(stopped.await) }).await });
        Served { address, token, app, home, stop: Some(stop) }
    }

    /// Ends it, and gives back its home.
    pub(crate) async fn end(mut self) -> PathBuf {
        if let Some(stop) = self.stop.take() {
            let _gone = stop.send(());
        }
        self.app.shut_down();
        tokio::time::sleep(Duration::from_millis(100)).await;
        self.home.clone()
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.expect("a connection")
    }

    /// Writes these bytes, and reads one answer.
    pub(crate) async fn raw(&self, bytes: &[u8]) -> Reply {
        let mut stream = self.connect().await;
        // Whoever is refused early may not read all of it.
        let _cut = stream.write_all(bytes).await;
        read(&mut stream).await
    }

    /// The head of a request as an honest client writes it.
    pub(crate) fn head(&self, method: &str, path: &str, more: &str) -> String {
        format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n{more}",
            self.address, self.token
        )
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.raw(format!("{}\r\n", self.head("GET", path, "")).as_bytes()).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Reply {
        self.raw(format!("{}\r\n", self.head("DELETE", path, "")).as_bytes()).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Reply {
        self.post_with(path, "", &body.to_string()).await
    }

    pub(crate) async fn post_with(&self, path: &str, more: &str, body: &str) -> Reply {
        let more = format!("Content-Type: application/json\r\nContent-Length: {}\r\n{more}", body.len());
        self.raw(format!("{}\r\n{body}", self.head("POST", path, &more)).as_bytes()).await
    }

    /// Somebody who can answer, until the connection is dropped.
    pub(crate) async fn approver(&self) -> TcpStream {
        let mut stream = self.connect().await;
        let head = self.head("GET", "/v1/events?approver=1", "");
        stream.write_all(format!("{head}\r\n").as_bytes()).await.expect("written");
        let mut some = [0; 512];
        let count = stream.read(&mut some).await.expect("an answer");
        assert!(some[..count].starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&some[..count]));
        stream
    }

    /// A call that is asked about, and that leaves a file when it runs.
    pub(crate) fn asked_about(&self, name: &str) -> Value {
        json!({"tool": "file_write", "args": {"path": format!("asked/{name}"), "content": "ran"}, "session": format!("session-{name}")})
    }

    pub(crate) fn ran(&self, name: &str) -> bool {
        self.home.join("work/asked").join(name).exists()
    }

    /// The questions that wait, once there are so many.
    pub(crate) async fn questions(&self, count: usize) -> Vec<Value> {
        for _ in 0..200 {
            let listed = self.get("/v1/approvals").await.json();
            let all = listed["approvals"].as_array().expect("a list").clone();
            if all.len() >= count {
                return all;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        panic!("there are never {count} questions");
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _gone = stop.send(());
        }
    }
}

/// One answer, to the end of the connection.
pub(crate) async fn read(stream: &mut TcpStream) -> Reply {
    let mut bytes = Vec::new();
    let whole = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut bytes)).await;
    whole.expect("the connection ends").unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
    Reply { status, head: head.to_owned(), body: body.to_owned() }
}
