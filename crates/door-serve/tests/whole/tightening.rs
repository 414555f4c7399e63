//! SRV-8: what a request says of its own safety may only tighten (the same law as for a workspace file).

use door_serve::{Loader as _, Unfit};
use gate::call::RawCall;
use gate::policy::Decision;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::server::{Served, Yaml};

#[tokio::test(flavor = "multi_thread")]
async fn a_request_may_tighten_and_a_widening_one_is_refused() {
    let served =
        Served::with("profile: dev\nsafety: {read_only: false, mode: ask, denylist: [cargo]}", None).await;
    let table = [
        (json!({"mode": "deny"}), 200, "deny"),
        (json!({"read_only": true}), 200, "deny"),
        (json!({"denylist": ["touch"]}), 200, "deny"),
        (json!({"effects": {"write_workspace": "ask"}}), 200, "ask"),
        (json!({"require_approval_for_execute": true}), 200, "ask"),
        (json!({"tool_denylist": ["Bash"]}), 200, "deny"),
        (json!({"denied_paths": ["**/f"]}), 200, "deny"),
        (json!({}), 200, "allow"),
        (json!({"mode": "allow"}), 422, ""),
        (json!({"allowlist": ["touch"]}), 422, ""),
        (json!({"tool_allowlist": ["Bash"]}), 422, ""),
        (json!({"effects": {"privilege": "allow"}}), 422, ""),
        (json!({"effects": {"connect": "allow"}}), 422, ""),
        (json!({"command_rules": [{"pattern": "rm", "decision": "allow"}]}), 422, ""),
        (json!({"unknown_key": 1}), 422, ""),
        (json!({"mode": 7}), 422, ""),
    ];
    for (safety, status, decision) in table {
        let reply = served.post("/v1/check", &json!({"command": "touch f", "safety": safety})).await;
        assert_eq!(reply.status, status, "{safety}: {reply:?}");
        if status == 200 {
            assert_eq!(reply.json()["decision"], decision, "{safety}");
        } else {
            assert_eq!(reply.json()["decision"], "deny");
            assert!(!reply.body.contains("workspace file"), "{reply:?}");
        }
    }
    // Nothing of it stays for the next request.
    assert_eq!(served.post("/v1/check", &json!({"command": "touch f"})).await.json()["decision"], "allow");
    let denied = served.post("/v1/calls", &json!({"tool": "file_write", "args": {"path": "f", "content": ""}, "safety": {"read_only": true}})).await;
    assert_eq!(denied.status, 403);
    assert!(!served.home.join("work/f").exists());
}

fn safety() -> impl Strategy<Value = Value> {
    let word = |words: &'static [&'static str]| proptest::sample::select(words);
    let lists =
        proptest::collection::vec(word(&["ls", "touch", "git push", "cargo", "rm", "curl", "cat"]), 0..3);
    let stance = word(&["allow", "fenced", "ask", "deny"]);
    let effect = word(&[
        "read_outside",
        "write_workspace",
        "write_outside",
        "delete",
        "connect",
        "history",
        "run",
        "unknown",
        "privilege",
    ]);
    prop_oneof![
        word(&["allow", "ask", "deny"]).prop_map(|mode| json!({"mode": mode})),
        any::<bool>().prop_map(|flag| json!({"read_only": flag})),
        any::<bool>().prop_map(|flag| json!({"require_approval_for_writes": flag})),
        any::<bool>().prop_map(|flag| json!({"require_approval_for_execute": flag})),
        word(&["ask", "by_part"]).prop_map(|word| json!({"complex_shell": word})),
        lists.clone().prop_map(|list| json!({"denylist": list})),
        lists.clone().prop_map(|list| json!({"allowlist": list})),
        lists.prop_map(|list| json!({"denied_commands": list})),
        word(&["<cwd>/**", "/tmp/**", "/**"]).prop_map(|path| json!({"allowed_paths": [path]})),
        (word(&["**/f", "/etc/**", "<cwd>/**"]), any::<bool>()).prop_map(|(pattern, allow)| json!({"path_rules": [{"pattern": pattern, "allow_read": allow, "allow_write": allow}]})),
        (effect, stance).prop_map(|(effect, stance)| json!({"effects": {effect: stance}})),
    ]
}

const COMMANDS: [&str; 12] = [
    "ls",
    "touch f",
    "cat /etc/hostname",
    "cat ~/notes",
    "rm -rf build",
    "git push --force",
    "cargo test",
    "curl https://example.com",
    "sudo id",
    "./x.sh",
    "echo a > /tmp/x",
    "ls && touch f; $X",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_request_gets_a_milder_ruling_than_it_would_have_without_its_safety(
        base in proptest::sample::select(&["profile: dev", "profile: balanced", "profile: prod", "safety: {mode: ask}", "safety: {mode: allow}", "profile: dev\nsafety: {allowed_paths: [\"<cwd>/**\"], allowlist: [cargo]}"][..]),
        safety in safety(),
    ) {
        let home = std::path::PathBuf::from("/nonexistent/home");
        let loader = Yaml { yaml: base.to_owned(), home };
        let plain = loader.gate(None, None).expect("a gate");
        let request = json!({ "safety": safety }).to_string();
        match loader.gate(None, Some(&request)) {
            Err(Unfit::Request(_)) => {}
            Err(Unfit::Configuration(why)) => prop_assert!(false, "{why}"),
            Ok(tightened) => for command in COMMANDS {
                let of = |gate: &gate::Gate| gate.judge(RawCall::command(command)).map(|judged| judged.ruling.decision).unwrap_or(Decision::Deny);
                prop_assert!(of(&tightened) >= of(&plain), "{safety} over {base}: {command} was {:?}, is {:?}", of(&plain), of(&tightened));
            },
        }
    }
}
