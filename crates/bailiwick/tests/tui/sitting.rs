//! The binary on a terminal of its own, and what that terminal shows.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};

use crate::scripted::Server;

/// How long anything may take on a machine that does much else.
const PATIENCE: Duration = Duration::from_secs(40);

/// Somebody at a terminal.
pub(crate) struct Sitting {
    home: PathBuf,
    terminal: OwnedFd,
    other_end: OwnedFd,
    before: Termios,
    child: Child,
    screen: Arc<Mutex<vt100::Parser>>,
}

#[expect(clippy::disallowed_methods, reason = "a test has files, programs and a clock")]
impl Sitting {
    /// Starts the binary with this model.
    pub(crate) fn start(server: &Server, width: u16, height: u16) -> Sitting {
        let home = home();
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&terminal).expect("it is ours");
        unlockpt(&terminal).expect("it is open");
        let name = ptsname(&terminal, Vec::new()).expect("its name");
        let other_end =
            rustix::fs::open(name.as_c_str(), OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).expect("its end");
        tcsetwinsize(&terminal, size(width, height)).expect("its size");
        let before = tcgetattr(&other_end).expect("its modes");
        let end = || Stdio::from(other_end.try_clone().expect("a descriptor"));
        // `setsid -c` makes it the controlling terminal.
        let child = command(&home, server, &["-c"])
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .spawn()
            .expect("the binary");
        let screen = Arc::new(Mutex::new(vt100::Parser::new(cells(height), cells(width), 0)));
        let mut reader = File::from(terminal.try_clone().expect("a descriptor"));
        let shown = Arc::clone(&screen);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count) = reader.read(&mut bytes) {
                shown.lock().expect("the screen").process(&bytes[..count]);
            }
        });
        Sitting { home, terminal, other_end, before, child, screen }
    }

    /// The binary where there is no terminal.
    pub(crate) fn without_terminal(server: &Server) -> (Option<i32>, String) {
        let home = home();
        let done = command(&home, server, &["-w"]).stdin(Stdio::null()).output().expect("the binary");
        let _kept = std::fs::remove_dir_all(&home);
        (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
    }

    pub(crate) fn type_text(&self, text: &str) {
        let mut terminal = File::from(self.terminal.try_clone().expect("a descriptor"));
        terminal.write_all(text.as_bytes()).expect("keys");
    }

    pub(crate) fn resize(&self, width: u16, height: u16) {
        self.screen.lock().expect("the screen").screen_mut().set_size(cells(height), cells(width));
        tcsetwinsize(&self.terminal, size(width, height)).expect("its size");
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let id = Pid::from_child(&self.child);
        rustix::process::kill_process(id, signal).expect("the process");
    }

    /// Long enough for keys to count.
    pub(crate) fn pause(&self) {
        self.pause_for(700);
    }

    pub(crate) fn pause_for(&self, ms: u64) {
        std::thread::sleep(Duration::from_millis(ms));
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        self.home.join("work").join(name).exists()
    }

    /// Waits until a text is in sight.
    pub(crate) fn until(&mut self, wanted: &str) {
        self.wait_for(&format!("`{wanted}` in sight"), |shown| shown.contains(wanted));
    }

    /// Waits until it is not.
    pub(crate) fn until_gone(&mut self, unwanted: &str) {
        self.wait_for(&format!("`{unwanted}` out of sight"), |shown| !shown.contains(unwanted));
    }

    /// Waits until the process is stopped.
    pub(crate) fn until_stopped(&self) {
        let start = Instant::now();
        let state = format!("/proc/{}/stat", self.child.id());
        while !std::fs::read_to_string(&state).expect("its state").contains(") T ") {
            assert!(start.elapsed() < PATIENCE, "it does not stop");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn wait_for(&mut self, what: &str, fits: impl Fn(&str) -> bool) {
        let start = Instant::now();
        loop {
            let shown = self.shown();
            if fits(&shown) {
                return;
            }
            assert!(start.elapsed() < PATIENCE, "waited in vain for {what}:\n{shown}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn shown(&self) -> String {
        self.screen.lock().expect("the screen").screen().contents()
    }

    /// The exit code.
    pub(crate) fn ended(&mut self) -> Option<i32> {
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait().expect("the process") {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("it did not end:\n{}", self.shown());
    }

    /// The terminal is as it was: its modes, the ordinary screen, the cursor, no mouse, no bracketed paste.
    pub(crate) fn assert_given_back(&self) {
        let start = Instant::now();
        loop {
            let now = tcgetattr(&self.other_end).expect("its modes");
            let modes = |modes: &Termios| {
                (modes.input_modes, modes.output_modes, modes.control_modes, modes.local_modes)
            };
            let screen = self.screen.lock().expect("the screen");
            let screen = screen.screen();
            let plain = !screen.alternate_screen()
                && !screen.hide_cursor()
                && !screen.bracketed_paste()
                && screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None;
            if modes(&now) == modes(&self.before) && plain {
                return;
            }
            assert!(start.elapsed() < Duration::from_secs(10), "the terminal is not as it was");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Sitting {
    fn drop(&mut self) {
        let _over = self.child.kill();
        let _over = self.child.wait();
        let _kept = std::fs::remove_dir_all(&self.home);
    }
}

#[expect(clippy::disallowed_methods, reason = "a test starts programs")]
fn command(home: &Path, server: &Server, how: &[&str]) -> Command {
    let mut command = Command::new("setsid");
    command
        .args(how)
        .arg(env!("CARGO_BIN_EXE_bailiwick"))
        .args(["tui", "--provider", server.protocol.name(), "--model", "scripted", "--base-url"])
        .arg(server.base_url())
        .current_dir(home.join("work"))
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", home)
        .env("USER", "tester")
        .env("TERM", "xterm-256color");
    command
}

#[expect(clippy::disallowed_methods, reason = "a test has files")]
fn home() -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("tui-{}-{number}", std::process::id()));
    let _left_over = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(path.join("work/.git")).expect("a workspace");
    std::fs::write(path.join("work/notes.txt"), "notes\n").expect("a file");
    path
}

const fn size(width: u16, height: u16) -> Winsize {
    Winsize { ws_row: height, ws_col: width, ws_xpixel: 0, ws_ypixel: 0 }
}

fn cells(count: u16) -> std::num::NonZero<u16> {
    std::num::NonZero::new(count).expect("a size")
}
