//! Answers by a program of the user's: the question as JSON on its input, one JSON object on its output, and an end by the
//! deadline, if need be by force.
//!
//! The program gets none of this process's environment but what it is given here, and it runs outside the workspace. Whatever
//! it does that is not one well-formed answer is a denial.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use serde::Deserialize;

use crate::asked::{AskId, Asked};
use crate::outcome::{Answer, Decision};
use crate::provider::{Provider, Reply, Wait};

/// The longest answer that is read.
const MAX_ANSWER: usize = 64 * 1024;
/// How long at most one look at the program takes.
const SLICE: Duration = Duration::from_millis(100);

/// Variables that such a program may be given of the user's environment: enough to show a window or to send a message.
pub const PASSED_ON: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LC_ALL",
    "TZ",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
];

/// A program that answers.
#[derive(Debug)]
pub struct Program {
    words: Vec<String>,
    environment: Vec<(OsString, OsString)>,
    patience: Duration,
}

impl Program {
    /// Asks this program (by its whole path, with its arguments), for at most this long. Of `environment` it gets only
    /// [`PASSED_ON`].
    #[must_use]
    pub fn new(
        words: Vec<String>,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
        patience: Duration,
    ) -> Self {
        let passed = |name: &OsString| PASSED_ON.iter().any(|known| name == known);
        let environment = environment.into_iter().filter(|(name, _)| passed(name)).collect();
        Program { words, environment, patience }
    }
}

impl Provider for Program {
    fn name(&self) -> &'static str {
        "command"
    }

    fn ask(&self, asked: &Arc<Asked>, wait: &Wait<'_>) -> Reply {
        let Some((program, arguments)) = self.words.split_first() else { return Reply::Pass };
        if !program.starts_with('/') {
            return Reply::Failed("the program is not named by its whole path".into());
        }
        let question = format!("{}\n", asked.to_json(wait.expires_ms()));
        #[expect(
            clippy::disallowed_methods,
            reason = "the one program that a user's configuration names for this"
        )]
        let started = std::process::Command::new(program)
            .args(arguments)
            .env_clear()
            .envs(self.environment.iter().cloned())
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn();
        let mut running = match started {
            Ok(child) => Running(child),
            Err(error) => return Reply::Failed(format!("`{program}` could not be started: {error}")),
        };
        let end = wait.deadline.min(wait.coordinator.clock().now().saturating_add(self.patience));
        let left = || end.saturating_sub(wait.coordinator.clock().now());
        match running.talk(question.as_bytes(), &|| if wait.is_over() { Duration::ZERO } else { left() }) {
            Ok(output) => match read(&output, asked) {
                Ok(answer) => Reply::Answer(answer),
                Err(why) => Reply::Failed(why),
            },
            Err(why) => Reply::Failed(why),
        }
    }
}

/// What the program may answer. An unknown key, or one that stands there twice, is no answer.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    decision: String,
    #[serde(rename = "confirmationId")]
    id: Option<String>,
    approval_key: Option<String>,
    typed: Option<String>,
    note: Option<String>,
    by: Option<String>,
}

fn read(output: &[u8], asked: &Asked) -> Result<Answer, String> {
    let written: Written = serde_json::from_slice(output)
        .map_err(|_| "its answer is not the JSON object that is wanted".to_owned())?;
    let decision =
        Decision::from_name(&written.decision).ok_or_else(|| "its `decision` is not known".to_owned())?;
    if written.id.is_some_and(|id| AskId::from_hex(&id) != Some(asked.id)) {
        return Err("its answer is to another question".into());
    }
    if written.approval_key.is_some_and(|key| key != asked.key.as_str()) {
        return Err("its answer is to another call".into());
    }
    let by = written.by.map_or_else(|| "command".to_owned(), |by| format!("command ({by})"));
    let mut answer = Answer::new(decision, &by).to(&asked.key);
    answer.typed = written.typed;
    Ok(match written.note {
        Some(note) => answer.noting(&note.chars().take(500).collect::<String>()),
        None => answer,
    })
}

/// A program that is ended with everything that it started, whatever happens.
struct Running(Child);

impl Running {
    /// Writes the question and reads the answer, both at once, until the program has ended.
    fn talk(&mut self, question: &[u8], left: &dyn Fn() -> Duration) -> Result<Vec<u8>, String> {
        let broken = |error: io::Error| format!("talking to it failed: {error}");
        let (Some(input), Some(mut output)) = (self.0.stdin.take(), self.0.stdout.take()) else {
            return Err("it has no input or output".into());
        };
        for stream in [input.as_fd(), output.as_fd()] {
            rustix::io::ioctl_fionbio(stream, true).map_err(|error| broken(error.into()))?;
        }
        let mut unsaid = question;
        let mut answer = Vec::new();
        let mut input = Some(input);
        loop {
            let patience = left();
            if patience.is_zero() {
                return Err("it did not answer in time".into());
            }
            let mut streams = vec![PollFd::new(&output, PollFlags::IN)];
            if let Some(input) = &input {
                streams.push(PollFd::new(input, PollFlags::OUT));
            }
            wait_for(&mut streams, patience).map_err(|error| broken(error.into()))?;
            if let Some(stream) = &mut input {
                match stream.write(unsaid) {
                    Ok(count) => unsaid = unsaid.get(count..).unwrap_or_default(),
                    Err(error) if again(&error) => {}
                    // It need not read its question.
                    Err(_) => unsaid = &[],
                }
            }
            if unsaid.is_empty() {
                // It sees the end of its input.
                input = None;
            }
            let mut piece = [0; 4096];
            match output.read(&mut piece) {
                Ok(0) => break,
                Ok(count) => answer.extend_from_slice(piece.get(..count).unwrap_or_default()),
                Err(error) if again(&error) => {}
                Err(error) => return Err(broken(error)),
            }
            if answer.len() > MAX_ANSWER {
                return Err(format!("its answer is longer than {MAX_ANSWER} bytes"));
            }
        }
        self.end(left)?;
        Ok(answer)
    }

    /// Waits for its good end, but leaves it to be collected: until then its number is its own, and its group's.
    fn end(&mut self, left: &dyn Fn() -> Duration) -> Result<(), String> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let id = pid(&self.0).ok_or("it has no number")?;
        loop {
            match rustix::process::waitid(WaitId::Pid(id), options) {
                Ok(Some(status)) => {
                    return match (status.exit_status(), status.terminating_signal()) {
                        (Some(0), _) => Ok(()),
                        (Some(code), _) => Err(format!("it ended with code {code}")),
                        (None, signal) => {
                            Err(format!("it was ended by signal {}", signal.unwrap_or_default()))
                        }
                    };
                }
                Ok(None) if left().is_zero() => return Err("it did not end in time".into()),
                Ok(None) | Err(Errno::INTR) => std::thread::sleep(Duration::from_millis(2)),
                Err(error) => return Err(format!("its end could not be waited for: {error}")),
            }
        }
    }
}

fn pid(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

impl Drop for Running {
    fn drop(&mut self) {
        // It leads a group of its own, so that what it started goes with it.
        if let Some(group) = pid(&self.0) {
            let _gone = rustix::process::kill_process_group(group, Signal::KILL);
        }
        let _reaped = self.0.wait();
    }
}

fn again(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// Waits until one of the streams has something to say, for a slice of the time that is left.
fn wait_for(streams: &mut [PollFd<'_>], patience: Duration) -> Result<(), Errno> {
    let slice = patience.min(SLICE);
    let timeout = Timespec { tv_sec: 0, tv_nsec: slice.subsec_nanos().into() };
    match rustix::event::poll(streams, Some(&timeout)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error),
    }
}
