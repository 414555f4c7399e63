//! What it costs to run something for an agent: taking its output, leaving it running, and running it over the fence alone.

use std::ffi::OsString;
use std::io::Write;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use gate::fence::{Backend, Ground, Limits, Network, Order, Wishes, draw};
use tools::{Ask, Cancel, Capture, Ended, Job, SessionBounds, Sessions, Size, Start, Stream, run_captured};

/// What is drained.
const MUCH: u64 = 1 << 30;
const SESSIONS: usize = 200;
const RUNS: usize = 100;
const ROUNDS: usize = 5;

pub(crate) fn compare() -> Result<(), String> {
    let place = Place::make()?;
    println!();
    println!("Running for an agent");
    place.drain()?;
    place.sessions()?;
    place.spawn()
}

struct Place {
    directory: PathBuf,
}

#[expect(clippy::disallowed_methods, reason = "a benchmark starts what it measures and writes its input")]
impl Place {
    fn make() -> Result<Place, String> {
        let failed = |error: std::io::Error| error.to_string();
        let directory = std::env::temp_dir().join(format!("bailiwick-exec-bench-{}", std::process::id()));
        std::fs::create_dir_all(&directory).map_err(failed)?;
        let place = Place { directory };
        let mut file = std::fs::File::create(place.directory.join("much")).map_err(failed)?;
        let line = "all work and no play makes a dull line of text\n";
        let block = line.repeat(1 << 15);
        let mut written = 0;
        while written < MUCH {
            file.write_all(block.as_bytes()).map_err(failed)?;
            written += block.len() as u64;
        }
        file.set_len(MUCH).map_err(failed)?;
        Ok(place)
    }

    fn job(&self, program: &str, words: &[&str]) -> Result<Job, String> {
        let wishes = Wishes {
            workspace: Some(self.directory.clone()),
            cwd: self.directory.clone(),
            home: None,
            read: Vec::new(),
            write: Vec::new(),
            hide: Vec::new(),
            read_only: false,
            protect: true,
            lifted: Vec::new(),
            environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
            pass: Vec::new(),
            set: Vec::new(),
            network: Network::Off,
            limits: Limits {
                memory_mb: 1024,
                wall_ms: Some(120_000),
                cpu_s: None,
                processes: 64,
                open_files: 256,
                file_mb: 1024,
                scratch_mb: 64,
                output_bytes: 1 << 20,
            },
            execute_scratch: true,
        };
        let plan = draw(&wishes, &Ground).map_err(|impossible| impossible.to_string())?;
        let arguments: Vec<OsString> = words.iter().map(OsString::from).collect();
        Ok(Job { backend: Backend::Linux, plan, program: program.into(), arguments, bwrap: None })
    }

    fn drain(&self) -> Result<(), String> {
        let job = self.job("/bin/cat", &["cat", "much"])?;
        let mut times: [Vec<Duration>; 3] = Default::default();
        let before = memory("VmHWM:");
        for round in 0..=ROUNDS {
            for (way, times) in times.iter_mut().enumerate() {
                let start = Instant::now();
                match way {
                    0 => ended(
                        Command::new("sh").args(["-c", "cat much | wc -c"]).current_dir(&self.directory),
                    )?,
                    _ => {
                        let digest_bytes = if way == 1 { None } else { Some(u64::MAX) };
                        let capture = Capture { digest_bytes, ..Capture::default() };
                        let ran =
                            run_captured(&job, &capture, &Cancel::new()).map_err(|why| why.to_string())?;
                        if ran.end != Ended::Code(0) || ran.output.bytes(Stream::Out) != MUCH {
                            return Err(format!("{:?}, {} bytes", ran.end, ran.output.bytes(Stream::Out)));
                        }
                    }
                }
                if round > 0 {
                    times.push(start.elapsed());
                }
            }
        }
        let grown = memory("VmHWM:").saturating_sub(before);
        let speed = |times: &mut Vec<Duration>| MUCH as f64 / 1e6 / middle(times).as_secs_f64();
        let [bare, usual, digest] = &mut times;
        let bare = speed(bare);
        let goal = (bare / 2.0).min(500.0);
        println!("  1 GiB of output");
        println!("    {:<44} {bare:>9.0} MB/s", "cat | wc -c");
        println!("    {:<44} {:>9.0} MB/s   goal ≥ {goal:.0}", "run_captured", speed(usual));
        println!("    {:<44} {:>9.0} MB/s", "run_captured, with a digest of all of it", speed(digest));
        println!("    {:<44} {:>9.1} MB", "memory more at most, both ways", grown as f64 / 1e6);
        Ok(())
    }

    fn sessions(&self) -> Result<(), String> {
        let before = memory("VmRSS:");
        let sessions = Sessions::new(SessionBounds { most: SESSIONS, ..SessionBounds::default() })
            .map_err(|error| error.to_string())?;
        let ask = Ask { yield_time: Duration::ZERO, max_output_tokens: None };
        let start = Start { tty: Some(Size::default()), ask };
        let text = "head -c 300000 much; echo; echo ready; read -r x";
        let begun = Instant::now();
        let mut ids = Vec::new();
        for _ in 0..SESSIONS {
            let job = self.job("/bin/sh", &["sh", "-c", text])?;
            let said =
                sessions.start("bench", job, &start, &Cancel::new()).map_err(|error| error.to_string())?;
            ids.push(said.session.ok_or("it ended")?);
        }
        let started = begun.elapsed();
        let ready =
            |id: &&u64| sessions.screen("bench", **id).is_ok_and(|screen| screen.text.ends_with("ready"));
        for _ in 0..600 {
            if ids.iter().filter(ready).count() == SESSIONS {
                break;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        let count = ids.iter().filter(ready).count();
        let used = memory("VmRSS:").saturating_sub(before) as f64 / 1e6;
        println!("  {count} sessions alive, each with 300 KB that nobody asked for");
        println!("    {:<44} {used:>9.1} MB     goal ≤ 200", "our memory");
        let each = started.as_secs_f64() * 1000.0 / SESSIONS as f64;
        println!("    {:<44} {each:>9.2} ms", "to start one");
        Ok(())
    }

    fn spawn(&self) -> Result<(), String> {
        let job = self.job("/bin/true", &["true"])?;
        let nothing = std::fs::File::open("/dev/null").map_err(|error| error.to_string())?;
        let stream = nothing.as_fd();
        let mut times: [Vec<Duration>; 2] = Default::default();
        for round in 0..=RUNS {
            for (way, times) in times.iter_mut().enumerate() {
                let start = Instant::now();
                if way == 0 {
                    let order = Order {
                        plan: &job.plan,
                        program: &job.program,
                        arguments: &job.arguments,
                        streams: Some([stream, stream, stream]),
                        stands_in: false,
                        bwrap: None,
                        reins: None,
                        leave: gate::fence::Leave::given(),
                    };
                    gate::fence::run(job.backend, &order).map_err(|why| why.to_string())?;
                } else {
                    run_captured(&job, &Capture::default(), &Cancel::new()).map_err(|why| why.to_string())?;
                }
                if round > 0 {
                    times.push(start.elapsed());
                }
            }
        }
        let [fence, captured] = &mut times;
        let (fence, captured) = (middle(fence).as_secs_f64(), middle(captured).as_secs_f64());
        println!("  /bin/true");
        println!("    {:<44} {:>9.2} ms", "the fence alone", fence * 1000.0);
        println!("    {:<44} {:>9.2} ms {:>7.2} ×", "run_captured", captured * 1000.0, captured / fence);
        Ok(())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _left = std::fs::remove_dir_all(&self.directory);
    }
}

fn middle(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// A line of what the kernel knows about our memory, in bytes.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures itself")]
fn memory(line: &str) -> u64 {
    let status = std::fs::read_to_string(Path::new("/proc/self/status")).unwrap_or_default();
    let number = status
        .lines()
        .find_map(|text| text.strip_prefix(line)?.split_whitespace().next()?.parse::<u64>().ok());
    number.unwrap_or_default() * 1024
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
