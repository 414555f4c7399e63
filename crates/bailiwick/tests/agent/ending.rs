//! RUN-2: how a run ends, whatever the model does; RUN-3: whoever stops a run ends everything that runs for it.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::home::Home;
use crate::scripted::{Answer, Protocol, Server, call, text};
use crate::talk::{run, run_with};

const ASKED: &str = "git reset --hard";

#[test]
fn something_to_approve_and_nobody_who_could_fails_at_once() {
    let home = Home::new();
    let server = Server::following(
        Protocol::Anthropic,
        vec![call("shell_command", json!({"command": ASKED})), text("unreached")],
    );
    #[expect(clippy::disallowed_methods, reason = "a test may look at the clock")]
    let begun = Instant::now();
    let told = run(&home, &server, &[]);
    assert_eq!(told.ran.code, Some(125), "{:?}", told.ran);
    assert_eq!(told.last()["type"], "run_failed");
    assert_eq!(told.last()["reason"], "config_error");
    assert_eq!(server.seen().len(), 1, "the model is not asked again");
    assert!(begun.elapsed() < Duration::from_secs(20));
    let journal = home.run(&["journal", "export"]).out;
    assert!(journal.contains("run_failed") && journal.contains("config_error"));
}

#[test]
fn a_model_that_makes_a_denied_call_again_is_ended() {
    // Denied by a rule of the policy, and by whoever was asked.
    let by_rule = "profile: dev\napproval: {rules: [{command: 'git reset', decision: denied}]}\n";
    for (command, configured) in [("sudo ls", "profile: dev\n"), (ASKED, by_rule)] {
        let home = Home::new();
        home.configure(configured);
        let server =
            Server::following(Protocol::OpenAi, vec![call("shell_command", json!({"command": command}))]);
        let told = run_with(&home, &server, &["run", "--json", "do it"]);
        assert_eq!(told.ran.code, Some(126), "{command} {:?}", told.ran);
        assert_eq!(told.last()["reason"], "approval_denied");
        assert_eq!(server.seen().len(), 2, "{command}");
    }
}

#[test]
fn limits_end_a_run_that_does_not_end_itself() {
    let looping = || {
        Server::start(Protocol::Anthropic, |_, number| {
            call("list_dir", json!({"dir_path": ".", "limit": number + 1}))
        })
    };
    let home = Home::new();
    let server = looping();
    let told = run(&home, &server, &["--max-steps", "3"]);
    assert_eq!((told.ran.code, &told.last()["reason"]), (Some(3), &json!("max_steps")), "{:?}", told.ran);
    assert_eq!(server.seen().len(), 3);
    let told = run(&home, &looping(), &["--time", "700ms", "--max-steps", "1000000"]);
    assert_eq!((told.ran.code, &told.last()["reason"]), (Some(124), &json!("wall_time")), "{:?}", told.ran);
    home.configure("profile: dev\nagent: {output_tokens: 25}\n");
    let told = run(&home, &looping(), &[]);
    assert_eq!((told.ran.code, &told.last()["reason"]), (Some(3), &json!("output_budget")), "{:?}", told.ran);
}

#[test]
fn what_goes_wrong_with_a_server_is_tried_again_or_said() {
    let again = |headers: &[(&str, &str)]| {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Answer::Status(429, headers, "{\"error\": {\"message\": \"slow down\"}}".into())
    };
    let busy = Answer::Status(529, Vec::new(), "overloaded".into());
    let table: Vec<(&str, Vec<Answer>, i32, usize)> = vec![
        (
            "too many, with a time",
            vec![again(&[("retry-after", "0")]), again(&[("retry-after-ms", "5")]), text("ok")],
            0,
            3,
        ),
        ("busy", vec![busy, text("ok")], 0, 2),
        ("breaks midway", vec![Answer::Breaks("half of a sente".into()), text("ok")], 0, 2),
        (
            "an error in the stream",
            vec![Answer::Error("overloaded_error".into(), "busy".into()), text("ok")],
            0,
            2,
        ),
        ("garbage", vec![Answer::Garbage("data: {not json\n\n".into()), text("ok")], 0, 2),
        (
            "a wrong key",
            vec![Answer::Status(401, Vec::new(), "{\"error\":{\"message\":\"bad key\"}}".into())],
            125,
            1,
        ),
        ("a wrong request", vec![Answer::Status(400, Vec::new(), "{}".into())], 1, 1),
        (
            "a redirect",
            vec![Answer::Status(302, vec![("location".into(), "http://127.0.0.1:1/".into())], String::new())],
            125,
            1,
        ),
        ("a wait that is too long", vec![again(&[("retry-after", "9999")])], 1, 1),
    ];
    for (name, answers, code, requests) in table {
        for protocol in Protocol::ALL {
            let home = Home::new();
            let server = Server::following(protocol, answers.clone());
            let told = run(&home, &server, &[]);
            assert_eq!(
                (told.ran.code, server.seen().len()),
                (Some(code), requests),
                "{name} {protocol:?} {:?}",
                told.ran
            );
            assert_eq!(told.of("retrying").len(), requests - 1, "{name}");
            if code == 0 {
                assert_eq!(told.last()["text"], "ok", "{name}: nothing of what broke off is left");
            }
        }
    }
}

#[test]
fn a_conversation_that_grows_too_long_is_shortened_and_the_user_is_told() {
    for summary_fails in [false, true] {
        let home = Home::new();
        home.write("long.txt", &"many words in a line\n".repeat(400), false);
        home.configure("profile: dev\nagent: {context_tokens: 5000}\n");
        let server = Server::start(Protocol::Anthropic, move |seen, number| {
            if seen.last().contains("about to be shortened") {
                return if summary_fails {
                    Answer::Status(400, Vec::new(), "{}".into())
                } else {
                    text("THE SUMMARY")
                };
            }
            if number < 6 { call("file_read", json!({"path": "long.txt"})) } else { text("done") }
        });
        let told = run(&home, &server, &[]);
        assert_eq!(told.ran.code, Some(0), "{:?}", told.ran);
        let shortened = told.of("compacted");
        assert!(!shortened.is_empty(), "{:?}", told.ran);
        assert_eq!(shortened[0]["how"], if summary_fails { "dropped" } else { "summary" });
        assert!(shortened[0]["after"].as_u64() < shortened[0]["before"].as_u64());
        let last = server.seen().last().expect("a request").all();
        assert!(last.contains("do it"), "the task stays");
        assert_eq!(last.contains("THE SUMMARY"), !summary_fails);
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test starts programs and looks at the clock")]
fn an_interrupt_ends_the_run_and_everything_that_runs_for_it() {
    // Once while a tool runs, once while the model is silent.
    let sleeping = call("shell_command", json!({"command": "echo begun > begun; sleep 987654"}));
    let silent = Answer::Hangs("begun".into(), Duration::from_secs(30));
    for (name, answer) in [("a tool", sleeping), ("the model", silent)] {
        let home = Home::new();
        let server = Server::following(Protocol::OpenAi, vec![answer]);
        let flags = crate::talk::flags(&server);
        let mut child = std::process::Command::new(crate::home::BINARY)
            .args(["run", "--json", "--profile", "dev", "do it"])
            .args(flags)
            .current_dir(home.0.join("work"))
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", &home.0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary");
        let begun = home.0.join("work/begun");
        for _ in 0..400 {
            let there = if name == "a tool" { begun.exists() } else { !server.seen().is_empty() };
            if there {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        std::thread::sleep(Duration::from_millis(200));
        let started = Instant::now();
        let killed = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(killed.expect("kill").success());
        let mut out = String::new();
        std::io::Read::read_to_string(&mut child.stdout.take().expect("output"), &mut out).expect("text");
        let status = child.wait().expect("its end");
        assert_eq!(status.code(), Some(130), "{name}: {out}");
        assert!(out.trim_end().ends_with("\"type\":\"run_cancelled\"}"), "{name}: {out}");
        assert!(started.elapsed() < Duration::from_secs(10), "{name}: {:?}", started.elapsed());
        let left = std::process::Command::new("pgrep").args(["-f", "sleep 987654"]).output().expect("pgrep");
        assert!(left.stdout.is_empty(), "{name}: {}", String::from_utf8_lossy(&left.stdout));
        let journal = home.run(&["journal", "export"]).out;
        assert!(journal.contains("run_cancelled"), "{name}");
    }
}
