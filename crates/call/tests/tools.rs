//! Every tool that is known: what it takes, what it refuses, and what it says it is about. Keeps CALL-1.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use call::{Arguments, Call, Category, Intent, RawCall, Shell, bounds, tool, tools};
use serde_json::{Value, json};

/// One good call of every tool, with every key that it knows.
fn samples() -> Vec<(&'static str, Value)> {
    let patch = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch";
    vec![
        (
            "shell_exec",
            json!({"argv": ["ls", "-la"], "cwd": "src", "env": {"A": "x"}, "timeout_ms": 1, "sandbox": "none",
                   "sandbox_permissions": "require_escalated", "tty": true, "justification": "why"}),
        ),
        (
            "shell",
            json!({"command": ["ls"], "workdir": "src", "env": {"A": "x"}, "timeout_ms": 1, "sandbox": "inherit",
                   "sandbox_permissions": "restricted", "justification": "why"}),
        ),
        (
            "shell_command",
            json!({"command": "ls", "workdir": "src", "env": {"A": "x"}, "timeout_ms": 1, "sandbox": "restricted",
                   "sandbox_permissions": "restricted", "justification": "why"}),
        ),
        (
            "exec_command",
            json!({"cmd": "ls", "workdir": "src", "yield_time_ms": 0, "max_output_tokens": 1, "tty": false,
                   "sandbox": "none", "sandbox_permissions": "restricted", "justification": "why"}),
        ),
        ("write_stdin", json!({"session_id": 1, "chars": "y\n", "yield_time_ms": 0, "max_output_tokens": 1})),
        ("file_read", json!({"path": "a", "max_bytes": 1})),
        (
            "file_write",
            json!({"path": "a", "content": "x", "create_dirs": false, "sandbox_permissions": "restricted",
                   "justification": "why"}),
        ),
        (
            "read_file",
            json!({"file_path": "a", "offset": 1, "limit": 1, "mode": "indentation",
                   "indentation": {"anchor_line": 1, "max_levels": 0, "include_siblings": true,
                                   "include_header": true, "max_lines": 1}}),
        ),
        ("list_dir", json!({"dir_path": "a", "depth": 1, "offset": 1, "limit": 1})),
        ("grep_files", json!({"pattern": "x", "path": "a", "include": "*.rs", "limit": 1})),
        ("apply_patch", json!({"input": patch})),
        ("ask_human", json!({"question": "why?", "choices": ["a"], "context": {"k": [1]}})),
        (
            "request_user_input",
            json!({"questions": [{"id": "i", "header": "h", "question": "q",
                                  "options": [{"label": "l", "description": "d"}]}]}),
        ),
        (
            "update_plan",
            json!({"plan": [{"step": "a", "status": "in_progress"}, {"step": "b", "status": "pending"},
                            {"step": "c", "status": "completed"}], "explanation": "why"}),
        ),
        ("skill_exec", json!({"skill_mention": "$[team].build", "action_id": "run"})),
        (
            "skill_ref_read",
            json!({"skill_mention": "$[team].build", "ref_path": "references/a.md", "max_bytes": 1}),
        ),
        ("view_image", json!({"path": "a.png"})),
        ("web_search", json!({"q": "x", "recency": 0, "limit": 1})),
        ("spawn_agent", json!({"message": "do", "agent_type": "worker"})),
        ("wait", json!({"ids": ["a"], "timeout_ms": 1})),
        ("send_input", json!({"id": "a", "message": "do", "interrupt": true})),
        ("close_agent", json!({"id": "a"})),
        ("resume_agent", json!({"id": "a"})),
        ("Bash", json!({"command": "ls", "timeout": 1, "description": "d", "run_in_background": true})),
        ("Read", json!({"file_path": "/a", "offset": 1, "limit": 1})),
        ("Write", json!({"file_path": "/a", "content": "x"})),
        ("Edit", json!({"file_path": "/a", "old_string": "x", "new_string": "y", "replace_all": true})),
        (
            "MultiEdit",
            json!({"file_path": "/a", "edits": [{"old_string": "x", "new_string": "y", "replace_all": true}]}),
        ),
        (
            "NotebookEdit",
            json!({"notebook_path": "/a", "new_source": "x", "cell_id": "c", "edit_mode": "insert",
                   "cell_type": "code"}),
        ),
        ("Glob", json!({"pattern": "*", "path": "/a"})),
        ("Grep", json!({"pattern": "x", "path": "/a", "glob": "*"})),
        ("WebFetch", json!({"url": "https://x.test/a", "prompt": "p"})),
        ("WebSearch", json!({"query": "x"})),
        ("Task", json!({"prompt": "do"})),
        ("Agent", json!({"prompt": "do"})),
        ("TodoWrite", json!({})),
        ("TaskCreate", json!({})),
        ("TaskUpdate", json!({})),
        ("TaskGet", json!({})),
        ("TaskList", json!({})),
        ("EnterPlanMode", json!({})),
        ("ExitPlanMode", json!({})),
        ("AskUserQuestion", json!({})),
        ("ToolSearch", json!({})),
        ("BashOutput", json!({})),
        ("KillShell", json!({})),
        ("TaskOutput", json!({})),
        ("TaskStop", json!({})),
    ]
}

fn parse(tool: &str, args: &Value) -> Result<Call, String> {
    Call::parse(RawCall::new(tool, args.clone())).map_err(|error| error.to_string())
}

fn refusal(tool: &str, args: &Value) -> String {
    parse(tool, args).expect_err(&format!("{tool} {args}"))
}

#[test]
fn every_tool_has_a_sample_and_takes_it() {
    let samples = samples();
    assert_eq!(
        samples.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
        tools().iter().map(|tool| tool.name).collect::<Vec<_>>()
    );
    for (name, args) in &samples {
        let call = parse(name, args).unwrap();
        assert_eq!(call.tool(), *name);
        assert_eq!(call.category(), tool(name).unwrap().category);
        assert!(!matches!(call.arguments(), Arguments::Custom(_)), "{name}");
        assert!(!call.intents().is_empty(), "{name}");
        // The sample names every key of the schema, so that the tests below reach all of them.
        let properties = tool(name).unwrap().schema()["properties"].as_object();
        for key in properties.into_iter().flat_map(|properties| properties.keys()) {
            assert!(args.get(key).is_some(), "{name} {key}");
        }
    }
}

#[test]
fn schemas_say_what_is_required_what_is_the_default_and_that_nothing_else_is_taken() {
    for tool in tools() {
        let schema = tool.schema();
        assert_eq!(schema["type"], "object", "{}", tool.name);
        assert!(!tool.about.is_empty());
        // Only what touches nothing can do without arguments.
        let nothing = schema["required"].as_array().is_none_or(Vec::is_empty);
        let quiet = tool.host && matches!(tool.category, Category::None | Category::Human);
        assert!(!nothing || quiet, "{}", tool.name);
        assert_eq!(
            schema["additionalProperties"],
            if tool.host { Value::Null } else { false.into() },
            "{}",
            tool.name
        );
        assert!(!schema.to_string().contains("$ref"), "{}", tool.name);
    }
    let schema = tool("shell_exec").unwrap().schema();
    assert_eq!(schema["required"], json!(["argv"]));
    assert_eq!(schema["properties"]["argv"]["minItems"], 1);
    assert_eq!(schema["properties"]["timeout_ms"]["minimum"], 1);
    let defaults = [
        ("shell_exec", "timeout_ms", json!(60000)),
        ("shell_exec", "tty", json!(false)),
        ("shell_exec", "sandbox", json!("inherit")),
        ("exec_command", "tty", json!(true)),
        ("exec_command", "yield_time_ms", json!(50)),
        ("file_read", "max_bytes", json!(262_144)),
        ("file_write", "create_dirs", json!(true)),
        ("read_file", "offset", json!(1)),
        ("read_file", "limit", json!(2000)),
        ("read_file", "mode", json!("slice")),
        ("list_dir", "depth", json!(2)),
        ("list_dir", "limit", json!(25)),
        ("grep_files", "limit", json!(100)),
        ("web_search", "limit", json!(10)),
    ];
    for (name, key, default) in defaults {
        assert_eq!(tool(name).unwrap().schema()["properties"][key]["default"], default, "{name} {key}");
    }
    let indentation = &tool("read_file").unwrap().schema()["properties"]["indentation"];
    assert_eq!(indentation["properties"]["max_levels"]["default"], 4);
}

#[test]
fn a_missing_key_is_named() {
    for (name, args) in samples() {
        for key in tool(name).unwrap().schema()["required"].as_array().into_iter().flatten() {
            let mut args = args.clone();
            args.as_object_mut().unwrap().remove(key.as_str().unwrap());
            let error = refusal(name, &args);
            assert!(error.starts_with(&format!("`$.{}` must be ", key.as_str().unwrap())), "{name}: {error}");
            assert!(error.ends_with("got nothing"), "{name}: {error}");
        }
    }
}

#[test]
fn a_value_of_the_wrong_type_is_named_and_its_content_is_not_shown() {
    const TEXT: &str = "a secret in the wrong place";
    for (name, args) in samples() {
        for key in args.as_object().unwrap().keys() {
            let wrong: [Value; 5] =
                [json!({"k": {"l": TEXT}}), json!([[TEXT]]), json!(-1), json!(1.5), json!(TEXT)];
            for wrong in wrong {
                let fits = match &args[key] {
                    Value::String(_) => wrong.is_string(),
                    Value::Object(_) => wrong.is_object() && key == "context",
                    _ => false,
                };
                if fits {
                    continue;
                }
                let mut args = args.clone();
                args[key] = wrong.clone();
                let error = refusal(name, &args);
                assert!(error.starts_with(&format!("`$.{key}")), "{name} {wrong}: {error}");
                assert!(!error.contains(TEXT), "{error}");
                assert!(!error.contains("what the schema of the tool says"), "{name} {wrong}: {error}");
            }
        }
    }
}

#[test]
fn an_extra_key_is_refused_by_our_tools_and_tolerated_by_the_hosts() {
    for (name, args) in samples() {
        let mut args = args.clone();
        args["unheard_of"] = json!("hunter2");
        let host = tool(name).unwrap().host;
        match parse(name, &args) {
            Ok(_) => assert!(host, "{name}"),
            Err(error) => {
                assert!(!host && error.contains("the unknown key `unheard_of`"), "{name}: {error}");
                assert!(!error.contains("hunter2"), "{error}");
            }
        }
    }
    let error = refusal("shell_exec", &json!({"argv": ["ls"], "timeoutms": 5}));
    assert!(error.ends_with("got the unknown key `timeoutms` (did you mean `timeout_ms`?)"), "{error}");
}

/// Every place in a value that holds a string, as a pointer.
fn strings(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(at.to_owned()),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| strings(item, &format!("{at}/{index}"), found));
        }
        Value::Object(members) => {
            members.iter().for_each(|(key, value)| strings(value, &format!("{at}/{key}"), found));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[test]
fn nul_is_refused_everywhere_but_in_contents_and_in_what_is_typed() {
    let raw = ["content", "chars", "old_string", "new_string", "new_source"];
    for (name, args) in samples() {
        let mut places = Vec::new();
        strings(&args, "", &mut places);
        for place in places {
            let mut args = args.clone();
            let text = format!("{}\0", args.pointer(&place).unwrap().as_str().unwrap());
            *args.pointer_mut(&place).unwrap() = text.into();
            let key = place.rsplit('/').next().unwrap();
            assert_eq!(parse(name, &args).is_ok(), raw.contains(&key), "{name} {place}");
        }
    }
    let patch = |body: &str| json!({"input": format!("*** Begin Patch\n{body}\n*** End Patch")});
    assert!(parse("apply_patch", &patch("*** Add File: a\n+\0")).is_ok());
    assert!(parse("apply_patch", &patch("*** Add File: a\0\n+x")).is_err());
}

#[test]
fn what_is_too_large_is_refused() {
    let long = "x".repeat(bounds::MAX_COMMAND + 1);
    let path = "x".repeat(bounds::MAX_PATH + 1);
    let huge = "x".repeat(bounds::MAX_ARGUMENTS + 1);
    let mut nested = json!("x");
    for _ in 0..70 {
        nested = json!([nested]);
    }
    let table = [
        ("shell_exec", json!({"argv": ["x", long]}), "$.argv"),
        ("shell", json!({"command": ["x", long]}), "$.command"),
        ("shell_command", json!({"command": long}), "$.command"),
        ("exec_command", json!({"cmd": long}), "$.cmd"),
        ("Bash", json!({"command": long}), "$.command"),
        ("file_read", json!({"path": path}), "$.path"),
        ("shell_exec", json!({"argv": ["x"], "cwd": path}), "$.cwd"),
        ("file_write", json!({"path": "a", "content": huge}), "$"),
        ("write_stdin", json!({"session_id": 1, "chars": huge}), "$"),
        ("anything", json!({"a": huge}), "$"),
        ("anything", json!({"a": nested}), "$.a[0][0]"),
        ("web_search", json!({"q": "x", "limit": 9_007_199_254_740_992_u64}), "$.limit"),
    ];
    for (name, args, path) in table {
        let error = Call::parse(RawCall::new(name, args)).unwrap_err();
        assert!(error.path.starts_with(path), "{name}: {error}");
        assert!(error.to_string().len() < 1000, "{name}");
        assert_eq!(error.error_kind().name(), "validation");
    }
}

#[test]
fn values_out_of_range_are_refused_with_the_range() {
    let table = [
        (
            "shell_exec",
            json!({"argv": []}),
            "`$.argv` must be an array of at least 1 string, got an empty array",
        ),
        (
            "shell_exec",
            json!({"argv": [""]}),
            "`$.argv[0]` must be the name of a program, got an empty string",
        ),
        ("shell_exec", json!({"argv": ["a", 1]}), "`$.argv[1]` must be a string, got `1`"),
        (
            "shell_exec",
            json!({"argv": ["a"], "timeout_ms": 0}),
            "`$.timeout_ms` must be an integer of at least 1, got `0`",
        ),
        (
            "shell_exec",
            json!({"argv": ["a"], "sandbox": "off"}),
            "`$.sandbox` must be `inherit`, `none` or `restricted`, got a string of 3 characters",
        ),
        (
            "shell_exec",
            json!({"argv": ["a"], "cwd": ""}),
            "`$.cwd` must be a string that is not empty, got an empty string",
        ),
        ("shell_exec", json!({"argv": ["a"], "env": {"A": 1}}), "`$.env.A` must be a string, got `1`"),
        (
            "shell_exec",
            json!({"argv": ["a"], "env": {"1A": "x"}}),
            "`$.env` must be an object whose keys are names of variables (letters, digits and `_`, no digit first), \
             got a key of 2 characters",
        ),
        ("shell_command", json!({"command": "  "}), "`$.command` must be a command, got an empty one"),
        ("write_stdin", json!({"session_id": 0}), "`$.session_id` must be an integer of at least 1, got `0`"),
        (
            "update_plan",
            json!({"plan": [{"step": "a", "status": "in_progress"}, {"step": "b", "status": "in_progress"}]}),
            "`$.plan` must be a plan with at most one step in progress, got 2",
        ),
        (
            "update_plan",
            json!({"plan": [{"step": "a", "status": "done"}]}),
            "`$.plan[0].status` must be `pending`, `in_progress` or `completed`, got a string of 4 characters",
        ),
        (
            "update_plan",
            json!({"plan": [["a", "pending"]]}),
            "`$.plan[0]` must be an object of `step`, `status`, got an array of 2 items",
        ),
        (
            "request_user_input",
            json!({"questions": [{"id": "i", "header": "h"}]}),
            "`$.questions[0].question` must be a string that is not empty, got nothing",
        ),
        (
            "read_file",
            json!({"file_path": "a", "indentation": {"anchor_line": 0}}),
            "`$.indentation.anchor_line` must be an integer of at least 1, got `0`",
        ),
        (
            "skill_exec",
            json!({"skill_mention": "build", "action_id": "a"}),
            "`$.skill_mention` must be `$[namespace].name`, got a string of 5 characters",
        ),
        (
            "skill_ref_read",
            json!({"skill_mention": "$[a].b", "ref_path": "references/../x"}),
            "`$.ref_path` must be a path under `references/` or `assets/` without `.` and `..`, \
             got a string of 15 characters",
        ),
        (
            "apply_patch",
            json!({"input": "rm"}),
            "`$.input` must be a patch with `*** Begin Patch` first, got something else in line 1",
        ),
        (
            "wait",
            json!({"ids": ["a", ""]}),
            "`$.ids[1]` must be 1 to 256 bytes without control characters, got an empty string",
        ),
        (
            "Read",
            json!({"file_path": ""}),
            "`$.file_path` must be a string that is not empty, got an empty string",
        ),
        ("shell_exec", json!(["ls"]), "`$` must be an object, got an array of 1 item"),
        ("anything", json!("x"), "`$` must be an object, got a string of 1 character"),
    ];
    for (name, args, expected) in table {
        assert_eq!(refusal(name, &args), expected);
    }
    assert!(parse("shell_exec", &json!({"argv": ["a"], "cwd": null})).is_ok(), "null is as good as absent");
}

#[test]
fn what_is_around_the_arguments_is_checked_too() {
    let good = || RawCall::new("update_plan", json!({"plan": [{"step": "a", "status": "pending"}]}));
    assert!(Call::parse(good()).is_ok());
    let table: Vec<(&str, RawCall)> = vec![
        ("$tool", RawCall { tool: String::new(), ..good() }),
        ("$tool", RawCall { tool: "a b".into(), ..good() }),
        ("$tool", RawCall { tool: "x".repeat(129), ..good() }),
        ("$tool", RawCall { tool: "é".into(), ..good() }),
        ("$cwd", RawCall { cwd: Some("a\0".into()), ..good() }),
        ("$cwd", RawCall { cwd: Some(String::new()), ..good() }),
        ("$session", RawCall { session: Some("a\nb".into()), ..good() }),
        ("$id", RawCall { id: Some("x".repeat(257)), ..good() }),
        (
            "$principal",
            RawCall { principal: call::Principal { id: String::new(), groups: vec![] }, ..good() },
        ),
        (
            "$principal",
            RawCall { principal: call::Principal { id: "a".into(), groups: vec![String::new()] }, ..good() },
        ),
    ];
    for (path, raw) in table {
        assert_eq!(Call::parse(raw).unwrap_err().path, path);
    }
}

#[test]
fn a_call_says_what_it_is_about() {
    let read = |path: &str| Intent::Read { path: path.into() };
    let write = |path: &str| Intent::Write { path: path.into() };
    let shell = |text: &str, shell| Intent::Shell { text: text.into(), shell, cwd: None, env_names: vec![] };
    let patch = "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n*** Move to: c\n@@\n+y\n\
                 *** Delete File: d\n*** Update File: e\n-z\n*** End Patch\n";
    let table = [
        (
            "shell_exec",
            json!({"argv": ["ls"], "cwd": "src", "env": {"B": "1", "A": "2"}}),
            vec![Intent::Argv {
                argv: vec!["ls".into()],
                cwd: Some("src".into()),
                env_names: vec!["A".into(), "B".into()],
            }],
        ),
        ("shell_command", json!({"command": "ls | wc"}), vec![shell("ls | wc", Shell::Posix)]),
        ("exec_command", json!({"cmd": "ls"}), vec![shell("ls", Shell::Posix)]),
        ("Bash", json!({"command": "ls"}), vec![shell("ls", Shell::Bash)]),
        ("write_stdin", json!({"session_id": 3}), vec![Intent::Stdin { session: 3, poll: true }]),
        (
            "write_stdin",
            json!({"session_id": 3, "chars": ""}),
            vec![Intent::Stdin { session: 3, poll: true }],
        ),
        (
            "write_stdin",
            json!({"session_id": 3, "chars": "y"}),
            vec![Intent::Stdin { session: 3, poll: false }],
        ),
        ("file_read", json!({"path": "a"}), vec![read("a")]),
        ("list_dir", json!({"dir_path": "a"}), vec![read("a")]),
        ("grep_files", json!({"pattern": "x"}), vec![read(".")]),
        ("Grep", json!({"pattern": "x", "path": "/b"}), vec![read("/b")]),
        ("Glob", json!({"pattern": "/etc/*"}), vec![read("."), read("/etc")]),
        ("file_write", json!({"path": "a", "content": ""}), vec![write("a")]),
        ("Edit", json!({"file_path": "a", "old_string": "", "new_string": ""}), vec![write("a")]),
        (
            "apply_patch",
            json!({"input": patch}),
            vec![
                write("a"),
                Intent::Delete { path: "b".into() },
                write("c"),
                Intent::Delete { path: "d".into() },
                write("e"),
            ],
        ),
        ("ask_human", json!({"question": "?"}), vec![Intent::Nothing]),
        ("web_search", json!({"q": "x"}), vec![Intent::Connect { host: None, what: "a web search".into() }]),
        (
            "WebFetch",
            json!({"url": "https://Docs.rs/x"}),
            vec![Intent::Connect { host: Some("docs.rs".into()), what: "fetches a page".into() }],
        ),
        ("my_tool", json!({}), vec![Intent::Unknown { why: "`my_tool` is not a built-in tool".into() }]),
    ];
    for (name, args, expected) in table {
        assert_eq!(parse(name, &args).unwrap().intents(), expected, "{name}");
    }
    for name in ["skill_exec", "skill_ref_read"] {
        let args = samples().into_iter().find(|(tool, _)| *tool == name).unwrap().1;
        assert!(matches!(parse(name, &args).unwrap().intents()[..], [Intent::Unknown { .. }]), "{name}");
    }
    assert_eq!(parse("my_tool", &json!({})).unwrap().category(), Category::Custom);
}

#[test]
fn a_line_with_a_command_is_a_command_for_bash() {
    let call = Call::parse(RawCall::from_json(br#"{"command": "ls", "cwd": "/w"}"#).unwrap()).unwrap();
    assert_eq!(call.cwd(), Some("/w"));
    assert!(matches!(&call.intents()[..], [Intent::Shell { shell: Shell::Bash, .. }]));
    let call = parse("exec_command", &json!({"cmd": "ls", "workdir": "w", "sandbox": "none"})).unwrap();
    assert_eq!(call.exec().unwrap().workdir, Some("w"));
    assert_eq!(call.sandbox(), call::Sandbox::None);
    let args =
        json!({"path": "a", "content": "", "sandbox_permissions": "require_escalated", "justification": "j"});
    let call = parse("file_write", &args).unwrap();
    assert_eq!(call.sandbox_permissions(), call::SandboxPermissions::RequireEscalated);
    assert_eq!(call.justification(), Some("j"));
}
