//! Names inside the fence, over datagrams and over a connection.

use std::io::{Read, Write};
use std::net::UdpSocket;
use std::time::Duration;

use fence::egress::{Outcome, Reason, Way};
use proptest::prelude::*;
use proptest::strategy::ValueTree;

use crate::world::{World, connect, question, read_answer};

#[test]
fn only_names_on_the_list_exist() {
    let world = World::new(&["a.example", "*.below.example"], &[]);
    let first = world.look_up("a.example").unwrap();
    assert_eq!(world.look_up("A.Example"), Ok(first));
    let second = world.look_up("x.below.example").unwrap();
    assert_ne!(first, second);
    assert_eq!(world.look_up("x.below.example"), Ok(second), "a name keeps its address");
    for name in ["b.example", "below.example", "a.example.evil.net", "evil\0.below.example"] {
        assert_eq!(world.look_up(name), Err(3), "{name:?}");
    }
    let log = world.egress.take_log();
    let refused: Vec<_> = log.iter().filter(|entry| entry.outcome != Outcome::Allowed).collect();
    assert_eq!(refused.len(), 4);
    assert!(log.iter().all(|entry| entry.way == Way::Lookup));
    assert!(refused.iter().any(|entry| entry.name == "evil\\x00.below.example"), "{refused:?}");
}

#[test]
fn an_empty_list_lets_nothing_through() {
    let world = World::new(&[], &["a.example", "localhost"]);
    assert_eq!(world.look_up("a.example"), Err(3));
    let stream = world.ask_proxy(b"CONNECT a.example:443 HTTP/1.1\r\n\r\n");
    assert!(crate::world::rest(&stream).unwrap().starts_with(b"HTTP/1.1 403 "));
    let stream = world.ask_proxy(b"GET http://a.example/ HTTP/1.1\r\n\r\n");
    assert!(crate::world::rest(&stream).unwrap().starts_with(b"HTTP/1.1 403 "));
    assert_eq!(world.layout.sockets().len(), 3);
}

#[test]
fn a_pool_that_is_used_up_refuses_and_says_so() {
    let world = World::new(&["*.example"], &[]);
    for number in 0..32 {
        assert!(world.look_up(&format!("h{number}.example")).is_ok(), "{number}");
    }
    assert_eq!(world.look_up("h32.example"), Err(5));
    let entry = world.logged(|entry| entry.outcome == Outcome::Refused(Reason::PoolUsedUp));
    assert_eq!(entry.would_allow().unwrap(), "sandbox.network.allow: [h32.example]");
    assert!(world.look_up("h0.example").is_ok());
}

#[test]
fn names_are_looked_up_over_a_connection_as_well() {
    let world = World::new(&["a.example"], &[]);
    let mut stream = connect(world.service(53));
    for (name, expected) in [("a.example", true), ("b.example", false), ("a.example", true)] {
        let message = question(name);
        let mut framed = (message.len() as u16).to_be_bytes().to_vec();
        framed.extend(message);
        for byte in framed {
            stream.write_all(&[byte]).unwrap();
        }
        let mut length = [0; 2];
        stream.read_exact(&mut length).unwrap();
        let mut answer = vec![0; usize::from(u16::from_be_bytes(length))];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(read_answer(&answer).is_ok(), expected, "{name}");
    }
    stream.write_all(&[0xff, 0xff, 1]).unwrap();
    assert!(!matches!(stream.read(&mut [0; 9]), Ok(1..)), "a message over the bound ends the connection");
}

#[test]
fn nothing_that_is_sent_ends_the_service() {
    let world = World::new(&["a.example"], &[]);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let any = prop::collection::vec(any::<u8>(), 0..1400);
    for _ in 0..500 {
        let bytes = any.new_tree(&mut runner).unwrap().current();
        socket.send_to(&bytes, world.service(53)).unwrap();
    }
    let mut answer = [0; 600];
    while let Ok(count) = socket.recv(&mut answer) {
        assert!(count < 12 || answer[7] == 0, "an address was given to noise");
    }
    assert!(world.look_up("a.example").is_ok());
}
