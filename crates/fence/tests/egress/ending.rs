//! Many at once, too many, and the end of everything.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, UdpSocket};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use fence::egress::{Egress, Failure, Layout, MOST_CONNECTIONS, Outcome, Outside, Place, Reason, Way};

use crate::world::{Far, SHIFT, World, bind, hosts, rest};

#[test]
fn two_hundred_connections_at_once_are_served() {
    let mut world = World::new(&["a.example:7777"], &["a.example"]);
    let address = world.look_up("a.example").unwrap();
    let address = std::net::SocketAddrV4::new(address, 7777 + SHIFT);
    let started = Instant::now();
    let streams: Vec<_> = (0..200).map(|_| crate::world::connect(address)).collect();
    for (number, mut stream) in streams.iter().enumerate() {
        stream.write_all(format!("{number}\n").as_bytes()).unwrap();
    }
    for (number, mut stream) in streams.iter().enumerate() {
        let mut line = vec![0; format!("{number}\n").len()];
        stream.read_exact(&mut line).unwrap();
        assert_eq!(line, format!("{number}\n").as_bytes());
    }
    for stream in &streams {
        stream.shutdown(Shutdown::Write).unwrap();
    }
    for stream in &streams {
        assert_eq!(rest(stream).unwrap(), b"bye");
    }
    println!("200 connections in {:?}", started.elapsed());
    world.egress.stop();
    let log = world.egress.take_log();
    assert_eq!(log.iter().filter(|entry| entry.way == Way::Direct).count(), 200);
    assert!(log.iter().all(|entry| entry.outcome == Outcome::Allowed));
}

#[test]
fn more_connections_than_the_bound_are_turned_away_and_served_again_later() {
    let world = World::new(&["a.example:7777"], &["a.example"]);
    let address = world.look_up("a.example").unwrap();
    let address = std::net::SocketAddrV4::new(address, 7777 + SHIFT);
    let streams: Vec<_> = (0..MOST_CONNECTIONS)
        .map(|_| {
            let mut stream = crate::world::connect(address);
            stream.write_all(b"1\n").unwrap();
            stream.read_exact(&mut [0; 2]).unwrap();
            stream
        })
        .collect();
    // It may be turned away before it knows that it is connected.
    if let Ok(one_more) = std::net::TcpStream::connect(address) {
        assert!(rest(&one_more).is_none_or(|bytes| bytes.is_empty()));
    }
    assert_eq!(world.refused(), Outcome::Refused(Reason::TooMany));
    drop(streams);
    let started = Instant::now();
    loop {
        if let Ok(mut again) = std::net::TcpStream::connect(address)
            && again.write_all(b"1\n").is_ok()
            && again.read_exact(&mut [0; 2]).is_ok()
        {
            break;
        }
        assert!(started.elapsed() < Duration::from_secs(5), "there is room again");
    }
}

#[test]
fn stop_ends_every_connection_in_whatever_state_it_is() {
    let answers = [("a.example", vec![vec!["127.0.0.1"]])];
    let mut world = World::facing(
        Far::echo(b""),
        Duration::from_secs(3),
        &["a.example", "a.example:7777"],
        &answers,
        |_| {},
    );
    let silent = world.connect("a.example", 443);
    let mut half = world.connect("a.example", 80);
    half.write_all(b"GET / HT").unwrap();
    let resolving = world.connect("a.example", 7777);
    let asking = crate::world::connect(world.service(53));
    let proxied = world.ask_proxy(b"CONNECT ");
    std::thread::sleep(Duration::from_millis(100));
    let started = Instant::now();
    world.egress.stop();
    assert!(started.elapsed() < Duration::from_millis(1000), "{:?}", started.elapsed());
    for stream in [silent, half, resolving, asking, proxied] {
        let left = rest(&stream).unwrap_or_default();
        assert!(left.is_empty() || left.starts_with(b"HTTP/1.1 502 ") || left[0] == 0x15, "{left:?}");
    }
    let log = world.egress.take_log();
    let stopped = log.iter().filter(|entry| entry.outcome == Outcome::Failed(Failure::Stopped)).count();
    assert_eq!(stopped, 4, "{log:#?}");
}

#[test]
fn stop_frees_the_addresses_and_a_relay_is_reset() {
    let mut world = World::new(&["a.example:7777"], &["a.example"]);
    let mut stream = world.connect("a.example", 7777);
    stream.write_all(b"1\n").unwrap();
    stream.read_exact(&mut [0; 2]).unwrap();
    world.egress.stop();
    assert!(stream.read(&mut [0; 2]).is_err(), "what was cut off does not look complete");
    drop(stream);
    let log = world.egress.take_log();
    let entry = log.iter().find(|entry| entry.way == Way::Direct).unwrap();
    assert_eq!((entry.sent, entry.received), (2, 2));
    for wanted in world.layout.sockets() {
        assert!(std::net::TcpStream::connect(wanted.address).is_err(), "{} still listens", wanted.address);
    }
}

#[test]
fn sockets_that_are_not_those_of_the_layout_are_refused() {
    let layout =
        Layout::within(&hosts(&["a.example:7777"]), Place::at([127, 251, 0, 0].into(), SHIFT)).unwrap();
    let start = |sockets: Vec<OwnedFd>| Egress::start(&layout, sockets, Outside::public()).is_ok();
    let with = |place: usize, socket: OwnedFd| {
        let mut sockets = bind(&layout);
        sockets[place] = socket;
        sockets
    };
    let unlistening =
        rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::STREAM, None);
    assert!(start(bind(&layout)), "control");
    assert!(!start(bind(&layout).into_iter().skip(1).collect()));
    assert!(!start(bind(&layout).into_iter().rev().collect()));
    assert!(!start(with(3, TcpListener::bind("127.0.0.1:0").unwrap().into())));
    assert!(!start(with(0, UdpSocket::bind("127.0.0.1:0").unwrap().into())));
    assert!(!start(with(3, unlistening.unwrap())));
    assert!(!start(with(3, std::fs::File::open("/dev/null").unwrap().into())));
}
