//! What a request shows, what it hides, and what an approval is bound to. Keeps CALL-2 and, for requests, SEC-1.

#![expect(
    clippy::panic,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

use std::collections::HashMap;

use call::{
    ApprovalKey, Call, Descriptor, Descriptors, DigestKey, Form, Intent, Purpose, RawCall, Request, Seen,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn key() -> DigestKey {
    DigestKey::from_bytes([7; 32])
}

fn seen(argv: Option<&[&str]>) -> Seen {
    let argv = argv.map(|words| words.iter().map(|word| (*word).to_owned()).collect());
    let complex = if argv.is_some() { None } else { Some("a pipe".to_owned()) };
    Seen { argv, complex, risk: "low", cwd: "/work".into() }
}

fn call(tool: &str, args: Value) -> Call {
    Call::parse(RawCall::new(tool, args)).unwrap_or_else(|error| panic!("{tool}: {error}"))
}

fn request(tool: &str, args: Value, seen: &Seen) -> Request {
    let call = call(tool, args);
    Descriptors::new().of(&call).sanitize_for_approval(&call, seen, &key())
}

fn approval_key(tool: &str, args: Value, seen: &Seen) -> ApprovalKey {
    request(tool, args, seen).approval_key()
}

#[test]
fn a_request_has_the_fields_of_its_tool() {
    let none = seen(None);
    let words = |argv: &[&str]| seen(Some(argv));
    let exec = ["env_keys", "env_digest", "sandbox", "sandbox_permissions", "risk"];
    let argv_fields = || [&["argv", "cwd", "timeout_ms", "tty"], &exec[..]].concat();
    let text_fields = |name| [&[name, "intent", "workdir"], &exec[..]].concat();
    let patch = "*** Begin Patch\n*** Delete File: b\n*** Delete File: a\n*** End Patch";
    let table = [
        ("shell_exec", json!({"argv": ["ls"]}), words(&["ls"]), argv_fields()),
        ("shell", json!({"command": ["ls"]}), words(&["ls"]), argv_fields()),
        ("shell_command", json!({"command": "ls | wc"}), none.clone(), text_fields("command")),
        ("exec_command", json!({"cmd": "ls | wc"}), none.clone(), text_fields("cmd")),
        ("Bash", json!({"command": "ls | wc"}), none.clone(), text_fields("command")),
        (
            "write_stdin",
            json!({"session_id": 1, "chars": "y"}),
            none.clone(),
            vec!["session_id", "bytes", "chars_digest", "is_poll"],
        ),
        (
            "file_write",
            json!({"path": "a", "content": "x"}),
            none.clone(),
            vec!["path", "create_dirs", "bytes", "content_sha256", "sandbox_permissions"],
        ),
        ("apply_patch", json!({"input": patch}), none.clone(), vec!["file_paths", "bytes", "content_sha256"]),
        ("my_tool", json!({"a": 1}), none.clone(), vec!["arguments", "arguments_digest"]),
    ];
    for (tool, args, seen, mut expected) in table {
        let request = request(tool, args, &seen);
        let mut got: Vec<&str> = request.fields().keys().map(String::as_str).collect();
        got.sort_unstable();
        expected.sort_unstable();
        assert_eq!(got, expected, "{tool}");
    }
    let shown = request("shell_command", json!({"command": "ls | wc", "env": {"B": "x", "A": "y"}}), &none);
    assert_eq!(shown.fields()["env_keys"], json!(["A", "B"]));
    assert_eq!(shown.fields()["intent"], json!({"argv": null, "is_complex": true, "reason": "a pipe"}));
    let shown = request("apply_patch", json!({"input": patch}), &none);
    assert_eq!(shown.fields()["file_paths"], json!(["b", "a"]));
    let shown = request("my_tool", json!({"env": {"A": "x"}, "password": "p", "n": "token=t"}), &none);
    let expected = json!({"env_keys": ["A"], "password": "[masked]", "n": "token=[masked]"});
    assert_eq!(shown.fields()["arguments"], expected);
}

#[test]
fn the_same_meaning_has_the_same_key_whichever_tool_brings_it() {
    let simple = seen(Some(&["git", "status", "-s"]));
    let keys = [
        approval_key("shell_exec", json!({"argv": ["git", "status", "-s"]}), &simple),
        approval_key("shell", json!({"command": ["git", "status", "-s"], "justification": "why"}), &simple),
        approval_key("shell_command", json!({"command": "git status -s", "sandbox": "inherit"}), &simple),
        approval_key("exec_command", json!({"cmd": "git  status '-s'"}), &simple),
        approval_key("Bash", json!({"command": "git status -s", "description": "status"}), &simple),
        approval_key(
            "shell_exec",
            json!({"argv": ["git", "status", "-s"], "timeout_ms": 5, "tty": true}),
            &simple,
        ),
        approval_key(
            "shell_exec",
            json!({"argv": ["git", "status", "-s"], "justification": "other"}),
            &simple,
        ),
        approval_key(
            "shell_exec",
            json!({"argv": ["git", "status", "-s"]}),
            &Seen { risk: "high", ..simple.clone() },
        ),
    ];
    assert!(keys.iter().all(|key| *key == keys[0]), "{keys:?}");
    let complex = seen(None);
    assert_eq!(
        approval_key("shell_command", json!({"command": "a | b"}), &complex),
        approval_key("exec_command", json!({"cmd": "a | b"}), &complex)
    );
}

#[test]
fn calls_that_differ_in_what_reaches_execution_have_different_keys() {
    let words = |argv: &[&str]| seen(Some(argv));
    let elsewhere = Seen { cwd: "/other".into(), ..words(&["ls"]) };
    let env = |value: &str| json!({"argv": ["ls"], "env": {"PYTHONPATH": value}});
    let write = |path: &str, content: &str| json!({"path": path, "content": content});
    let patch = |body: &str| json!({"input": format!("*** Begin Patch\n{body}\n*** End Patch")});
    let token = |c: &str| format!("ghp_{}", c.repeat(36));
    let none = seen(None);
    let calls = [
        ("shell_exec", json!({"argv": ["ls"]}), words(&["ls"])),
        ("shell_exec", json!({"argv": ["ls", ""]}), words(&["ls", ""])),
        ("shell_exec", json!({"argv": ["ls", "a", "b"]}), words(&["ls", "a", "b"])),
        ("shell_exec", json!({"argv": ["ls", "a b"]}), words(&["ls", "a b"])),
        ("shell_exec", json!({"argv": ["ls"]}), elsewhere),
        ("shell_exec", env("/a"), words(&["ls"])),
        ("shell_exec", env("/b"), words(&["ls"])),
        ("shell_exec", json!({"argv": ["ls"], "env": {"PYTHONHOME": "/a"}}), words(&["ls"])),
        ("shell_exec", json!({"argv": ["ls"], "sandbox": "none"}), words(&["ls"])),
        ("shell_exec", json!({"argv": ["ls"], "sandbox_permissions": "require_escalated"}), words(&["ls"])),
        // Masked alike, bound apart.
        ("shell_exec", json!({"argv": ["ls", "--token", "a"]}), words(&["ls", "--token", "a"])),
        ("shell_exec", json!({"argv": ["ls", "--token", "b"]}), words(&["ls", "--token", "b"])),
        ("shell_exec", json!({"argv": ["ls", "--token", "[masked]"]}), words(&["ls", "--token", "[masked]"])),
        ("shell_exec", json!({"argv": ["ls", token("a")]}), words(&["ls", &token("a")])),
        ("shell_exec", json!({"argv": ["ls", token("b")]}), words(&["ls", &token("b")])),
        ("shell_command", json!({"command": "ls | wc"}), none.clone()),
        ("shell_command", json!({"command": "ls|wc"}), none.clone()),
        ("shell_command", json!({"command": "ls | wc", "env": {"A": "1"}}), none.clone()),
        ("shell_command", json!({"command": "TOKEN=a ls | wc"}), none.clone()),
        ("shell_command", json!({"command": "TOKEN=b ls | wc"}), none.clone()),
        // The other shell.
        ("Bash", json!({"command": "ls | wc"}), none.clone()),
        ("write_stdin", json!({"session_id": 1, "chars": "123456"}), none.clone()),
        ("write_stdin", json!({"session_id": 1, "chars": "123457"}), none.clone()),
        ("write_stdin", json!({"session_id": 2, "chars": "123456"}), none.clone()),
        ("write_stdin", json!({"session_id": 1}), none.clone()),
        ("file_write", write("a", "x"), none.clone()),
        ("file_write", write("a", "y"), none.clone()),
        ("file_write", write("b", "x"), none.clone()),
        ("file_write", write("a", "x"), Seen { cwd: "/other".into(), ..none.clone() }),
        ("file_write", json!({"path": "a", "content": "x", "create_dirs": false}), none.clone()),
        ("apply_patch", patch("*** Add File: a\n+x"), none.clone()),
        ("apply_patch", patch("*** Add File: a\n+y"), none.clone()),
        ("Edit", json!({"file_path": "/a", "old_string": "ab", "new_string": "c"}), none.clone()),
        ("Edit", json!({"file_path": "/a", "old_string": "a", "new_string": "bc"}), none.clone()),
        ("spawn_agent", json!({"message": "a"}), none.clone()),
        ("spawn_agent", json!({"message": "b"}), none.clone()),
        ("my_tool", json!({"a": 1}), none.clone()),
        ("my_tool", json!({"a": "1"}), none.clone()),
        ("my_tool", json!({"password": "a"}), none.clone()),
        ("my_tool", json!({"password": "b"}), none.clone()),
        ("my_tool", json!({"env": {"A": "1"}}), none.clone()),
        ("my_tool", json!({"env": {"A": "2"}}), none.clone()),
        ("my_tool2", json!({"a": 1}), none.clone()),
    ];
    let mut keys = HashMap::new();
    for (at, (tool, args, seen)) in calls.into_iter().enumerate() {
        let key = approval_key(tool, args.clone(), &seen);
        assert_eq!(ApprovalKey::from_hex(key.as_str()).as_ref(), Some(&key));
        if let Some(other) = keys.insert(key, at) {
            panic!("calls {other} and {at} have the same key: {tool} {args}");
        }
    }
}

#[test]
fn approval_and_event_are_bound_to_the_same_key() {
    let none = seen(None);
    for (tool, args) in [
        ("spawn_agent", json!({"message": "do it"})),
        ("ask_human", json!({"question": "q", "choices": ["a"], "context": {"k": "v"}})),
        ("shell_command", json!({"command": "a | b", "justification": "j"})),
        ("file_write", json!({"path": "a", "content": "c", "justification": "j"})),
        ("my_tool", json!({"a": "b"})),
    ] {
        let call = call(tool, args);
        let descriptors = Descriptors::new();
        let approval = descriptors.of(&call).sanitize_for_approval(&call, &none, &key());
        let event = descriptors.of(&call).sanitize_for_event(&call, &none, &key());
        assert_eq!(approval.approval_key(), event.approval_key(), "{tool}");
    }
}

#[test]
fn what_is_bound_besides_changes_the_key() {
    let plain = || request("shell_exec", json!({"argv": ["ls"]}), &seen(Some(&["ls"])));
    let bound = plain().bind("program", "/bin/ls");
    assert_eq!(bound.fields()["program"], "/bin/ls");
    assert_ne!(bound.approval_key(), plain().approval_key());
    assert_ne!(bound.approval_key(), plain().bind("program", "/tmp/ls").approval_key());
}

#[test]
fn keys_do_not_change_from_release_to_release() {
    // A grant that was given must still be found. If this fails, stored grants are void: say so in the changelog.
    let key = approval_key("shell_exec", json!({"argv": ["ls", "-la"]}), &seen(Some(&["ls", "-la"])));
    assert_eq!(key.as_str(), "2932776794875a343c8e39d3994f25213297a87a310cad11e1a5686d06ba0db5");
}

/// Random texts that nothing prints by chance: letters and digits, 43 of them.
struct Canaries(u64);

impl Canaries {
    fn next(&mut self) -> String {
        const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        (0..43)
            .map(|_| {
                self.0 ^= self.0 << 13;
                self.0 ^= self.0 >> 7;
                self.0 ^= self.0 << 17;
                char::from(ALPHABET[usize::try_from((self.0 >> 11) % 62).unwrap()])
            })
            .collect()
    }
}

/// Every argument of every tool, `@` where the canary goes.
const POSITIONS: &[(&str, &str)] = &[
    ("shell_exec", r#"{"argv": ["tool", "@"]}"#),
    ("shell_exec", r#"{"argv": ["@"]}"#),
    ("shell_exec", r#"{"argv": ["tool", "--password=@"]}"#),
    ("shell_exec", r#"{"argv": ["tool", "x@"], "cwd": "@"}"#),
    ("shell_exec", r#"{"argv": ["tool"], "env": {"A": "@"}}"#),
    ("shell_exec", r#"{"argv": ["tool"], "justification": "because @"}"#),
    ("shell_exec", r#"{"argv": ["tool"], "sandbox": "@"}"#),
    ("shell_exec", r#"{"argv": ["tool"], "timeout_ms": "@"}"#),
    ("shell_exec", r#"{"argv": ["tool"], "@": 1}"#),
    ("shell_exec", r#"{"argv": ["tool"], "env": {"@-": "x"}}"#),
    ("shell_exec", r#"{"argv": ["tool"], "env": {"A": {"@": 1}}}"#),
    ("shell_exec", r#"{"argv": "@"}"#),
    ("shell", r#"{"command": ["sh", "-c", "tool @ | x"]}"#),
    ("shell_command", r#"{"command": "tool @ | x"}"#),
    ("shell_command", r#"{"command": "cat <<EOF\n@\nEOF"}"#),
    ("shell_command", r#"{"command": "ls", "workdir": "@", "env": {"B": "@"}, "justification": "@"}"#),
    ("exec_command", r#"{"cmd": "curl -H 'Authorization: Bearer @' x"}"#),
    ("exec_command", r#"{"cmd": ["@"]}"#),
    ("write_stdin", r#"{"session_id": 1, "chars": "@"}"#),
    ("write_stdin", r#"{"session_id": "@"}"#),
    ("file_read", r#"{"path": "@"}"#),
    ("file_write", r#"{"path": "a", "content": "@", "justification": "@"}"#),
    ("file_write", r#"{"path": "@", "content": "x"}"#),
    ("read_file", r#"{"file_path": "a", "mode": "@"}"#),
    ("read_file", r#"{"file_path": "@", "indentation": {"@": 1}}"#),
    ("list_dir", r#"{"dir_path": "@"}"#),
    ("grep_files", r#"{"pattern": "@", "path": "@", "include": "@"}"#),
    ("apply_patch", r#"{"input": "*** Begin Patch\n*** Add File: a\n+@\n*** End Patch"}"#),
    ("apply_patch", r#"{"input": "*** Begin Patch\n*** Add File: @\n+x\n*** End Patch"}"#),
    ("apply_patch", r#"{"input": "*** Begin Patch\n@\n*** End Patch"}"#),
    ("ask_human", r#"{"question": "@", "choices": ["@"], "context": {"@": {"@": ["@"]}}}"#),
    (
        "request_user_input",
        r#"{"questions": [{"id": "@", "header": "@", "question": "@", "options": [{"label": "@", "description": "@"}]}]}"#,
    ),
    ("request_user_input", r#"{"questions": [{"id": "a", "header": "b", "question": "c", "@": 1}]}"#),
    ("update_plan", r#"{"plan": [{"step": "@", "status": "pending"}], "explanation": "@"}"#),
    ("update_plan", r#"{"plan": [{"step": "a", "status": "@"}]}"#),
    ("skill_exec", r#"{"skill_mention": "$[@].x", "action_id": "@"}"#),
    ("skill_exec", r#"{"skill_mention": "@", "action_id": "a"}"#),
    ("skill_ref_read", r#"{"skill_mention": "$[a].b", "ref_path": "references/@"}"#),
    ("view_image", r#"{"path": "@"}"#),
    ("web_search", r#"{"q": "@"}"#),
    ("spawn_agent", r#"{"message": "@", "agent_type": "@"}"#),
    ("wait", r#"{"ids": ["@"]}"#),
    ("send_input", r#"{"id": "@", "message": "@"}"#),
    ("close_agent", r#"{"id": "@"}"#),
    ("resume_agent", r#"{"id": "@"}"#),
    ("Bash", r#"{"command": "tool @ | x", "description": "@", "other": "@"}"#),
    ("Read", r#"{"file_path": "@"}"#),
    ("Write", r#"{"file_path": "/a", "content": "@"}"#),
    ("Edit", r#"{"file_path": "/a", "old_string": "@", "new_string": "@"}"#),
    ("MultiEdit", r#"{"file_path": "/a", "edits": [{"old_string": "@", "new_string": "@"}]}"#),
    ("NotebookEdit", r#"{"notebook_path": "/a", "new_source": "@", "cell_id": "@"}"#),
    ("Glob", r#"{"pattern": "@", "path": "@"}"#),
    ("Grep", r#"{"pattern": "@", "path": "@", "glob": "@"}"#),
    ("WebFetch", r#"{"url": "https://x.test/@", "prompt": "@"}"#),
    ("WebSearch", r#"{"query": "@"}"#),
    ("Task", r#"{"prompt": "@"}"#),
    ("Agent", r#"{"prompt": "@"}"#),
    ("mcp__s__t", r#"{"a": "@", "env": {"A": "@"}, "n": [{"@": ["@", 1]}], "password": "@"}"#),
    ("mcp__s__t", r#"{"nul": "@\u0000"}"#),
    ("mcp__s__t", r#"{"@\u0000": 1}"#),
    ("mcp__s__t", r#"{"@": 9007199254740993}"#),
    ("mcp__s__t", r#"["@"]"#),
    ("TodoWrite", r#"{"todos": ["@"], "@": 1}"#),
    ("TaskCreate", r#"{"todos": ["@"], "@": 1}"#),
    ("TaskUpdate", r#"{"todos": ["@"], "@": 1}"#),
    ("TaskGet", r#"{"todos": ["@"], "@": 1}"#),
    ("TaskList", r#"{"todos": ["@"], "@": 1}"#),
    ("EnterPlanMode", r#"{"todos": ["@"], "@": 1}"#),
    ("ExitPlanMode", r#"{"todos": ["@"], "@": 1}"#),
    ("AskUserQuestion", r#"{"todos": ["@"], "@": 1}"#),
    ("ToolSearch", r#"{"todos": ["@"], "@": 1}"#),
    ("BashOutput", r#"{"todos": ["@"], "@": 1}"#),
    ("KillShell", r#"{"todos": ["@"], "@": 1}"#),
    ("TaskOutput", r#"{"todos": ["@"], "@": 1}"#),
    ("TaskStop", r#"{"todos": ["@"], "@": 1}"#),
];

#[test]
fn a_canary_in_any_argument_of_any_tool_never_comes_out() {
    let mut canaries = Canaries(0x1234_5678_9abc_def1);
    let mut accepted = 0;
    for (tool, template) in POSITIONS {
        for round in 0..20 {
            let canary = canaries.next();
            let args: Value = serde_json::from_str(&template.replace('@', &canary)).unwrap();
            let mut out = Vec::new();
            match Call::parse(RawCall::new(*tool, args)) {
                Err(error) => out.push(format!("{error} {error:?}")),
                Ok(call) => {
                    accepted += 1;
                    out.push(format!("{call:?}"));
                    let argv = (round % 2 == 0).then(|| vec!["tool".to_owned(), canary.clone()]);
                    let seen = Seen {
                        argv,
                        complex: Some(canary.clone()),
                        risk: "low",
                        cwd: format!("/w/{canary}"),
                    };
                    let descriptors = Descriptors::new();
                    let descriptor = descriptors.of(&call);
                    for request in [
                        descriptor.sanitize_for_approval(&call, &seen, &key()),
                        descriptor.sanitize_for_event(&call, &seen, &key()),
                    ] {
                        out.push(serde_json::to_string(&request).unwrap());
                        out.push(request.bound().to_string());
                        out.push(format!("{request:?}"));
                    }
                }
            }
            for text in out {
                // Neither as a whole nor a half of it.
                assert!(
                    !text.contains(&canary[..20]) && !text.contains(&canary[22..]),
                    "{tool} {template}: {text}"
                );
            }
        }
    }
    assert!(accepted > 600, "{accepted}");
    let named: std::collections::BTreeSet<&str> = POSITIONS.iter().map(|(tool, _)| *tool).collect();
    for tool in call::tools() {
        assert!(named.contains(tool.name), "{} has no position", tool.name);
    }
}

#[test]
fn short_secrets_are_hidden_where_only_their_name_tells() {
    let secret = "zq7";
    for (tool, args) in [
        ("shell_exec", json!({"argv": ["tool", "--password", secret]})),
        ("shell_command", json!({"command": format!("TOKEN={secret} tool"), "env": {"A": secret}})),
        ("write_stdin", json!({"session_id": 1, "chars": secret})),
        ("file_write", json!({"path": "a", "content": secret})),
        ("my_tool", json!({"apiKey": secret, "env": {"A": secret}})),
    ] {
        let shown = serde_json::to_string(&request(tool, args, &seen(None))).unwrap();
        assert!(!shown.contains(secret), "{shown}");
    }
}

struct Weather;

impl Descriptor for Weather {
    fn category(&self) -> call::Category {
        call::Category::Connect
    }

    fn intents(&self, _: &Call) -> Vec<Intent> {
        vec![Intent::Connect { host: Some("weather.test".into()), what: "asks for the weather".into() }]
    }

    fn sanitize_for_approval(&self, call: &Call, seen: &Seen, key: &DigestKey) -> Request {
        let mut form = Form::new(call.tool(), Purpose::Approval, seen, key);
        form.text("city", "Bern token=abc");
        form.finish()
    }

    fn sanitize_for_event(&self, call: &Call, seen: &Seen, key: &DigestKey) -> Request {
        self.sanitize_for_approval(call, seen, key)
    }
}

#[test]
fn a_custom_tool_may_bring_its_own_descriptor_and_a_known_one_may_not() {
    let mut descriptors = Descriptors::new();
    assert!(descriptors.register("weather", Box::new(Weather)).is_ok());
    assert!(descriptors.register("weather", Box::new(Weather)).is_err());
    assert!(descriptors.register("shell_exec", Box::new(Weather)).is_err());
    assert!(descriptors.register("Bash", Box::new(Weather)).is_err());
    let weather = call("weather", json!({"city": "Bern"}));
    let descriptor = descriptors.of(&weather);
    assert_eq!(descriptor.category(), call::Category::Connect);
    assert!(matches!(&descriptor.intents(&weather)[..], [Intent::Connect { .. }]));
    let request = descriptor.sanitize_for_event(&weather, &seen(None), &key());
    assert_eq!(request.fields()["city"], "Bern token=[masked]");
    let other = call("other", json!({}));
    assert_eq!(descriptors.of(&other).category(), call::Category::Custom);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn different_words_have_different_keys_and_equal_words_equal_ones(
        a in prop::collection::vec("[a-zA-Z0-9=: -]{1,12}|--password|token=x|[A-Za-z0-9]{40}", 1..5),
        b in prop::collection::vec("[a-zA-Z0-9=: -]{1,12}|--password|token=x|[A-Za-z0-9]{40}", 1..5),
    ) {
        let of = |words: &[String]| {
            let seen = Seen { argv: Some(words.to_vec()), complex: None, risk: "low", cwd: "/w".into() };
            let direct = approval_key("shell_exec", json!({"argv": words}), &seen);
            let wrapped = approval_key("shell_command", json!({"command": "x"}), &seen);
            (direct, wrapped)
        };
        let (direct, wrapped) = of(&a);
        prop_assert_eq!(&direct, &wrapped);
        prop_assert_eq!(a == b, direct == of(&b).0);
    }

    #[test]
    fn different_environments_have_different_keys(
        a in prop::collection::btree_map("[A-Z_]{1,4}", "[ -~]{0,6}", 0..4),
        b in prop::collection::btree_map("[A-Z_]{1,4}", "[ -~]{0,6}", 0..4),
    ) {
        let of = |env: &std::collections::BTreeMap<String, String>| {
            approval_key("shell_exec", json!({"argv": ["ls"], "env": env}), &seen(Some(&["ls"])))
        };
        prop_assert_eq!(a == b, of(&a) == of(&b));
    }
}
