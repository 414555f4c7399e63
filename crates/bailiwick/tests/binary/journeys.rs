//! What somebody new to it does with the binary, one step after the other. Keeps CHK-1, CHK-2, CHK-4 and CHK-5.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::program::{Place, Ran};
use serde_json::{Value, json};

const ALLOW: i32 = 0;
const ASK: i32 = 10;
const DENY: i32 = 11;
const OWN_FAILURE: i32 = 125;

#[test]
fn from_no_configuration_to_a_tested_rule() {
    let place = Place::new();
    // Nothing is set up: it answers, and says what holds.
    let ran = place.run(&["check", "--no-sandbox", "terraform plan"]);
    assert_eq!(ran.code, ASK, "{}", ran.stdout);
    assert!(ran.stdout.contains("help  add it to `safety.allowlist`: `terraform plan`"), "{}", ran.stdout);
    let ran = place.run(&["policy", "show"]);
    assert!(
        ran.stdout.starts_with("No configuration file: the built-in profile dev holds."),
        "{}",
        ran.stdout
    );
    for key in ["safety.mode", "safety.effects.connect", "sandbox.default_policy"] {
        assert!(ran.stdout.contains(key), "{key} in {}", ran.stdout);
    }

    // The first file has a typo: nothing is decided, and the line is shown.
    let user = "home/.config/bailiwick/config.yaml";
    place.file(user, "profile: dev\nsafety:\n  alowlist: [terraform plan]\n");
    let ran = place.run(&["check", "ls"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (OWN_FAILURE, ""));
    for part in [
        "config.yaml:3:3",
        "unknown key `alowlist`",
        "did you mean `allowlist`?",
        "    3 |   alowlist: [terraform plan]",
        "\n      |   ^",
    ] {
        assert!(ran.stderr.contains(part), "{part} in {}", ran.stderr);
    }

    // The help of the first answer, followed.
    place.file(user, "profile: dev\nsafety:\n  allowlist: [\"terraform plan\"]\n");
    let answer = place.json(&["check", "--no-sandbox", "--json", "terraform plan -out x.plan"]);
    assert_eq!(answer["decision"], "allow", "{answer}");
    assert_eq!((&answer["rule"]["id"], &answer["rule"]["line"]), (&json!("safety.allowlist"), &json!(3)));
    assert_eq!(place.run(&["check", "--no-sandbox", "terraform apply"]).code, ASK);

    // A rule whose examples do not hold is not taken.
    let rule = |examples: &str| {
        format!(
            "profile: dev\nrules:\n  - name: no-apply\n    action: deny\n    commands: [\"terraform apply\"]\n    \
             reason: by hand only\n    examples: {examples}\ncases:\n  - {{command: \"terraform apply\", expect: deny}}\n  \
             - {{command: \"terraform show\", expect: allow}}\n"
        )
    };
    let wrong = rule("{match: [\"terraform plan\"], not_match: [\"terraform apply -auto-approve\"]}");
    let file = place.file("work/rules.yaml", &wrong);
    let file = file.to_str().expect("UTF-8");
    let ran = place.run(&["check", "--config", file, "ls"]);
    assert_eq!(ran.code, OWN_FAILURE);
    assert!(
        ran.stderr.contains("`terraform plan`") && ran.stderr.contains("does not match"),
        "{}",
        ran.stderr
    );
    let ran = place.run(&["policy", "test", file]);
    assert_eq!(ran.code, 1);
    for part in ["the rule `no-apply` matches", "it does not match", "2 passed, 2 failed"] {
        assert!(ran.stdout.contains(part), "{part} in {}", ran.stdout);
    }
    place.file(
        "work/rules.yaml",
        &rule("{match: [\"terraform apply -auto-approve\"], not_match: [\"terraform plan\"]}"),
    );
    assert_eq!(place.run(&["policy", "test", file]).stdout, "4 passed, 0 failed\n");
    let ran = place.run(&["check", "--config", file, "terraform apply"]);
    assert_eq!(ran.code, DENY);
    assert!(ran.stdout.contains("by hand only") && ran.stdout.contains("rules.yaml:3"), "{}", ran.stdout);
}

/// Ordinary commands, none of them trivial.
const EVERYDAY: &[&str] = &[
    "git log --oneline -20 | head -5",
    "grep -rn 'fn main' src | sort | uniq -c",
    "cd src && cargo test -p gate -- --nocapture",
    "for f in src/*.rs; do wc -l \"$f\"; done",
    "cat > notes.txt <<'EOF'\nsome text\nEOF",
    "find . -name '*.rs' -not -path './target/*' -exec grep -l TODO {} +",
    "curl -s https://example.com/x | jq .",
    "pytest -q && rm -rf /",
];

fn answered(ran: &Ran) -> Vec<Value> {
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    ran.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
#[expect(clippy::disallowed_methods, reason = "two runs are timed against each other")]
fn five_thousand_lines_are_answered_in_order_and_at_full_speed() {
    const LINES: usize = 5_000;
    let place = Place::new();
    let (mut trivial, mut ordinary) = (String::new(), String::new());
    for number in 0..LINES {
        let _ = writeln!(trivial, "{}", json!({"command": format!("cat f{number}")}));
        let command = EVERYDAY[number % EVERYDAY.len()];
        let _ = writeln!(ordinary, "{}", json!({"command": format!("cat f{number}; {command}")}));
    }
    let mut fastest = [Duration::MAX; 2];
    for _ in 0..3 {
        for (input, fastest) in [&trivial, &ordinary].into_iter().zip(&mut fastest) {
            let start = Instant::now();
            let ran = place.run_with(&["check", "--jsonl"], input);
            *fastest = start.elapsed().min(*fastest);
            let answers = answered(&ran);
            assert_eq!(answers.len(), LINES);
            for (number, answer) in answers.iter().enumerate() {
                let first = answer["parts"][0].as_str().expect("text");
                assert_eq!(first, format!("cat f{number}"), "{answer}");
            }
        }
    }
    let [trivial, ordinary] = fastest.map(|time| time.as_secs_f64());
    println!("{:.0} ms for trivial lines, {:.0} ms for ordinary ones", trivial * 1e3, ordinary * 1e3);
    assert!(ordinary < trivial * 12.0, "{ordinary} against {trivial}");
}

fn binary(place: &Place) -> Command {
    #[expect(clippy::disallowed_methods, reason = "tests start what they test")]
    let mut command = Command::new(env!("CARGO_BIN_EXE_bailiwick"));
    command
        .current_dir(place.workspace())
        .env_clear()
        .env("HOME", place.workspace().join("../home"))
        .env("PATH", "/usr/bin:/bin")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let place = Place::new();
    let mut child = binary(&place).args(["check", "--jsonl"]).spawn().expect("the binary starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || {
        // More than any pipe holds; the binary may stop reading when nobody reads it.
        for _ in 0..200_000 {
            if stdin.write_all(b"{\"command\": \"ls -la src\"}\n").is_err() {
                return true;
            }
        }
        false
    });
    let mut first = String::new();
    let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
    stdout.read_line(&mut first).expect("an answer");
    assert!(first.contains("\"decision\":\"allow\""), "{first}");
    drop(stdout);
    assert!(writer.join().expect("the writer ends"), "it stopped before all was read");
    let output = child.wait_with_output().expect("the binary ends");
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
    // So does the answer to one call, and a page of help.
    for arguments in [&["check", "--explain", "ls"][..], &["tools", "--json"], &["policy", "show"], &["man"]]
    {
        let mut child = binary(&place).args(arguments).spawn().expect("the binary starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("the binary ends");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
    }
}

#[test]
fn an_answer_comes_before_the_next_question() {
    let place = Place::new();
    let mut child = binary(&place).args(["check", "--jsonl"]).spawn().expect("the binary starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
    for (command, decision) in [("ls", "allow"), ("git push", "ask"), ("rm -rf /", "deny")] {
        writeln!(stdin, "{}", json!({"command": command})).expect("it reads");
        let mut answer = String::new();
        stdout.read_line(&mut answer).expect("an answer");
        assert!(answer.contains(&format!("\"decision\":\"{decision}\"")), "{command}: {answer}");
    }
    drop(stdin);
    assert_eq!(child.wait().expect("the binary ends").code(), Some(0));
}

#[test]
fn a_huge_input_is_answered_line_by_line() {
    let place = Place::new();
    let mut input = Vec::new();
    // A line without an end in sight, the largest command that is read, one that is too large, and a great many empty lines.
    input.extend(vec![b'['; 32 << 20]);
    input.push(b'\n');
    for length in [64 << 10, (64 << 10) + 1] {
        let command = format!("echo {}", "a".repeat(length - 5));
        input.extend(format!("{}\n", json!({"command": command})).bytes());
    }
    input.extend(vec![b'\n'; 1 << 20]);
    input.extend(b"{\"command\": \"ls\"}");
    let ran = place.run_bytes(&place.workspace(), &["check", "--jsonl"], &input);
    let answers = answered(&ran);
    let told: Vec<&str> = answers.iter().map(|answer| answer["decision"].as_str().expect("text")).collect();
    assert_eq!(told, ["deny", "allow", "deny", "allow"]);
    assert_eq!(
        (&answers[0]["error_kind"], &answers[2]["error_kind"]),
        (&json!("validation"), &json!("validation"))
    );
    // Without --jsonl nothing is read.
    assert_eq!(place.run_bytes(&place.workspace(), &["check", "ls"], &input).code, ALLOW);
}

#[test]
fn every_command_explains_itself() {
    let place = Place::new();
    let commands = |text: &str| -> Vec<String> {
        let listed = text.split("Commands:\n").nth(1).unwrap_or_default();
        let lines = listed.lines().take_while(|line| line.starts_with("  "));
        lines
            // A line that goes on is indented further.
            .filter(|line| !line.starts_with("   "))
            .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
            .filter(|name| name != "help")
            .collect()
    };
    let mut seen = 0;
    let mut left = vec![Vec::new()];
    while let Some(path) = left.pop() {
        let mut arguments: Vec<&str> = path.iter().map(String::as_str).collect();
        arguments.push("--help");
        let ran = place.run(&arguments);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{arguments:?}");
        let (about, usage) = ran.stdout.split_once("Usage: bailiwick").expect("how it is used");
        assert!(about.split_whitespace().count() >= 4, "{arguments:?} says what it is for: {about}");
        assert!(usage.contains("--help"), "{arguments:?}");
        for line in ran.stdout.lines().filter(|line| line.trim_start().starts_with("--")) {
            let described = line.split("  ").filter(|part| !part.trim().is_empty()).count() >= 2;
            assert!(described || usage.contains(&format!("{line}\n          ")), "{arguments:?}: {line}");
        }
        seen += 1;
        left.extend(commands(&ran.stdout).into_iter().map(|name| [path.clone(), vec![name]].concat()));
    }
    assert!(seen >= 9, "only {seen} commands were found");
    let ran = place.run(&["check", "--help"]);
    assert!(ran.stdout.contains("Exit codes: 0 allow, 10 ask, 11 deny"), "{}", ran.stdout);
    // Its examples work as they stand there.
    let examples = ran.stdout.split("Examples:\n").nth(1).expect("examples");
    let lines: Vec<&str> = examples.lines().filter(|line| line.contains("bailiwick check")).collect();
    assert!(lines.len() >= 3, "{examples}");
    for line in lines {
        let line = line.replacen("bailiwick", env!("CARGO_BIN_EXE_bailiwick"), 1);
        #[expect(clippy::disallowed_methods, reason = "a user's shell runs the example")]
        let output =
            Command::new("/bin/sh").args(["-c", &line]).current_dir(place.workspace()).output().expect("sh");
        let code = output.status.code();
        assert!([Some(ALLOW), Some(ASK), Some(DENY)].contains(&code), "{line}: {output:?}");
    }
}

/// What a terminal would get: `script` gives the binary one.
fn on_a_terminal(place: &Place, variables: &[(&str, &str)]) -> String {
    let line = format!("{} check 'rm -rf /'", env!("CARGO_BIN_EXE_bailiwick"));
    #[expect(clippy::disallowed_methods, reason = "a terminal is made by another program")]
    let output = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .current_dir(place.workspace())
        .env_clear()
        .env("HOME", place.workspace().join("../home"))
        .env("PATH", "/usr/bin:/bin")
        .env("SHELL", "/bin/sh")
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .output()
        .expect("`script`, which every Debian has");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn colour_is_for_terminals_that_want_it() {
    let place = Place::new();
    let coloured = on_a_terminal(&place, &[("TERM", "xterm-256color")]);
    assert!(coloured.contains("\u{1b}[1;31mdeny\u{1b}[0m"), "{coloured:?}");
    let empty = on_a_terminal(&place, &[("TERM", "xterm"), ("NO_COLOR", "")]);
    assert!(empty.contains('\u{1b}'), "an empty NO_COLOR says nothing: {empty:?}");
    for variables in [&[("TERM", "xterm"), ("NO_COLOR", "1")][..], &[("TERM", "dumb")], &[]] {
        let plain = on_a_terminal(&place, variables);
        assert!(plain.contains("deny  `rm -rf /`") && !plain.contains('\u{1b}'), "{variables:?}: {plain:?}");
    }
}

#[test]
fn the_directory_and_the_workspace_can_be_told() {
    let place = Place::new();
    place.file("work/src/main.rs", "");
    let elsewhere = format!("cat {}home/other/x", "../".repeat(20));
    for (arguments, code) in [
        // The workspace is found above the directory, by its .git.
        (&["check", "--cwd", "src", "rm -rf ../target"][..], ALLOW),
        (&["check", "--cwd", "src", "rm -rf target"], ALLOW),
        (&["check", "--cwd", "src", "rm -rf ../docs"], ASK),
        (&["check", "--cwd", "src", &elsewhere], ASK),
        // Told, it is only what was told: build output beside it is not the workspace's.
        (&["check", "--workspace", "src", "rm -rf src/target"], ALLOW),
        (&["check", "--workspace", "src", "rm -rf target"], ASK),
        (&["check", "--workspace", "src", "--cwd", "src", "rm -rf ../target"], ASK),
    ] {
        let ran = place.run(arguments);
        assert_eq!(ran.code, code, "{arguments:?}: {}", ran.stdout);
    }
    // So does a line's own directory.
    let input = [
        json!({"command": "rm -rf ../target", "cwd": "src"}),
        json!({"command": "rm -rf ../docs", "cwd": "src"}),
        json!({"command": "rm -rf /usr/lib", "cwd": "src"}),
    ];
    let input: String = input.iter().map(|line| format!("{line}\n")).collect();
    let answers = answered(&place.run_with(&["check", "--jsonl"], &input));
    let told: Vec<&Value> = answers.iter().map(|answer| &answer["decision"]).collect();
    assert_eq!(told, ["allow", "ask", "deny"]);
    // The workspace's own file holds wherever in it the call is, and only there.
    place.file("work/.bailiwick.yaml", "safety: {denylist: [git]}\n");
    for (arguments, code) in [
        (&["check", "git status"][..], DENY),
        (&["check", "--cwd", "src", "git status"], DENY),
        (&["check", "--workspace", "src", "git status"], ALLOW),
    ] {
        assert_eq!(place.run(arguments).code, code, "{arguments:?}");
    }
}

#[test]
fn a_link_is_judged_by_where_it_leads() {
    let place = Place::new();
    let home = place.workspace().join("../home");
    place.file("home/.ssh/id_rsa", "");
    place.file("work/src/main.rs", "");
    for (target, link) in [
        (home.join(".ssh"), "keys"),
        (home.join(".ssh/id_rsa"), "notes.txt"),
        ("keys".into(), "again"),
        (home.join(".ssh/not-there-yet"), "dangling"),
        ("src/main.rs".into(), "main.rs"),
        ("/etc".into(), "settings"),
    ] {
        std::os::unix::fs::symlink(target, place.workspace().join(link)).expect("a link");
    }
    for (command, code) in [
        ("cat keys/id_rsa", DENY),
        ("cat notes.txt", DENY),
        ("cat again/id_rsa", DENY),
        ("cat ./src/../notes.txt", DENY),
        ("head -1 < notes.txt", DENY),
        ("cp a.txt keys/config", DENY),
        ("echo x > dangling", DENY),
        ("echo x > settings/motd", DENY),
        ("cat main.rs", ALLOW),
        ("cat settings/hosts", ALLOW),
    ] {
        let ran = place.run(&["check", "--no-sandbox", command]);
        assert_eq!(ran.code, code, "{command}: {}", ran.stdout);
    }
    let answer = place.json(&["check", "--json", "cat notes.txt"]);
    assert!(answer["effects"].to_string().contains("\"credentials\""), "{answer}");
    for (tool, path) in [("file_read", "notes.txt"), ("file_read", "keys/id_rsa"), ("file_write", "keys/x")] {
        let args = json!({"path": path, "content": "x"});
        let args = if tool == "file_read" { json!({"path": path}) } else { args };
        let ran = place.run(&["check", "--tool", tool, "--args", &args.to_string()]);
        assert_eq!(ran.code, DENY, "{tool} {path}: {}", ran.stdout);
    }
    // The workspace itself may be reached by a link.
    let linked = place.workspace().join("../linked");
    std::os::unix::fs::symlink(place.workspace(), &linked).expect("a link");
    for (command, code) in [("cat src/main.rs", ALLOW), ("touch new.rs", ALLOW), ("cat keys/id_rsa", DENY)] {
        let ran = place.run_bytes(&linked, &["check", "--no-sandbox", command], b"");
        assert_eq!(ran.code, code, "{command}: {}", ran.stdout);
        let told = linked.to_str().expect("UTF-8");
        let ran = place.run(&["check", "--no-sandbox", "--cwd", told, command]);
        assert_eq!(ran.code, code, "--cwd: {command}: {}", ran.stdout);
    }
}

#[test]
fn a_system_directory_is_nobodys_workspace() {
    let place = Place::new();
    for (command, cwd) in
        [("touch x", "/etc"), ("cp evil ls", "/usr/bin"), ("rm -rf build", "/var"), ("touch x", "/home")]
    {
        let line = json!({"command": command, "cwd": cwd}).to_string();
        let answers = answered(&place.run_with(&["check", "--jsonl", "--no-sandbox"], &line));
        assert_ne!(answers[0]["decision"], "allow", "{line}");
        assert_ne!(place.run(&["check", "--no-sandbox", "--cwd", cwd, command]).code, ALLOW, "{line}");
    }
}

#[test]
fn testing_the_users_own_file_runs_its_cases_once() {
    let place = Place::new();
    let file = place.file(
        "home/.config/bailiwick/config.yaml",
        "profile: dev\ncases:\n  - {command: ls, expect: allow}\n",
    );
    let ran = place.run(&["policy", "test", file.to_str().expect("UTF-8")]);
    assert_eq!(ran.stdout, "1 passed, 0 failed\n");
}
