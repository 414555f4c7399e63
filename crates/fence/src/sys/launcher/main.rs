//! The launcher: becomes the first process of its namespaces, builds what the supervisor's list says, forks the program, and
//! stays as its init. No standard library, no allocation, nothing of the supervisor's memory.

#![no_std]
#![no_main]
#![no_builtins]

mod init;
#[path = "../raw.rs"]
mod raw;
#[path = "../steps.rs"]
mod steps;

use raw::{number, syscall};
use steps::{CONTROL, FAILED, Head, IMAGE, Left, MAGIC};

#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(".globl _start", "_start:", "xor ebp, ebp", "and rsp, -16", "call {}", "ud2", sym begin);
#[cfg(target_arch = "aarch64")]
core::arch::global_asm!(".globl _start", "_start:", "mov x29, xzr", "bl {}", "brk 1", sym begin);

extern "C" fn begin() -> ! {
    let mut slots = [0; steps::SLOTS];
    let mut image = IMAGE;
    let mut list = 0;
    loop {
        let base = open(image);
        // SAFETY: the supervisor's image, which `open` has mapped and relocated for us alone.
        match unsafe { steps::run(base, CONTROL, &mut slots) } {
            Left::Forked(child) => init::stay(child, base),
            Left::Failed { step, errno } => {
                steps::tell(CONTROL, [FAILED, step as i32, errno, list]);
                exit(125)
            }
            Left::Next => match steps::receive_descriptor(CONTROL) {
                Some(next) => image = next,
                // The supervisor has gone, or wants nothing more.
                None => exit(0),
            },
            Left::RanOut => exit(125),
        }
        list += 1;
    }
}

/// Maps an image, and closes its descriptor.
fn open(image: u64) -> *mut u8 {
    // SAFETY: the supervisor passes the image as a descriptor; it is mapped privately, so that changing it changes no one
    // else's. 144 bytes hold a `struct stat`, whose size is at byte 48 on both machines.
    unsafe {
        let mut stat = [0u64; 18];
        syscall(number::FSTAT, [image, stat.as_mut_ptr() as u64, 0, 0, 0, 0]);
        // PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_POPULATE: nearly every page is written, and a fault for each costs more.
        let base = syscall(number::MMAP, [0, stat[6], 3, 0x8002, image, 0]);
        if base <= 0 && base >= -4095 || stat[6] < size_of::<Head>() as u64 {
            exit(125);
        }
        syscall(number::CLOSE, [image, 0, 0, 0, 0, 0]);
        let base = base as *mut u8;
        let head = &*base.cast::<Head>();
        if head.magic != MAGIC || head.length != stat[6] {
            exit(125);
        }
        steps::relocate(base);
        base
    }
}

pub(crate) fn exit(code: u64) -> ! {
    loop {
        // SAFETY: ends the process.
        unsafe { syscall(number::EXIT_GROUP, [code, 0, 0, 0, 0, 0]) };
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    exit(125)
}

/// The compiler may ask for these four; there is no libc to have them from.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, length: usize) -> *mut u8 {
    let mut at = 0;
    while at < length {
        // SAFETY: the caller's promise of `length` bytes on either side.
        unsafe { *to.add(at) = *from.add(at) };
        at += 1;
    }
    to
}

#[unsafe(no_mangle)]
unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, length: usize) -> *mut u8 {
    if (to as usize) <= (from as usize) {
        // SAFETY: as promised; forwards never overwrites what is still to be read.
        return unsafe { memcpy(to, from, length) };
    }
    let mut at = length;
    while at > 0 {
        at -= 1;
        // SAFETY: as promised.
        unsafe { *to.add(at) = *from.add(at) };
    }
    to
}

#[unsafe(no_mangle)]
unsafe extern "C" fn memset(to: *mut u8, byte: i32, length: usize) -> *mut u8 {
    let mut at = 0;
    while at < length {
        // SAFETY: the caller's promise of `length` bytes.
        unsafe { *to.add(at) = byte as u8 };
        at += 1;
    }
    to
}

#[unsafe(no_mangle)]
unsafe extern "C" fn memcmp(one: *const u8, other: *const u8, length: usize) -> i32 {
    let mut at = 0;
    while at < length {
        // SAFETY: the caller's promise of `length` bytes on either side.
        let (a, b) = unsafe { (*one.add(at), *other.add(at)) };
        if a != b {
            return i32::from(a) - i32::from(b);
        }
        at += 1;
    }
    0
}
