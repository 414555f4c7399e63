//! How much the way through egress costs: printed, and held against generous bounds only.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use crate::world::{World, rest};

#[test]
fn a_connection_costs_little_and_bytes_flow() {
    let world = World::new(&["a.example:7777"], &["a.example"]);
    let bare = Instant::now();
    for _ in 0..200 {
        exchange(&TcpStream::connect(world.host.address).unwrap());
    }
    let bare = bare.elapsed() / 200;
    let through = Instant::now();
    for _ in 0..200 {
        exchange(&world.connect("a.example", 7777));
    }
    let through = through.elapsed() / 200;
    println!("connect, 1 byte each way, close: bare {bare:?}, through egress with a look-up {through:?}");
    assert!(through < Duration::from_millis(100));

    let bytes = vec![0x80; 64 << 20];
    let speed = |mut stream: TcpStream| {
        let started = Instant::now();
        let mut reading = stream.try_clone().unwrap();
        let reader = std::thread::spawn(move || {
            let (mut buffer, mut count) = (vec![0; 1 << 16], 0);
            while let Ok(more @ 1..) = reading.read(&mut buffer) {
                count += more;
            }
            count
        });
        stream.write_all(&bytes).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        assert_eq!(reader.join().unwrap(), bytes.len() + 3);
        128.0 / started.elapsed().as_secs_f64()
    };
    let bare = speed(TcpStream::connect(world.host.address).unwrap());
    let through = speed(world.connect("a.example", 7777));
    println!("64 MiB there and back: bare {bare:.0} MiB/s, through egress {through:.0} MiB/s");
}

fn exchange(mut stream: &TcpStream) {
    stream.write_all(b"1").unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(rest(stream).unwrap(), b"1bye");
}
