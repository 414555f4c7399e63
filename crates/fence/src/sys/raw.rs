//! System calls as the kernel has them, without libc. The launcher has no libc, and between a clone that shares memory and
//! the exec after it nothing else is safe to call. The launcher and the library both compile this file.

#![allow(dead_code, reason = "the launcher and the library each use a part")]

use core::arch::asm;

/// Makes a system call. The answer is the kernel's: from -4095 to -1 it is an error number.
///
/// # Safety
/// As the call itself: pointers among the arguments must be good for what it does with them.
#[cfg(target_arch = "x86_64")]
pub(crate) unsafe fn syscall(number: i64, a: [u64; 6]) -> i64 {
    let result;
    // SAFETY: the x86-64 convention; the kernel changes rax, rcx and r11 only, and memory as the caller vouches for.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number => result,
            in("rdi") a[0], in("rsi") a[1], in("rdx") a[2], in("r10") a[3], in("r8") a[4], in("r9") a[5],
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// Makes a system call. The answer is the kernel's: from -4095 to -1 it is an error number.
///
/// # Safety
/// As the call itself: pointers among the arguments must be good for what it does with them.
#[cfg(target_arch = "aarch64")]
pub(crate) unsafe fn syscall(number: i64, a: [u64; 6]) -> i64 {
    let result;
    // SAFETY: the AArch64 convention; the kernel changes x0 only, and memory as the caller vouches for.
    unsafe {
        asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") a[0] => result,
            in("x1") a[1], in("x2") a[2], in("x3") a[3], in("x4") a[4], in("x5") a[5],
            options(nostack),
        );
    }
    result
}

/// Numbers of the calls that are made by name here; everything else comes as data.
#[cfg(target_arch = "x86_64")]
pub(crate) mod number {
    pub(crate) const READ: i64 = 0;
    pub(crate) const MMAP: i64 = 9;
    pub(crate) const SENDMSG: i64 = 46;
    pub(crate) const RECVFROM: i64 = 45;
    pub(crate) const RECVMSG: i64 = 47;
    pub(crate) const SENDTO: i64 = 44;
    pub(crate) const CLONE: i64 = 56;
    pub(crate) const WAIT4: i64 = 61;
    pub(crate) const KILL: i64 = 62;
    pub(crate) const CLOSE: i64 = 3;
    pub(crate) const PRCTL: i64 = 157;
    pub(crate) const EXIT_GROUP: i64 = 231;
    pub(crate) const PPOLL: i64 = 271;
    pub(crate) const SIGNALFD4: i64 = 289;
    pub(crate) const FSTAT: i64 = 5;
    pub(crate) const CLOSE_RANGE: i64 = 436;
    pub(crate) const RT_SIGPROCMASK: i64 = 14;
    pub(crate) const GETPID: i64 = 39;
    pub(crate) const OPENAT: i64 = 257;
    pub(crate) const EXECVEAT: i64 = 322;
    pub(crate) const RENAMEAT2: i64 = 316;
    pub(crate) const DUP3: i64 = 292;
}

/// Numbers of the calls that are made by name here; everything else comes as data.
#[cfg(target_arch = "aarch64")]
pub(crate) mod number {
    pub(crate) const READ: i64 = 63;
    pub(crate) const MMAP: i64 = 222;
    pub(crate) const SENDMSG: i64 = 211;
    pub(crate) const RECVFROM: i64 = 207;
    pub(crate) const RECVMSG: i64 = 212;
    pub(crate) const SENDTO: i64 = 206;
    pub(crate) const CLONE: i64 = 220;
    pub(crate) const WAIT4: i64 = 260;
    pub(crate) const KILL: i64 = 129;
    pub(crate) const CLOSE: i64 = 57;
    pub(crate) const PRCTL: i64 = 167;
    pub(crate) const EXIT_GROUP: i64 = 94;
    pub(crate) const PPOLL: i64 = 73;
    pub(crate) const SIGNALFD4: i64 = 74;
    pub(crate) const FSTAT: i64 = 80;
    pub(crate) const CLOSE_RANGE: i64 = 436;
    pub(crate) const RT_SIGPROCMASK: i64 = 135;
    pub(crate) const GETPID: i64 = 172;
    pub(crate) const OPENAT: i64 = 56;
    pub(crate) const EXECVEAT: i64 = 281;
    pub(crate) const RENAMEAT2: i64 = 276;
    pub(crate) const DUP3: i64 = 24;
}
