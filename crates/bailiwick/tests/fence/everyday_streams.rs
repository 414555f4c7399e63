//! Streams, terminals, signals and exit codes are as if there were no fence.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::everyday::{place, told, workspace};
use crate::runner::{Mode, Outcome, Run, Who, finished, has, standing, together};
use crate::setting::Ground;

/// Every mode for every user, where the fence does not refuse.
fn everywhere(mut each: impl FnMut(Mode, Who, &Ground)) {
    let _together = together();
    for who in Who::possible() {
        let ground = place(who);
        for mode in standing(&ground.root, who) {
            each(mode, who, &ground);
        }
    }
}

#[test]
fn the_exit_code_is_the_programs_own() {
    everywhere(|mode, who, ground| {
        let space = workspace(ground, who, "exit $1");
        let step = if mode == Mode::Native { 1 } else { 17 };
        for code in (0..=255).step_by(step) {
            let outcome = Run::new(mode, who, &ground.root, &space).run(&["./row.sh", &code.to_string()]);
            assert_eq!(outcome.code(), code, "{mode:?} {who:?}: {}", told(&outcome));
        }
    });
}

#[test]
fn death_by_a_signal_is_told_as_a_shell_tells_it() {
    everywhere(|mode, who, ground| {
        let space = workspace(ground, who, "kill -$1 $$; sleep 5");
        for (name, number) in [
            ("TERM", 15),
            ("KILL", 9),
            ("INT", 2),
            ("HUP", 1),
            ("USR1", 10),
            ("SEGV", 11),
            ("ABRT", 6),
            ("PIPE", 13),
        ] {
            let outcome = Run::new(mode, who, &ground.root, &space).run(&["./row.sh", name]);
            assert_eq!(outcome.code(), 128 + number, "{name} {mode:?} {who:?}: {}", told(&outcome));
        }
    });
}

#[test]
fn what_comes_in_goes_out_byte_for_byte() {
    let bytes: Vec<u8> =
        (0..1 << 20).map(|number: u32| (number.wrapping_mul(2_654_435_761) >> 11) as u8).collect();
    everywhere(|mode, who, ground| {
        let space = workspace(ground, who, "cat; echo err >&2");
        let mut run = Run::new(mode, who, &ground.root, &space);
        run.input = &bytes;
        let outcome = run.run(&["./row.sh"]);
        assert!(
            outcome.stdout == bytes,
            "{mode:?} {who:?}: {} bytes of {}",
            outcome.stdout.len(),
            bytes.len()
        );
        assert!(outcome.err().starts_with("err\n"), "{mode:?} {who:?}: {}", outcome.err());
    });
}

#[test]
fn a_large_output_arrives_whole() {
    everywhere(|mode, who, ground| {
        let space =
            workspace(ground, who, "yes everyday | head -c 100000000 | tee >(sha256sum > sum) ; sleep 0.2");
        let outcome = Run::new(mode, who, &ground.root, &space).run(&["./row.sh"]);
        assert_eq!(outcome.stdout.len(), 100_000_000, "{mode:?} {who:?}: {}", outcome.code());
        assert!(outcome.stdout.chunks(9).all(|line| b"everyday\n".starts_with(line)), "{mode:?} {who:?}");
    });
}

#[test]
fn a_closed_input_is_closed_and_a_closed_output_ends_the_program() {
    everywhere(|mode, who, ground| {
        let space = workspace(ground, who, "read x; echo read $?; echo done");
        let results = [Mode::Bare, mode].map(|mode| {
            let mut run = Run::new(mode, who, &ground.root, &space);
            run.launcher = vec!["-c0".into()];
            let outcome = run.run(&["./row.sh"]);
            (outcome.code(), outcome.out())
        });
        assert_eq!(results[0], results[1], "closed stdin, {mode:?} {who:?}");
        let space = workspace(
            ground,
            who,
            "for i in $(seq 2000); do echo line; sleep 0.01; done; echo survived >> survived",
        );
        let results = [Mode::Bare, mode].map(|mode| {
            let run = Run::new(mode, who, &ground.root, &space);
            let mut command = run.command(&["./row.sh"]);
            command.stdin(Stdio::null());
            let mut child = command.spawn().expect("the launcher starts");
            drop(child.stdout.take());
            let mut waited = 0;
            let status = loop {
                if let Some(status) = child.try_wait().expect("a child of ours") {
                    break Some(status);
                }
                waited += 1;
                if waited > 500 {
                    drop(child.kill());
                    drop(child.wait());
                    break None;
                }
                std::thread::sleep(Duration::from_millis(10));
            };
            Outcome { status, stdout: Vec::new(), stderr: Vec::new(), took: Duration::ZERO }.code()
        });
        assert_eq!(results[0], results[1], "closed stdout, {mode:?} {who:?}");
    });
}

#[test]
fn signals_reach_the_program() {
    if !has("python3") {
        return;
    }
    everywhere(|mode, who, ground| {
        let script = "exec python3 -c 'import signal, time\nfor n in (\"INT\", \"TERM\", \"HUP\", \"USR1\", \"USR2\"):\n  signal.signal(getattr(signal, \"SIG\" + n), lambda s, f, n=n: open(\"got\", \"a\").write(f\"got {n}\\n\"))\nopen(\"ready\", \"w\").close()\nend = time.monotonic() + 1.5\nwhile time.monotonic() < end: time.sleep(0.02)\nraise SystemExit(6)'";
        let space = workspace(ground, who, script);
        let command = Run::new(mode, who, &ground.root, &space).command(&["./row.sh"]);
        let mut command = command;
        command.stdin(Stdio::null());
        let mut child = command.spawn().expect("the launcher starts");
        for _ in 0..300 {
            if space.join("ready").exists() {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let names = ["INT", "TERM", "HUP", "USR1", "USR2"];
        for name in names {
            let sent = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status();
            assert!(sent.expect("kill").success(), "{mode:?} {who:?}: it ended before {name}");
            std::thread::sleep(Duration::from_millis(120));
        }
        let status = child.wait().expect("a child of ours");
        let got = std::fs::read_to_string(space.join("got")).unwrap_or_default();
        for name in names {
            assert_eq!(
                got.matches(&format!("got {name}\n")).count(),
                1,
                "{name} once, {mode:?} {who:?}: {got}"
            );
        }
        assert_eq!(status.code(), Some(6), "{mode:?} {who:?}");
    });
}

#[test]
fn a_terminal_is_a_terminal_and_a_pipe_is_a_pipe() {
    everywhere(|mode, who, ground| {
        for bits in 0..8 {
            let redirect = format!(
                "exec \"$@\" {} {} {}",
                if bits & 1 == 0 { "" } else { "< /dev/null" },
                if bits & 2 == 0 { "" } else { "> /dev/null" },
                if bits & 4 == 0 { "" } else { "2> /dev/null" },
            );
            let script = "r=; for i in 0 1 2; do test -t $i && r=${r}t || r=${r}f; done; echo $r > ttys; stty size < /dev/tty >> ttys 2>/dev/null || echo none >> ttys; tty -s < /dev/tty && echo controlling >> ttys";
            let results = [Mode::Bare, mode].map(|mode| {
                let space = workspace(ground, who, script);
                let mut run = Run::new(mode, who, &ground.root, &space);
                run.launcher = vec!["-t".into(), "-".into(), "-z33x101".into()];
                run.wrapper = vec!["/bin/sh", "-c", &redirect, "x"];
                let outcome = run.run(&["./row.sh"]);
                (
                    outcome.code(),
                    std::fs::read_to_string(space.join("ttys")).unwrap_or_else(|_| told(&outcome)),
                )
            });
            assert_eq!(results[0], results[1], "{redirect}, {mode:?} {who:?}");
        }
    });
}

#[test]
fn a_python_prompt_works_on_a_terminal() {
    if !has("python3") {
        return;
    }
    everywhere(|mode, who, ground| {
        let space = workspace(ground, who, "exec python3 -q");
        let mut run = Run::new(mode, who, &ground.root, &space);
        run.launcher = vec!["-t".into(), "-".into()];
        run.longest = Duration::from_secs(10);
        let mut command = run.command(&["./row.sh"]);
        command.stdin(Stdio::piped());
        let outcome = typed(command, &[b"print(6 * 7)\n", b"exit(3)\n"]);
        assert!(outcome.out().contains("42"), "{mode:?} {who:?}: {}", told(&outcome));
        assert_eq!(outcome.code(), 3, "{mode:?} {who:?}: {}", told(&outcome));
    });
}

#[test]
fn the_interrupt_key_interrupts() {
    everywhere(|mode, who, ground| {
        let space = workspace(
            ground,
            who,
            "trap 'echo interrupted; exit 7' INT; echo ready; for i in $(seq 100); do sleep 0.05; done",
        );
        let mut run = Run::new(mode, who, &ground.root, &space);
        run.launcher = vec!["-t".into(), "-".into()];
        let outcome = typed(run.command(&["./row.sh"]), &[b"\x03"]);
        assert_eq!(outcome.code(), 7, "{mode:?} {who:?}: {}", told(&outcome));
        assert_eq!(outcome.out().matches("interrupted").count(), 1, "{mode:?} {who:?}: {}", told(&outcome));
    });
}

/// Types slowly, as a person would.
fn typed(mut command: Command, keys: &[&[u8]]) -> Outcome {
    // The input of the launcher is fed by a helper process, so that it stays open while the program runs.
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    command.stdin(reader);
    let keys: Vec<Vec<u8>> = keys.iter().map(|key| key.to_vec()).collect();
    let typist = std::thread::spawn(move || {
        for key in keys {
            std::thread::sleep(Duration::from_millis(700));
            drop(writer.write_all(&key));
        }
        std::thread::sleep(Duration::from_millis(900));
    });
    let outcome = finished(command, b"", Duration::from_secs(12));
    drop(typist.join());
    outcome
}
