//! Starts a child that shares this process's memory until it becomes another program: the cost does not grow with the heap
//! of whoever calls.

use std::ffi::{c_int, c_void};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

use super::raw::{number, syscall};
use super::steps::{self, CONTROL, FAILED, IMAGE, Left, SLOTS};

/// What a child is born with.
pub(crate) struct Birth<'a> {
    /// Namespaces of its own: `CLONE_NEW…`.
    pub(crate) namespaces: i32,
    /// Standard input, output and error.
    pub(crate) stdio: [BorrowedFd<'a>; 3],
    /// Its end of the control socket.
    pub(crate) control: BorrowedFd<'a>,
}

/// Enough for the calls that a child makes; its list of slots is the largest thing on it.
const STACK: usize = 64 * 1024;

enum Errand {
    Launcher { before: *mut u8, launcher: RawFd, image: RawFd },
    Steps { base: *mut u8 },
}

struct Child {
    stdio: [RawFd; 3],
    control: RawFd,
    errand: Errand,
}

/// Starts the launcher with an image, after a first list has been carried out.
pub(crate) fn launch(
    birth: &Birth<'_>,
    before: &mut [u64],
    launcher: BorrowedFd<'_>,
    image: BorrowedFd<'_>,
) -> io::Result<i32> {
    let before = before.as_mut_ptr().cast::<u8>();
    // SAFETY: an image of ours, exclusively borrowed; a fresh copy, so that it has not been relocated before.
    unsafe { steps::relocate(before) };
    give_birth(birth, Errand::Launcher { before, launcher: launcher.as_raw_fd(), image: image.as_raw_fd() })
}

/// Starts a child that carries out a list itself and then is the program.
pub(crate) fn spawn(birth: &Birth<'_>, image: &mut [u64]) -> io::Result<i32> {
    let base = image.as_mut_ptr().cast::<u8>();
    // SAFETY: an image of ours, exclusively borrowed; a fresh copy, so that it has not been relocated before.
    unsafe { steps::relocate(base) };
    give_birth(birth, Errand::Steps { base })
}

fn give_birth(birth: &Birth<'_>, errand: Errand) -> io::Result<i32> {
    let child = Child {
        stdio: birth.stdio.map(|descriptor| descriptor.as_raw_fd()),
        control: birth.control.as_raw_fd(),
        errand,
    };
    let mut stack: Vec<u128> = vec![0; STACK / size_of::<u128>()];
    let flags = birth.namespaces | libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: signals are blocked, so that no handler of this process runs in the child on shared memory. CLONE_VFORK keeps
    // this thread waiting until the child has become another program or ended, so `child` and `stack` outlive its use of
    // them, and nobody else touches either. The child calls nothing but raw system calls. The stack's end is its start.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        let top = stack.as_mut_ptr().add(stack.len()).cast::<c_void>();
        let started = libc::clone(begin, top, flags, (&raw const child).cast_mut().cast::<c_void>());
        let error = io::Error::last_os_error();
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        if started < 0 { Err(error) } else { Ok(started) }
    }
}

extern "C" fn begin(child: *mut c_void) -> c_int {
    // SAFETY: the parent passes a `Child` that lives until we are another program.
    let child = unsafe { &*child.cast::<Child>() };
    let dup = |from: RawFd, to: u64| {
        // SAFETY: moves descriptors within this process's own table.
        unsafe { syscall(number::DUP3, [u64::from(from.cast_unsigned()), to, 0, 0, 0, 0]) };
    };
    for (from, to) in child.stdio.iter().zip(0..) {
        dup(*from, to);
    }
    match child.errand {
        Errand::Launcher { before, launcher, image } => {
            // SAFETY: relocated by `launch`; the calls in it were chosen for this place.
            if let Left::Failed { step, errno } = unsafe { steps::run(before, 0, &mut [0; SLOTS]) } {
                dup(child.control, CONTROL);
                steps::tell(CONTROL, [FAILED, -2 - step as i32, errno, 0]);
                // SAFETY: ends this process alone.
                unsafe { syscall(number::EXIT_GROUP, [125, 0, 0, 0, 0, 0]) };
            }
            dup(child.control, CONTROL);
            dup(image, IMAGE);
            let name = c"bailiwick";
            let arguments = [name.as_ptr(), std::ptr::null()];
            let environment: [*const i8; 1] = [std::ptr::null()];
            // SAFETY: everything pointed to is alive; an empty path with AT_EMPTY_PATH means the descriptor.
            let failed = unsafe {
                syscall(
                    number::EXECVEAT,
                    [
                        u64::from(launcher.cast_unsigned()),
                        c"".as_ptr() as u64,
                        arguments.as_ptr() as u64,
                        environment.as_ptr() as u64,
                        0x1000,
                        0,
                    ],
                )
            };
            steps::tell(CONTROL, [FAILED, -1, failed.unsigned_abs() as i32, 0]);
        }
        Errand::Steps { base } => {
            let control = u64::from(child.control.cast_unsigned());
            // SAFETY: relocated by `spawn`; the calls in it were chosen for this place.
            if let Left::Failed { step, errno } = unsafe { steps::run(base, control, &mut [0; SLOTS]) } {
                steps::tell(control, [FAILED, step as i32, errno, 0]);
            }
        }
    }
    // SAFETY: ends this process alone, without running anything of the parent's.
    unsafe { syscall(number::EXIT_GROUP, [125, 0, 0, 0, 0, 0]) };
    125
}
