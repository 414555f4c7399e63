//! `bailiwick policy`, `tools`, `completions` and `man` through the binary. Keeps CHK-5.

use crate::program::Place;

#[test]
fn show_names_the_file_and_line_of_every_setting() {
    let place = Place::new();
    let config = place.file("work/mine.yaml", "profile: balanced\nsafety:\n  mode: deny\n  denylist:\n    - terraform\n  effects: {history: deny}\n");
    let lines = place.json(&["policy", "show", "--json", "--config", config.to_str().expect("UTF-8")]);
    let find = |key: &str| {
        lines
            .as_array()
            .expect("a list")
            .iter()
            .find(|line| line["key"] == key)
            .unwrap_or_else(|| panic!("{key}"))
            .clone()
    };
    for (key, value, line) in [
        ("profile", "balanced", Some(1)),
        ("safety.mode", "deny", Some(3)),
        ("safety.denylist", "terraform", Some(5)),
        ("safety.effects.history", "deny", Some(6)),
        ("safety.effects.connect", "ask", None),
        ("sandbox.default_policy", "restricted", None),
    ] {
        let shown = find(key);
        assert_eq!(shown["value"], value, "{key}");
        assert_eq!(shown["line"].as_u64(), line, "{key}");
    }
    assert!(find("safety.effects.connect")["file"].as_str().expect("text").contains("balanced"));
    let ran = place.run(&["policy", "show"]);
    assert!(ran.stdout.starts_with("No configuration file"), "{}", ran.stdout);
}

#[test]
fn test_runs_examples_and_cases_and_shows_what_fails() {
    let place = Place::new();
    let good = place.file(
        "work/good.yaml",
        "profile: dev\nrules:\n  - name: no-force\n    action: deny\n    commands: [\"git push --force\"]\n    examples:\n      match: [\"git push -f\", \"git push origin main --force\"]\n      not_match: [\"git push\"]\ncases:\n  - {command: \"git push -f\", expect: deny}\n  - {command: ls, expect: allow}\n  - {tool: file_read, args: {path: .env}, expect: deny}\n",
    );
    let ran = place.run(&["policy", "test", good.to_str().expect("UTF-8")]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "6 passed, 0 failed\n"), "{}", ran.stderr);
    let bad = place.file(
        "work/bad.yaml",
        "profile: dev\nrules:\n  - name: r\n    action: deny\n    commands: [ls]\n    examples: {match: [pwd]}\ncases:\n  - {command: \"rm -rf /\", expect: allow}\n",
    );
    let ran = place.run(&["policy", "test", bad.to_str().expect("UTF-8")]);
    assert_eq!(ran.code, 1);
    for part in [
        "bad.yaml:6",
        "bad.yaml:8",
        "expected  allow",
        "got       deny",
        "commands and denied effects",
        "0 passed, 2 failed",
    ] {
        assert!(ran.stdout.contains(part), "{part} in {}", ran.stdout);
    }
}

#[test]
fn tools_lists_every_built_in_tool_with_a_schema() {
    let place = Place::new();
    let tools = place.json(&["tools", "--json"]);
    let tools = tools.as_array().expect("a list");
    assert_eq!(tools.len(), 23);
    for tool in tools {
        assert_eq!(tool["arguments"]["additionalProperties"], false, "{}", tool["name"]);
    }
    let ran = place.run(&["tools", "nonsense"]);
    assert_eq!(ran.code, 125);
    assert!(ran.stderr.contains("there is no tool `nonsense`"));
}

#[test]
fn completions_and_the_manual_page_are_made() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        let ran = place.run(&["completions", shell]);
        assert!(ran.code == 0 && ran.stdout.contains("bailiwick"), "{shell}");
    }
    let ran = place.run(&["man"]);
    assert!(ran.code == 0 && ran.stdout.contains(".TH"), "{}", ran.stdout);
}
