//! Servers outside the fence. They keep whatever arrives, so that a probe's word need not be taken for it.

use std::io::Read;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Every server of a setting; they end when this is dropped.
pub(crate) struct Servers {
    arrived: Arc<Mutex<Vec<u8>>>,
    stop: Arc<AtomicBool>,
    threads: Vec<std::thread::JoinHandle<()>>,
    /// What the probes must know, as lines of the setting.
    pub(crate) settings: String,
}

impl Servers {
    pub(crate) fn new(sockets: &Path, others: &[(&str, String)], name: &str) -> Servers {
        std::fs::create_dir_all(sockets).expect("a directory");
        let mut servers = Servers {
            arrived: Arc::default(),
            stop: Arc::default(),
            threads: Vec::new(),
            settings: String::new(),
        };
        for (key, address) in [("T4", "127.0.0.1:0"), ("T6", "[::1]:0"), ("T4_ANY", "0.0.0.0:0")] {
            let listener = TcpListener::bind(address).expect("loopback");
            servers.tell(key, &listener.local_addr().expect("bound").port().to_string());
            listener.set_nonblocking(true).expect("a socket");
            let mut open = Vec::new();
            servers.serve(move |arrived| {
                while let Ok((stream, _)) = listener.accept() {
                    drop(stream.set_nonblocking(true));
                    open.push(stream);
                }
                open.retain_mut(|stream| waiting(stream, arrived));
            });
        }
        for (key, address) in [("U4", "127.0.0.1:0"), ("U6", "[::1]:0")] {
            let socket = UdpSocket::bind(address).expect("loopback");
            servers.tell(key, &socket.local_addr().expect("bound").port().to_string());
            socket.set_nonblocking(true).expect("a socket");
            servers.serve(move |arrived| {
                let mut buffer = [0; 2048];
                while let Ok(length) = socket.recv(&mut buffer) {
                    keep(arrived, &buffer[..length]);
                }
            });
        }
        let file = |name: &str| sockets.join(name).to_str().expect("UTF-8").to_owned();
        let mut streams = vec![
            ("DOCKER_SOCK", file("docker.sock")),
            ("AGENT_SOCK", file("agent.sock")),
            ("SPARE_SOCK", file("spare.sock")),
        ];
        streams.extend(others.iter().cloned());
        for (key, path) in streams {
            let listener = UnixListener::bind(&path).expect("a socket in a directory");
            open_to_all(&path);
            servers.tell(key, &path);
            servers.listen(listener);
        }
        let datagrams = UnixDatagram::bind(file("bus.sock")).expect("a socket in a directory");
        open_to_all(&file("bus.sock"));
        servers.tell("BUS_SOCK", &file("bus.sock"));
        servers.datagrams(datagrams);
        let address = SocketAddr::from_abstract_name(name).expect("a name");
        servers.listen(UnixListener::bind_addr(&address).expect("an abstract socket"));
        let address = SocketAddr::from_abstract_name(format!("{name}-d")).expect("a name");
        servers.datagrams(UnixDatagram::bind_addr(&address).expect("an abstract socket"));
        servers.tell("ABSTRACT", name);
        servers
    }

    /// Whether this has come, by any way.
    pub(crate) fn heard(&self, name: &str) -> bool {
        let arrived = self.arrived.lock().expect("no server failed");
        arrived.windows(name.len()).enumerate().any(|(at, window)| {
            // `tcp4` must not be heard in `tcp4_any`.
            let next = arrived.get(at + name.len()).copied().unwrap_or(b'\n');
            window == name.as_bytes() && next != b'_' && !next.is_ascii_alphanumeric()
        })
    }

    fn tell(&mut self, key: &str, value: &str) {
        self.settings.push_str(&format!("{key}={value}\n"));
    }

    fn listen(&mut self, listener: UnixListener) {
        listener.set_nonblocking(true).expect("a socket");
        let mut open = Vec::new();
        self.serve(move |arrived| {
            while let Ok((stream, _)) = listener.accept() {
                drop(stream.set_nonblocking(true));
                open.push(stream);
            }
            open.retain_mut(|stream| waiting(stream, arrived));
        });
    }

    fn datagrams(&mut self, socket: UnixDatagram) {
        socket.set_nonblocking(true).expect("a socket");
        self.serve(move |arrived| {
            let mut buffer = [0; 2048];
            while let Ok(length) = socket.recv(&mut buffer) {
                keep(arrived, &buffer[..length]);
            }
        });
    }

    fn serve(&mut self, mut turn: impl FnMut(&Mutex<Vec<u8>>) + Send + 'static) {
        let (arrived, stop) = (Arc::clone(&self.arrived), Arc::clone(&self.stop));
        self.threads.push(std::thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                turn(&arrived);
                std::thread::sleep(Duration::from_millis(4));
            }
            turn(&arrived);
        }));
    }
}

fn open_to_all(path: &str) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).expect("a socket in a directory");
}

/// Takes what a connection brought; one that said something, or ended, is not kept open.
fn waiting(stream: &mut impl Read, arrived: &Mutex<Vec<u8>>) -> bool {
    let mut buffer = [0; 2048];
    match stream.read(&mut buffer) {
        Ok(length) => {
            keep(arrived, &buffer[..length]);
            false
        }
        Err(error) => error.kind() == std::io::ErrorKind::WouldBlock,
    }
}

fn keep(arrived: &Mutex<Vec<u8>>, bytes: &[u8]) {
    let mut all = arrived.lock().expect("no server failed");
    all.extend(bytes);
    all.push(b'\n');
}

impl Drop for Servers {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            drop(thread.join());
        }
    }
}
