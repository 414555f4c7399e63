//! What Windows is told.

use fence::windows::{Entry, Held, Settings, Site, settings};
use fence::{Access, Host, Network, Plan};

use super::plan;

const READ: u32 = 0x0012_00a9;
const MODIFY: u32 = 0x0013_01bf;
const CHANGE: u32 = 0x000d_0156;
const DELETE: u32 = 0x0001_0000;
const EVERYTHING: u32 = 0x001f_01ff;

fn site() -> Site {
    Site { system_root: "C:\\Windows".into(), scratch: "c:/Users/me/AppData/Local/Temp/bailiwick.1".into() }
}

fn typical() -> Plan {
    let mut plan = plan(&[
        ("C:\\Users\\me\\ws", Access::Write),
        ("C:\\Users\\me\\ws\\.git\\hooks", Access::Protected),
        ("C:\\Users\\me\\ws\\.env", Access::Hidden),
        ("c:/tools", Access::Read),
        ("c:/tools/secret", Access::Hidden),
        ("C:\\Tools\\Secret\\below", Access::Read),
        ("/tmp", Access::Scratch),
    ]);
    plan.forbidden = vec!["C:\\Users\\me\\ws\\.vscode".into()];
    plan.fresh = vec!["C:\\Users\\me\\ws\\.jj".into()];
    plan
}

fn told() -> Settings {
    settings(&typical(), &site()).unwrap()
}

#[test]
fn a_job_holds_memory_processes_and_time_and_nothing_outlives_it() {
    let job = told().job;
    assert_eq!((job.memory, job.processes, job.process_time), (2048 << 20, 256, 600_000_000));
    // Ended with the job, memory, number of processes, time; no breaking away (0x800, 0x1000).
    assert_eq!(job.flags, 0x2000 | 0x200 | 0x8 | 0x2 | 0x400);
    assert_eq!(job.ui, 0xff);
    let mut endless = typical();
    endless.limits.cpu_s = None;
    assert_eq!(settings(&endless, &site()).unwrap().job.flags & 0x2, 0);
    for (memory, processes, time) in
        [(0, 1, 1), (u64::MAX, 1, 1), (1, 0, 1), (1, u64::MAX, 1), (1, 1, u64::MAX)]
    {
        let mut plan = typical();
        plan.limits.memory_mb = memory;
        plan.limits.processes = processes;
        plan.limits.cpu_s = Some(time);
        assert!(settings(&plan, &site()).is_err(), "{memory} {processes} {time}");
    }
    let held = told().limits;
    assert!(held.contains(&("memory", Held::Hard)) && held.contains(&("open files", Held::Not)));
}

#[test]
fn entries_grant_what_the_plan_shows_and_pin_what_holds_it() {
    let entry = |path: &str, allow, mask, inherited| Entry { path: path.into(), allow, mask, inherited };
    let expected = [
        entry("C:\\Tools", true, READ, true),
        entry("C:\\Tools", false, CHANGE, true),
        // Nothing is granted below it.
        entry("C:\\Tools\\Secret", false, EVERYTHING, true),
        entry("C:\\Users\\me\\ws", true, MODIFY, true),
        entry("C:\\Users\\me\\ws\\.env", false, EVERYTHING, true),
        entry("C:\\Users\\me\\ws\\.git\\hooks", true, READ, true),
        entry("C:\\Users\\me\\ws\\.git\\hooks", false, CHANGE, true),
        entry("C:\\Users\\me\\ws", false, DELETE, false),
        entry("C:\\Users\\me\\ws\\.git", false, DELETE, false),
        entry("C:\\Users\\me\\AppData\\Local\\Temp\\bailiwick.1", true, MODIFY, true),
    ];
    assert_eq!(told().entries, expected);
    assert_eq!(told().watched, ["C:\\Users\\me\\ws\\.vscode", "C:\\Users\\me\\ws\\.jj"]);
    let idle = settings(&Plan { execute_scratch: false, ..typical() }, &site()).unwrap();
    assert!(idle.entries.contains(&entry(
        "C:\\Users\\me\\AppData\\Local\\Temp\\bailiwick.1",
        false,
        0x20,
        true
    )));
}

#[test]
fn a_container_reaches_nobody_or_everybody() {
    assert!(told().capabilities.is_empty());
    let with = |network| settings(&Plan { network, ..typical() }, &site());
    assert!(with(Network::Allow(Vec::new())).unwrap().capabilities.is_empty());
    assert_eq!(with(Network::Open).unwrap().capabilities.len(), 3);
    let named = with(Network::Allow(vec![Host::parse("example.org").unwrap()])).unwrap_err();
    assert!(named.to_string().contains("every host or none"), "{named}");
}

#[test]
fn the_environment_is_a_sorted_block() {
    let mut plan = typical();
    plan.environment = [("b", "2"), ("Path", "C:\\x"), ("temp", "C:\\elsewhere"), ("A", "ü=1")]
        .map(|(name, value)| (name.into(), value.into()))
        .into();
    let block = settings(&plan, &site()).unwrap().environment;
    let text = String::from_utf16(&block).unwrap();
    let scratch = "C:\\Users\\me\\AppData\\Local\\Temp\\bailiwick.1";
    let expected = format!(
        "A=ü=1\0b=2\0Path=C:\\x\0SystemRoot=C:\\Windows\0TEMP={scratch}\0TMP={scratch}\0TMPDIR={scratch}\0windir=C:\\Windows\0\0"
    );
    assert_eq!(text, expected);
    let long = "x".repeat(40_000);
    for variables in [
        vec![("a", "1"), ("A", "2")],
        vec![("a=b", "1")],
        vec![("", "1")],
        vec![("a", "1\0b=2")],
        vec![("a", &long)],
    ] {
        let mut plan = typical();
        plan.environment = variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        assert!(settings(&plan, &site()).is_err());
    }
}

#[test]
fn what_windows_cannot_hold_is_said_and_all_of_it() {
    let rows = [
        ("/usr", Access::Read),
        ("\\\\server\\share", Access::Write),
        ("C:\\a\\NUL", Access::Write),
        ("C:\\a:stream", Access::Hidden),
        ("C:\\link", Access::Link("C:\\x".into())),
        ("c:\\users\\ME\\WS", Access::Read),
    ];
    for (path, access) in &rows {
        let mut plan = typical();
        plan.places.insert(path.into(), access.clone());
        let unfit = settings(&plan, &site()).unwrap_err();
        assert_eq!(unfit.reasons().len(), 1, "{path}: {unfit}");
    }
    let mut plan = typical();
    plan.places.extend(rows.iter().map(|(path, access)| (path.into(), access.clone())));
    plan.cwd = "relative".into();
    assert_eq!(settings(&plan, &site()).unwrap_err().reasons().len(), rows.len() + 1);
    for scratch in ["C:\\Users\\me\\ws\\tmp", "C:\\TOOLS\\x", "relative"] {
        assert!(settings(&typical(), &Site { scratch: scratch.into(), ..site() }).is_err(), "{scratch}");
    }
}
