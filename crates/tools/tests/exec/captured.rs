//! Programs that are run to their end.

use std::time::{Duration, Instant};

use tools::{Cancel, Capture, Ended, Ran, Size, Stream, run_captured};

use crate::stage::{Stage, memory, processes, until};

fn run(stage: &Stage, text: &str, capture: &Capture<'_>) -> Ran {
    run_captured(&stage.shell(text), capture, &Cancel::new()).expect("it runs")
}

#[test]
fn output_and_end_are_told() {
    let stage = Stage::new();
    for (text, end, stdout, stderr) in [
        ("true", Ended::Code(0), "", ""),
        ("echo one; echo two >&2; exit 3", Ended::Code(3), "one\n", "two\n"),
        ("printf 'no newline'", Ended::Code(0), "no newline", ""),
        ("kill -TERM $$", Ended::Signal(15), "", ""),
        // Nobody could make it go on.
        ("kill -STOP $$; echo on", Ended::Code(0), "on\n", ""),
        ("cat; echo read all", Ended::Code(0), "read all\n", ""),
        ("test -t 0 || test -t 1 || test -t 2 || echo no terminal", Ended::Code(0), "no terminal\n", ""),
        (r"printf '\377\376\000\001'", Ended::Code(0), "[binary, 4 bytes: ff fe 00 01]", ""),
    ] {
        let ran = run(&stage, text, &Capture::default());
        assert_eq!(ran.end, end, "{text}");
        assert_eq!(
            (ran.output.stdout().text.as_str(), ran.output.stderr().text.as_str()),
            (stdout, stderr),
            "{text}"
        );
        assert_eq!(ran.enforced, "linux");
    }
    let ran = run(&stage, "echo one; echo two >&2; exit 3", &Capture::default());
    let outcome = ran.outcome();
    assert_eq!((outcome.ok, outcome.exit_code, outcome.truncated), (false, Some(3), false));
    assert_eq!(ran.output.sha256(Stream::Out), Some(call::sha256_hex(b"one\n")));
}

#[test]
fn a_program_that_is_not_there_is_told_as_such() {
    let stage = Stage::new();
    let mut job = stage.shell("true");
    job.program = "/usr/bin/there-is-no-such-program".into();
    let refusal = run_captured(&job, &Capture::default(), &Cancel::new()).expect_err("it is not there");
    let outcome = tools::refused(&refusal);
    assert_eq!(outcome.error_kind, Some(call::ErrorKind::NotFound), "{refusal}");
}

#[test]
fn input_is_given_and_ends() {
    let stage = Stage::new();
    let long = "a line of text\n".repeat(20_000);
    let ran = run(&stage, "wc -c; echo end", &Capture { input: Some(long.as_bytes()), ..Capture::default() });
    assert_eq!(ran.output.stdout().text, "300000\nend\n");
    // Somebody who does not read it is not waited for.
    let ran = run(&stage, "echo end", &Capture { input: Some(long.as_bytes()), ..Capture::default() });
    assert_eq!(ran.output.stdout().text, "end\n");
}

#[test]
fn a_terminal_is_given_on_request() {
    let stage = Stage::new();
    let tty = Some(Size { rows: 33, columns: 101 });
    let text = "test -t 1 && test -t 2 && stty size < /dev/tty; echo to both >&2; cat";
    let ran = run(&stage, text, &Capture { tty, ..Capture::default() });
    assert_eq!(ran.output.stdout().text, "33 101\r\nto both\r\n");
    assert_eq!(ran.end, Ended::Code(0), "without input nobody waits for a key");
    let capture = Capture { tty, input: Some(b"typed"), ..Capture::default() };
    let ran = run(&stage, "stty -echo; echo ready; read -r line; echo \"<$line>\"", &capture);
    assert!(ran.output.stdout().text.ends_with("<typed>\r\n"), "{:?}", ran.output.stdout());
}

#[test]
fn standard_output_and_error_come_in_their_order() {
    let stage = Stage::new();
    let text = "for i in 1 2 3; do echo out $i; sleep 0.2; echo error $i >&2; sleep 0.2; done";
    let expected = "out 1\nerror 1\nout 2\nerror 2\nout 3\nerror 3\n";
    let ran = run(&stage, text, &Capture::default());
    assert_eq!(ran.output.interleaved().text, expected);
    assert_eq!(ran.output.stderr().text, "error 1\nerror 2\nerror 3\n");
    let fast = text.replace("sleep 0.2", ":");
    let ran = run(&stage, &fast, &Capture { together: true, ..Capture::default() });
    assert_eq!(ran.output.stdout().text, expected);
}

#[test]
fn a_character_that_comes_in_two_pieces_is_one() {
    let stage = Stage::new();
    let text = r"printf '\344'; sleep 0.1; printf '\270'; sleep 0.1; printf '\255\n'";
    let ran = run(&stage, text, &Capture::default());
    assert_eq!(ran.output.stdout().text, "中\n");
}

#[test]
fn the_output_is_cut_to_the_tokens_that_are_wanted() {
    let stage = Stage::new();
    let capture = Capture { max_output_tokens: Some(100), ..Capture::default() };
    let ran = run(&stage, "seq 1 100000", &capture);
    let shown = ran.output.stdout();
    assert!(
        shown.text.starts_with("1\n2\n3\n") && shown.text.ends_with("\n99999\n100000\n"),
        "{}",
        shown.text
    );
    assert!(shown.text.contains("bytes left out") && shown.text.len() < 450, "{}", shown.text);
    assert_eq!(shown.bytes, 588_895);
    assert!(ran.outcome().truncated);
}

/// FNC-5: output without an end is capped, in memory and in time.
#[test]
fn output_without_an_end_is_capped() {
    let stage = Stage::new();
    let before = memory();
    // Ten gibibytes, if it got so far.
    let text = "yes 'all work and no play' | head -c 10737418240";
    let capture = Capture { timeout: Some(Duration::from_secs(2)), ..Capture::default() };
    let ran = run(&stage, text, &capture);
    let grown = memory().saturating_sub(before);
    assert!(ran.output.bytes(Stream::Out) > 100 << 20, "{} bytes", ran.output.bytes(Stream::Out));
    assert!(ran.output.stdout().text.len() <= (1 << 20) + 100);
    assert!(grown < 64 << 20, "{grown} bytes more");
    assert!(ran.output.truncated());
}

/// FNC-4: nothing survives the time limit, also none that forked twice and made a session of its own.
#[test]
fn nothing_survives_a_time_out_or_a_cancellation() {
    let stage = Stage::new();
    for (number, cancelled) in [(1, false), (2, true), (3, false), (4, true)] {
        let mark = format!("marker-{}-{number}", std::process::id());
        let text = format!(
            "trap '' TERM INT HUP; (setsid sh -c 'trap \"\" TERM INT HUP; sleep 47; : {mark}' </dev/null &) ; \
             sleep 47; : {mark}"
        );
        let cancel = Cancel::new();
        let start = Instant::now();
        let timeout = if cancelled { None } else { Some(Duration::from_secs(2)) };
        let ran = std::thread::scope(|scope| {
            let running = scope.spawn(|| {
                run_captured(&stage.shell(&text), &Capture { timeout, ..Capture::default() }, &cancel)
            });
            until("the daemon starts", || match processes(&mark).len() {
                0 | 1 => Err("not yet".into()),
                _ => Ok(()),
            });
            if cancelled {
                cancel.cancel();
            }
            running.join().expect("no panic").expect("it ran")
        });
        assert_eq!(ran.end, if cancelled { Ended::Cancelled } else { Ended::TimedOut });
        assert!(start.elapsed() < Duration::from_secs(10));
        assert_eq!(processes(&mark), Vec::<u32>::new(), "after the answer nothing is left");
        let outcome = ran.outcome();
        assert_eq!(
            outcome.error_kind.map(call::ErrorKind::name),
            Some(if cancelled { "cancelled" } else { "timeout" })
        );
    }
}

#[test]
fn what_was_taken_back_before_it_began_does_not_go_on() {
    let stage = Stage::new();
    let cancel = Cancel::new();
    cancel.cancel();
    let ran = run_captured(&stage.shell("sleep 20"), &Capture::default(), &cancel).expect("it runs");
    assert_eq!(ran.end, Ended::Cancelled);
    assert!(ran.duration < Duration::from_secs(10));
}

#[test]
fn output_is_seen_while_it_comes() {
    let stage = Stage::new();
    let seen = std::sync::Mutex::new(Vec::new());
    let start = Instant::now();
    let watch = |stream: Stream, bytes: &[u8]| {
        seen.lock().expect("no panic").push((stream, bytes.to_vec(), start.elapsed()));
    };
    let ran = run(
        &stage,
        "echo one; sleep 0.7; echo two >&2",
        &Capture { watch: Some(&watch), ..Capture::default() },
    );
    assert_eq!(ran.end, Ended::Code(0));
    let seen = seen.into_inner().expect("no panic");
    let [(Stream::Out, one, first), (Stream::Error, two, second)] = seen.as_slice() else {
        panic!("{seen:?}")
    };
    assert_eq!((one.as_slice(), two.as_slice()), (&b"one\n"[..], &b"two\n"[..]));
    assert!(*second > *first + Duration::from_millis(400));
}
