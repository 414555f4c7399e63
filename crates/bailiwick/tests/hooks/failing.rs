//! SYS-4: whatever happens to the hook, the host blocks what was not allowed.

use std::io::Write as _;
use std::process::Stdio;
use std::time::Duration;

use door_hook::Host;

use crate::home::Home;
use crate::hosts::{Does, Tool, ask, command, does, question};

#[test]
fn input_that_cannot_be_read_is_blocked() {
    let machine = Home::hooked();
    let long = format!("{{\"x\": \"{}\"}}", "x".repeat(9 * 1024 * 1024));
    for host in Host::ALL {
        for input in ["", "{", "null", "[]", "{}", "{\"tool_name\": \"Bash\"}", "\u{0}", &long] {
            let ran = machine.shell(&command(&machine, host), input);
            assert_eq!(does(host, &ran), Does::Blocks, "{host:?} {}: {ran:?}", input.len());
        }
        // A key twice: which of them would the host take?
        let asked = question(host, &machine, "s", Tool::Shell("ls")).expect("a shell").to_string();
        let twice = asked.replacen('{', "{\"cwd\": \"/\", \"cwd\": \"/tmp\",", 1);
        let ran = machine.shell(&command(&machine, host), &twice);
        assert_eq!(does(host, &ran), Does::Blocks, "{host:?}: {ran:?}");
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the faults of this test")]
fn a_configuration_or_a_journal_that_cannot_be_used_blocks() {
    use std::os::unix::fs::PermissionsExt;
    type Fault = fn(&Home);
    let faults: [(&str, Fault); 6] = [
        ("the configuration is no YAML", |machine| machine.configure("safety: [")),
        ("the configuration has an unknown key", |machine| machine.configure("safty: {}\n")),
        ("a workspace file switches the fence off", |machine| {
            std::fs::write(machine.0.join("work/.bailiwick.yaml"), "hooks: {fence: false}\n")
                .expect("a file");
        }),
        ("the configuration is a directory", |machine| {
            std::fs::create_dir_all(machine.0.join(".config/bailiwick/config.yaml")).expect("a directory");
        }),
        ("others can write the journal", |machine| {
            let mode = std::fs::Permissions::from_mode(0o777);
            std::fs::set_permissions(machine.journal(), mode).expect("a mode");
        }),
        ("the journal is a file", |machine| {
            std::fs::remove_dir_all(machine.journal()).expect("gone");
            std::fs::write(machine.journal(), "").expect("a file");
        }),
    ];
    for (name, fault) in faults {
        let machine = Home::hooked();
        let control = ask(Host::ClaudeCode, &machine, "s", Tool::Shell("ls")).expect("a shell");
        assert_eq!(does(Host::ClaudeCode, &control), Does::Runs, "{name}: {control:?}");
        fault(&machine);
        for host in Host::ALL {
            let ran = ask(host, &machine, "s", Tool::Shell("ls")).expect("a shell");
            assert_eq!(does(host, &ran), Does::Blocks, "{name}, {host:?}: {ran:?}");
            assert!(ran.err.contains("blocked"), "{name}, {host:?}: {ran:?}");
        }
    }
}

#[test]
fn an_agent_is_told_where_the_configuration_is_wrong_and_not_what_it_says() {
    let machine = Home::hooked();
    for yaml in [
        "servers:\n  - name: x\n    env: {TRACKER: hunter2zz}, oops\n",
        "safty: {TRACKER: hunter2zz}\n",
        "safety:\n  env:\n    TRACKER: hunter2zz: x\n",
    ] {
        machine.configure(yaml);
        for host in Host::ALL {
            let ran = ask(host, &machine, "s", Tool::Shell("ls")).expect("a shell");
            assert_eq!(does(host, &ran), Does::Blocks, "{host:?}: {ran:?}");
            let said = format!("{}{}", ran.out, ran.err);
            assert!(said.contains("config.yaml:"), "{host:?}: {said}");
            assert!(!said.contains("hunter2zz") && !said.contains("U+000A"), "{host:?}: {said}");
        }
        for command in [&["exec", "--session", "s", "--", "ls"][..], &["mcp"]] {
            let ran = machine.run(command);
            assert_eq!(ran.code, Some(125), "{command:?}: {ran:?}");
            assert!(
                ran.err.contains("config.yaml:") && !ran.err.contains("hunter2zz"),
                "{command:?}: {ran:?}"
            );
        }
        let doctor = machine.run(&["doctor"]);
        assert!(!doctor.out.contains("U+000A"), "{doctor:?}");
        if yaml.contains("env") {
            assert!(!doctor.out.contains("hunter2zz"), "{doctor:?}");
        }
    }
}

#[test]
fn an_answer_that_cannot_be_written_blocks() {
    let machine = Home::hooked();
    for host in Host::ALL {
        let asked =
            question(host, &machine, "s", Tool::Shell("cat /etc/shadow")).expect("a shell").to_string();
        for end in [">/dev/full", ">&-", ">/dev/null"] {
            let script = format!("{{ {}; }} {end}", command(&machine, host));
            let ran = machine.shell(&script, &asked);
            assert_eq!(does(host, &ran), Does::Blocks, "{host:?} {end}: {ran:?}");
        }
    }
}

#[test]
fn a_program_that_is_gone_blocks() {
    let machine = Home::hooked();
    for host in Host::ALL {
        let asked = question(host, &machine, "s", Tool::Shell("ls")).expect("a shell").to_string();
        let gone = command(&machine, host)
            .replace("bailiwick hook", "bailiwick-gone hook")
            .replace("bailiwick' hook", "bailiwick-gone' hook");
        let ran = machine.shell(&gone, &asked);
        assert_eq!(does(host, &ran), Does::Blocks, "{host:?}: {ran:?}");
    }
}

/// Ends every process below this one that runs the binary.
#[expect(clippy::disallowed_methods, reason = "a test that ends processes of its own")]
fn kill_below(process: u32) {
    let children =
        std::fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    for child in children.split_whitespace().filter_map(|child| child.parse().ok()) {
        kill_below(child);
    }
    let name = std::fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
    if name.trim() == "bailiwick" {
        let _gone = std::process::Command::new("kill").args(["-9", &process.to_string()]).status();
    }
}

#[test]
fn a_hook_that_is_killed_at_any_moment_lets_nothing_through() {
    let machine = Home::hooked();
    let mut killed = 0;
    for host in Host::ALL {
        let asked =
            question(host, &machine, "s", Tool::Shell("cat /etc/shadow")).expect("a shell").to_string();
        for (delay, whole) in [(0, true), (1, true), (2, true), (3, true), (5, true), (8, true), (20, false)]
        {
            let mut child = machine
                .command("sh")
                .args(["-c", &command(&machine, host)])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("a shell");
            let mut stdin = child.stdin.take().expect("its input");
            // Half a question keeps the hook waiting until it is killed.
            let part = if whole { asked.as_bytes() } else { &asked.as_bytes()[..asked.len() / 2] };
            let _unread = stdin.write_all(part);
            let held = (!whole).then_some(stdin);
            std::thread::sleep(Duration::from_millis(delay));
            kill_below(child.id());
            drop(held);
            let ran = child.wait_with_output().expect("its end").into();
            assert_eq!(does(host, &ran), Does::Blocks, "{host:?} after {delay} ms: {ran:?}");
            killed += usize::from(ran.code != Some(0));
        }
    }
    assert!(killed >= Host::ALL.len(), "at least the waiting ones were killed: {killed}");
}

#[test]
fn a_question_that_never_ends_is_blocked_in_time() {
    let machine = Home::hooked();
    let mut children = Vec::new();
    for host in Host::ALL {
        let mut child = machine
            .command("timeout")
            .args(["-s", "KILL", "40", "sh", "-c", &command(&machine, host)])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("a shell");
        let stdin = child.stdin.take().expect("its input");
        children.push((host, child, stdin));
    }
    for (host, child, stdin) in children {
        let ran = child.wait_with_output().expect("its end").into();
        drop(stdin);
        assert_eq!(does(host, &ran), Does::Blocks, "{host:?}: {ran:?}");
        assert!(ran.err.contains("it took too long"), "{host:?}: {ran:?}");
    }
}
