//! Our hook goes into every host's settings and out again, and leaves everything else as it was.

#![expect(clippy::panic, reason = "helpers of a test may fail as the test itself may")]

use std::path::Path;

use door_hook::Host;
use door_hook::settings::{Scope, Undone, add, detect, is_in, places, undo};
use proptest::prelude::*;

const BINARY: &str = "/usr/local/bin/bailiwick";

/// Hosts whose settings are JSON.
const JSON: [Host; 6] =
    [Host::ClaudeCode, Host::Codex, Host::GeminiCli, Host::Cursor, Host::CopilotCli, Host::VsCode];

/// Files that people have.
const FILES: &[&str] = &[
    "{}",
    "{\n}\n",
    "{ }",
    "\u{feff}{}\n",
    "{\"theme\": \"dark\"}",
    "{\n  \"theme\": \"dark\"\n}\n",
    "{\r\n\t\"theme\": \"dark\"\r\n}\r\n",
    "{\n    // a note\n    \"theme\": \"dark\", // another\n    /* and\n    one */\n    \"list\": [1, 2, 3,],\n}\n",
    "{\n  \"theme\": \"dark\" // no comma here\n}\n",
    "{\n  \"theme\": \"dark\" /* nor here */\n}\n",
    "{\"hooks\": {}}",
    "{\n  \"hooks\": {\n  }\n}",
    "{\"hooks\": {\"PreToolUse\": [], \"BeforeTool\": [ ], \"preToolUse\": []}}",
    "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"./x.sh\"}]}\n    ]\n  },\n  \"last\": true\n}\n",
    "{\n  \"version\": 1,\n  \"hooks\": {\n    \"preToolUse\": [\n      { \"command\": \"./guard.sh\" }, // keep\n    ],\n  },\n}\n",
    "{ \"version\": 1, \"hooks\": { \"beforeShellExecution\": [ { \"command\": \"./a.sh\" } ] } }",
];

fn text(undone: Undone) -> String {
    match undone {
        Undone::Text(text) => text,
        other => panic!("{other:?}"),
    }
}

// HOOK-4
#[test]
fn putting_in_and_taking_out_gives_back_the_very_bytes() {
    for host in JSON {
        for file in FILES {
            let with = add(host, Some(file), BINARY).expect("a file that can be read");
            assert_ne!(&with, file);
            assert_eq!(add(host, Some(&with), BINARY).as_deref(), Ok(with.as_str()), "twice: {file}");
            assert_eq!(is_in(host, &with, BINARY), Ok(true), "{with}");
            assert_eq!(is_in(host, file, BINARY), Ok(false));
            assert_eq!(text(undo(host, &with, Some(file)).expect("readable")), *file, "with a copy: {file}");
            // Without the copy, a version that we added stays: nothing tells that it was not there before.
            let versioned = matches!(host, Host::Cursor | Host::CopilotCli | Host::VsCode);
            if !versioned || file.contains("version") {
                assert_eq!(text(undo(host, &with, None).expect("readable")), *file, "{host:?} {with}");
            }
            assert_eq!(undo(host, file, None), Ok(Undone::Nothing), "{file}");
        }
    }
}

#[test]
fn a_file_that_was_made_for_the_hook_goes_with_it() {
    for host in Host::ALL {
        let made = add(host, None, BINARY).expect("a new file");
        assert_eq!(add(host, Some(&made), BINARY).as_deref(), Ok(made.as_str()));
        assert_eq!(add(host, Some(" \n"), BINARY).as_deref(), Ok(made.as_str()));
        assert_eq!(is_in(host, &made, BINARY), Ok(true));
        assert_eq!(undo(host, &made, None), Ok(Undone::Gone), "{made}");
    }
}

#[test]
fn another_place_of_the_program_replaces_the_old_one() {
    for host in Host::ALL {
        for file in [None, Some("{\n  \"theme\": \"dark\"\n}\n")] {
            if host == Host::OpenCode && file.is_some() {
                continue;
            }
            let old = add(host, file, "/home/user/my tools/it's/bailiwick").expect("readable");
            let new = add(host, Some(&old), BINARY).expect("readable");
            assert_eq!(Ok(&new), add(host, file, BINARY).as_ref(), "{host:?}");
            assert_eq!(is_in(host, &old, BINARY), Ok(false));
        }
    }
}

#[test]
fn what_others_put_beside_ours_stays() {
    let file = "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n        \"matcher\": \"Bash\",\n        \"hooks\": [\n          {\"type\": \"command\", \"command\": \"./mine.sh\"}\n        ]\n      }\n    ]\n  }\n}\n";
    let with = add(Host::ClaudeCode, Some(file), BINARY).expect("readable");
    // Somebody adds one more behind ours, and one into our group.
    let more = with.replace("\"onFailure\": \"block\"\n          }\n", "\"onFailure\": \"block\"\n          },\n          {\"type\": \"command\", \"command\": \"./late.sh\"}\n");
    assert_ne!(more, with);
    let left = text(undo(Host::ClaudeCode, &more, Some(file)).expect("readable"));
    assert!(
        left.contains("./mine.sh") && left.contains("./late.sh") && !left.contains("bailiwick"),
        "{left}"
    );
    serde_json::from_str::<serde_json::Value>(&left).expect("still JSON");
}

#[test]
fn a_file_that_cannot_be_read_is_refused_and_never_replaced() {
    let broken = [
        "{",
        "{\"a\": 1,, }",
        "{\"a\" 1}",
        "{\"a\": 1} x",
        "[]",
        "\"text\"",
        "{\"a\": 1, \"a\": 2}",
        "{\"hooks\": []}",
        "{\"hooks\": {\"PreToolUse\": {}, \"BeforeTool\": 1, \"preToolUse\": \"x\"}}",
        "{\"a\": nope}",
        "{\"a\": \"\\q\"}",
        "{/* no end",
        "theme = \"dark\"\n",
    ];
    for host in JSON {
        for file in broken {
            let refused = add(host, Some(file), BINARY);
            assert!(refused.is_err(), "{host:?} {file}: {refused:?}");
        }
        let deep = format!("{}{}", "{\"a\":".repeat(200), "}".repeat(200));
        assert!(add(host, Some(&deep), BINARY).is_err());
    }
    assert!(add(Host::OpenCode, Some("export const Mine = async () => ({})"), BINARY).is_err());
    assert_eq!(undo(Host::OpenCode, "export const Mine = 1", None), Ok(Undone::Nothing));
}

#[test]
fn the_entries_make_their_hosts_block_when_the_hook_fails() {
    let made = |host: Host| -> serde_json::Value {
        serde_json::from_str(&add(host, None, BINARY).expect("a file")).expect("JSON")
    };
    let guard = "/usr/local/bin/bailiwick hook claude-code || { echo 'bailiwick: the hook failed, so the call is blocked' >&2; exit 2; }";
    let claude = made(Host::ClaudeCode);
    for event in ["PreToolUse", "PermissionRequest"] {
        let hook = &claude["hooks"][event][0];
        assert_eq!(hook["matcher"], "*");
        assert_eq!(hook["hooks"][0]["onFailure"], "block");
        assert_eq!(hook["hooks"][0]["command"], guard);
    }
    let codex = made(Host::Codex);
    let command = codex["hooks"]["PreToolUse"][0]["hooks"][0]["command"].as_str().unwrap_or_default();
    assert!(command.ends_with(">&2; exit 2; }"), "{command}");
    let gemini = made(Host::GeminiCli);
    assert_eq!(gemini["hooks"]["BeforeTool"][0]["hooks"][0]["timeout"], 60_000);
    let cursor = made(Host::Cursor);
    for event in ["preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile"] {
        assert_eq!(cursor["hooks"][event][0]["failClosed"], true);
    }
    assert_eq!(made(Host::CopilotCli), made(Host::VsCode));
    assert!(add(Host::OpenCode, None, "/a\"b").expect("a file").contains(r#"const PROGRAM = "/a\"b";"#));
}

#[test]
fn hosts_are_found_by_what_they_leave() {
    let home = Path::new("/home/user");
    let workspace = Path::new("/work/project");
    let there =
        ["/home/user/.claude", "/home/user/.codex", "/work/project/.vscode", "/work/project/opencode.json"];
    let found = detect(home, Some(workspace), |path| there.iter().any(|known| Path::new(known) == path));
    let shown: Vec<_> = found
        .iter()
        .map(|found| (found.host, found.place.path.to_str().expect("text"), found.place.scope))
        .collect();
    assert_eq!(
        shown,
        [
            (Host::ClaudeCode, "/home/user/.claude/settings.json", Scope::User),
            (Host::Codex, "/home/user/.codex/hooks.json", Scope::User),
            (Host::VsCode, "/work/project/.github/hooks/bailiwick.json", Scope::Project),
            (Host::OpenCode, "/home/user/.config/opencode/plugins/bailiwick.js", Scope::User),
        ]
    );
    assert!(detect(home, None, |_| false).is_empty());
    assert_eq!(detect(home, None, |_| true).len(), 6);
    for host in Host::ALL {
        assert!(!places(host, home, Some(workspace)).is_empty());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any JSON that a person could have, in either layout, comes back.
    #[test]
    fn any_settings_come_back(value in settings(), pretty in any::<bool>(), which in 0..JSON.len()) {
        let host = JSON[which];
        let file = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
        let file = file.expect("JSON");
        let with = add(host, Some(&file), BINARY).expect("readable");
        let parsed: serde_json::Value = serde_json::from_str(&with).expect("still JSON");
        for (key, value) in value.as_object().expect("an object") {
            prop_assert_eq!(parsed.get(key), Some(value));
        }
        prop_assert_eq!(undo(host, &with, Some(&file)), Ok(Undone::Text(file.clone())));
        if matches!(host, Host::ClaudeCode | Host::Codex | Host::GeminiCli) {
            prop_assert_eq!(undo(host, &with, None), Ok(Undone::Text(file)));
        }
    }

    /// No text makes a panic.
    #[test]
    fn no_text_makes_a_panic(text in "[\\[\\]{}:,\"/*a1 \\n\\\\é-]{0,60}", which in 0..JSON.len()) {
        let _ = add(JSON[which], Some(&text), BINARY);
        let _ = undo(JSON[which], &text, Some(&text));
    }
}

/// Settings without hooks of their own.
fn settings() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(serde_json::Value::from),
        any::<i32>().prop_map(serde_json::Value::from),
        "[a-z \"\\\\/*{}\\[\\]]{0,8}".prop_map(serde_json::Value::from),
    ];
    let value = leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(serde_json::Value::from),
            prop::collection::btree_map("[a-f]{1,3}", inner, 0..3)
                .prop_map(|members| members.into_iter().collect::<serde_json::Map<_, _>>().into()),
        ]
    });
    prop::collection::btree_map("[a-f]{1,4}", value, 0..4)
        .prop_map(|members| members.into_iter().collect::<serde_json::Map<_, _>>().into())
}
