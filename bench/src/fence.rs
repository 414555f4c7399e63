//! What the fence costs: whole commands and library calls, each against the same thing bare and against `bwrap`, interleaved
//! in one loop.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use gate::fence::{Backend, Ground, Limits, Network, Order, Plan, Wishes, draw};

const RUNS: usize = 60;
const BIG: usize = 1 << 30;

/// A way to run something, and how long each run took.
struct Row<'a> {
    name: String,
    run: Box<dyn FnMut() -> Result<(), String> + 'a>,
    times: Vec<Duration>,
    goal: &'static str,
}

pub(crate) fn compare() -> Result<(), String> {
    let place = Place::make()?;
    println!();
    println!("The fence: median of interleaved runs, as a ratio to the same thing bare");
    table("/bin/true", RUNS, place.commands(&["/bin/true"])?)?;
    table("git status, 3,000 files", RUNS / 2, place.commands(&["git", "status"])?)?;
    table("python3 -c pass", RUNS / 2, place.commands(&["python3", "-c", "pass"])?)?;
    table("cargo build, a small crate", 5, place.builds()?)?;
    table("/bin/true from a library", RUNS, place.library()?)?;
    let heap = vec![1u8; BIG];
    table("/bin/true from a library with a heap of 1 GiB", RUNS / 2, place.library()?)?;
    drop(std::hint::black_box(heap));
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
fn table(title: &str, runs: usize, mut rows: Vec<Row<'_>>) -> Result<(), String> {
    for round in 0..=runs {
        for row in &mut rows {
            let start = Instant::now();
            (row.run)().map_err(|why| format!("{title}, {}: {why}", row.name))?;
            // The first round warms caches.
            if round > 0 {
                row.times.push(start.elapsed());
            }
        }
    }
    let median = |row: &mut Row<'_>| {
        row.times.sort_unstable();
        row.times.get(row.times.len() / 2).copied().unwrap_or_default().as_secs_f64() * 1000.0
    };
    let bare = rows.first_mut().map_or(1.0, median);
    println!("  {title}");
    for row in &mut rows {
        let time = median(row);
        println!("    {:<44} {time:>9.2} ms {:>7.2} × {}", row.name, time / bare, row.goal);
    }
    Ok(())
}

/// A workspace to measure in.
struct Place {
    directory: PathBuf,
    binary: PathBuf,
    landlock: PathBuf,
}

#[expect(clippy::disallowed_methods, reason = "a benchmark starts what it measures and writes its input")]
impl Place {
    fn make() -> Result<Place, String> {
        let failed = |error: std::io::Error| error.to_string();
        let binary = std::env::current_exe().map_err(failed)?.with_file_name("bailiwick");
        let directory = std::env::temp_dir().join(format!("bailiwick-fence-bench-{}", std::process::id()));
        let sources = directory.join("files");
        for index in 0..100 {
            let part = sources.join(format!("part{index}"));
            std::fs::create_dir_all(&part).map_err(failed)?;
            for file in 0..30 {
                std::fs::write(part.join(format!("file{file}.txt")), "a line\n".repeat(20))
                    .map_err(failed)?;
            }
        }
        let crate_directory = directory.join("small");
        std::fs::create_dir_all(crate_directory.join("src")).map_err(failed)?;
        let manifest = "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";
        std::fs::write(crate_directory.join("Cargo.toml"), manifest).map_err(failed)?;
        let functions: String = (0..300)
            .map(|index| format!("pub fn f{index}(x: u64) -> String {{ format!(\"{{}}\", x + {index}) }}\n"))
            .collect();
        std::fs::write(crate_directory.join("src/lib.rs"), functions).map_err(failed)?;
        let landlock = directory.with_extension("yaml");
        let settings = "profile: dev\nsandbox: {mode: landlock, protect: false}\n";
        std::fs::write(&landlock, settings).map_err(failed)?;
        let place = Place { directory, binary, landlock };
        for words in [
            &["init", "-q", "."][..],
            &["add", "-A"],
            &["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "files"],
        ] {
            place.quiet("git", words)?;
        }
        // What was written in the same second as the index is read again every time.
        std::thread::sleep(Duration::from_millis(1100));
        place.quiet("git", &["status"])?;
        Ok(place)
    }

    fn quiet(&self, program: &str, words: &[&str]) -> Result<(), String> {
        ended(Command::new(program).args(words).current_dir(&self.directory))
    }

    fn row<'a>(&'a self, name: &str, words: Vec<OsString>, goal: &'static str) -> Row<'a> {
        let run = move || match words.split_first() {
            Some((program, rest)) => ended(Command::new(program).args(rest).current_dir(&self.directory)),
            None => Ok(()),
        };
        Row { name: name.into(), run: Box::new(run), times: Vec::new(), goal }
    }

    fn commands<'a>(&'a self, words: &[&str]) -> Result<Vec<Row<'a>>, String> {
        let with = |before: &[OsString]| -> Vec<OsString> {
            before.iter().cloned().chain(words.iter().map(OsString::from)).collect()
        };
        let binary = self.binary.clone().into_os_string();
        let status = words.first() == Some(&"git");
        let exec: Vec<OsString> = vec![binary.clone(), "exec".into(), "--".into()];
        let alone: Vec<OsString> =
            vec![binary, "exec".into(), "--config".into(), self.landlock.clone().into(), "--".into()];
        Ok(vec![
            self.row("bare", with(&[]), ""),
            self.row("bwrap, comparable flags", with(&self.bwrap()), ""),
            self.row(
                "exec, full fence",
                with(&exec),
                if status { "goal ≤ 1.5" } else { "goal ≤ 0.75 × bwrap" },
            ),
            self.row("exec, Landlock and seccomp", with(&alone), if status { "" } else { "goal ≤ 2.6" }),
        ])
    }

    fn bwrap(&self) -> Vec<OsString> {
        let directory = self.directory.display().to_string();
        let words = format!(
            "bwrap --unshare-all --die-with-parent --new-session --cap-drop ALL --ro-bind /usr /usr --symlink usr/bin /bin \
             --symlink usr/lib /lib --symlink usr/lib64 /lib64 --symlink usr/sbin /sbin --ro-bind /etc /etc --ro-bind /opt /opt \
             --proc /proc --dev /dev --tmpfs /tmp --tmpfs /var/tmp --tmpfs /run --tmpfs /root --ro-bind-try /root/.cargo /root/.cargo \
             --ro-bind-try /root/.rustup /root/.rustup --ro-bind-try /root/.pyenv /root/.pyenv --bind {directory} {directory} \
             --ro-bind {directory}/.git/hooks {directory}/.git/hooks --ro-bind {directory}/.git/config {directory}/.git/config \
             --chdir {directory} --"
        );
        words.split_whitespace().map(OsString::from).collect()
    }

    fn builds(&self) -> Result<Vec<Row<'_>>, String> {
        let row = |name: &str, before: Vec<OsString>, goal: &'static str| {
            let build = ["cargo", "build", "-q", "--offline", "--manifest-path", "small/Cargo.toml"];
            let words: Vec<OsString> = before.into_iter().chain(build.map(OsString::from)).collect();
            let mut row = self.row(name, words, goal);
            let mut build = row.run;
            row.run = Box::new(move || {
                let built = self.directory.join("small/target");
                if built.exists() {
                    std::fs::remove_dir_all(built).map_err(|error| error.to_string())?;
                }
                build()
            });
            row
        };
        let exec = vec![self.binary.clone().into_os_string(), "exec".into(), "--".into()];
        Ok(vec![row("bare", Vec::new(), ""), row("exec, full fence", exec, "goal ≤ 1.05")])
    }

    fn library(&self) -> Result<Vec<Row<'_>>, String> {
        let fenced =
            |name: &str, backend: Backend, protect: bool, goal: &'static str| -> Result<Row<'_>, String> {
                let plan = self.plan(protect)?;
                let arguments = [OsString::from("true")];
                let run = move || {
                    let order = Order {
                        plan: &plan,
                        program: Path::new("/bin/true"),
                        arguments: &arguments,
                        streams: None,
                        stands_in: false,
                        bwrap: None,
                        reins: None,
                        leave: gate::fence::Leave::given(),
                    };
                    gate::fence::run(backend, &order).map(drop).map_err(|refusal| refusal.to_string())
                };
                Ok(Row { name: name.into(), run: Box::new(run), times: Vec::new(), goal })
            };
        Ok(vec![
            self.row("bare", vec!["/bin/true".into()], ""),
            fenced("full fence", Backend::Linux, true, "goal ≤ 4.5")?,
            fenced("Landlock and seccomp", Backend::Landlock, false, "goal ≤ 1.25")?,
        ])
    }

    fn plan(&self, protect: bool) -> Result<Plan, String> {
        let wishes = Wishes {
            workspace: Some(self.directory.clone()),
            cwd: self.directory.clone(),
            home: std::env::var_os("HOME").map(PathBuf::from),
            read: Vec::new(),
            write: Vec::new(),
            hide: Vec::new(),
            read_only: false,
            protect,
            lifted: Vec::new(),
            environment: std::env::vars_os().collect(),
            pass: Vec::new(),
            set: Vec::new(),
            network: Network::Off,
            limits: Limits {
                memory_mb: 4096,
                wall_ms: Some(60_000),
                cpu_s: None,
                processes: 512,
                open_files: 4096,
                file_mb: 1024,
                scratch_mb: 512,
                output_bytes: 1 << 20,
            },
            execute_scratch: true,
        };
        draw(&wishes, &Ground).map_err(|impossible| impossible.to_string())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _left = std::fs::remove_dir_all(&self.directory);
        let _left = std::fs::remove_file(&self.landlock);
    }
}

fn ended(command: &mut Command) -> Result<(), String> {
    let status = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .map_err(|error| error.to_string())?;
    if status.success() { Ok(()) } else { Err(format!("it ended with {status}")) }
}
