//! Skills in real folders: what they resolve to, and that nothing leads out of them (FNC-3).

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use call::ErrorKind;
use fence::rooted::{Guard, Listed};
use serde_json::json;
use tools::{Failure, Outcome, SkillSpaces, skill_ref_read};

const SKILL: &str = "---\nname: report\ndescription: Writes it.\nactions:\n  build:\n    description: Builds it.\n    argv: [python3, actions/build.py, --quick]\n    env: {MODE: weekly}\n    timeout_ms: 5000\n  show:\n    argv: [scripts/show.sh]\n    env: [LANG]\n  plain:\n    argv: [/bin/true, x]\n  gone:\n    argv: [sh, actions/gone.sh]\n---\ntext\n";

/// A directory that goes away, with a space `space` and something outside it.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Scratch {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let shared = Path::new("/dev/shm");
        let above = if shared.is_dir() { shared.to_path_buf() } else { std::env::temp_dir() };
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("bailiwick-skills-{}-{count}", std::process::id());
        let scratch = Scratch(above.canonicalize().unwrap().join(name));
        let _ = std::fs::remove_dir_all(&scratch.0);
        for (name, text) in [
            ("space/report/SKILL.md", SKILL),
            ("space/report/actions/build.py", "print(1)"),
            ("space/report/actions/lib/helper.py", "x = 1"),
            ("space/report/scripts/show.sh", "echo hi"),
            ("space/report/references/guide.md", "read me"),
            ("space/report/references/deep/more.md", "more"),
            ("space/report/assets/logo.bin", "\0\u{1}"),
            ("space/report/secret.txt", "SECRET in the skill"),
            ("outside/secret.txt", "SECRET outside"),
            ("outside/SKILL.md", "---\nname: linked\ndescription: d\n---\n"),
            ("outside/references/secret.txt", "SECRET outside"),
        ] {
            scratch.put(name, text);
        }
        scratch
    }

    fn put(&self, name: &str, text: &str) {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn spaces(&self) -> SkillSpaces {
        SkillSpaces::new(vec![("team:web".into(), self.0.join("space"))]).unwrap()
    }

    fn read(&self, path: &str) -> Outcome {
        let arguments = json!({"skill_mention": "$[team:web].report", "ref_path": path});
        skill_ref_read::run(&serde_json::from_value(arguments).unwrap(), &self.spaces())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn failed(failure: Failure) -> (ErrorKind, String) {
    let outcome = Outcome::from(failure);
    (outcome.error_kind.unwrap(), outcome.stderr)
}

#[test]
fn an_action_resolves_to_a_command_with_the_content_of_its_files() {
    let scratch = Scratch::new();
    let spaces = scratch.spaces();
    let root = scratch.0.join("space/report");
    let absolute = |name: &str| root.join(name).to_str().unwrap().to_owned();
    let build = spaces.resolve("$[team:web].report", "build").unwrap();
    assert_eq!(build.argv, ["python3".into(), absolute("actions/build.py"), "--quick".into()]);
    assert_eq!((build.env_keys.clone(), build.timeout_ms), (vec!["MODE".to_owned()], 5000));
    let files: Vec<_> = build.scripts.iter().map(|script| script.path.clone()).collect();
    assert_eq!(files, [root.join("actions/build.py"), root.join("actions/lib/helper.py")]);
    assert_eq!(build.scripts[0].sha256, call::sha256_hex(b"print(1)"));
    assert!(!format!("{build:?}").contains("weekly"));
    let arguments = build.as_shell_exec(|_| None);
    assert_eq!(
        arguments,
        json!({"argv": build.argv, "env": {"MODE": "weekly"}, "timeout_ms": 5000, "sandbox": "inherit"})
    );
    serde_json::from_value::<call::ShellExec>(arguments).unwrap();

    let show = spaces.resolve("$[team:web].report", "show").unwrap();
    assert_eq!(show.argv, [absolute("scripts/show.sh")]);
    assert_eq!(show.timeout_ms, 60_000);
    assert_eq!(show.as_shell_exec(|name| Some(format!("of {name}")))["env"], json!({"LANG": "of LANG"}));
    assert_eq!(show.as_shell_exec(|_| None)["env"], json!({}));
    let plain = spaces.resolve("$[team:web].report", "plain").unwrap();
    assert_eq!((plain.argv, plain.scripts), (vec!["/bin/true".to_owned(), "x".to_owned()], vec![]));
}

#[test]
fn a_script_that_is_swapped_or_a_neighbour_that_changes_is_another_action() {
    let scratch = Scratch::new();
    let spaces = scratch.spaces();
    let resolve = || spaces.resolve("$[team:web].report", "build").unwrap();
    let before = resolve();
    assert!(before.is_same(&resolve()));
    assert_eq!(before.scripts_sha256(), resolve().scripts_sha256());
    let mut digests = vec![before.scripts_sha256()];
    for (name, text) in [
        ("space/report/actions/build.py", "print(2)"),
        ("space/report/actions/lib/helper.py", "x = 2"),
        ("space/report/actions/new.py", ""),
        ("space/report/actions/__pycache__/build.pyc", "x"),
    ] {
        scratch.put(name, text);
        let after = resolve();
        assert!(!before.is_same(&after), "{name}");
        assert!(!digests.contains(&after.scripts_sha256()), "{name}");
        digests.push(after.scripts_sha256());
    }
    // What is not among its files makes no difference, but what the `SKILL.md` says does.
    let before = resolve();
    scratch.put("space/report/references/guide.md", "changed");
    assert!(before.is_same(&resolve()));
    scratch.put("space/report/SKILL.md", &SKILL.replace("weekly", "daily"));
    assert!(!before.is_same(&resolve()));
}

#[test]
fn what_cannot_be_resolved_is_said_with_its_kind() {
    let scratch = Scratch::new();
    scratch.put("space/other/SKILL.md", "---\nname: report\ndescription: d\n---\n");
    scratch.put(
        "space/broken/SKILL.md",
        "---\nname: broken\ndescription: d\nactions:\n  a:\n    argv: x\n---\n",
    );
    scratch.put("space/bytes/SKILL.md", "---\nname: bytes\ndescription: d\n---\n");
    std::fs::write(scratch.0.join("space/bytes/SKILL.md"), b"---\nname: \xff\n---\n").unwrap();
    std::fs::create_dir(scratch.0.join("space/empty")).unwrap();
    scratch.put("space/file", "");
    scratch.put("space/large/SKILL.md", &"x".repeat(2 * 1024 * 1024));
    let spaces = scratch.spaces();
    let table = [
        ("$[team:web].report", "none", ErrorKind::NotFound, "it has build, gone, plain, show"),
        ("$[team:web].report", "gone", ErrorKind::NotFound, "gone.sh"),
        ("$[team:web].report", "../build", ErrorKind::NotFound, "no action"),
        ("$[team:web].missing", "a", ErrorKind::NotFound, "no skill"),
        ("$[team:web].empty", "a", ErrorKind::NotFound, "no skill"),
        ("$[team].report", "build", ErrorKind::NotFound, "no skill"),
        ("$[team:web].../report", "build", ErrorKind::Validation, "expected `$[namespace].name`"),
        ("report", "build", ErrorKind::Validation, "expected `$[namespace].name`"),
        ("$[team:web].other", "a", ErrorKind::ConfigError, "the folder is `other`"),
        ("$[team:web].broken", "a", ErrorKind::ConfigError, "broken/SKILL.md:6: expected `argv`"),
        ("$[team:web].bytes", "a", ErrorKind::ConfigError, "UTF-8"),
        ("$[team:web].large", "a", ErrorKind::ConfigError, "more than"),
    ];
    for (mention, action, kind, part) in table {
        let (found, message) = failed(spaces.resolve(mention, action).expect_err(mention));
        assert_eq!(found, kind, "{mention} {action}: {message}");
        assert!(message.contains(part), "{mention} {action}: {message}");
    }
    assert!(spaces.resolve("$[team:web].file", "a").is_err());
    let (good, bad) = spaces.list();
    let names: Vec<String> = good.iter().map(|summary| summary.mention.to_string()).collect();
    assert_eq!(names, ["$[team:web].report"]);
    assert_eq!(good[0].actions[0], ("build".to_owned(), Some("Builds it.".to_owned())));
    assert_eq!(bad.len(), 4, "{bad:?}");
}

#[test]
fn spaces_that_are_not_well_named_or_not_there_are_refused() {
    let scratch = Scratch::new();
    let space = scratch.0.join("space");
    symlink(&space, scratch.0.join("link")).unwrap();
    let one = |name: &str, path: &Path| vec![(name.to_owned(), path.to_path_buf())];
    for spaces in [
        one("", &space),
        one("a/b", &space),
        one("..", &space),
        one("a", Path::new("space")),
        one("a", &scratch.0.join("missing")),
        one("a", &scratch.0.join("link")),
        [one("a", &space), one("a", &scratch.0)].concat(),
    ] {
        let shown = format!("{spaces:?}");
        let (kind, _) = failed(SkillSpaces::new(spaces).expect_err(&shown));
        assert_eq!(kind, ErrorKind::ConfigError, "{shown}");
    }
    assert!(SkillSpaces::new(Vec::new()).unwrap().list().0.is_empty());
}

#[test]
fn references_and_assets_are_read_and_nothing_else() {
    let scratch = Scratch::new();
    assert_eq!(scratch.read("references/guide.md").stdout, "read me");
    assert_eq!(scratch.read("references/deep/more.md").stdout, "more");
    assert_eq!(scratch.read("assets/logo.bin").data.unwrap()["binary"], true);
    assert_eq!(scratch.read("references/none.md").error_kind, Some(ErrorKind::NotFound));
    assert_eq!(scratch.read("references/deep").error_kind, Some(ErrorKind::Validation));
    for path in [
        "SKILL.md",
        "secret.txt",
        "actions/build.py",
        "references",
        "references/",
        "references/../secret.txt",
        "references/./guide.md",
        "references//guide.md",
        "./references/guide.md",
        "/etc/passwd",
        "../outside/secret.txt",
        "references/../../../outside/secret.txt",
        "References/guide.md",
        "references/guide.md\0",
        "",
    ] {
        let outcome = scratch.read(path);
        assert!(!outcome.ok && !outcome.stdout.contains("SECRET"), "{path}");
        assert_eq!(outcome.error_kind, Some(ErrorKind::Permission), "{path}: {}", outcome.stderr);
    }
    let long = "ä".repeat(5000);
    scratch.put("space/report/references/long.md", &long);
    let arguments =
        json!({"skill_mention": "$[team:web].report", "ref_path": "references/long.md", "max_bytes": 101});
    let outcome = skill_ref_read::run(&serde_json::from_value(arguments).unwrap(), &scratch.spaces());
    assert!(outcome.truncated && outcome.stdout.len() < 200 && outcome.stdout.contains("left out"));
}

#[test]
fn no_link_is_followed_wherever_it_leads() {
    let scratch = Scratch::new();
    let (outside, space) = (scratch.0.join("outside"), scratch.0.join("space"));
    let report = space.join("report");
    symlink(&outside, space.join("linked")).unwrap();
    symlink("report", space.join("inner")).unwrap();
    symlink(outside.join("secret.txt"), report.join("references/out.txt")).unwrap();
    symlink("guide.md", report.join("references/in.txt")).unwrap();
    symlink("../../../outside/references", report.join("references/folder")).unwrap();
    symlink("/proc/self/root", report.join("references/magic")).unwrap();
    for path in [
        "references/out.txt",
        "references/in.txt",
        "references/folder/secret.txt",
        "references/magic/etc/passwd",
    ] {
        let outcome = scratch.read(path);
        assert!(!outcome.ok && !outcome.stdout.contains("SECRET"), "{path}");
        // A control: a plain open follows every one of them.
        assert!(std::fs::read(report.join(path)).is_ok(), "{path}");
    }
    let spaces = scratch.spaces();
    for mention in ["$[team:web].linked", "$[team:web].inner"] {
        assert!(spaces.resolve(mention, "build").is_err(), "{mention}");
    }
    // A link beside a script is what the script could read.
    symlink(outside.join("secret.txt"), report.join("actions/lib/extra.py")).unwrap();
    let (kind, message) = failed(spaces.resolve("$[team:web].report", "build").unwrap_err());
    assert_eq!(kind, ErrorKind::Permission);
    assert!(message.contains("extra.py") && message.contains("link"), "{message}");
    std::fs::remove_file(report.join("actions/lib/extra.py")).unwrap();
    // A script that is a link, and a `SKILL.md` that is one.
    std::fs::remove_file(report.join("actions/build.py")).unwrap();
    symlink(outside.join("secret.txt"), report.join("actions/build.py")).unwrap();
    assert_eq!(failed(spaces.resolve("$[team:web].report", "build").unwrap_err()).0, ErrorKind::Permission);
    std::fs::rename(report.join("SKILL.md"), outside.join("SKILL.md")).unwrap();
    symlink(outside.join("SKILL.md"), report.join("SKILL.md")).unwrap();
    assert_eq!(failed(spaces.resolve("$[team:web].report", "show").unwrap_err()).0, ErrorKind::Permission);
}

#[test]
fn a_guard_hides_files_in_skills_too() {
    let scratch = Scratch::new();
    let space = scratch.0.join("space");
    let hidden = space.join("report/references/guide.md");
    let guard = || Box::new(Listed { hidden: vec![hidden.clone()], protected: vec![] }) as Box<dyn Guard>;
    let spaces = SkillSpaces::guarded(vec![("team:web".into(), space.clone())], guard).unwrap();
    let arguments = json!({"skill_mention": "$[team:web].report", "ref_path": "references/guide.md"});
    let outcome = skill_ref_read::run(&serde_json::from_value(arguments).unwrap(), &spaces);
    assert_eq!(outcome.error_kind, Some(ErrorKind::Permission), "{}", outcome.stdout);
}

#[test]
fn files_without_end_are_refused() {
    let scratch = Scratch::new();
    let actions = scratch.0.join("space/report/actions");
    let sparse = std::fs::File::create(actions.join("huge.bin")).unwrap();
    sparse.set_len(1 << 40).unwrap();
    let start = Instant::now();
    let (kind, message) = failed(scratch.spaces().resolve("$[team:web].report", "build").unwrap_err());
    assert_eq!(kind, ErrorKind::Permission);
    assert!(message.contains("more than"), "{message}");
    assert!(start.elapsed() < Duration::from_secs(5));
    std::fs::remove_file(actions.join("huge.bin")).unwrap();
    for number in 0..600 {
        std::fs::write(actions.join(format!("lib/{number}")), "").unwrap();
    }
    assert_eq!(
        failed(scratch.spaces().resolve("$[team:web].report", "build").unwrap_err()).0,
        ErrorKind::Permission
    );
}

/// FNC-3 for skills: somebody swaps a folder for a link that leads out, all the time.
#[test]
fn nobody_who_swaps_names_leads_a_reader_out() {
    let scratch = Scratch::new();
    let report = scratch.0.join("space/report");
    symlink(scratch.0.join("outside/references"), scratch.0.join("link")).unwrap();
    scratch.put("space/report/references/secret.txt", "harmless");
    let over = AtomicBool::new(false);
    let (mut good, mut naive, mut escapes) = (0, 0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (link, folder) = (scratch.0.join("link"), report.join("references"));
            let here = rustix::fs::CWD;
            while !over.load(Ordering::Relaxed) {
                let exchange = rustix::fs::RenameFlags::EXCHANGE;
                rustix::fs::renameat_with(here, &link, here, &folder, exchange).unwrap();
            }
        });
        let start = Instant::now();
        // On a busy machine the two threads meet seldom: go on until both have happened, within a bound.
        while start.elapsed() < Duration::from_secs(3)
            || ((good == 0 || naive == 0) && start.elapsed() < Duration::from_secs(15))
        {
            let outcome = scratch.read("references/secret.txt");
            escapes += usize::from(outcome.stdout.contains("SECRET"));
            good += usize::from(outcome.stdout == "harmless");
            // A control that looks first and opens then.
            if report.join("references").symlink_metadata().is_ok_and(|found| found.is_dir()) {
                std::thread::yield_now();
                let text = std::fs::read_to_string(report.join("references/secret.txt")).unwrap_or_default();
                naive += usize::from(text.contains("SECRET"));
            }
        }
        over.store(true, Ordering::Relaxed);
    });
    assert_eq!(escapes, 0);
    assert!(good > 0 && naive > 0, "{good} good reads, {naive} escapes of the control");
    println!("{good} good reads, {naive} escapes of the control");
}
