//! CALL-3: skills through the binary: an action is the command that it stands for, to the policy, to whoever approves and to the fence,
//! and what was approved is its files as well.

use serde_json::{Value, json};

use crate::home::Home;

const RUN: &str = "{\"skill_mention\": \"$[team].report\", \"action_id\": \"build\"}";

#[expect(clippy::disallowed_methods, reason = "a test has files")]
impl Home {
    /// A space of skills with one skill in it, whose action runs a script.
    fn skilled(at: &str, argv: &str, more: &str) -> Home {
        let home = Home::new();
        let skill = home.0.join(at).join("report");
        std::fs::create_dir_all(skill.join("actions")).expect("a skill");
        std::fs::create_dir_all(skill.join("references")).expect("a skill");
        let text = format!(
            "---\nname: report\ndescription: Reports.\nactions:\n  build:\n    argv: {argv}\n{more}---\nDo it.\n"
        );
        std::fs::write(skill.join("SKILL.md"), text).expect("a skill");
        std::fs::write(skill.join("actions/build.sh"), "echo built by \"$MODE\" with \"$HANDED\"\n")
            .expect("a script");
        std::fs::write(skill.join("references/notes.md"), "a reference\n").expect("a file");
        home.spaces(at, "");
        home
    }

    fn spaces(&self, at: &str, more: &str) {
        let path = self.0.join(at).display().to_string();
        self.configure(&format!("profile: dev\nskills: {{spaces: {{team: {path}}}}}\n{more}"));
    }

    fn ruling(&self, tool: &str, args: &str) -> Value {
        let ran = self.run(&["check", "--json", "--tool", tool, "--args", args]);
        serde_json::from_str(&ran.out).expect("a ruling")
    }

    fn script(&self, at: &str) -> std::path::PathBuf {
        self.0.join(at).join("report/actions/build.sh")
    }
}

#[test]
fn an_action_gets_the_ruling_of_its_command() {
    for (argv, at) in [
        ("[sh, actions/build.sh]", "skills"),
        ("[sh, actions/build.sh]", "work/skills"),
        ("[cat, .env]", "skills"),
        ("[git, status]", "skills"),
        ("[git, reset, --hard]", "skills"),
        ("[shutdown, now]", "skills"),
        ("[sudo, sh, actions/build.sh]", "skills"),
        ("[git, push, --force]", "skills"),
    ] {
        let home = Home::skilled(at, argv, "");
        let script = home.script(at).display().to_string();
        let words: Vec<String> = argv
            .trim_matches(['[', ']'])
            .split(", ")
            .map(|word| word.replace("actions/build.sh", &script))
            .collect();
        let skill = home.ruling("skill_exec", RUN);
        let bare = home.ruling("shell_exec", &json!({"argv": words, "timeout_ms": 60000}).to_string());
        for member in ["decision", "reason", "rule", "risk", "effects"] {
            assert_eq!(skill[member], bare[member], "POL-4: {argv} in {at}: {member}");
        }
    }
}

#[test]
fn an_action_runs_behind_the_fence_with_its_variables() {
    let more = "    env: {MODE: weekly}\n    timeout_ms: 20000\n";
    let home = Home::skilled("skills", "[sh, actions/build.sh]", more);
    home.spaces("skills", "approval: {rules: [{decision: approved, tool: [skill_exec, skill_ref_read]}]}\n");
    let (code, answer) = home.call("skill_exec", &serde_json::from_str(RUN).expect("JSON"));
    assert_eq!((code, &answer["stdout"]), (0, &json!("built by weekly with \n")), "{answer}");
    assert_ne!(answer["data"]["fence"], "none", "{answer}");
    let records = home.records();
    let requested = records.iter().find(|line| line["type"] == "tool_call_requested").expect("a record");
    let request = &requested["payload"]["request"];
    assert_eq!(request["skill_mention"], "$[team].report");
    assert_eq!((&request["action_id"], &request["env_keys"]), (&json!("build"), &json!(["MODE"])));
    assert_eq!(request["script_sha256"].as_str().map(str::len), Some(64), "{request}");
    assert_eq!(request["argv"][0], "sh", "{request}");
    assert!(!home.kept().contains("weekly"), "the value of a variable is not written down");
    // Its references are read as files are.
    let reference = json!({"skill_mention": "$[team].report", "ref_path": "references/notes.md"});
    let (_, answer) = home.call("skill_ref_read", &reference);
    assert_eq!(answer["stdout"], "a reference\n", "{answer}");
}

#[test]
fn what_an_agent_can_write_does_not_choose_which_variables_it_gets() {
    for (at, handed) in [("skills", "a value"), ("work/skills", "")] {
        let home = Home::skilled(at, "[sh, actions/build.sh]", "    env: [HANDED]\n");
        home.spaces(at, "approval: {rules: [{decision: approved, tool: skill_exec}]}\n");
        let mut command = home.command("setsid");
        command.env("HANDED", "a value").args(["-w", crate::home::BINARY, "call", "skill_exec", RUN]);
        let out = String::from_utf8_lossy(&command.output().expect("the binary").stdout).into_owned();
        assert!(out.contains(&format!("built by  with {handed}\\n")), "{at}: {out}");
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the trap of this test")]
fn a_script_that_is_swapped_after_the_yes_does_not_run() {
    use std::os::unix::fs::PermissionsExt;
    for (name, swap, runs) in [
        ("nothing is swapped", "true", true),
        ("the script", "echo echo swapped > SCRIPT", false),
        ("a file beside it", "echo x > DIRECTORY/beside", false),
        ("the command", "sed -i 's/argv: .*/argv: [echo, swapped]/' DIRECTORY/../SKILL.md", false),
        ("a variable", "sed -i 's/MODE: one/MODE: two/' DIRECTORY/../SKILL.md", false),
    ] {
        let home = Home::skilled("skills", "[sh, actions/build.sh]", "    env: {MODE: one}\n");
        let script = home.script("skills");
        let swap = swap
            .replace("SCRIPT", &script.display().to_string())
            .replace("DIRECTORY", &script.parent().expect("a directory").display().to_string());
        let approver = home.0.join("approve.sh");
        let text = format!("#!/bin/sh\ncat > /dev/null\n{swap}\necho '{{\"decision\": \"approved\"}}'\n");
        std::fs::write(&approver, text).expect("a script");
        std::fs::set_permissions(&approver, std::fs::Permissions::from_mode(0o755)).expect("its mode");
        home.spaces("skills", &format!("approval: {{command: [{}]}}\n", approver.display()));
        let (code, answer) = home.call("skill_exec", &serde_json::from_str(RUN).expect("JSON"));
        if runs {
            assert_eq!((code, &answer["stdout"]), (0, &json!("built by one with \n")), "{name}: {answer}");
        } else {
            assert_eq!((code, &answer["error_kind"]), (126, &json!("permission")), "{name}: {answer}");
            assert!(!answer.to_string().contains("swapped\\n"), "{name}: {answer}");
            assert_eq!(answer["data"]["denied_by"], "approval", "{name}: {answer}");
        }
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the trap of this test")]
fn a_yes_for_the_session_ends_with_the_script() {
    let home = Home::skilled("skills", "[sh, actions/build.sh]", "");
    home.spaces("skills", "approval: {rules: [{decision: approved_for_session, tool: skill_exec}]}\n");
    let call = ["call", "skill_exec", RUN, "--session", "one"];
    assert!(home.run(&call).out.contains("built by"));
    home.spaces("skills", "");
    assert!(home.run(&call).out.contains("built by"), "the yes for the session holds");
    std::fs::write(home.script("skills"), "echo another\n").expect("a script");
    let ran = home.run(&call);
    assert!(ran.code == Some(126) && ran.out.contains("human_required"), "{ran:?}");
}

#[test]
fn what_is_wrong_with_a_skill_is_said() {
    let home = Home::skilled("skills", "[sh, actions/build.sh]", "");
    for (args, kind) in [
        (json!({"skill_mention": "$[team].none", "action_id": "build"}), "not_found"),
        (json!({"skill_mention": "$[other].report", "action_id": "build"}), "not_found"),
        (json!({"skill_mention": "$[team].report", "action_id": "none"}), "not_found"),
        (json!({"skill_mention": "report", "action_id": "build"}), "validation"),
    ] {
        let (_, answer) = home.call("skill_exec", &args);
        assert_eq!(answer["error_kind"], kind, "{args}: {answer}");
    }
    home.configure("profile: dev\nskills: {spaces: {'../x': /tmp}}\n");
    let ran = home.run(&["check", "ls"]);
    assert!(ran.code == Some(125) && ran.err.contains("no namespace"), "{ran:?}");
}
