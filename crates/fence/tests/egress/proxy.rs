//! The proxy, for programs that leave names to one.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::sync::atomic::Ordering;

use fence::egress::{Outcome, Reason, Way};
use proptest::prelude::*;
use proptest::strategy::ValueTree;

use crate::world::{World, hello, rest};

#[test]
fn requests_are_judged_by_the_same_list() {
    let answers = [
        ("a.example", vec![vec!["127.0.0.1"]]),
        ("inner.example", vec![vec!["192.168.1.1"]]),
        ("b.example", vec![vec!["127.0.0.1"]]),
    ];
    let list = ["a.example", "*.a.example:8443", "inner.example", "gone.example"];
    let rows: [(&str, &str, &str); 27] = [
        ("CONNECT a.example:22 HTTP/1.1\r\n\r\n", "200 ", ""),
        ("CONNECT A.Example.:22 HTTP/1.1\r\nHost: a.example:22\r\n\r\n", "200 ", ""),
        ("CONNECT a.example:25 HTTP/1.1\r\n\r\n", "403 ", "sandbox.network.allow: [\"a.example:25\"]"),
        ("CONNECT b.example:443 HTTP/1.1\r\n\r\n", "403 ", "sandbox.network.allow: [b.example]"),
        ("CONNECT x.a.example:443 HTTP/1.1\r\n\r\n", "403 ", "sandbox.network.allow: [x.a.example]"),
        ("CONNECT a.example:22 HTTP/1.1\r\nHost: b.example\r\n\r\n", "403 ", "another host"),
        ("CONNECT inner.example:443 HTTP/1.1\r\n\r\n", "403 ", "192.168.1.1, a private address"),
        ("CONNECT gone.example:443 HTTP/1.1\r\n\r\n", "502 ", "no address"),
        ("CONNECT 127.0.0.1:443 HTTP/1.1\r\n\r\n", "403 ", "by name"),
        ("CONNECT [::1]:443 HTTP/1.1\r\n\r\n", "403 ", "by name"),
        ("CONNECT 0x7f.1:443 HTTP/1.1\r\n\r\n", "403 ", "by name"),
        ("CONNECT a.example HTTP/1.1\r\n\r\n", "400 ", ""),
        ("CONNECT a.example:443:443 HTTP/1.1\r\n\r\n", "400 ", ""),
        ("CONNECT a.example:99999 HTTP/1.1\r\n\r\n", "400 ", ""),
        ("CONNECT evil.net\0.a.example:8443 HTTP/1.1\r\n\r\n", "400 ", ""),
        ("CONNECT evil.net\x01.a.example:8443 HTTP/1.1\r\n\r\n", "400 ", ""),
        ("CONNECT evil.net%00.a.example:8443 HTTP/1.1\r\n\r\n", "400 ", ""),
        ("CONNECT evil.net@a.example:443 HTTP/1.1\r\n\r\n", "400 ", ""),
        ("CONNECT exаmple.com:443 HTTP/1.1\r\n\r\n", "400 ", ""),
        (
            "GET http://b.example/ HTTP/1.1\r\nHost: b.example\r\n\r\n",
            "403 ",
            "sandbox.network.allow: [b.example]",
        ),
        ("GET http://a.example/ HTTP/1.1\r\nHost: b.example\r\n\r\n", "403 ", "another host"),
        ("GET http://a.example:25/ HTTP/1.1\r\n\r\n", "403 ", "[\"a.example:25\"]"),
        ("GET http://10.0.0.1/ HTTP/1.1\r\n\r\n", "403 ", "by name"),
        ("GET http://user:password@b.example/ HTTP/1.1\r\n\r\n", "400 ", ""),
        ("GET https://a.example/ HTTP/1.1\r\n\r\n", "400 ", ""),
        ("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n", "400 ", ""),
        ("\x05\x01\x00GET / HTTP/1.1\r\n\r\n", "400 ", ""),
    ];
    let world = World::with(&list, &answers, |_| {});
    for (said, status, text) in rows {
        let stream = world.ask_proxy(said.as_bytes());
        let _gone = stream.shutdown(Shutdown::Write);
        let back = String::from_utf8(rest(&stream).unwrap()).unwrap();
        assert!(back.starts_with(&format!("HTTP/1.1 {status}")), "{said:?} gives {back:?}");
        assert!(back.contains(text), "{said:?} gives {back:?}");
        assert_eq!(
            back.lines().filter(|line| line.starts_with("bailiwick: ")).count(),
            usize::from(status != "200 ")
        );
        let entry = world.logged(|entry| entry.way == Way::Proxy);
        assert_eq!(entry.outcome == Outcome::Allowed, status == "200 ", "{said:?}: {entry:?}");
        assert!(!format!("{entry:?} {entry} {back}").contains("password"), "no secret is repeated");
    }
    assert_eq!(world.host.connections.load(Ordering::SeqCst), 2, "only what was allowed reached the host");
}

#[test]
fn a_plain_request_is_written_anew_for_its_host() {
    let world = World::new(&["a.example"], &["a.example"]);
    let body = "POST http://A.example/x?y HTTP/1.1\r\nHost: a.example\r\nProxy-Authorization: Basic c2VjcmV0\r\n\
        Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\nGET http://b.example/ HTTP/1.1\r\n\r\n";
    let stream = world.ask_proxy(body.as_bytes());
    let expected = "POST /x?y HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n\
        3\r\nabc\r\n0\r\n\r\n";
    assert_eq!(String::from_utf8(rest(&stream).unwrap()).unwrap(), format!("{expected}bye"));
    let entry = world.logged(|entry| entry.way == Way::Proxy);
    assert_eq!((entry.outcome, entry.sent), (Outcome::Allowed, expected.len() as u64));
}

#[test]
fn tls_inside_a_tunnel_must_mean_the_same_name() {
    for (name, at_once) in
        [("a.example", true), ("a.example", false), ("b.example", true), ("b.example", false)]
    {
        let world = World::new(&["a.example", "b.example"], &["a.example", "b.example"]);
        let connect = b"CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n";
        let said = hello(Some(name));
        let established = b"HTTP/1.1 200 OK\r\n\r\n";
        let mut stream = world
            .ask_proxy(if at_once { [&connect[..], &said].concat() } else { connect.to_vec() }.as_slice());
        if !at_once {
            let mut answer = [0; 19];
            stream.read_exact(&mut answer).unwrap();
            assert_eq!(&answer, established);
            stream.write_all(&said).unwrap();
        }
        let _gone = stream.shutdown(Shutdown::Write);
        let back = rest(&stream).unwrap();
        let entry = world.logged(|entry| entry.way == Way::Proxy);
        if name == "a.example" {
            assert_eq!((entry.outcome, world.host.all()), (Outcome::Allowed, said));
        } else {
            assert_eq!(entry.outcome, Outcome::Refused(Reason::OtherServerName("b.example".into())));
            assert!(world.host.all().is_empty());
            let expected: &[u8] = if at_once { b"HTTP/1.1 403 " } else { &[0x15, 3, 1, 0, 2, 2, 49] };
            assert!(back.starts_with(expected), "{back:?}");
        }
    }
}

#[test]
fn no_bytes_end_the_service_or_are_let_through() {
    let world = World::new(&["a.example"], &["a.example"]);
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let noise = prop::collection::vec(any::<u8>(), 0..300);
    let start = prop::sample::select(vec![
        "",
        "CONNECT ",
        "GET http://",
        "GET http://a.example",
        "CONNECT a.example:443\0",
    ]);
    for _ in 0..300 {
        let (start, noise) = (&start, &noise).new_tree(&mut runner).unwrap().current();
        let bytes = [start.as_bytes(), &noise, b"\r\n\r\n"].concat();
        let stream = world.ask_proxy(&bytes);
        let _gone = stream.shutdown(Shutdown::Write);
        let back = rest(&stream).unwrap_or_default();
        assert!(back.starts_with(b"HTTP/1.1 40"), "{:?} gives {:?}", bytes.escape_ascii().to_string(), back);
    }
    assert_eq!(world.host.connections.load(Ordering::SeqCst), 0);
    let stream = world.ask_proxy(b"CONNECT a.example:22 HTTP/1.1\r\n\r\n");
    stream.shutdown(Shutdown::Write).unwrap();
    assert!(rest(&stream).unwrap().starts_with(b"HTTP/1.1 200 "));
}
