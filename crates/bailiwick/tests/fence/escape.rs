//! FNC-1: nothing that is let loose behind the fence gets out of it. Every probe is first run bare in the same setting,
//! where it must succeed: a probe that never could says nothing about the fence.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::time::Duration;

use crate::protected;
use crate::runner::{Mode, Outcome, Run, Who, alone, can_try};
use crate::setting::{Row, Setting, rows};

/// What the fence does not stop, and why: by probe, in every mode where `None`.
const KNOWN: &[(&str, Option<Mode>, &str)] = &[
    ("look_at_key", Some(Mode::Landlock), "Landlock does not cover looking at a file's metadata"),
    ("link_text_of_home", Some(Mode::Landlock), "Landlock does not cover reading where a link leads"),
    ("watch_home", Some(Mode::Landlock), "Landlock does not cover watching a directory"),
    ("victim_session", Some(Mode::Landlock), "without a process namespace, others' process numbers exist"),
];

/// Rows that succeed bare, at the least: fewer, and the suite has lost its teeth.
const PROVEN_AS_ROOT: usize = 400;
const PROVEN_AS_ORDINARY: usize = 300;

#[test]
fn nothing_gets_out_as_root() {
    if !Who::possible().contains(&Who::Root) {
        println!("skipped: this is not root");
        return;
    }
    nothing_gets_out(Who::Root, PROVEN_AS_ROOT);
}

#[test]
fn nothing_gets_out_as_an_ordinary_user() {
    nothing_gets_out(Who::Ordinary, PROVEN_AS_ORDINARY);
}

#[test]
fn the_suite_tells_a_hole_from_a_wall() {
    let _alone = alone();
    if !can_try(Mode::Usual) {
        return;
    }
    let rows = rows();
    let Answer::Ran(seen) = tried(Mode::Usual, Who::Ordinary, &rows) else {
        panic!("bwrap does not refuse");
    };
    for hole in ["unix_docker", "read_ssh_key", "unix_by_directory"] {
        assert!(seen.contains_key(hole), "{hole} is open there");
    }
    for wall in ["write_absolute", "tcp4", "kill_victim"] {
        assert!(!seen.contains_key(wall), "{wall} is shut there: {:?}", seen.get(wall));
    }
}

#[test]
fn every_past_escape_that_is_on_record_is_a_row() {
    let rows = rows();
    for past in [
        "CVE-2026-25725",
        "CVE-2025-66479",
        "CVE-2026-39861",
        "CVE-2025-59532",
        "CVE-2026-22708",
        "CVE-2025-59944",
        "GHSA-72w7-mf9g-733p",
        "CVE-2017-5226",
        "CVE-2019-10063",
        "CVE-2023-28100",
        "CVE-2019-7303",
        "CVE-2021-41133",
        "CVE-2024-21626",
        "CVE-2019-5736",
    ] {
        assert!(rows.iter().any(|row| row.past == past), "{past}");
    }
    let names: BTreeSet<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names.len(), rows.len(), "a name is given once");
    for (name, _, _) in KNOWN {
        assert!(names.contains(name), "{name}");
    }
}

fn nothing_gets_out(who: Who, at_least: usize) {
    let _alone = alone();
    let rows = rows();
    let Answer::Ran(control) = tried(Mode::Bare, who, &rows) else {
        panic!("nothing refuses a bare run");
    };
    let mut failures = Vec::new();
    let mut proven = 0;
    let mut unproven = BTreeMap::<String, Vec<&str>>::new();
    for row in &rows {
        if control.contains_key(&row.name) {
            proven += 1;
        } else if may_fail(row, who) {
            unproven.entry(row.needs.join(",")).or_default().push(&row.name);
        } else {
            failures.push(format!("{:32} {:?} {who:?}: the control did not succeed", row.name, Mode::Bare));
        }
    }
    println!("{who:?}: {proven} of {} probes succeed bare", rows.len());
    for (needs, names) in &unproven {
        println!("  could not be tried here, needs {needs}: {} ({})", names.len(), names.join(" "));
    }
    if proven < at_least {
        failures.push(format!("only {proven} probes succeed bare, {at_least} should"));
    }
    for mode in Mode::FENCED.into_iter().filter(|mode| can_try(*mode)) {
        match tried(mode, who, &rows) {
            Answer::Refused(why) => {
                println!("{mode:?} {who:?}: refused ({why})");
                if matches!(mode, Mode::Native | Mode::Bubblewrap) {
                    failures.push(format!("{mode:?} {who:?} refused: {why}"));
                }
            }
            Answer::Ran(escapes) => {
                let known = |name: &str| {
                    KNOWN.iter().find(|(row, of, _)| *row == name && of.is_none_or(|of| of == mode))
                };
                println!("{mode:?} {who:?}: {} escapes", escapes.len());
                for (name, of, _) in KNOWN {
                    if of.is_none_or(|of| of == mode) && !escapes.contains_key(*name) {
                        failures.push(format!(
                            "{name:32} {mode:?} {who:?}: is held now, so it is not known any more"
                        ));
                    }
                }
                for (name, seen) in &escapes {
                    match known(name) {
                        Some((_, _, why)) => println!("  known: {name}: {why}"),
                        None => failures.push(format!("{name:32} {mode:?} {who:?}: {seen}")),
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} failures\n{}\n", failures.len(), failures.join("\n"));
}

/// Whether this row's control may fail here.
fn may_fail(row: &Row, who: Who) -> bool {
    row.needs.iter().any(|need| match need.as_str() {
        "root" => who == Who::Ordinary,
        "user" => who == Who::Root || who.ids().is_none(),
        "kernel" => true,
        "tool" => std::env::var_os("CI").is_none(),
        "terminal" => false,
        other => panic!("{}: what is `{other}`?", row.name),
    })
}

/// What came of a suite: the escapes, by probe, with what was seen of them.
pub(crate) enum Answer {
    Ran(BTreeMap<String, String>),
    Refused(String),
}

/// Lets every probe loose once.
fn tried(mode: Mode, who: Who, rows: &[Row]) -> Answer {
    let mut setting = Setting::new(who, rows);
    if mode == Mode::Landlock {
        // With a secret in a writable place it would refuse the whole plan; the other modes have that row.
        std::fs::remove_file(setting.workspace().join(".env")).expect("a file of ours");
    }
    let mut seen = BTreeMap::new();
    let (environment, rest): (Vec<&Row>, Vec<&Row>) =
        rows.iter().filter(|row| row.family != "protected").partition(|row| row.family == "environment");
    let (terminal, mut rest): (Vec<&Row>, Vec<&Row>) =
        rest.into_iter().partition(|row| row.needs.iter().any(|need| need == "terminal"));
    // It takes away what others look for.
    rest.sort_by_key(|row| row.name == "home_replaced");
    let mut answers = BTreeMap::new();
    for (group, with_environment) in [(rest, false), (environment, true)] {
        let outcome = batch(mode, &setting, &group, with_environment);
        if outcome.refused() {
            return Answer::Refused(first_line(&outcome));
        }
        let text = outcome.out();
        for line in text.lines() {
            let parts: Vec<&str> = line.splitn(3, '\t').collect();
            if parts.len() == 3 {
                answers.insert(parts[0].to_owned(), (parts[1].to_owned(), parts[2].to_owned()));
            }
        }
        if !text.contains("end of batch") {
            seen.insert(
                "batch".to_owned(),
                format!(
                    "the probes did not end: {} {} {}",
                    outcome.code(),
                    tail(&text),
                    tail(&outcome.err())
                ),
            );
        }
    }
    for row in terminal {
        let outcome = at_terminal(mode, &setting, row);
        let text = outcome.out();
        let escaped = match row.judge.as_str() {
            "terminal" => text.contains("left in the terminal: INJECTED"),
            _ => outcome.code() == 0 && text.contains("probe started"),
        };
        if mode != Mode::Bare && !text.contains("probe started") {
            seen.insert(row.name.clone(), format!("did not run: {} {}", outcome.code(), tail(&text)));
        } else if escaped {
            seen.insert(row.name.clone(), format!("at a terminal: {}", tail(&text)));
        }
    }
    // A datagram may still be under way.
    std::thread::sleep(Duration::from_millis(30));
    let harmed: BTreeMap<String, String> = setting.harmed().into_iter().collect();
    let mut changed: BTreeSet<String> = setting.changed().into_iter().collect();
    for row in rows {
        let Some((code, detail)) = answers.get(&row.name) else {
            continue;
        };
        let place = if row.place.is_empty() { format!("outside/{}", row.name) } else { row.place.clone() };
        let own: Vec<String> = changed.iter().filter(|path| beneath(path, &place)).cloned().collect();
        let evidence = match row.judge.as_str() {
            "exit" => (code == "0").then(|| "the probe says so".to_owned()),
            "files" => own.first().map(|path| format!("changed: {path}")),
            "leak" => detail.contains(&setting.canary).then(|| "a secret was read".to_owned()),
            "victim" => harmed.get(&row.name).cloned(),
            "server" => setting.servers.heard(&row.name).then(|| "it arrived at a server".to_owned()),
            other => panic!("{}: who is `{other}`?", row.name),
        };
        for path in own {
            changed.remove(&path);
        }
        if std::env::var_os("FENCE_VERBOSE").is_some() {
            println!("{mode:?} {who:?} {:32} {code} {} {detail}", row.name, evidence.is_some());
        }
        if let Some(evidence) = evidence {
            seen.insert(
                row.name.clone(),
                format!("{evidence} ({})", tail(&detail.replace(&setting.canary, "SECRET"))),
            );
        }
    }
    for path in changed.iter().filter(|path| !["outside", "home", "other"].contains(&path.as_str())) {
        if mode != Mode::Bare {
            seen.insert(format!("changed:{path}"), "changed by nobody knows what".to_owned());
        }
    }
    for row in rows.iter().filter(|row| row.family == "protected" && mode != Mode::Landlock) {
        match protected::tried(mode, who, &setting, row) {
            protected::Seen::Nothing => {}
            protected::Seen::Changed(what) => {
                seen.insert(row.name.clone(), what);
            }
            protected::Seen::Refused(why) => return Answer::Refused(why),
        }
    }
    Answer::Ran(seen)
}

fn beneath(path: &str, place: &str) -> bool {
    path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn batch(mode: Mode, setting: &Setting, group: &[&Row], with_environment: bool) -> Outcome {
    let workspace = setting.workspace();
    let mut run = Run::new(mode, setting.who, setting.root(), &workspace);
    run.flags = vec!["--time", "150"];
    run.longest = Duration::from_secs(170);
    run.launcher = leaks(setting);
    if with_environment {
        run.environment = group
            .iter()
            .filter_map(|row| row.name.strip_prefix("environment_"))
            .map(|name| (name, setting.canary.clone()))
            .collect();
    }
    let mut words = vec!["./probe", "batch", "setting.conf"];
    words.extend(group.iter().map(|row| row.name.as_str()));
    run.run(&words)
}

/// What a careless caller leaves open, each where a probe looks for it.
fn leaks(setting: &Setting) -> Vec<OsString> {
    let root = setting.root().display();
    [
        format!("-o5:{root}/outside/leaked_write/file"),
        format!("-d6:{root}/outside"),
        format!("-r7:{root}/outside/leaked_reopen/file"),
        format!("-s8:{root}/sockets/agent.sock"),
        format!("-d11:{root}/work"),
        format!("-d20:{root}/outside"),
        format!("-p{root}/work/supervisor.pid"),
    ]
    .map(OsString::from)
    .into()
}

fn at_terminal(mode: Mode, setting: &Setting, row: &Row) -> Outcome {
    let workspace = setting.workspace();
    let file = workspace.join("terminal.conf");
    std::fs::copy(workspace.join("setting.conf"), &file).expect("a copy of the setting");
    if let Some((user, group)) = setting.who.ids() {
        std::os::unix::fs::lchown(&file, Some(user), Some(group)).expect("root may");
    }
    let mut run = Run::new(mode, setting.who, setting.root(), &workspace);
    run.launcher = vec!["-t".into(), file.clone().into()];
    run.longest = Duration::from_secs(20);
    run.run(&["./probe", "run", "terminal.conf", &row.name])
}

pub(crate) fn tail(text: &str) -> String {
    let text = text.trim();
    let skip = text.chars().count().saturating_sub(160);
    text.chars().skip(skip).collect()
}

pub(crate) fn first_line(outcome: &Outcome) -> String {
    outcome.err().lines().next().unwrap_or_default().to_owned()
}
