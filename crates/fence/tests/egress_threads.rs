//! After the end of egress no thread and no descriptor of it is left: a process of its own, so that others do not count.
#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of a test may fail as the test itself may"
)]

#[path = "egress/world.rs"]
#[expect(dead_code, reason = "shared with the other tests of egress")]
mod world;

use std::io::{Read, Write};
use std::time::{Duration, Instant};

fn threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let names =
        tasks.map(|task| std::fs::read_to_string(task.unwrap().path().join("comm")).unwrap_or_default());
    names.filter(|name| ["egress", "egress look-up"].contains(&name.trim_end())).count()
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[test]
fn nothing_is_left_of_it() {
    let before = descriptors();
    let mut world = world::World::new(&["a.example:7777", "*.example:443"], &["a.example"]);
    let mut streams: Vec<_> = (0..20).map(|_| world.connect("a.example", 7777)).collect();
    for stream in &mut streams {
        stream.write_all(b"1\n").unwrap();
        stream.read_exact(&mut [0; 2]).unwrap();
    }
    assert_eq!(threads(), 21, "one that accepts, and one for each connection");
    let started = Instant::now();
    world.egress.stop();
    let took = started.elapsed();
    println!("stopped 20 connections in {took:?}");
    assert!(took < Duration::from_secs(1));
    assert_eq!(threads(), 0);
    drop(streams);
    drop(world);
    // The host's side of this test has ends of its own, which notice the end a moment later.
    let started = Instant::now();
    while descriptors() > before + 1 && started.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(
        descriptors() <= before + 1,
        "{} descriptors, {before} before and the host's listener",
        descriptors()
    );
}
