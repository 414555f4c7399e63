//! Connections to the address that a name has.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use fence::egress::{Addresses, Failure, Outcome, Reason, Way};

use crate::world::{Far, World, hello, rest};

const REQUEST: &[u8] = b"GET /x HTTP/1.1\r\nHost: a.example\r\nConnection: keep-alive\r\n\r\n";
const FORWARDED: &[u8] = b"GET /x HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n";

#[test]
fn a_connection_goes_through_with_both_closes_and_is_recorded() {
    let world = World::new(&["a.example:7777"], &["a.example"]);
    let mut stream = world.connect("a.example", 7777);
    let sent: Vec<u8> = (0..1_000_000u32).map(|number| number as u8 | 0x80).collect();
    let mut writing = stream.try_clone().unwrap();
    let copy = sent.clone();
    let writer = std::thread::spawn(move || {
        writing.write_all(&copy).unwrap();
        writing.shutdown(Shutdown::Write).unwrap();
    });
    let mut back = Vec::new();
    stream.read_to_end(&mut back).unwrap();
    writer.join().unwrap();
    assert!(back.ends_with(b"bye"), "the host answers after the program has closed its half");
    assert!(back[..back.len() - 3] == sent);
    let entry = world.logged(|entry| entry.way == Way::Direct);
    assert_eq!((entry.name.as_str(), entry.port), ("a.example", Some(7777)));
    assert_eq!((entry.sent, entry.received, entry.times), (1_000_000, 1_000_003, 1));
    assert_eq!((entry.address, entry.outcome), (Some(world.host.address), Outcome::Allowed));
}

#[test]
fn a_host_that_speaks_first_is_heard() {
    let far = Far::echo(b"220 hello\r\n");
    let answers = [("a.example", vec![vec!["127.0.0.1"]])];
    let world = World::facing(far, Duration::ZERO, &["a.example:7777"], &answers, |_| {});
    let mut stream = world.connect("a.example", 7777);
    let mut greeting = [0; 11];
    stream.read_exact(&mut greeting).unwrap();
    assert_eq!(&greeting, b"220 hello\r\n");
    stream.write_all(b"EHLO me\r\n").unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(rest(&stream).unwrap(), b"EHLO me\r\nbye");
}

#[test]
fn what_is_said_first_must_mean_the_name() {
    let other = |name: &str| Outcome::Refused(Reason::OtherServerName(name.to_owned()));
    let host = |name: &str| Outcome::Refused(Reason::OtherHost(name.to_owned()));
    let (good, bad) = (hello(Some("a.example")), hello(Some("b.example")));
    type Row<'a> = (&'a str, u16, Vec<u8>, Vec<u8>, Outcome);
    let rows: [Row<'_>; 13] = [
        ("TLS", 443, good.clone(), good.clone(), Outcome::Allowed),
        ("TLS elsewhere", 8443, good.clone(), good.clone(), Outcome::Allowed),
        ("HTTP", 80, REQUEST.to_vec(), FORWARDED.to_vec(), Outcome::Allowed),
        ("ssh", 22, b"SSH-2.0-x\r\n".to_vec(), b"SSH-2.0-x\r\n".to_vec(), Outcome::Allowed),
        ("another name", 443, bad.clone(), vec![], other("b.example")),
        ("another name elsewhere", 8443, bad, vec![], other("b.example")),
        ("no name", 443, hello(None), vec![], Outcome::Refused(Reason::NoServerName)),
        ("no TLS", 443, b"SSH-2.0-x\r\n".to_vec(), vec![], Outcome::Refused(Reason::NoTls)),
        ("HTTP at 443", 443, REQUEST.to_vec(), vec![], Outcome::Refused(Reason::NoTls)),
        ("half of TLS", 443, good[..40].to_vec(), vec![], Outcome::Refused(Reason::NoTls)),
        ("nothing", 443, vec![], vec![], Outcome::Failed(Failure::Closed)),
        (
            "another host",
            80,
            b"GET / HTTP/1.1\r\nHost: b.example\r\n\r\n".to_vec(),
            vec![],
            host("b.example"),
        ),
        ("no host", 80, b"GET / HTTP/1.0\r\n\r\n".to_vec(), vec![], Outcome::Refused(Reason::NoHost)),
    ];
    for (what, port, said, heard, outcome) in rows {
        let world = World::new(&["a.example", "a.example:8443", "b.example"], &["a.example", "b.example"]);
        let mut stream = world.connect("a.example", port);
        for part in said.chunks(said.len().div_ceil(3).max(1)) {
            let _gone = stream.write_all(part);
            std::thread::sleep(Duration::from_millis(2));
        }
        let _gone = stream.shutdown(Shutdown::Write);
        let back = rest(&stream).unwrap_or_default();
        let entry = world.logged(|entry| entry.way == Way::Direct);
        assert_eq!(entry.outcome, outcome, "{what}");
        assert_eq!(entry.name, "a.example", "{what}");
        assert_eq!(world.host.all(), heard, "{what}: what the host was sent");
        match (outcome, port) {
            (Outcome::Allowed, _) => assert_eq!(back, [heard, b"bye".to_vec()].concat(), "{what}"),
            (_, 443 | 8443) => assert_eq!(back, [0x15, 3, 1, 0, 2, 2, 49], "{what}: an alert"),
            (_, 80) => assert!(back.starts_with(b"HTTP/1.1 40"), "{what}: a response"),
            (_, _) => assert!(back.is_empty(), "{what}"),
        }
    }
}

#[test]
fn a_second_request_never_leaves() {
    let world = World::new(&["a.example"], &["a.example"]);
    let mut stream = world.connect("a.example", 80);
    stream.write_all(&[REQUEST, b"GET / HTTP/1.1\r\nHost: b.example\r\n\r\n"].concat()).unwrap();
    assert_eq!(rest(&stream).unwrap(), [FORWARDED, b"bye"].concat());
    assert_eq!(world.host.all(), FORWARDED);
}

#[test]
fn addresses_that_are_not_public_are_refused_whatever_the_name() {
    let rows: [(&[&str], Option<&str>); 9] = [
        (&["10.0.0.1"], Some("10.0.0.1")),
        (&["169.254.169.254"], Some("169.254.169.254")),
        (&["fd00:ec2::254"], Some("fd00:ec2::254")),
        (&["::ffff:192.168.1.1"], Some("::ffff:192.168.1.1")),
        (&["64:ff9b::a00:1", "10.0.0.1"], Some("64:ff9b::a00:1")),
        (&["0.0.0.0"], Some("0.0.0.0")),
        (&["198.18.0.1"], Some("198.18.0.1")),
        (&["10.0.0.1", "127.0.0.1", "fe80::1"], None),
        (&["127.0.0.1"], None),
    ];
    for (found, refused) in rows {
        let answers = [("a.example", vec![found.to_vec()])];
        let world = World::with(&["a.example"], &answers, |_| {});
        let mut stream = world.connect("a.example", 80);
        stream.write_all(REQUEST).unwrap();
        let _gone = stream.shutdown(Shutdown::Write);
        let back = rest(&stream).unwrap();
        let entry = world.logged(|entry| entry.way == Way::Direct);
        match refused {
            Some(address) => {
                let Outcome::Refused(Reason::Address(got, _)) = entry.outcome else { panic!("{entry:?}") };
                assert_eq!(got.to_string(), address);
                assert!(back.starts_with(b"HTTP/1.1 403 "));
                assert_eq!(world.host.connections.load(Ordering::SeqCst), 0);
            }
            None => {
                assert_eq!((entry.outcome, entry.address), (Outcome::Allowed, Some(world.host.address)));
            }
        }
    }
}

#[test]
fn loopback_is_refused_as_soon_as_no_test_permits_it() {
    let answers = [("a.example", vec![vec!["127.0.0.1", "::1"]])];
    let world = World::with(&["a.example"], &answers, |outside| outside.addresses = Addresses::public_only());
    let mut stream = world.connect("a.example", 80);
    stream.write_all(REQUEST).unwrap();
    assert!(rest(&stream).unwrap().starts_with(b"HTTP/1.1 403 "));
    assert!(matches!(world.refused(), Outcome::Refused(Reason::Address(_, "a loopback address"))));
    assert_eq!(world.host.connections.load(Ordering::SeqCst), 0);
}

#[test]
fn what_was_checked_is_what_is_dialled() {
    // The name changes its mind between the first answer and the second.
    let answers = [("a.example", vec![vec!["127.0.0.1"], vec!["10.0.0.1"], vec!["127.0.0.1"]])];
    let world = World::with(&["a.example"], &answers, |_| {});
    for expected in [true, false, true] {
        let before = world.table.asked.load(Ordering::SeqCst);
        let mut stream = world.connect("a.example", 80);
        stream.write_all(REQUEST).unwrap();
        let _gone = stream.shutdown(Shutdown::Write);
        let back = rest(&stream).unwrap();
        assert_eq!(back.ends_with(b"bye"), expected);
        assert_eq!(world.table.asked.load(Ordering::SeqCst), before + 1, "asked once for each connection");
    }
    assert_eq!(world.host.connections.load(Ordering::SeqCst), 2);
}

#[test]
fn an_address_that_no_name_has_leads_nowhere() {
    let world = World::new(&["*.example:7777"], &["a.example"]);
    let unused = *world.layout.sockets().last().unwrap();
    let stream = crate::world::connect(unused.address);
    assert!(rest(&stream).is_none_or(|bytes| bytes.is_empty()));
    assert_eq!(world.refused(), Outcome::Refused(Reason::AddressNotGiven));
    assert_eq!(world.table.asked.load(Ordering::SeqCst), 0);
}

#[test]
fn names_without_an_address_and_hosts_that_do_not_answer_are_failures() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let ports = [(7777, closed.port())];
    let answers = [("a.example", vec![vec!["127.0.0.1"]]), ("empty.example", vec![vec![]])];
    let list = ["a.example:7777", "empty.example:7777", "missing.example:7777"];
    let world = World::with(&list, &answers, |outside| {
        outside.addresses = fence::egress::danger::loopback_too(ports);
    });
    let rows = [
        ("a.example", Failure::Unreachable),
        ("empty.example", Failure::Unresolved),
        ("missing.example", Failure::Unresolved),
    ];
    for (name, failure) in rows {
        let stream = world.connect(name, 7777);
        assert!(rest(&stream).is_none_or(|bytes| bytes.is_empty()), "{name}");
        let entry = world.logged(|entry| entry.way == Way::Direct);
        assert_eq!((entry.name.as_str(), entry.outcome), (name, Outcome::Failed(failure)));
    }
}

#[test]
fn whoever_does_not_say_in_time_which_host_is_meant_is_cut_off() {
    for (port, said) in
        [(443, hello(Some("a.example"))), (80, REQUEST.to_vec()), (8443, hello(Some("a.example")))]
    {
        let answers = [("a.example", vec![vec!["127.0.0.1"]])];
        let world = World::with(&["a.example", "a.example:8443"], &answers, |outside| {
            outside.patience.opening = Duration::from_millis(300);
        });
        let mut stream = world.connect("a.example", port);
        let started = Instant::now();
        // A byte now and then, so that no single wait is long.
        for byte in said.iter().take(40) {
            if stream.write_all(&[*byte]).is_err() {
                break;
            }
            std::thread::sleep(Duration::from_millis(25));
        }
        let _cut = rest(&stream);
        assert!(started.elapsed() < Duration::from_secs(4));
        assert_eq!(world.refused(), Outcome::Failed(Failure::TimedOut), "{port}");
        assert!(world.host.all().is_empty());
    }
}

#[test]
fn a_connection_that_waits_for_the_host_is_not_cut_off() {
    let answers = [("a.example", vec![vec!["127.0.0.1"]])];
    let world = World::with(&["a.example:7777"], &answers, |outside| {
        outside.patience.opening = Duration::from_millis(100);
    });
    let mut stream = world.connect("a.example", 7777);
    std::thread::sleep(Duration::from_millis(400));
    stream.write_all(b"123\n").unwrap();
    std::thread::sleep(Duration::from_millis(400));
    stream.write_all(b"456\n").unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(rest(&stream).unwrap(), b"123\n456\nbye");
}
