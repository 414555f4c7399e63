//! The first process, once the program runs: reaps orphans, passes signals on, tells the supervisor how the program ended,
//! and ends with the supervisor. When it ends, the kernel ends everything else in its process namespace; where there is
//! none, it ends its descendants itself.

use crate::exit;
use crate::raw::{number, syscall};
use crate::steps::{CONTROL, ENDED, Head, Message, SIGNAL, STOPPED, tell};

const SIGKILL: u64 = 9;
const SIGCHLD: u64 = 17;
/// WNOHANG | WUNTRACED | __WALL
const WAIT: u64 = 1 | 2 | 0x4000_0000;

/// Stays until the program or the supervisor has ended.
pub(crate) fn stay(program: i64, base: *mut u8) -> ! {
    let children: u64 = 1 << (SIGCHLD - 1);
    // Everything is blocked: nothing that the program could send makes this process do anything but wait.
    let all: u64 = !0;
    // SAFETY: the masks live during the calls; eight bytes is the kernel's size for them. SFD_CLOEXEC is 0o2000000.
    let signals = unsafe {
        syscall(number::RT_SIGPROCMASK, [2, (&raw const all) as u64, 0, 8, 0, 0]);
        syscall(number::SIGNALFD4, [!0, (&raw const children) as u64, 8, 0o2_000_000, 0, 0])
    };
    if signals < 0 {
        exit(125);
    }
    close_all_but(CONTROL, signals as u64);
    loop {
        reap(program);
        // POLLIN on both; POLLHUP and POLLERR come by themselves. The layout is `struct pollfd` twice.
        let mut watched: [u32; 4] = [CONTROL as u32, 1, signals as u32, 1];
        // SAFETY: the array lives during the call.
        let ready = unsafe { syscall(number::PPOLL, [watched.as_mut_ptr() as u64, 2, 0, 0, 8, 0]) };
        if ready < 0 {
            continue;
        }
        if watched[3] >> 16 != 0 {
            let mut taken = [0u64; 16];
            // SAFETY: 128 bytes hold one `struct signalfd_siginfo`.
            unsafe { syscall(number::READ, [signals as u64, taken.as_mut_ptr() as u64, 128, 0, 0, 0]) };
        }
        if watched[1] >> 16 != 0 {
            let mut message: Message = [0; 4];
            // SAFETY: sixteen bytes for the message. MSG_DONTWAIT.
            let got = unsafe {
                syscall(number::RECVFROM, [CONTROL, message.as_mut_ptr() as u64, 16, 0x40, 0, 0])
            };
            match got {
                16 if message[0] == SIGNAL => {
                    let to = if message[2] == 1 { -program } else { program };
                    // SAFETY: sends a signal.
                    unsafe { syscall(number::KILL, [to as u64, message[1] as u64, 0, 0, 0, 0]) };
                }
                // EAGAIN, EINTR: nothing was there after all.
                -11 | -4 => {}
                // The supervisor is gone.
                _ => {
                    stop_all();
                    // SAFETY: the image that the list was in, which is ours for good.
                    unsafe { move_away(base) };
                    end()
                }
            }
        }
    }
}

fn reap(program: i64) {
    loop {
        let mut status: i32 = 0;
        // SAFETY: the status lives during the call.
        let who = unsafe { syscall(number::WAIT4, [!0, (&raw mut status) as u64, WAIT, 0, 0, 0]) };
        if who <= 0 {
            return;
        }
        let stopped = status & 0xff == 0x7f;
        if who == program && stopped {
            tell(CONTROL, [STOPPED, (status >> 8) & 0xff, 0, 0]);
        } else if who == program {
            // Whoever hears of it may rely on nothing being left.
            stop_all();
            tell(CONTROL, [ENDED, status, 0, 0]);
            exit(0);
        }
    }
}

/// Ends everything else, so that nothing is made any more. Without a process namespace that is done one by one.
fn stop_all() {
    // SAFETY: sends a signal to everybody in the namespace but this process; waits.
    unsafe {
        if syscall(number::GETPID, [0; 6]) == 1 {
            syscall(number::KILL, [(-1i64) as u64, SIGKILL, 0, 0, 0, 0]);
            let mut status: i32 = 0;
            while syscall(number::WAIT4, [!0, (&raw mut status) as u64, 0x4000_0000, 0, 0, 0]) > 0 {}
        } else {
            end_descendants();
        }
    }
}

/// What the supervisor would have done at the end: protected names that were made are moved away. This process sees only what
/// the program saw, so it can be led nowhere else.
///
/// # Safety
/// `base` is a relocated image.
unsafe fn move_away(base: *mut u8) {
    // SAFETY: the builder made the table, of pairs of addresses of C strings in the image.
    unsafe {
        let head = &*base.cast::<Head>();
        let pairs = base.add(head.moved as usize).cast::<[u64; 2]>();
        for index in 0..head.moved_count as usize {
            let [from, to] = *pairs.add(index);
            let mut last = to as *mut u8;
            while *last.add(1) != 0 {
                last = last.add(1);
            }
            // AT_FDCWD twice, RENAME_NOREPLACE. EEXIST is 17.
            let here = (-100i64) as u64;
            while syscall(number::RENAMEAT2, [here, from, here, to, 1, 0]) == -17 && *last < b'9' {
                *last += 1;
            }
        }
    }
}

/// Ends everything, and itself.
fn end() -> ! {
    // SAFETY: asks for a number; sends signals; waits.
    unsafe {
        if syscall(number::GETPID, [0; 6]) != 1 {
            end_descendants();
        }
    }
    exit(0)
}

/// Without a process namespace: this process adopts every orphan below it, so what is its child is all that is left of the
/// program. New ones may come while old ones go; each round ends those that are there, and a child that was killed has no
/// further children. Rounds are bounded so that a fork bomb cannot keep us here: the supervisor's own sweep follows.
fn end_descendants() {
    for _ in 0..10_000 {
        let found = kill_children();
        loop {
            let mut status: i32 = 0;
            // SAFETY: as in `reap`. __WALL alone where somebody was killed: it will end soon.
            let flags = 0x4000_0000 | u64::from(!found);
            let who = unsafe { syscall(number::WAIT4, [!0, (&raw mut status) as u64, flags, 0, 0, 0]) };
            if who <= 0 {
                break;
            }
            if found {
                break;
            }
        }
        if !found {
            return;
        }
    }
}

/// Kills every child that the kernel lists. Says whether there was one.
fn kill_children() -> bool {
    let mut text = [0u8; 4096];
    // SAFETY: the path is a literal that ends in NUL; the buffer lives during the calls. AT_FDCWD is -100.
    let length = unsafe {
        let path = c"/proc/thread-self/children";
        let file = syscall(number::OPENAT, [(-100i64) as u64, path.as_ptr() as u64, 0, 0, 0, 0]);
        if file < 0 {
            return false;
        }
        let length = syscall(number::READ, [file as u64, text.as_mut_ptr() as u64, 4096, 0, 0, 0]);
        syscall(number::CLOSE, [file as u64, 0, 0, 0, 0, 0]);
        length
    };
    let mut child: u64 = 0;
    let mut found = false;
    let mut at = 0;
    while at < length.max(0) as usize && at < text.len() {
        let byte = text[at];
        if byte.is_ascii_digit() {
            child = child.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
        } else if child != 0 {
            // SAFETY: sends a signal to a child of ours.
            unsafe { syscall(number::KILL, [child, SIGKILL, 0, 0, 0, 0]) };
            found = true;
            child = 0;
        }
        at += 1;
    }
    found
}

fn close_all_but(one: u64, other: u64) {
    let (low, high) = if one < other { (one, other) } else { (other, one) };
    // SAFETY: closes descriptors that nobody here uses.
    unsafe {
        if low > 0 {
            syscall(number::CLOSE_RANGE, [0, low - 1, 0, 0, 0, 0]);
        }
        if high > low + 1 {
            syscall(number::CLOSE_RANGE, [low + 1, high - 1, 0, 0, 0, 0]);
        }
        syscall(number::CLOSE_RANGE, [high + 1, u64::from(u32::MAX), 0, 0, 0, 0]);
    }
}
