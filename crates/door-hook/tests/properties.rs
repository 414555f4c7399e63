//! No question makes a panic, and one that cannot be read makes its host block.

#![expect(
    clippy::disallowed_methods,
    reason = "a real shell is the judge of what is written for one; fixtures are files"
)]
#![expect(clippy::expect_used, reason = "helpers of a test may fail as the test itself may")]

use std::process::Command;

use door_hook::{Answer, Host, Verdict, exec_prefix, failure, quote, read, rewrite, unwrap, write};
use gate::policy::{Base, Config, Layer, Origin};
use proptest::prelude::*;
use serde_json::Value;

fn fixture(host: Host) -> Vec<u8> {
    let name = match host {
        Host::ClaudeCode | Host::Codex | Host::CopilotCli | Host::OpenCode => "bash",
        Host::GeminiCli => "run_shell_command",
        Host::Cursor => "pre_tool_use_shell",
        Host::VsCode => "run_in_terminal",
    };
    let path = format!("{}/tests/fixtures/{}/{name}.json", env!("CARGO_MANIFEST_DIR"), host.name());
    std::fs::read(path).expect("a fixture")
}

// HOOK-1
#[test]
fn a_question_that_is_cut_off_or_garbled_is_refused_and_its_host_blocks() {
    for host in Host::ALL {
        let whole = fixture(host);
        assert!(read(host, &whole).is_ok());
        let end = whole.iter().rposition(|byte| *byte == b'}').expect("an object");
        for length in 0..=end {
            assert!(read(host, &whole[..length]).is_err(), "{host:?} {length}");
        }
        let twice = [whole.as_slice(), whole.as_slice()].concat();
        let mut latin = whole.clone();
        latin.insert(end, 0xff);
        let huge = format!("{{\"x\": \"{}\"}}", "x".repeat(8 * 1024 * 1024)).into_bytes();
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)).into_bytes();
        for bad in [b"".to_vec(), b"null".to_vec(), b"[]".to_vec(), b"{}".to_vec(), twice, latin, huge, deep]
        {
            let refused = read(host, &bad).expect_err("refused");
            let reply = failure(host, &refused.to_string());
            assert_eq!(reply.exit, 2);
            assert!(reply.stderr.contains("so it is blocked"), "{}", reply.stderr);
        }
        // What matters must be there, and be what it should.
        let question: Value = serde_json::from_slice(&whole).expect("JSON");
        let needed: &[&str] = match host {
            Host::ClaudeCode | Host::Codex | Host::GeminiCli => {
                &["session_id", "cwd", "hook_event_name", "tool_name", "tool_input"]
            }
            Host::Cursor => &["conversation_id", "hook_event_name", "tool_name", "tool_input"],
            Host::CopilotCli => &["cwd", "toolName", "toolArgs"],
            Host::VsCode => &["cwd", "hookEventName", "tool_name", "tool_input"],
            Host::OpenCode => &["hook", "tool", "sessionID", "directory", "args"],
        };
        for key in needed {
            for wrong in [None, Some(Value::Null), Some(7.into()), Some("".into()), Some("[]".into())] {
                if wrong == Some("[]".into()) && !key.to_lowercase().contains("arg") && !key.contains("input")
                {
                    continue;
                }
                let mut question = question.clone();
                match wrong {
                    None => drop(question.as_object_mut().expect("an object").remove(*key)),
                    Some(wrong) => question[*key] = wrong,
                }
                let bytes = question.to_string().into_bytes();
                assert!(read(host, &bytes).is_err(), "{host:?} {key} {question}");
            }
        }
        let mut more = question.clone();
        more["something_new"] = serde_json::json!({"a": [1]});
        assert!(read(host, more.to_string().as_bytes()).is_ok(), "{host:?}: what is new is passed over");
    }
}

#[test]
fn an_event_that_is_not_known_is_refused() {
    for host in [Host::ClaudeCode, Host::Codex, Host::GeminiCli, Host::Cursor, Host::VsCode, Host::OpenCode] {
        let mut question: Value = serde_json::from_slice(&fixture(host)).expect("JSON");
        for key in ["hook_event_name", "hookEventName", "hook"] {
            if question.get(key).is_some() {
                question[key] = "Stop".into();
            }
        }
        assert!(read(host, question.to_string().as_bytes()).is_err(), "{host:?}");
    }
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        prop::sample::select(vec![
            "/etc/passwd",
            "../x",
            "ls",
            "https://a.test",
            "file:///a",
            "*** Begin Patch"
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key(), inner, 0..5)
                .prop_map(|members| members.into_iter().collect::<serde_json::Map<_, _>>().into()),
        ]
    })
}

fn key() -> impl Strategy<Value = String> {
    let known = vec![
        "command",
        "file_path",
        "filePath",
        "path",
        "content",
        "old_string",
        "new_string",
        "edits",
        "replacements",
        "url",
        "urls",
        "prompt",
        "pattern",
        "query",
        "tool_calls",
        "tool",
        "parameters",
        "include",
        "directory",
        "dir_path",
    ];
    prop_oneof![4 => prop::sample::select(known).prop_map(str::to_owned), 1 => ".{0,6}"]
}

fn tool() -> impl Strategy<Value = String> {
    let known = vec![
        "Bash",
        "Read",
        "Edit",
        "MultiEdit",
        "apply_patch",
        "spawn_agent",
        "run_shell_command",
        "read_many_files",
        "web_fetch",
        "Shell",
        "Delete",
        "MCP:x",
        "mcp__a__b",
        "bash",
        "edit",
        "create",
        "run_in_terminal",
        "multi_replace_string_in_file",
        "batch",
        "multiedit",
        "file_write",
        "shell_exec",
    ];
    prop_oneof![4 => prop::sample::select(known).prop_map(str::to_owned), 1 => ".{1,10}"]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever a tool is given, there is a call to judge, and an answer for each verdict.
    #[test]
    fn any_arguments_of_any_tool_give_calls_to_judge(which in 0..Host::ALL.len(), tool in tool(), input in json()) {
        let host = Host::ALL[which];
        let mut question: Value = serde_json::from_slice(&fixture(host)).expect("JSON");
        for (key, value) in [("tool_name", Value::from(tool.as_str())), ("toolName", Value::from(tool.as_str())), ("tool", Value::from(tool.as_str())),
            ("tool_input", input.clone()), ("toolArgs", input.clone()), ("args", input.clone())] {
            if question.get(key).is_some() {
                question[key] = value;
            }
        }
        let Ok(asked) = read(host, question.to_string().as_bytes()) else {
            prop_assert!(!input.is_object());
            return Ok(());
        };
        prop_assert!(!asked.calls.is_empty());
        for verdict in [Verdict::Allow, Verdict::Ask, Verdict::Deny] {
            let reply = write(&asked, &Answer::new(verdict, "why").running("x"));
            prop_assert_eq!(reply.exit, 0);
            if verdict == Verdict::Deny {
                prop_assert!(reply.stdout.contains("deny"));
            }
        }
        for call in asked.calls {
            // Names are always such that the gate takes them.
            if let Err(invalid) = gate::call::Call::parse(call) {
                prop_assert!(invalid.path != "$tool", "{}", invalid);
            }
        }
    }

    #[test]
    fn no_bytes_make_a_panic(which in 0..Host::ALL.len(), bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(Host::ALL[which], &bytes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// A real shell hands the command on as it was. HOOK-3
    #[test]
    fn a_shell_hands_the_text_on_unchanged(text in prop_oneof!["[^\\x00]{1,40}", "['\\\\\"$`!\\n; &|a#~*-]{1,30}"]) {
        // In place of Bailiwick stands a program that shows its last argument.
        let prefix: Vec<String> = ["printf", "%s\\n", "--"].iter().map(|word| (*word).to_owned()).collect();
        if let Some(command) = rewrite(&text, &prefix) {
            prop_assert_eq!(unwrap(&command, &prefix), Some(text.clone()));
            for shell in ["bash", "sh"] {
                let out = Command::new(shell).arg("-c").arg(&command).output().expect("a shell");
                prop_assert_eq!(String::from_utf8_lossy(&out.stdout), format!("--\n{text}\n"), "{}", command);
            }
        }
        let word = Command::new("sh").arg("-c").arg(format!("printf %s {}", quote(&text))).output().expect("a shell");
        prop_assert_eq!(String::from_utf8_lossy(&word.stdout), text);
    }
}

/// A host that keeps the directory: after the command, in the same shell, it finds out where that is.
fn as_a_host_does(command: &str) -> (String, Option<i32>, String) {
    let directory = std::env::temp_dir().join(format!("bailiwick-hook-{}", std::process::id()));
    std::fs::create_dir_all(directory.join("a b/c")).expect("a directory");
    let whole = format!("eval {} < /dev/null; s=$?; pwd -P >&2; exit $s", quote(command));
    let out = Command::new("bash").arg("-c").arg(whole).current_dir(&directory).output().expect("a shell");
    let at = String::from_utf8_lossy(&out.stderr).trim().to_owned();
    let base = directory.canonicalize().expect("a directory").display().to_string();
    (String::from_utf8_lossy(&out.stdout).into_owned(), out.status.code(), at.replace(&base, "."))
}

#[test]
fn output_exit_code_and_directory_are_those_of_the_original() {
    // `env` stands for Bailiwick: it runs what follows, as `exec` does.
    let prefix: Vec<String> =
        ["env", "--", "/bin/bash", "-c"].iter().map(|word| (*word).to_owned()).collect();
    let commands = [
        "echo \"it's\"; (exit 7)",
        "cd 'a b' && pwd | sed 's,.*/,,'; false",
        "cd 'a b/c'",
        "cd 'a b' && cat nothing 2>/dev/null",
        "cd \"a b\"; ls",
        "cd nowhere 2>/dev/null && echo here",
        "cd nowhere 2>/dev/null; echo here",
        "(cd 'a b' && ls)",
        "printf '%s\\n' a\\\\ \"b\nc\"",
        "x=1; echo $x $((x+1)) $(echo sub)",
        "cat <<'E'\nit's $x\nE\n",
        "true && cd",
    ];
    for command in commands {
        let fenced = rewrite(command, &prefix).unwrap_or_else(|| command.to_owned());
        let expected = as_a_host_does(command);
        let mut got = as_a_host_does(&fenced);
        if command == "true && cd" {
            // Documented: only a change of directory that comes first is kept.
            got.2.clone_from(&expected.2);
        }
        assert_eq!(got, expected, "{command}");
    }
}

#[test]
fn the_prefix_is_what_exec_takes() {
    let prefix = exec_prefix("/usr/bin/bailiwick", &["--workspace", "/w"]);
    assert_eq!(
        rewrite("ls", &prefix).as_deref(),
        Some("/usr/bin/bailiwick exec --workspace /w -- /bin/bash -c 'ls'")
    );
}

#[test]
fn the_first_policy_loads_and_the_project_part_only_tightens() {
    let base = Base { cwd: "/work/project".into(), home: Some("/home/user".into()) };
    let all = [
        "Cargo.toml",
        "package.json",
        "pnpm-lock.yaml",
        "yarn.lock",
        "bun.lock",
        "deno.json",
        "pyproject.toml",
        "uv.lock",
        "go.mod",
        "Makefile",
        "justfile",
        "CMakeLists.txt",
        "pom.xml",
        "build.gradle",
        "global.json",
        "Gemfile",
        "composer.json",
        "mix.exs",
        "Package.swift",
        "build.zig",
        "MODULE.bazel",
        "README.md",
    ];
    for files in [&[][..], &["Cargo.toml"], &["package.json", "Makefile"], &all] {
        let door_hook::Starter { user, workspace, recognised } = door_hook::starter(files);
        assert_eq!(recognised.len(), files.iter().filter(|file| **file != "README.md").count());
        let layers = || {
            [
                (Origin::User, "config.yaml", user.as_str()),
                (Origin::Workspace, ".bailiwick.yaml", workspace.as_str()),
            ]
            .map(|(origin, file, text)| Layer::parse(origin, file, text).expect(file))
            .to_vec()
        };
        let config = Config::merge(layers(), &base).expect("a configuration");
        assert_eq!(config.profile().value, gate::policy::Profile::Dev);
        // What is commented out is meant to be tried.
        let tried: String = user.lines().map(|line| format!("{}\n", uncommented(line))).collect();
        let tried = tried
            .replace("denylist: []", "denylist:")
            .replace("paths: []", "paths:")
            .replace("tool_allowlist: []", "tool_allowlist:");
        let layer = Layer::parse(Origin::User, "config.yaml", &tried);
        assert!(layer.is_ok(), "{:?}\n{tried}", layer.err());
        Config::merge(vec![layer.expect("a layer")], &base).expect("a configuration");
    }
    assert!(door_hook::starter(&["Cargo.toml"]).user.contains("    - cargo test\n"));
}

/// A line of settings that is commented out, without its mark; prose has one blank behind it.
fn uncommented(line: &str) -> String {
    let inner = line.trim_start();
    let indent = line.strip_suffix(inner).unwrap_or_default();
    match inner.strip_prefix('#') {
        Some(rest) if !rest.starts_with(' ') || rest.starts_with("  ") => format!("{indent}{rest}"),
        _ => line.to_owned(),
    }
}
