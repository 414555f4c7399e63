//! Connections: how many there may be, how long each may take, and how they end. Only HTTP/1.1 is spoken.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse as _, Response};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tower_service::Service as _;

use crate::app::{App, Place};
use crate::check;
use crate::guard::{Head, Hosts, pass};
use crate::routes;
use crate::stall::Stalling;
use crate::workers::Workers;

/// So many connections at once; what comes beyond is closed unread.
const MOST: usize = 2048;
/// So long may the head of a request take.
const HEAD_PATIENCE: Duration = Duration::from_secs(5);
/// A connection that takes nothing for so long is over.
const STALLED: Duration = Duration::from_secs(30);
/// The largest head of a request.
const LARGEST_HEAD: usize = 16 * 1024;
/// So long may those who are connected take to finish when the server ends.
const FAREWELL: Duration = Duration::from_secs(5);
/// How often it is looked whether configuration or tokens have changed.
const LOOK: Duration = Duration::from_secs(1);

/// The longest path of a socket: the system keeps 108 bytes for it, the last of them a zero.
const LONGEST_SOCKET: usize = 107;

/// Somewhere to listen.
pub enum Listening {
    /// At an address.
    Address(TcpListener),
    /// At a socket in the file system, which goes when nobody listens any more.
    Socket(UnixListener, SocketFile),
}

/// The file of a socket that this server made.
pub struct SocketFile {
    path: PathBuf,
    /// Device and number: another server may have put its own in this place meanwhile.
    made: (u64, u64),
}

impl SocketFile {
    fn of(path: &Path) -> std::io::Result<SocketFile> {
        let found = path.symlink_metadata()?;
        Ok(SocketFile { path: path.to_path_buf(), made: identity(&found) })
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if self.path.symlink_metadata().is_ok_and(|found| identity(&found) == self.made) {
            let _gone_already = std::fs::remove_file(&self.path);
        }
    }
}

fn identity(found: &std::fs::Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt as _;
    (found.dev(), found.ino())
}

impl Listening {
    /// Where.
    ///
    /// # Errors
    /// The system does not say.
    pub fn place(&self) -> std::io::Result<Place> {
        match self {
            Listening::Address(listener) => listener.local_addr().map(Place::Address),
            Listening::Socket(_, file) => Ok(Place::Socket(file.path.clone())),
        }
    }

    /// The names by which it is called.
    ///
    /// # Errors
    /// The system does not say where it is.
    pub fn hosts(&self) -> std::io::Result<Hosts> {
        Ok(match self.place()? {
            Place::Address(address) if address.ip().is_loopback() => {
                Hosts::loopback(address.port()).and(address.to_string())
            }
            Place::Address(address) => Hosts::loopback(address.port()).and(address.to_string()),
            Place::Socket(_) => Hosts::socket(),
        })
    }
}

/// Listens at an address.
///
/// # Errors
/// It is taken, or not to be had.
pub async fn bind(address: SocketAddr) -> Result<Listening, String> {
    let listener = TcpListener::bind(address).await.map_err(|error| format!("{address}: {error}"))?;
    Ok(Listening::Address(listener))
}

/// Listens at a socket in the file system, which only its owner can open. The socket of a server that is gone is replaced;
/// anything else that is there stays.
///
/// # Errors
/// Somebody listens there, something else is there, or the path cannot be a socket's.
pub async fn bind_socket(path: &Path) -> Result<Listening, String> {
    use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
    let shown = path.display();
    let failed = |error: std::io::Error| format!("{shown}: {error}");
    std::os::unix::net::SocketAddr::from_pathname(path).map_err(|_| {
        format!("{shown}: a socket's path has at most {LONGEST_SOCKET} bytes; name a shorter one")
    })?;
    if let Ok(found) = path.symlink_metadata() {
        if !found.file_type().is_socket() {
            return Err(format!("{shown}: there is something else than a socket; name another place"));
        }
        // Only a refusal says that nobody listens: whoever is busy, or will not speak with us, is still there.
        let tried = tokio::net::UnixStream::connect(path).await;
        if !tried.is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused) {
            return Err(format!("{shown}: somebody listens there already"));
        }
        // Left over from a server that is gone.
        std::fs::remove_file(path).map_err(failed)?;
    }
    let listener = UnixListener::bind(path).map_err(failed)?;
    let file = SocketFile::of(path).map_err(failed)?;
    // Whoever slips in before this is turned away for being somebody else.
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
    Ok(Listening::Socket(listener, file))
}

/// Serves until `stop` comes, then denies what is open, ends what runs and lets everybody go.
///
/// # Errors
/// It is not known where it listens, or there are no threads.
pub async fn serve(
    app: Arc<App>,
    listening: Listening,
    stop: impl Future<Output = ()>,
) -> Result<(), String> {
    app.called(listening.hosts().map_err(|error| error.to_string())?);
    more_descriptors();
    let router = app.router();
    let workers = Workers::start()?;
    let places = Arc::new(Semaphore::new(MOST));
    let mut look = tokio::time::interval(LOOK);
    look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    tokio::pin!(stop);
    loop {
        tokio::select! {
            () = &mut stop => break,
            _ = look.tick() => {
                let app = Arc::clone(&app);
                let _looked = tokio::task::spawn_blocking(move || app.refresh()).await;
            }
            accepted = accept(&listening) => match accepted {
                Ok(stream) => admit(&app, &router, &places, &workers, stream),
                // No descriptor is left, or the other end is gone already: a pause helps against the first.
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            },
        }
    }
    app.shut_down();
    let everybody = u32::try_from(MOST).unwrap_or(u32::MAX);
    let _gone = tokio::time::timeout(FAREWELL, places.acquire_many(everybody)).await;
    workers.end().await;
    Ok(())
}

/// Each connection takes a descriptor, and many systems give a process few to begin with.
fn more_descriptors() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    const ENOUGH: u64 = 8192;
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.map_or(ENOUGH, |most| most.min(ENOUGH));
    if limit.current.is_some_and(|current| current < wanted) {
        // Where it cannot be raised, connections beyond it wait until others end.
        let _as_it_was =
            setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum: limit.maximum });
    }
}

/// The other end of a connection, as it goes from the thread that accepts to the one that serves.
enum Stream {
    Address(std::net::TcpStream),
    Socket(std::os::unix::net::UnixStream),
}

async fn accept(listening: &Listening) -> std::io::Result<Stream> {
    match listening {
        Listening::Address(listener) => {
            let (stream, _) = listener.accept().await?;
            // Answers are small; waiting for more to send with them only makes them late.
            stream.set_nodelay(true)?;
            stream.into_std().map(Stream::Address)
        }
        Listening::Socket(listener, _) => {
            let (stream, _) = listener.accept().await?;
            let other = stream.peer_cred()?.uid();
            if other != rustix::process::geteuid().as_raw() {
                return Err(std::io::ErrorKind::PermissionDenied.into());
            }
            stream.into_std().map(Stream::Socket)
        }
    }
}

/// A place among the connections, until it is given back.
struct Placed {
    app: Arc<App>,
    _place: OwnedSemaphorePermit,
}

impl Drop for Placed {
    fn drop(&mut self) {
        self.app.metrics.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

fn admit(app: &Arc<App>, router: &Router, places: &Arc<Semaphore>, workers: &Workers, stream: Stream) {
    let (Ok(place), Some(seat)) = (Arc::clone(places).try_acquire_owned(), workers.seat()) else {
        app.metrics.turned_away.fetch_add(1, Ordering::Relaxed);
        return;
    };
    app.metrics.connections.fetch_add(1, Ordering::Relaxed);
    let placed = Placed { app: Arc::clone(app), _place: place };
    let router = router.clone();
    seat.serve(async move {
        // Where it cannot be taken over, it is closed.
        match stream {
            Stream::Address(stream) => {
                if let Ok(stream) = tokio::net::TcpStream::from_std(stream) {
                    connection(placed, router, stream).await;
                }
            }
            Stream::Socket(stream) => {
                if let Ok(stream) = tokio::net::UnixStream::from_std(stream) {
                    connection(placed, router, stream).await;
                }
            }
        }
    });
}

async fn connection(
    placed: Placed,
    router: Router,
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
) {
    let app = Arc::clone(&placed.app);
    let stop = app.stopping();
    tokio::pin!(stop);
    let served = Arc::new(Served { placed, router });
    let service = service_fn(move |request| answer(Arc::clone(&served), request));
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(HEAD_PATIENCE)
        .max_buf_size(LARGEST_HEAD)
        .max_headers(64)
        .half_close(false)
        .keep_alive(true);
    let stream = TokioIo::new(Stalling::new(stream, STALLED));
    let connection = http.serve_connection(stream, service).with_upgrades();
    tokio::pin!(connection);
    tokio::select! {
        _ended = connection.as_mut() => return,
        () = &mut stop => connection.as_mut().graceful_shutdown(),
    }
    let _ended = tokio::time::timeout(FAREWELL, connection).await;
}

/// What the requests of one connection have in common.
struct Served {
    placed: Placed,
    router: Router,
}

/// One request: past the guard, to its route.
async fn answer(served: Arc<Served>, request: Request<Incoming>) -> Result<Response, Infallible> {
    let app = &served.placed.app;
    let head = Head {
        method: request.method(),
        uri: request.uri(),
        version: request.version(),
        headers: request.headers(),
    };
    let passed = app.with_tokens(|tokens, hosts| pass(&head, hosts, tokens));
    let id = request_id(&request);
    let mut response = match passed {
        // What is asked most, and by those who wait for it before every step, goes the short way.
        Ok(Some(caller)) if routes::is_check(head.method, head.uri) => {
            let (head, body) = request.into_parts();
            check::answer(app, &caller, &head.headers, body).await.into_response()
        }
        Ok(caller) => {
            let mut request = request.map(Body::new);
            if let Some(caller) = caller {
                request.extensions_mut().insert(caller);
            }
            let Ok(response) = served.router.clone().call(request).await;
            response
        }
        Err(refusal) => refusal.into_response(),
    };
    if let Some(id) = id {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    app.metrics.answered_with(response.status());
    Ok(response)
}

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The name that a client gives a request comes back with its answer, if it is a plain one.
fn request_id(request: &Request<Incoming>) -> Option<HeaderValue> {
    let id = request.headers().get(REQUEST_ID)?;
    let plain = id.len() <= 128 && id.as_bytes().iter().all(u8::is_ascii_graphic);
    plain.then(|| id.clone())
}
