//! Questions: at a terminal, by rules, by a program, and later from another terminal.

use crate::home::Home;

/// A command that the built-in profile asks about and that shows whether it ran: `git reset --hard` needs a commit to name, so a
/// file in the workspace tells.
const ASKED: &[&str] = &["exec", "--", "sh", "-c", "git reset --hard 2>/dev/null; echo it ran"];
const PROMPT: &str = "> ";

#[test]
fn a_yes_runs_it_once_and_a_no_does_not() {
    let home = Home::new();
    let yes = home.at_terminal(&[(PROMPT, "y\\n")], ASKED);
    assert_eq!(yes.code, Some(0), "{yes:?}");
    assert!(yes.out.contains("bailiwick asks") && yes.out.contains("git reset --hard"), "{}", yes.out);
    assert!(yes.out.contains("it ran\r\n"), "{}", yes.out);
    for (typed, code) in [("n\\n", 126), ("q\\n", 130), ("\\x04", 126)] {
        let no = home.at_terminal(&[(PROMPT, typed)], ASKED);
        assert!(!no.out.contains("it ran\r\n"), "{typed}: {}", no.out);
        assert_eq!(no.code, Some(code), "{typed}: {no:?}");
    }
}

#[test]
fn what_was_typed_before_the_question_does_not_answer_it() {
    let home = Home::new();
    home.configure("profile: dev\nsafety: {approval_timeout_ms: 2500}\n");
    let ran = home.at_terminal(&[("", "y\\ny\\ny\\n")], ASKED);
    assert!(!ran.out.contains("it ran\r\n"), "{}", ran.out);
    assert_eq!(ran.code, Some(124), "silence is a no when the time is up: {ran:?}");
}

#[test]
fn a_yes_for_the_session_is_asked_once_and_only_for_the_same_call() {
    let home = Home::new();
    // One terminal, three commands: the shell keeps the session. The second is the same call, the third is another.
    let binary = crate::home::BINARY;
    let same = format!("{binary} exec -- git reset --hard HEAD~0");
    let script = format!(
        "{same}; echo first $?; {same}; echo second $?; {binary} exec -- git reset --hard HEAD~1; echo third $?"
    );
    let ran = home.shell_at_terminal(&[(PROMPT, "s\\n"), ("second", ""), (PROMPT, "n\\n")], &script);
    assert_eq!(ran.out.matches("bailiwick asks").count(), 2, "{}", ran.out);
    assert!(ran.out.contains("third 126"), "{}", ran.out);
    let records = home.run(&["journal", "export"]).out;
    assert!(records.contains("\"reason\":\"cached\""), "the answer from before is written down too");
    // Another session is asked again.
    let other = home.at_terminal(&[(PROMPT, "n\\n")], &["exec", "--", "git", "reset", "--hard", "HEAD~0"]);
    assert!(other.out.contains("bailiwick asks"), "{}", other.out);
}

#[test]
fn a_question_that_is_asked_again_keeps_the_id_that_a_person_may_be_about_to_type() {
    let home = Home::new();
    let tried = || {
        let ran = home.run(&["exec", "--session", "s", "--", "git", "reset", "--hard"]);
        let (_, id) = ran.err.split_once("grants approve ").unwrap_or_else(|| panic!("{ran:?}"));
        id.chars().take(12).collect::<String>()
    };
    assert_eq!(tried(), tried());
    assert_eq!(home.run(&["grants", "approve", &tried()]).code, Some(0));
}

#[test]
fn a_question_that_nobody_could_answer_can_be_approved_afterwards_once() {
    let home = Home::new();
    let tried = home.run(ASKED);
    assert_eq!(tried.code, Some(126), "{tried:?}");
    assert!(tried.err.contains("bailiwick grants approve"), "{}", tried.err);
    let listed = home.run(&["grants", "--json"]);
    let waiting: serde_json::Value = serde_json::from_str(&listed.out).expect("JSON");
    let id = waiting[0]["id"].as_str().expect("an id").to_owned();
    assert_eq!(waiting[0]["kind"], "waiting");
    // It was another session's: the yes is bound to that one.
    let approved = home.run(&["grants", "approve", &id[..12]]);
    assert_eq!(approved.code, Some(0), "{approved:?}");
    let elsewhere = home.run(ASKED);
    assert_eq!(elsewhere.code, Some(126), "a grant never crosses sessions: {elsewhere:?}");
    let listed: serde_json::Value = serde_json::from_str(&home.run(&["grants", "--json"]).out).expect("JSON");
    assert!(listed.as_array().expect("a list").iter().any(|grant| grant["kind"] == "once"));
    let revoked = home.run(&["grants", "revoke", "--all"]);
    assert_eq!(revoked.code, Some(0), "{revoked:?}");
    assert!(home.run(&["grants"]).out.contains("Nothing is granted"));
    let records = home.run(&["journal", "export"]).out;
    assert!(records.contains("\"grant_added\"") && records.contains("\"grant_revoked\""), "{records}");
}

#[test]
fn in_one_session_an_approved_question_runs_exactly_once() {
    let home = Home::new();
    let binary = crate::home::BINARY;
    // `setsid` gives the whole script one session without a terminal.
    let call = format!("{binary} exec -- git reset --hard HEAD~0");
    let script = format!(
        "{call}; echo first $?; id=$({binary} grants --json | sed -n 's/.*\"id\": \"\\(.*\\)\".*/\\1/p'); \
         {binary} grants approve $id; {call}; echo second $?; {call}; echo third $?"
    );
    let ran = home.shell(&script);
    assert!(ran.out.contains("first 126") && ran.out.contains("third 126"), "{ran:?}");
    // The repository has no commit: git itself says no, so it ran.
    assert!(ran.out.contains("second 128"), "{ran:?}");
}

#[test]
fn rules_and_programs_answer_in_the_order_of_the_configuration() {
    let home = Home::new();
    home.configure(
        "profile: dev\napproval:\n  providers: [rules]\n  rules:\n    - {command: git reset, decision: approved}\n    - {argv0: git, decision: denied, reason: not this one}\n",
    );
    let ran = home.run(&["exec", "--", "git", "reset", "--hard", "HEAD~0"]);
    assert_eq!(ran.code, Some(128), "the rule said yes and git ran: {ran:?}");
    let denied = home.run(&["exec", "--", "git", "push", "--force"]);
    assert_eq!(denied.code, Some(126), "{denied:?}");
    for (script, code) in [
        ("cat >/dev/null; echo '{\"decision\": \"approved\"}'", 128),
        ("cat >/dev/null; echo '{\"decision\": \"denied\"}'", 126),
        ("echo nonsense", 126),
        ("sleep 60", 126),
        ("exit 1", 126),
    ] {
        home.configure(&format!(
            "profile: dev\napproval:\n  providers: [command]\n  command: [/bin/sh, -c, {}]\n  command_timeout_ms: 1500\n",
            serde_json::to_string(script).expect("JSON")
        ));
        let ran = home.run(&["exec", "--", "git", "reset", "--hard", "HEAD~0"]);
        assert_eq!(ran.code, Some(code), "{script}: {ran:?}");
    }
}

#[test]
fn automatic_approval_answers_questions_and_lifts_no_denial() {
    let home = Home::new();
    let binary = crate::home::BINARY;
    let script = format!(
        "session=$({binary} exec -- git reset --hard HEAD~0 2>/dev/null; {binary} grants --json | sed -n 's/.*\"session\": \"\\(.*\\)\".*/\\1/p' | head -1); \
         {binary} grants auto --session $session --for 5m; {binary} exec -- git reset --hard HEAD~0; echo reset $?; \
         {binary} exec -- cat /etc/shadow; echo shadow $?; {binary} grants auto --session $session --off; \
         {binary} exec -- git reset --hard HEAD~0; echo after $?"
    );
    let ran = home.shell(&script);
    assert!(ran.out.contains("reset 128"), "{ran:?}");
    assert!(ran.out.contains("shadow 126"), "{ran:?}");
    assert!(ran.out.contains("after 126"), "{ran:?}");
    let records = home.run(&["journal", "export"]).out;
    assert!(records.contains("\"reason\":\"auto_approve\""), "{records}");
}

#[test]
fn a_program_that_was_changed_while_somebody_thought_does_not_run() {
    let home = Home::new();
    home.configure("profile: dev\nsafety: {require_approval_for_execute: true}\n");
    home.write("job.sh", "#!/bin/sh\necho the first\n", true);
    // The control: unchanged, it runs.
    let kept = home.at_terminal(&[(PROMPT, "y\\n")], &["exec", "--", "./job.sh"]);
    assert!(kept.out.contains("the first\r\n"), "{}", kept.out);
    let path = home.0.join("work/job.sh");
    let swap = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(900));
        #[expect(clippy::disallowed_methods, reason = "the attack of this test")]
        std::fs::write(path, "#!/bin/sh\necho the second\n").expect("a swap");
    });
    // The answer comes after the swap.
    let ran = home
        .at_terminal(&[(PROMPT, "e\\n"), (PROMPT, "e\\n"), (PROMPT, "y\\n")], &["exec", "--", "./job.sh"]);
    swap.join().expect("the swap");
    assert!(!ran.out.contains("the second\r\n") && !ran.out.contains("the first\r\n"), "{}", ran.out);
    assert!(ran.out.contains("not what was approved"), "{}", ran.out);
}
