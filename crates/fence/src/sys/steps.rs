//! What a child does between its birth and its program, as data: a list of system calls, made by the supervisor while it may
//! still allocate and fail in comfort, carried out by a loop that does neither. The launcher runs such a list as the first
//! process of its namespaces; a child that only gets Landlock and seccomp runs one in its parent's memory.
//!
//! The layout is shared with the launcher, which compiles this file too.

#![allow(dead_code, reason = "the launcher and the library each use a part")]

use super::raw::{number, syscall};

/// What the image of a list starts with.
pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"bailwk01");
/// How many results of earlier steps can be kept.
pub(crate) const SLOTS: usize = 2048;
/// The descriptor of the socket to the supervisor, in the launcher.
pub(crate) const CONTROL: u64 = 3;
/// The descriptor of the list's image, in the launcher.
pub(crate) const IMAGE: u64 = 4;

/// The head of an image. Offsets are in bytes from its start.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head {
    pub(crate) magic: u64,
    /// The whole length.
    pub(crate) length: u64,
    /// The steps.
    pub(crate) steps: u64,
    pub(crate) count: u64,
    /// Places in the image that hold offsets and must become addresses.
    pub(crate) relocations: u64,
    pub(crate) relocation_count: u64,
    /// Addresses of pairs of names: what is there when the supervisor has gone is moved from the first to the second.
    pub(crate) moved: u64,
    pub(crate) moved_count: u64,
}

/// One step: a system call, or one of the specials below.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    /// The call's number, or a special.
    pub(crate) number: i64,
    pub(crate) arguments: [u64; 6],
    /// Bit n: argument n is a slot, whose value is meant.
    pub(crate) slots: u32,
    /// The slot that keeps the result, counted from 1; 0 keeps none.
    pub(crate) keep: u32,
    /// An error number that is no failure; 0 tolerates none.
    pub(crate) tolerate: u32,
    /// 1: an error of any kind is no failure.
    pub(crate) optional: u32,
}

/// Forks. The child goes on with the next step; the parent leaves the list and becomes init.
pub(crate) const FORK: i64 = -1;
/// Sends the descriptor in argument 0 to the supervisor, marked with argument 1.
pub(crate) const SEND: i64 = -2;
/// Writes the low 32 bits of argument 0 to the address in argument 1.
pub(crate) const STORE: i64 = -3;

/// Leaves the list for another one, which the supervisor sends. Answers that were kept stay.
pub(crate) const NEXT: i64 = -4;

/// Waits until the supervisor gives leave.
pub(crate) const AWAIT: i64 = -5;

/// What goes over the control socket, either way: a kind and three numbers.
pub(crate) type Message = [i32; 4];
/// A step failed: step, error number, which list.
pub(crate) const FAILED: i32 = 1;
/// A descriptor comes with this message: its mark.
pub(crate) const DESCRIPTOR: i32 = 2;
/// The program ended: its wait status.
pub(crate) const ENDED: i32 = 3;
/// The program was stopped: by which signal.
pub(crate) const STOPPED: i32 = 4;
/// To init: send this signal to the program (second number 1: to its process group).
pub(crate) const SIGNAL: i32 = 5;
/// To whoever waits for it: go on.
pub(crate) const GO: i32 = 6;

/// Answers of earlier steps.
pub(crate) type Slots = [u64; SLOTS];

/// Why a list was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    /// In the parent of a fork: the child's number.
    Forked(i64),
    /// A step failed.
    Failed { step: usize, errno: i32 },
    /// Another list is to come.
    Next,
    /// The list ended without an exec.
    RanOut,
}

/// Turns the offsets of an image into addresses. To be done once.
///
/// # Safety
/// `base` is the start of an image that [`Head`] describes truly, which nobody else uses.
pub(crate) unsafe fn relocate(base: *mut u8) {
    // SAFETY: the caller vouches for the image; every offset in it was made by the builder to lie inside.
    unsafe {
        let head = &*base.cast::<Head>();
        let table = base.add(head.relocations as usize).cast::<u64>();
        for index in 0..head.relocation_count as usize {
            let place = base.add(*table.add(index) as usize).cast::<u64>();
            place.write_unaligned(place.read_unaligned().wrapping_add(base as u64));
        }
    }
}

/// Carries out the list. Returns only in the parent of a fork, or if it could not be carried out.
///
/// # Safety
/// As [`relocate`], which has been done; and the calls in the list are fit to be made here.
pub(crate) unsafe fn run(base: *mut u8, control: u64, slots: &mut Slots) -> Left {
    // SAFETY: as above; steps lie inside the image, slot numbers below SLOTS.
    unsafe {
        let head = &*base.cast::<Head>();
        let steps = base.add(head.steps as usize).cast::<Step>();
        for index in 0..head.count as usize {
            let step = &*steps.add(index);
            let mut arguments = step.arguments;
            for (bit, argument) in arguments.iter_mut().enumerate() {
                if step.slots & (1 << bit) != 0 {
                    *argument = slots.get(*argument as usize).copied().unwrap_or(0);
                }
            }
            let [first, second, ..] = arguments;
            let result = match step.number {
                FORK => {
                    // SIGCHLD as exit signal; a plain copy, since init lives on.
                    let child = syscall(number::CLONE, [17, 0, 0, 0, 0, 0]);
                    if child > 0 {
                        return Left::Forked(child);
                    }
                    child
                }
                NEXT => return Left::Next,
                AWAIT => await_leave(control),
                SEND => send_descriptor(control, first, second as i32),
                STORE => {
                    (second as *mut u32).write_unaligned(first as u32);
                    0
                }
                call => syscall(call, arguments),
            };
            if (-4095..0).contains(&result) {
                let errno = (-result) as u32;
                if step.optional == 0 && errno != step.tolerate {
                    return Left::Failed { step: index, errno: errno as i32 };
                }
            }
            if let Some(slot) = (step.keep as usize).checked_sub(1).and_then(|slot| slots.get_mut(slot)) {
                *slot = result as u64;
            }
        }
    }
    Left::RanOut
}

/// Tells the supervisor something. It may be gone; then there is nobody to tell.
pub(crate) fn tell(control: u64, message: Message) {
    // SAFETY: the message is alive during the call. MSG_NOSIGNAL.
    unsafe {
        syscall(number::SENDTO, [control, message.as_ptr() as u64, 16, 0x4000, 0, 0]);
    }
}

/// A control message with one descriptor.
#[repr(C)]
struct Control {
    length: u64,
    level: i32,
    kind: i32,
    descriptor: i32,
    padding: i32,
}

/// `struct msghdr`.
#[repr(C)]
struct Header {
    name: u64,
    name_length: u64,
    vector: u64,
    vector_length: u64,
    control: u64,
    control_length: u64,
    flags: u64,
}

/// Waits for leave from the supervisor; an error if it has gone.
fn await_leave(control: u64) -> i64 {
    let mut message: Message = [0; 4];
    loop {
        // SAFETY: the message is alive during the call.
        let got = unsafe { syscall(number::RECVFROM, [control, message.as_mut_ptr() as u64, 16, 0, 0, 0]) };
        // SAFETY: the kernel has written to it, which the compiler need not know.
        let kind = unsafe { message.as_ptr().read_volatile() };
        match (got, kind) {
            (16, GO) => return 0,
            // EINTR: once more. Everything else is as if nobody were there: EPIPE.
            (-4, _) => {}
            _ => return -32,
        }
    }
}

/// Waits for a descriptor from the supervisor; `None` if it has gone.
pub(crate) fn receive_descriptor(control: u64) -> Option<u64> {
    let mut message: Message = [0; 4];
    let vector: [u64; 2] = [message.as_mut_ptr() as u64, 16];
    let mut rights = Control { length: 0, level: 0, kind: 0, descriptor: -1, padding: 0 };
    let mut header = Header {
        name: 0,
        name_length: 0,
        vector: vector.as_ptr() as u64,
        vector_length: 1,
        control: (&raw mut rights) as u64,
        control_length: 24,
        flags: 0,
    };
    // SAFETY: everything that the header points to is alive during the call. MSG_CMSG_CLOEXEC.
    let got = unsafe { syscall(number::RECVMSG, [control, (&raw mut header) as u64, 0x4000_0000, 0, 0, 0]) };
    // SAFETY: the kernel has written to these, which the compiler need not know.
    let (length, descriptor) = unsafe {
        ((&raw const rights.length).read_volatile(), (&raw const rights.descriptor).read_volatile())
    };
    (got == 16 && length == 20 && descriptor >= 0).then_some(descriptor as u64)
}

fn send_descriptor(control: u64, descriptor: u64, mark: i32) -> i64 {
    let message: Message = [DESCRIPTOR, mark, 0, 0];
    let vector: [u64; 2] = [message.as_ptr() as u64, 16];
    // SOL_SOCKET, SCM_RIGHTS.
    let rights = Control { length: 20, level: 1, kind: 1, descriptor: descriptor as i32, padding: 0 };
    let header = Header {
        name: 0,
        name_length: 0,
        vector: vector.as_ptr() as u64,
        vector_length: 1,
        control: (&raw const rights) as u64,
        control_length: 24,
        flags: 0,
    };
    // SAFETY: everything that the header points to is alive during the call. MSG_NOSIGNAL.
    unsafe { syscall(number::SENDMSG, [control, (&raw const header) as u64, 0x4000, 0, 0, 0]) }
}
