//! RUN-5: the model's key goes to the model and nowhere else.

use serde_json::json;

use crate::home::Home;
use crate::scripted::{Answer, Protocol, Server, call, text};
use crate::talk::{KEY, run, run_knowing};

#[test]
fn the_key_is_sent_to_the_model_and_comes_out_nowhere() {
    for protocol in Protocol::ALL {
        let home = Home::new();
        // A program that looks for it, and a server that repeats it.
        let server = Server::following(
            protocol,
            vec![
                call("shell_command", json!({"command": "env; echo \"[$MODEL_KEY]\""})),
                Answer::Status(500, Vec::new(), format!("{{\"error\": {{\"message\": \"bad key {KEY}\"}}}}")),
                text("done"),
            ],
        );
        let told = run(&home, &server, &[]);
        assert_eq!(told.ran.code, Some(0), "{:?}", told.ran);
        let seen = server.seen();
        match protocol {
            Protocol::OpenAi => {
                assert_eq!(seen[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()))
            }
            Protocol::Anthropic => {
                assert_eq!(seen[0].header("x-api-key"), Some(KEY));
                assert!(seen[0].header("anthropic-version").is_some());
            }
        }
        assert!(seen[1].last().contains("[]"), "programs do not get it: {}", seen[1].last());
        assert!(!seen.iter().any(|request| request.body.to_string().contains(KEY)), "nor is the model told");
        for (name, text) in [("stdout", &told.ran.out), ("stderr", &told.ran.err)] {
            assert!(!text.contains(KEY), "{name}: {text}");
        }
        assert!(told.ran.out.contains("[masked]"), "the server's words are shown without it");
        let kept = home.shell("grep -rl canary-7Hq2 \"$HOME\" || echo nothing");
        assert_eq!(kept.out.trim(), "nothing", "{kept:?}");
    }
}

#[test]
fn the_key_is_not_sent_unencrypted_to_another_machine() {
    let home = Home::new();
    let flags = [
        "--model",
        "m",
        "--provider",
        "openai",
        "--base-url",
        "http://models.example.com/v1",
        "--key-env",
        "MODEL_KEY",
    ];
    let mut words = vec!["run", "--json", "x"];
    words.extend(flags);
    let ran = run_knowing(&home, &words);
    assert_eq!(ran.code, Some(125), "{ran:?}");
    assert!(ran.err.contains("unencrypted") && !ran.err.contains(KEY), "{}", ran.err);
}

#[test]
fn a_workspace_file_cannot_say_who_gets_the_key() {
    let table = [
        ("agent: {base_url: 'http://127.0.0.1:1/'}", false),
        ("agent: {key_env: HOME}", false),
        ("agent: {provider: openai}", false),
        ("agent: {max_steps: 100000}", false),
        ("agent: {max_steps: 2}", true),
        ("agent: {wall_ms: 60000}", true),
    ];
    for (yaml, good) in table {
        let home = Home::new();
        home.write(".bailiwick.yaml", yaml, false);
        let server = Server::following(Protocol::Anthropic, vec![text("ok")]);
        let told = run(&home, &server, &[]);
        assert_eq!(told.ran.code == Some(0), good, "{yaml}: {:?}", told.ran);
    }
}
