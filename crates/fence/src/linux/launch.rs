//! From a list of steps to a running program: the launcher, its control socket, and what comes back over it.

use std::ffi::OsString;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::{MemfdFlags, SealFlags};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
};

use super::namespaces::{self, join};
use crate::leave::Cleared;
use crate::sys::clone::{Birth, launch, spawn};
use crate::sys::image::{Builder, Image};
use crate::sys::steps::{CONTROL, DESCRIPTOR, ENDED, FAILED, GO, IMAGE, Message, SIGNAL, STOPPED};
use crate::sys::{self, kernel};

/// The first process of a fence, and the socket to it. When this is dropped, everything in the fence ends.
#[derive(Debug)]
pub(crate) struct Launched {
    control: Option<OwnedFd>,
    child: i32,
    /// The lists that it carries out, one after the other.
    lists: Vec<Image>,
    birth: Image,
    reaped: bool,
}

/// What the first process says.
#[derive(Debug)]
pub(crate) enum Word {
    /// A step of the list failed.
    Failed { label: String, errno: i32 },
    /// A descriptor, with its mark.
    Descriptor(i32, OwnedFd),
    /// The program ended: its wait status.
    Ended(i32),
    /// The program was stopped.
    Stopped,
    /// Nothing more will come.
    Gone,
    /// Nothing for now.
    Nothing,
}

/// The launcher as a file that can be executed and not changed. It is made once.
fn launcher() -> io::Result<BorrowedFd<'static>> {
    static MADE: OnceLock<OwnedFd> = OnceLock::new();
    if let Some(made) = MADE.get() {
        return Ok(made.as_fd());
    }
    if sys::LAUNCHER.is_empty() {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "there is no launcher for this machine"));
    }
    let made = sealed("bailiwick-launcher", sys::LAUNCHER, true)?;
    Ok(MADE.get_or_init(|| made).as_fd())
}

/// A file in memory that nobody can change any more.
fn sealed(name: &str, bytes: &[u8], executable: bool) -> io::Result<OwnedFd> {
    let base = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let wanted = if executable { base | MemfdFlags::EXEC } else { base | MemfdFlags::NOEXEC_SEAL };
    // Kernels before 6.3 know neither flag.
    let file = rustix::fs::memfd_create(name, wanted).or_else(|_| rustix::fs::memfd_create(name, base))?;
    let mut rest = bytes;
    while !rest.is_empty() {
        let written = rustix::io::write(&file, rest)?;
        rest = rest.get(written..).unwrap_or_default();
    }
    rustix::fs::fcntl_add_seals(
        &file,
        SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL,
    )?;
    Ok(file)
}

/// What the child does before it is the launcher.
pub(crate) enum Way<'a> {
    /// It is born into new namespaces, and takes an identity in them.
    Namespaces { birth: Image },
    /// It becomes `bwrap`, which makes the namespaces and then starts the launcher.
    Bubblewrap { path: &'a Path, arguments: Vec<OsString>, doors: &'a [PathBuf] },
    /// Nothing.
    Plain,
}

/// Starts the first process, which carries out the image.
pub(crate) fn start(way: Way<'_>, image: Image, stdio: [BorrowedFd<'_>; 3]) -> io::Result<Launched> {
    let launcher = launcher()?;
    let list = sealed("bailiwick-steps", image.bytes(), false)?;
    let (ours, theirs) = rustix::net::socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
        None,
    )?;
    // Out of the way of the numbers that the child gives them.
    let high = |descriptor: BorrowedFd<'_>| rustix::io::fcntl_dupfd_cloexec(descriptor, 10);
    let theirs = high(theirs.as_fd())?;
    let list = high(list.as_fd())?;
    let [input, output, error] = stdio;
    let (input, output, error) = (high(input)?, high(output)?, high(error)?);
    rustix::io::ioctl_fionbio(&theirs, false)?;
    let birth = |namespaces: i32| Birth {
        namespaces,
        stdio: [input.as_fd(), output.as_fd(), error.as_fd()],
        control: theirs.as_fd(),
    };
    let (child, birth) = match way {
        Way::Namespaces { birth: before } => {
            let high_launcher = high(launcher)?;
            let flags = namespaces::FLAGS;
            let child = launch(&birth(flags), &mut before.words(), high_launcher.as_fd(), list.as_fd())?;
            (child, before)
        }
        Way::Plain => {
            let before = Builder::default().image().ok_or(io::ErrorKind::InvalidInput)?;
            let high_launcher = high(launcher)?;
            let child = launch(&birth(0), &mut before.words(), high_launcher.as_fd(), list.as_fd())?;
            (child, before)
        }
        Way::Bubblewrap { path, arguments, doors } => {
            // `bwrap` reads the launcher from where its descriptor stands, so this one is nobody else's.
            let own = high(sealed("bailiwick-launcher", sys::LAUNCHER, false)?.as_fd())?;
            rustix::fs::seek(&own, rustix::fs::SeekFrom::Start(0))?;
            let mut steps = Builder::default();
            join(&mut steps, doors);
            let moved = [(theirs.as_fd(), CONTROL), (list.as_fd(), IMAGE), (own.as_fd(), LAUNCHER)];
            for (from, to) in moved {
                let label = "hand a descriptor to bwrap";
                steps.step(label, libc::SYS_dup3, [from.as_raw_fd().into(), to.into(), 0.into()]);
            }
            steps.step(
                "close the rest",
                libc::SYS_close_range,
                [6.into(), u64::from(u32::MAX).into(), 0.into()],
            );
            let (program, arguments) = (steps.text(path), steps.texts(arguments));
            let environment = steps.texts(std::iter::empty::<OsString>());
            let all = [program.into(), arguments.into(), environment.into()];
            steps.step("run bwrap", libc::SYS_execve, all);
            let before = steps.image().ok_or(io::ErrorKind::InvalidInput)?;
            (spawn(&birth(0), &mut before.words())?, before)
        }
    };
    Ok(Launched { control: Some(ours), child, lists: vec![image], birth, reaped: false })
}

const LAUNCHER: u64 = super::bubblewrap::LAUNCHER as u64;

impl Launched {
    /// The control socket, to be polled.
    pub(crate) fn control(&self) -> Option<BorrowedFd<'_>> {
        self.control.as_ref().map(AsFd::as_fd)
    }

    /// The next word, without waiting.
    pub(crate) fn hear(&self) -> Word {
        let Some(control) = &self.control else { return Word::Gone };
        let mut bytes = [0u8; 16];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let got = rustix::net::recvmsg(
            control,
            &mut [io::IoSliceMut::new(&mut bytes)],
            &mut ancillary,
            RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT,
        );
        match got {
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => return Word::Nothing,
            Ok(received) if received.bytes == 16 => {}
            _ => return Word::Gone,
        }
        let mut message: Message = [0; 4];
        for (place, chunk) in message.iter_mut().zip(bytes.chunks_exact(4)) {
            let mut word = [0; 4];
            word.copy_from_slice(chunk);
            *place = i32::from_ne_bytes(word);
        }
        let [kind, first, second, third] = message;
        match kind {
            FAILED => {
                let label = match usize::try_from(first) {
                    Ok(step) => {
                        let list = usize::try_from(third).ok().and_then(|list| self.lists.get(list));
                        list.map_or_else(|| "go on".to_owned(), |list| list.label(step))
                    }
                    Err(_) => usize::try_from(-2 - first)
                        .map_or_else(|_| "start the launcher".to_owned(), |step| self.birth.label(step)),
                };
                Word::Failed { label, errno: second }
            }
            DESCRIPTOR => {
                let descriptor = ancillary.drain().find_map(|message| match message {
                    RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
                    _ => None,
                });
                descriptor.map_or(Word::Nothing, |descriptor| Word::Descriptor(first, descriptor))
            }
            ENDED => Word::Ended(first),
            STOPPED => Word::Stopped,
            _ => Word::Nothing,
        }
    }

    /// Hands over the list to go on with. A first process that has gone says so itself.
    pub(crate) fn go_on(&mut self, image: Image) -> io::Result<()> {
        let list = sealed("bailiwick-steps", image.bytes(), false)?;
        self.lists.push(image);
        let Some(control) = &self.control else { return Ok(()) };
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        let descriptors = [list.as_fd()];
        ancillary.push(SendAncillaryMessage::ScmRights(&descriptors));
        let message = [0u8; 16];
        let sent = rustix::net::sendmsg(
            control,
            &[io::IoSlice::new(&message)],
            &mut ancillary,
            SendFlags::NOSIGNAL | SendFlags::DONTWAIT,
        );
        match sent {
            Ok(_) | Err(rustix::io::Errno::PIPE | rustix::io::Errno::CONNRESET) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Lets the program be started.
    pub(crate) fn go(&self, _cleared: Cleared) {
        self.say([GO, 0, 0, 0]);
    }

    /// Sends a signal to the program, or to its whole job.
    pub(crate) fn signal(&self, signal: i32, job: bool) {
        self.say([SIGNAL, signal, i32::from(job), 0]);
    }

    fn say(&self, message: Message) {
        let mut bytes = Vec::with_capacity(16);
        for word in message {
            bytes.extend(word.to_ne_bytes());
        }
        if let Some(control) = &self.control {
            // A first process that is gone needs to hear nothing.
            let _gone = rustix::net::send(control, &bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
        }
    }

    /// Ends everything in the fence and waits until it has ended. The first process's own status.
    pub(crate) fn end(&mut self) -> io::Result<i32> {
        self.control = None;
        if self.reaped {
            return Ok(0);
        }
        self.reaped = true;
        kernel::reap(self.child)
    }
}

impl Drop for Launched {
    fn drop(&mut self) {
        let _status = self.end();
    }
}
