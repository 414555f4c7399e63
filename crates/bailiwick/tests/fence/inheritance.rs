//! FNC-6: the child gets descriptors 0 to 2 and the listed environment, whatever its parent had.

use std::collections::BTreeSet;
use std::ffi::OsString;

use crate::everyday::{place, told};
use crate::runner::{Mode, Run, Who, probe, standing, together};
use crate::setting::executable;

const LISTED: &[&str] = &[
    "PATH",
    "HOME",
    "TERM",
    "LANG",
    "TZ",
    "USER",
    "LOGNAME",
    "SHELL",
    "TMPDIR",
    "PWD",
    "COLORTERM",
    "COLUMNS",
    "LINES",
];

#[test]
fn the_child_gets_three_descriptors_and_the_listed_environment() {
    let _together = together();
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move |below: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % below
    };
    let total: usize = std::env::var("FENCE_RUNS").ok().and_then(|text| text.parse().ok()).unwrap_or(200);
    for who in Who::possible() {
        let ground = place(who);
        let space = ground.root.join("work");
        std::fs::create_dir_all(&space).expect("a directory");
        std::fs::copy(probe(), space.join("probe")).expect("a copy of the probes");
        executable(&space.join("probe"), 0o755);
        ground.file("left-open", "outside\n");
        ground.give(who);
        let modes: Vec<Mode> = standing(&ground.root, who);
        for number in 0..total.div_ceil(Who::possible().len()) {
            let mode = modes[number % modes.len()];
            let count = 1 + random(12);
            let descriptors: BTreeSet<u64> =
                (0..count).map(|_| 3 + random(if number % 2 == 0 { 30 } else { 900 })).collect();
            let names: Vec<String> = (0..1 + random(12))
                .map(|_| {
                    let stem =
                        ["SECRET", "LD_X", "GIT_X", "npm_config_x", "PYTHONX", "_", "LCX", "HOMEX", "X"]
                            [random(9) as usize];
                    format!("{stem}{}", random(100_000))
                })
                .collect();
            let mut seen = Vec::new();
            for mode in [Mode::Bare, mode] {
                let mut run = Run::new(mode, who, &ground.root, &space);
                run.launcher = descriptors
                    .iter()
                    .map(|fd| {
                        OsString::from(format!(
                            "-{}{fd}:{}/left-open",
                            if fd % 2 == 0 { "o" } else { "r" },
                            ground.root.display()
                        ))
                    })
                    .collect();
                run.environment = names.iter().map(|name| (name.as_str(), "secret".to_owned())).collect();
                let outcome = run.run(&["./probe", "witness", "descriptors"]);
                assert_eq!(outcome.code(), 0, "{mode:?} {who:?}: {}", told(&outcome));
                seen.push(outcome.out());
            }
            for fd in &descriptors {
                assert!(seen[0].contains(&format!("fd {fd}\n")), "bare, {fd} is open: {}", seen[0]);
            }
            let fenced = &seen[1];
            let open: Vec<&str> = fenced.lines().filter(|line| line.starts_with("fd ")).collect();
            assert_eq!(open, ["fd 0", "fd 1", "fd 2"], "{mode:?} {who:?}");
            for variable in fenced.lines().filter_map(|line| line.strip_prefix("env ")) {
                let name = variable.split('=').next().unwrap_or_default();
                assert!(LISTED.contains(&name) || name.starts_with("LC_"), "{mode:?} {who:?}: {variable}");
            }
        }
    }
}
