//! What a fence's plan opens to a fenced program is what it opens to the tools.

use fence::rooted::Area;
use fence::{Ground, Limits, Network, Wishes, draw};
use serde_json::json;
use tools::{file_read, file_write, grep_files, list_dir};

use crate::support::{Scratch, good, read};

fn wishes(scratch: &Scratch) -> Wishes {
    Wishes {
        workspace: Some(scratch.work.clone()),
        cwd: scratch.work.clone(),
        home: None,
        read: Vec::new(),
        write: Vec::new(),
        hide: vec![scratch.work.join("denied")],
        read_only: false,
        protect: true,
        lifted: Vec::new(),
        environment: Vec::new(),
        pass: Vec::new(),
        set: Vec::new(),
        network: Network::Off,
        limits: Limits {
            memory_mb: 512,
            wall_ms: None,
            cpu_s: None,
            processes: 16,
            open_files: 256,
            file_mb: 16,
            scratch_mb: 16,
            output_bytes: 1024,
        },
        execute_scratch: false,
    }
}

#[test]
fn the_tools_reach_what_the_plan_shows_and_no_more() {
    let scratch = Scratch::new();
    for name in ["plain", ".env", "denied/x", ".git/hooks/pre-commit", ".git/config", "src/a"] {
        scratch.put(name, "needle\n");
    }
    std::fs::write(scratch.outside.join("x"), "needle\n").unwrap();
    let plan = draw(&wishes(&scratch), &Ground).unwrap();
    let area = Area::of_plan(&plan).unwrap();
    let setting = scratch.setting(&area);
    for (path, reads, writes) in [
        ("plain", "", ""),
        ("src/new", "there is no", ""),
        (".env", "is hidden", "is hidden"),
        ("denied/x", "is hidden", "is hidden"),
        (".git/hooks/pre-commit", "", "is protected"),
        (".git/hooks/new", "there is no", "is protected"),
        (".git/config", "", "is protected"),
        (".claude/settings.json", "there is no", "is protected: making it needs an approval"),
        (".bailiwick.yaml", "there is no", "is protected"),
        ("../outside/x", "is outside", "is outside"),
        ("/usr/share/x", "there is no", "may be read but not changed"),
        ("/root/x", "is outside", "is outside"),
        ("/tmp/x", "is outside", "is outside"),
    ] {
        let got = file_read::run(&read(json!({"path": path})), &setting);
        assert!(got.ok == reads.is_empty() && got.stderr.contains(reads), "read {path}: {}", got.stderr);
        let got = file_write::run(&read(json!({"path": path, "content": "needle\n"})), &setting);
        assert!(got.ok == writes.is_empty() && got.stderr.contains(writes), "write {path}: {}", got.stderr);
    }
    let found = good(grep_files::run(&read(json!({"pattern": "needle"})), &setting));
    assert_eq!(found.stdout, "plain:1:needle\nsrc/a:1:needle\nsrc/new:1:needle\n");
    let listed = good(list_dir::run(&read(json!({"dir_path": ".", "depth": 1})), &setting));
    assert_eq!(listed.stdout, ".git/\nplain\nsrc/\n");
    // A call that may only read may not write.
    let plan = draw(&Wishes { read_only: true, ..wishes(&scratch) }, &Ground).unwrap();
    let area = Area::of_plan(&plan).unwrap();
    let got = file_write::run(&read(json!({"path": "plain", "content": ""})), &scratch.setting(&area));
    assert!(got.stderr.contains("may be read but not changed"), "{}", got.stderr);
}
