//! SEC-1: no secret of a call comes out of `check` or `policy`, whichever tool, place and writing brought it.
//!
//! Every call carries a canary of its own, an opaque token of 43 letters and digits; what is printed for it must show
//! neither the whole, nor an encoding of it, nor a piece of twelve characters.

use std::fmt::Write;

use crate::canaries::{Aviary, Place as Position, escaped, forms, places, seen};
use crate::program::Place;
use serde_json::{Value, json};

/// What a configuration makes `check` say differs, and so does what could slip through.
const CONFIGURATIONS: &[&str] = &[
    "",
    "safety:\n  mode: ask\n  allowed_paths: [\"<cwd>/**\"]\n  denied_paths: [\"**/x\"]\n  complex_shell: by_part\n",
    "profile: prod\nsafety:\n  denylist: [make, \"git push\", ./deploy.sh]\n  command_rules:\n    - {pattern: 'curl|echo', decision: ask, is_regex: true}\n",
    "profile: dev\nrules:\n  - {name: asks, action: require_approval, command_patterns: ['.'], reason: looked at}\n  - {name: files, action: deny, path_patterns: ['.']}\n",
    "safety:\n  mode: allow\n  require_approval_for_writes: true\n",
];

/// The host's tools, which the list does not show.
const HOST_TOOLS: &[&str] = &[
    "Bash",
    "Read",
    "Write",
    "Edit",
    "MultiEdit",
    "NotebookEdit",
    "Glob",
    "Grep",
    "WebFetch",
    "WebSearch",
    "Task",
];

struct Sent {
    what: String,
    line: String,
    canary: String,
    split: bool,
}

fn tools(place: &Place) -> Vec<(String, Vec<Position>)> {
    let mut tools: Vec<(String, Vec<Position>)> = Vec::new();
    let mut add = |listed: &Value| {
        for tool in listed.as_array().expect("a list") {
            tools.push((tool["name"].as_str().expect("a name").to_owned(), places(&tool["arguments"])));
        }
    };
    add(&place.json(&["tools", "--json"]));
    for name in HOST_TOOLS {
        add(&place.json(&["tools", name, "--json"]));
    }
    tools.push((
        "mcp__server__custom_tool".to_owned(),
        places(&json!({"type": "object", "properties": {
            "text": {"type": "string"}, "list": {"type": "array", "items": {"type": "string"}},
            "env": {"type": "object", "additionalProperties": {"type": "string"}},
        }})),
    ));
    tools
}

/// A line for each tool and place; `share` of the forms each, another one for each place.
fn lines(aviary: &mut Aviary, place: &Place, configuration: usize, share: usize) -> Vec<Sent> {
    let mut sent = Vec::new();
    let mut next = configuration;
    for (tool, positions) in tools(place) {
        for position in positions {
            let command = position.name.ends_with(".command") || position.name.ends_with(".cmd");
            let count = forms(&"0".repeat(43)).len();
            let wanted = if command { count } else { count / share };
            for _ in 0..wanted {
                next += 1;
                let canary = aviary.canary();
                let Some(form) = forms(&canary).into_iter().nth(next % count) else { continue };
                let args = position.filled(&form.text);
                let mut line = json!({"tool": tool, "args": args}).to_string();
                if next.is_multiple_of(3) {
                    // The same text for whoever reads JSON.
                    line = line.replace(&canary, &escaped(&canary));
                }
                let what = format!("{tool} {} {:?}", position.name, form.text);
                sent.push(Sent { what, line, canary, split: form.in_pieces(command) });
            }
        }
    }
    // Around the call, and lines that are no call.
    for _ in 0..8 {
        for frame in [
            r#"{"command": "ls", "cwd": "/C"}"#,
            r#"{"command": "ls", "cwd": "C"}"#,
            r#"{"command": "ls", "session": "C"}"#,
            r#"{"command": "make", "principal": "C"}"#,
            r#"{"command": "make", "principal": {"id": "C", "groups": ["C"]}}"#,
            r#"{"command": "make", "principal": {"C": "C"}}"#,
            r#"{"command": "make", "id": "C"}"#,
            r#"{"command": "ls", "C": 1}"#,
            r#"{"command": "ls", "password": "C"}"#,
            r#"{"command": ["C"]}"#,
            r#"{"command": {"C": "C"}}"#,
            r#"{"tool": "C"}"#,
            r#"{"tool": "C", "args": {"C": "C"}}"#,
            r#"{"tool": "mcp__C__x", "args": {}}"#,
            r#"{"tool": "file_read", "args": "C"}"#,
            r#"{"tool": "file_read", "args": {"path": "a", "path": "C"}}"#,
            r#"{"tool": "file_read", "args": {"C": "a", "C": "b"}}"#,
            r#"{"tool": "file_read", "args": {"path": "C\u0000"}}"#,
            r#"{"tool": "shell_exec", "args": {"argv": ["ls", "C\u0000"]}}"#,
            r#"{"tool": "shell_exec", "args": {"argv": ["C", ["C"]]}}"#,
            r#"{"tool": "shell_exec", "args": {"argv": ["ls"], "env": {"C": "C"}}}"#,
            r#"{"tool": "shell_exec", "args": {"argv": ["ls"], "env": {"A=C": "C"}}}"#,
            r#"{"tool": "shell_exec", "args": {"argv": ["login", "--password", "C"]}}"#,
            r#"{"tool": "shell_exec", "args": {"argv": ["curl", "-H", "Authorization: Bearer C", "https://host.example"]}}"#,
            r#"{"tool": "shell_exec", "args": {"argv": ["sh", "-c", "C"], "sandbox": "C"}}"#,
            r#"{"tool": "shell_exec", "args": {"argv": ["ls"], "timeout_ms": "C"}}"#,
            r#"{"command": "C"#,
            r#"{"command": "\uD800 C"}"#,
            r#"{"command": "C" "C"}"#,
            r#"{C: "C"}"#,
            r"C",
            r#""C""#,
            r#"["C"]"#,
            r#"{"command": "ls C \q"}"#,
        ] {
            let canary = aviary.canary();
            sent.push(Sent {
                what: frame.to_owned(),
                line: frame.replace('C', &canary),
                canary,
                split: false,
            });
        }
    }
    sent
}

#[test]
fn no_answer_of_jsonl_shows_a_canary() {
    let place = Place::new();
    let mut aviary = Aviary::new();
    let mut leaks = Vec::new();
    let mut total = 0;
    for (index, configuration) in CONFIGURATIONS.iter().enumerate() {
        let file = place.file(&format!("{index}.yaml"), configuration);
        let mut arguments = vec!["check", "--jsonl", "--explain", "--no-sandbox"];
        if !configuration.is_empty() {
            arguments.extend(["--config", file.to_str().expect("UTF-8")]);
        }
        let sent = lines(&mut aviary, &place, index, 6);
        let mut input = String::new();
        for call in &sent {
            let _ = writeln!(input, "{}", call.line);
        }
        let ran = place.run_with(&arguments, &input);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        let answers: Vec<&str> = ran.stdout.lines().collect();
        assert_eq!(answers.len(), sent.len(), "an answer for each line");
        total += sent.len();
        for (call, answer) in sent.iter().zip(&answers) {
            if let Some(what) = seen(answer, &call.canary, call.split) {
                leaks.push(format!("{index}: {}\n  {what}\n  in {answer}", call.what));
            }
        }
        // Nor does one line's answer show what another line said.
        for word in ran.stdout.split(|c: char| !c.is_ascii_alphanumeric()) {
            if aviary.all.contains(word) {
                leaks.push(format!("{index}: {word} somewhere in the output"));
            }
        }
    }
    println!("{total} calls");
    assert!(total >= 20_000, "only {total} calls");
    assert!(leaks.is_empty(), "{} leaks:\n{}", leaks.len(), leaks.join("\n"));
}

#[test]
fn a_word_that_is_no_secret_is_shown() {
    // The control: if nothing of a call were printed, or another line's answer were looked at, the test above would pass.
    let place = Place::new();
    for (line, shown) in [
        (r#"{"command": "./deploy.sh marmalade"}"#, "./deploy.sh marmalade"),
        (r#"{"command": "cat <<EOF > marmalade.txt\nx\nEOF"}"#, "marmalade.txt"),
        (r#"{"tool": "shell_exec", "args": {"argv": ["make", "marmalade"]}}"#, "make marmalade"),
        (r#"{"tool": "file_read", "args": {"path": "/home/other/marmalade"}}"#, "/home/other/marmalade"),
        (r#"{"tool": "marmalade"}"#, "`marmalade` is not a built-in tool"),
        (r#"{"tool": "file_read", "args": {"path": "a", "marmalade": 1}}"#, "`marmalade`"),
    ] {
        let ran = place.run_with(&["check", "--jsonl", "--explain", "--no-sandbox"], line);
        assert!(ran.stdout.contains(shown), "{shown} in {}", ran.stdout);
    }
    let token = Aviary::new().canary();
    for (_, encoding) in crate::canaries::encodings(&token) {
        assert!(seen(&format!("… {encoding} …"), &token, true).is_some(), "{encoding}");
    }
    assert!(seen(&format!("… {} …", &token[20..33]), &token, false).is_some());
    assert_eq!(seen("nothing here", &token, false), None);
    assert_eq!(crate::canaries::base64("Ma"), "TWE=");
}

#[test]
fn neither_people_nor_programs_see_a_canary_in_one_answer() {
    let place = Place::new();
    let mut aviary = Aviary::new();
    let mut leaks = Vec::new();
    let count = forms(&aviary.canary()).len();
    for number in 0..count {
        let canary = aviary.canary();
        let Some(form) = forms(&canary).into_iter().nth(number) else { continue };
        let args = json!({"argv": ["./deploy.sh", form.text]}).to_string();
        let path = json!({"path": form.text}).to_string();
        let runs: [&[&str]; 5] = [
            &["check", "--explain", "--", &form.text],
            &["check", "--json", "--", &form.text],
            &["check", "--explain", "--tool", "shell_exec", "--args", &args],
            &["check", "--explain", "--tool", "file_write", "--args", &path],
            &["check", "--tool", "file_read", "--args", &form.text],
        ];
        for arguments in
            runs.into_iter().skip(number % 2).step_by(if number.is_multiple_of(4) { 1 } else { 2 })
        {
            let ran = place.run(arguments);
            let by_a_shell = arguments.contains(&"--");
            for output in [&ran.stdout, &ran.stderr] {
                if let Some(what) = seen(output, &canary, form.in_pieces(by_a_shell)) {
                    leaks.push(format!("{arguments:?}\n  {what}\n  in {output}"));
                }
            }
        }
    }
    assert!(leaks.is_empty(), "{} leaks:\n{}", leaks.len(), leaks.join("\n"));
}

#[test]
fn failing_examples_and_cases_show_no_canary() {
    let place = Place::new();
    let mut aviary = Aviary::new();
    let count = forms(&aviary.canary()).len();
    let mut sent = Vec::new();
    let mut cases = String::from("profile: dev\ncases:\n");
    let mut examples = String::from(
        "profile: dev\nrules:\n  - name: r\n    action: deny\n    commands: [terraform]\n    examples:\n      match:\n",
    );
    for number in 0..count {
        let canary = aviary.canary();
        let Some(form) = forms(&canary).into_iter().nth(number) else { continue };
        let expect = ["allow", "ask", "deny"][number % 3];
        let _ = writeln!(cases, "  - {{command: {}, expect: {expect}}}", json!(form.text));
        let _ =
            writeln!(cases, "  - {{tool: file_write, args: {{path: {}}}, expect: allow}}", json!(form.text));
        let _ = writeln!(examples, "        - {}", json!(form.text));
        // The text of a case is told as the file has it.
        sent.push((canary, form.in_pieces(false)));
    }
    let cases = place.file("cases.yaml", &cases);
    let examples = place.file("examples.yaml", &examples);
    let (cases, examples) = (cases.to_str().expect("UTF-8"), examples.to_str().expect("UTF-8"));
    for arguments in [
        vec!["policy", "test", cases],
        vec!["policy", "test", "--no-sandbox", cases],
        vec!["policy", "test", examples],
        vec!["check", "--config", examples, "ls"],
        vec!["check", "--json", "--config", examples, "ls"],
        vec!["policy", "show", "--config", examples],
        vec!["policy", "show", "--config", cases],
    ] {
        let ran = place.run(&arguments);
        for (canary, split) in &sent {
            for output in [&ran.stdout, &ran.stderr] {
                if let Some(what) = seen(output, canary, *split) {
                    let around = output.find(what.split(": ").nth(1).unwrap_or_default()).unwrap_or(0);
                    let excerpt: String =
                        output.get(around.saturating_sub(80)..).unwrap_or(output).chars().take(200).collect();
                    panic!("{arguments:?}: {what} in …{excerpt}…");
                }
            }
        }
        if arguments[1] == "test" {
            assert!(ran.stdout.contains("FAIL"), "{arguments:?} has something to show: {}", ran.stdout);
        }
    }
}

#[test]
fn a_broken_or_a_shown_configuration_shows_no_canary() {
    // A rule's own name is not here: it is what the answer names the rule by.
    let place = Place::new();
    let mut aviary = Aviary::new();
    let mut leaks = Vec::new();
    for text in [
        "engine: {url: \"https://user:C@host.example/\"}\n",
        "engine: {url: \"https://host.example/?token=C\"}\n",
        "engine: {url: \"C\"}\n",
        "safety: {denylist: [\"curl -H 'Authorization: Bearer C'\"]}\n",
        "safety: {allowlist: [\"deploy --password C\"]}\n",
        "safety: {denied_paths: [\"/x/C\"]}\n",
        "safety: {mode: C}\n",
        "safety: {C: 1}\n",
        "C: 1\n",
        "profile: C\n",
        "config_version: C\n",
        "token: C\n",
        "policies: [\"C.yaml\"]\n",
        "sandbox: {network: {allow: [\"C.example\"]}}\n",
        "sandbox: {network: {allow: [\"https://user:C@host.example\"]}}\n",
        "rules: [{name: r, action: C, commands: [ls]}]\n",
        "rules: [{name: r, action: deny, command_patterns: [\"(C\"]}]\n",
        "rules: [{name: r, action: deny, commands: [ls], reason: \"ask for C\"}]\n",
        "safety: {command_rules: [{pattern: \"(C\", decision: deny, is_regex: true}]}\n",
        "a: [C\n",
        "password: \"C\n",
        "safety: {approval_timeout_ms: C}\n",
        "safety: {effects: {C: deny}}\n",
        "safety: {effects: {connect: C}}\n",
    ] {
        for arguments in [
            vec!["check", "--explain", "ls"],
            vec!["check", "--json", "--explain", "ls"],
            vec!["policy", "show"],
            vec!["policy", "show", "--json"],
        ] {
            let canary = aviary.canary();
            let file = place.file("given.yaml", &text.replace('C', &canary));
            let mut arguments = arguments;
            let end = arguments.len() - usize::from(arguments[0] == "check");
            arguments.splice(end..end, ["--config", file.to_str().expect("UTF-8")]);
            let ran = place.run(&arguments);
            for output in [&ran.stdout, &ran.stderr] {
                if let Some(what) = seen(output, &canary, false) {
                    let told: Vec<&str> =
                        output.lines().filter(|line| seen(line, &canary, false).is_some()).collect();
                    leaks.push(format!("{text:?} {:?}: {what} in {told:?}", &arguments[..2]));
                }
            }
        }
    }
    assert!(leaks.is_empty(), "{} leaks:\n{}", leaks.len(), leaks.join("\n"));
}
