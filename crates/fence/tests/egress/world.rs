//! A world of one's own for each test: addresses on loopback, hosts that echo, a table of names.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fence::egress::{Connection, Egress, Kind, Layout, Outcome, Outside, Patience, Place, Resolver, danger};
use fence::network::Host;

/// How far ports are moved, so that nobody needs a privilege to bind them.
pub(crate) const SHIFT: u16 = 20_000;

/// Names and what they resolve to, one answer after the other; the last one stays.
#[derive(Default)]
pub(crate) struct Table {
    answers: Mutex<HashMap<String, Vec<Vec<IpAddr>>>>,
    pub(crate) asked: AtomicUsize,
    pub(crate) delay: Duration,
}

impl Resolver for Table {
    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(self.delay);
        let mut answers = self.answers.lock().unwrap();
        let list = answers.get_mut(name).ok_or(io::ErrorKind::NotFound)?;
        Ok(if list.len() > 1 { list.remove(0) } else { list[0].clone() })
    }
}

pub(crate) struct World {
    pub(crate) egress: Egress,
    pub(crate) layout: Layout,
    pub(crate) table: Arc<Table>,
    pub(crate) host: Far,
    network: Ipv4Addr,
}

/// A host outside: keeps what it was sent, and sends it back.
pub(crate) struct Far {
    pub(crate) address: SocketAddr,
    pub(crate) got: Arc<Mutex<Vec<Vec<u8>>>>,
    pub(crate) connections: Arc<AtomicUsize>,
}

impl Far {
    /// Echoes until the other end closes, then says `bye` and closes. With `greeting`, says that first.
    pub(crate) fn echo(greeting: &'static [u8]) -> Far {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (got, connections) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicUsize::new(0)));
        let (kept, counted) = (Arc::clone(&got), Arc::clone(&connections));
        std::thread::spawn(move || {
            for stream in listener.incoming().take(2000) {
                let (kept, mut stream) = (Arc::clone(&kept), stream.unwrap());
                counted.fetch_add(1, Ordering::SeqCst);
                stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
                std::thread::spawn(move || {
                    let mut all = Vec::new();
                    let mut buffer = [0; 65536];
                    let _gone = stream.write_all(greeting);
                    loop {
                        match stream.read(&mut buffer) {
                            Ok(0) => {
                                let _gone = stream.write_all(b"bye");
                                break;
                            }
                            Ok(count) => {
                                if all.len() < 100_000 {
                                    all.extend_from_slice(&buffer[..count]);
                                }
                                if stream.write_all(&buffer[..count]).is_err() {
                                    break;
                                }
                            }
                            Err(_) => break,
                        }
                    }
                    kept.lock().unwrap().push(all);
                });
            }
        });
        Far { address, got, connections }
    }

    pub(crate) fn all(&self) -> Vec<u8> {
        self.got.lock().unwrap().concat()
    }
}

/// A network that no other test has. One test process may have 250.
fn network() -> Ipv4Addr {
    static NEXT: AtomicU8 = AtomicU8::new(1);
    Ipv4Addr::new(127, NEXT.fetch_add(1, Ordering::SeqCst), 0, 0)
}

/// Binds what the layout wants.
pub(crate) fn bind(layout: &Layout) -> Vec<OwnedFd> {
    let one = |wanted: &fence::egress::Wanted| -> OwnedFd {
        match wanted.kind {
            Kind::Udp => UdpSocket::bind(wanted.address).unwrap().into(),
            Kind::TcpListener => TcpListener::bind(wanted.address).unwrap().into(),
        }
    };
    layout.sockets().iter().map(one).collect()
}

pub(crate) fn hosts(list: &[&str]) -> Vec<Host> {
    list.iter().map(|text| Host::parse(text).unwrap()).collect()
}

impl World {
    /// With this list, names that resolve to this machine, and one host that answers at whatever port.
    pub(crate) fn new(list: &[&str], names: &[&str]) -> World {
        let answers: Vec<_> = names.iter().map(|name| (*name, vec![vec!["127.0.0.1"]])).collect();
        World::with(list, &answers, |_| {})
    }

    pub(crate) fn with(
        list: &[&str],
        answers: &[(&str, Vec<Vec<&str>>)],
        change: impl FnOnce(&mut Outside),
    ) -> World {
        World::facing(Far::echo(b""), Duration::ZERO, list, answers, change)
    }

    pub(crate) fn facing(
        host: Far,
        delay: Duration,
        list: &[&str],
        answers: &[(&str, Vec<Vec<&str>>)],
        change: impl FnOnce(&mut Outside),
    ) -> World {
        let network = network();
        let layout = Layout::within(&hosts(list), Place::at(network, SHIFT)).unwrap();
        let parse = |answers: &Vec<Vec<&str>>| -> Vec<Vec<IpAddr>> {
            answers.iter().map(|list| list.iter().map(|text| text.parse().unwrap()).collect()).collect()
        };
        let table = answers.iter().map(|(name, answers)| ((*name).to_owned(), parse(answers))).collect();
        let table = Arc::new(Table { answers: Mutex::new(table), asked: AtomicUsize::new(0), delay });
        let ports = [22, 80, 443, 9418, 7777, 8443].map(|port| (port, host.address.port()));
        let mut outside = Outside {
            resolver: Arc::clone(&table) as Arc<dyn Resolver>,
            addresses: danger::loopback_too(ports),
            patience: Patience::default(),
        };
        change(&mut outside);
        let egress = Egress::start(&layout, bind(&layout), outside).unwrap();
        World { egress, layout, table, host, network }
    }

    pub(crate) fn service(&self, port: u16) -> SocketAddrV4 {
        SocketAddrV4::new(Ipv4Addr::from_bits(self.network.to_bits() + 1), port + SHIFT)
    }

    /// Asks for the address of a name, as a program would.
    pub(crate) fn look_up(&self, name: &str) -> Result<Ipv4Addr, u8> {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        socket.send_to(&question(name), self.service(53)).unwrap();
        let mut buffer = [0; 600];
        let count = socket.recv(&mut buffer).unwrap();
        read_answer(&buffer[..count])
    }

    /// Connects to a port of a name, as a program would.
    pub(crate) fn connect(&self, name: &str, port: u16) -> TcpStream {
        let address = self.look_up(name).unwrap();
        connect(SocketAddrV4::new(address, port + SHIFT))
    }

    /// Connects to the proxy and says this.
    pub(crate) fn ask_proxy(&self, bytes: &[u8]) -> TcpStream {
        let mut stream = connect(self.service(3128));
        stream.write_all(bytes).unwrap();
        stream
    }

    /// The log, once it has an entry like this. Look-ups that were allowed are left out.
    pub(crate) fn logged(&self, like: impl Fn(&Connection) -> bool) -> Connection {
        let mut all = Vec::new();
        let started = Instant::now();
        while started.elapsed() < Duration::from_secs(10) {
            all.extend(self.egress.take_log());
            if let Some(entry) = all.iter().find(|entry| like(entry)) {
                return entry.clone();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("nothing like it in {all:#?}");
    }

    /// What became of the one connection that was not let through.
    pub(crate) fn refused(&self) -> Outcome {
        self.logged(|entry| entry.outcome != Outcome::Allowed).outcome
    }
}

pub(crate) fn connect(address: SocketAddrV4) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

/// Everything until the other end closes; `None` where it resets.
pub(crate) fn rest(mut stream: &TcpStream) -> Option<Vec<u8>> {
    let mut all = Vec::new();
    stream.read_to_end(&mut all).ok().map(|_| all)
}

pub(crate) fn question(name: &str) -> Vec<u8> {
    let mut message = vec![7, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in name.split('.') {
        message.push(label.len() as u8);
        message.extend(label.as_bytes());
    }
    message.extend([0, 0, 1, 0, 1]);
    message
}

pub(crate) fn read_answer(message: &[u8]) -> Result<Ipv4Addr, u8> {
    match (message[3] & 15, message[7]) {
        (0, 1) => Ok(Ipv4Addr::from(<[u8; 4]>::try_from(&message[message.len() - 4..]).unwrap())),
        (code, _) => Err(code),
    }
}

/// What a real TLS client says first.
pub(crate) fn hello(name: Option<&str>) -> Vec<u8> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    config.enable_sni = name.is_some();
    let name = name.unwrap_or("a.example").to_owned().try_into().unwrap();
    let mut client = rustls::ClientConnection::new(Arc::new(config), name).unwrap();
    let mut bytes = Vec::new();
    client.write_tls(&mut bytes).unwrap();
    bytes
}
