//! `init` and `doctor`: what they change, what they leave, and what they say.

use serde_json::Value;

use crate::home::{BINARY, Home};

#[test]
#[expect(clippy::disallowed_methods, reason = "the settings of this test")]
fn init_shows_its_changes_makes_them_once_and_takes_them_back() {
    let machine = Home::bare();
    let before = "{\n  // mine\n  \"model\": \"x\",\n  \"hooks\": {}\n}\n";
    std::fs::create_dir_all(machine.0.join(".claude")).expect("a directory");
    std::fs::write(machine.0.join(".claude/settings.json"), before).expect("settings");
    let settings = || machine.read(".claude/settings.json");

    let dry = machine.run(&["init", "--dry-run"]);
    assert_eq!(dry.code, Some(0), "{dry:?}");
    assert!(dry.out.contains("+") && dry.out.contains("hook claude-code"), "{dry:?}");
    assert_eq!(settings(), before);
    let unasked = machine.run(&["init"]);
    assert_eq!(unasked.code, Some(125), "without a terminal nobody can say yes: {unasked:?}");
    assert_eq!(settings(), before);

    let done = machine.run(&["init", "--yes"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(settings().contains("// mine") && settings().contains("hook claude-code"));
    assert_eq!(machine.read(".claude/settings.json.bailiwick-backup"), before);
    assert!(machine.read(".config/bailiwick/config.yaml").contains("cargo test"), "the project is Rust's");
    let after = settings();
    let again = machine.run(&["init", "--yes"]);
    assert!(again.out.contains("Nothing to change"), "{again:?}");
    assert_eq!(settings(), after);

    // What was written is in force: it loads, its cases hold, and the project's file can only tighten.
    assert!(dry.out.contains("cargo test") && dry.out.contains(".bailiwick.yaml"), "{dry:?}");
    let shown = machine.run(&["policy", "show"]);
    assert!(shown.out.contains("safety.allowlist") && shown.out.contains("cargo test"), "{shown:?}");
    let tested = machine.run(&[
        "policy",
        "test",
        &machine.0.join(".config/bailiwick/config.yaml").display().to_string(),
    ]);
    assert_eq!(tested.code, Some(0), "{tested:?}");
    let checked = machine.run(&["check", "--no-sandbox", "--json", "cargo test"]);
    assert!(
        checked.out.contains("\"decision\":\"allow\"") && checked.out.contains("allowlist"),
        "{checked:?}"
    );

    let undone = machine.run(&["init", "--undo", "--yes"]);
    assert_eq!(undone.code, Some(0), "{undone:?}");
    assert_eq!(settings(), before);
    assert!(
        !machine.0.join("work/.bailiwick.yaml").exists()
            && !machine.0.join(".config/bailiwick/config.yaml").exists()
    );
    assert!(!machine.0.join(".claude/settings.json.bailiwick-backup").exists());
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the settings of this test")]
fn what_somebody_wrote_into_the_first_policy_is_not_undone() {
    let machine = Home::bare();
    assert_eq!(machine.run(&["init", "--yes", "claude-code"]).code, Some(0));
    for name in [".config/bailiwick/config.yaml", "work/.bailiwick.yaml"] {
        let text = machine.read(name) + "# mine\n";
        std::fs::write(machine.0.join(name), text).expect("a file");
    }
    assert_eq!(machine.run(&["init", "--undo", "--yes"]).code, Some(0));
    assert!(machine.read(".config/bailiwick/config.yaml").ends_with("# mine\n"));
    assert!(machine.read("work/.bailiwick.yaml").ends_with("# mine\n"));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the settings of this test")]
fn init_leaves_settings_alone_that_it_cannot_read() {
    let machine = Home::bare();
    std::fs::create_dir_all(machine.0.join(".claude")).expect("a directory");
    for broken in ["{", "[]", "{\"hooks\": 3}"] {
        std::fs::write(machine.0.join(".claude/settings.json"), broken).expect("settings");
        let refused = machine.run(&["init", "--yes", "gemini-cli", "claude-code"]);
        assert_eq!(refused.code, Some(125), "{refused:?}");
        assert_eq!(machine.read(".claude/settings.json"), broken);
        assert!(!machine.0.join(".gemini/settings.json").exists(), "all or nothing");
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the settings of this test")]
fn init_writes_through_a_link_and_refuses_one_that_leads_nowhere() {
    let machine = Home::bare();
    let (settings, kept) = (machine.0.join(".claude/settings.json"), machine.0.join("dotfiles/claude.json"));
    std::fs::create_dir_all(machine.0.join(".claude")).expect("a directory");
    std::fs::create_dir_all(machine.0.join("dotfiles")).expect("a directory");
    std::os::unix::fs::symlink(&kept, &settings).expect("a link");
    let refused = machine.run(&["init", "--yes", "claude-code"]);
    assert_eq!(refused.code, Some(125), "{refused:?}");
    assert!(refused.err.contains("is a link to a file that is not there"), "{refused:?}");
    assert!(settings.is_symlink() && !kept.exists());
    std::fs::write(&kept, "{}").expect("settings");
    assert_eq!(machine.run(&["init", "--yes", "claude-code"]).code, Some(0));
    assert!(settings.is_symlink() && machine.read("dotfiles/claude.json").contains("PreToolUse"));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the settings of this test")]
fn doctor_is_red_where_something_is_not_protected_and_says_how_to_change_that() {
    let machine = Home::hooked();
    let lines = |machine: &Home| -> (Option<i32>, Vec<Value>) {
        let ran = machine.run(&["doctor", "--json"]);
        let page: Value = serde_json::from_str(&ran.out).expect("JSON");
        (ran.code, page["lines"].as_array().expect("lines").clone())
    };
    let red = |lines: &[Value]| -> Vec<String> {
        lines.iter().filter(|line| line["state"] == "red").map(|line| line.to_string()).collect()
    };
    // Codex passes over what nobody has trusted in it.
    let (code, bad) = lines(&machine);
    assert_eq!((code, red(&bad).len()), (Some(1), 1), "{bad:?}");
    assert!(red(&bad)[0].contains("/hooks"), "{bad:?}");
    let hooks = machine.0.join(".codex/hooks.json").display().to_string();
    let trusted = format!("[hooks.state.\"{hooks}:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:00\"\n");
    std::fs::write(machine.0.join(".codex/config.toml"), trusted).expect("settings");

    let (code, good) = lines(&machine);
    assert_eq!((code, red(&good)), (Some(0), vec![]), "{good:?}");
    let hooked = |line: &&Value| line["what"].as_str().is_some_and(|what| what.contains("allows and denies"));
    assert_eq!(good.iter().filter(hooked).count(), 6, "{good:?}");

    // The signatures of the journal are checked: another key than the one that signed, and a record that was edited.
    assert!(
        good.iter()
            .any(|line| line["area"] == "journal"
                && line["what"].to_string().contains("signed as they should be")),
        "{good:?}"
    );
    let file = std::fs::read_dir(machine.journal())
        .expect("a journal")
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
        .expect("a segment");
    let whole = std::fs::read_to_string(&file).expect("records");
    std::fs::write(&file, whole.replacen("pwd", "pwx", 1)).expect("an edit");
    let (code, bad) = lines(&machine);
    assert_eq!(code, Some(1));
    assert!(red(&bad).iter().any(|line| line.contains("journal")), "{bad:?}");
    std::fs::write(&file, whole).expect("as it was");

    // Copilot CLI passes over a project's hooks in a directory that is not trusted there.
    let own = machine.0.join(".copilot/hooks/bailiwick.json");
    let kept = std::fs::read_to_string(&own).expect("the hook");
    assert!(machine.0.join("work/.github/hooks/bailiwick.json").exists(), "the project has one, for VS Code");
    std::fs::remove_file(&own).expect("removed");
    let (code, bad) = lines(&machine);
    assert_eq!((code, red(&bad).len()), (Some(1), 1), "{bad:?}");
    assert!(red(&bad)[0].contains("bailiwick init copilot-cli"), "{bad:?}");
    std::fs::write(&own, kept).expect("as it was");

    // Claude Code reads a file more of each project.
    let local = machine.0.join("work/.claude/settings.local.json");
    std::fs::create_dir_all(machine.0.join("work/.claude")).expect("a directory");
    std::fs::write(&local, "{\"disableAllHooks\": true}").expect("settings");
    let (code, bad) = lines(&machine);
    assert_eq!((code, red(&bad).len()), (Some(1), 1), "{bad:?}");
    assert!(
        red(&bad)[0].contains("disableAllHooks") && red(&bad)[0].contains("settings.local.json"),
        "{bad:?}"
    );
    std::fs::remove_file(&local).expect("removed");

    // Nothing can be written any more, as on a disk that is full.
    let full = machine.shell(&format!("trap '' XFSZ; ulimit -f 0; exec '{BINARY}' doctor --json"), "");
    let page: Value = serde_json::from_str(&full.out).expect("JSON");
    let journal = page["lines"].as_array().expect("lines").iter().find(|line| line["area"] == "journal");
    assert!(journal.is_some_and(|line| line["state"] == "red"), "{page}");
    assert!(journal.is_some_and(|line| line["what"].to_string().contains("can be written")), "{page}");
    assert_eq!(lines(&machine).0, Some(0), "the control: nothing is left of the trial");

    std::fs::write(machine.0.join(".codex/hooks.json"), "{}").expect("settings");
    let (code, bad) = lines(&machine);
    assert_eq!(code, Some(1));
    assert!(red(&bad).iter().any(|line| line.contains("bailiwick init codex")), "{bad:?}");
    machine.configure("safty: 1\n");
    let (code, bad) = lines(&machine);
    assert_eq!(code, Some(1));
    assert!(red(&bad).iter().any(|line| line.contains("safty")), "{bad:?}");
}
