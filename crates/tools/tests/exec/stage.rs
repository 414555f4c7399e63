//! A workspace for one test, and jobs in it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use fence::{Backend, Limits, Network, Wishes};
use tools::Job;

pub(crate) struct Stage {
    pub(crate) root: PathBuf,
}

impl Stage {
    pub(crate) fn new() -> Stage {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        // Below the build directory: a fence has a `/tmp` of its own.
        let root =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("exec-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&root).expect("a directory");
        Stage { root }
    }

    /// A program along the usual path, with arguments.
    pub(crate) fn job(&self, words: &[&str]) -> Job {
        let limits = Limits {
            memory_mb: 1024,
            wall_ms: Some(50_000),
            cpu_s: None,
            processes: 128,
            open_files: 1024,
            file_mb: 64,
            scratch_mb: 64,
            output_bytes: 1 << 20,
        };
        let wishes = Wishes {
            workspace: Some(self.root.clone()),
            cwd: self.root.clone(),
            home: None,
            read: Vec::new(),
            write: Vec::new(),
            hide: Vec::new(),
            read_only: false,
            protect: true,
            lifted: Vec::new(),
            environment: vec![
                ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
                ("LANG".into(), "C.UTF-8".into()),
            ],
            pass: Vec::new(),
            set: Vec::new(),
            network: Network::Off,
            limits,
            execute_scratch: true,
        };
        let plan = fence::draw(&wishes, &fence::Ground).expect("a plan");
        let program = ["/usr/local/bin", "/usr/bin", "/bin"]
            .iter()
            .map(|directory| Path::new(directory).join(words[0]))
            .find(|path| path.exists())
            .unwrap_or_else(|| panic!("{} is not installed", words[0]));
        let arguments = words.iter().map(OsString::from).collect();
        Job { backend: Backend::Auto, plan, program, arguments, bwrap: None }
    }

    pub(crate) fn shell(&self, text: &str) -> Job {
        self.job(&["sh", "-c", text])
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.root));
    }
}

/// Living processes with a word among their arguments, from the host's view.
pub(crate) fn processes(word: &str) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("/proc").flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let words = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let state = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let dead = state.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with(['Z', 'X']));
        if !dead && words.windows(word.len()).any(|window| window == word.as_bytes()) {
            found.push(pid);
        }
    }
    found
}

/// Waits until something holds, or says what was last seen.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Result<T, String>) -> T {
    let start = Instant::now();
    loop {
        match look() {
            Ok(found) => return found,
            Err(seen) => assert!(start.elapsed() < Duration::from_secs(40), "{what}: {seen}"),
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Memory of this process, in bytes.
pub(crate) fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("/proc");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("VmRSS");
    let kilobytes: u64 = line.split_whitespace().nth(1).expect("a number").parse().expect("a number");
    kilobytes * 1024
}
