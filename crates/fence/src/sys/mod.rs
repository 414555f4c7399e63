//! Everything that the compiler cannot check: raw system calls, the clone that shares memory, kernel interfaces without a
//! safe wrapper. Each block says why it is sound. Nothing outside this directory may be unsafe.

#![expect(unsafe_code, reason = "this is the one place for it")]

pub(crate) mod alarm;
pub(crate) mod clone;
pub(crate) mod image;
pub(crate) mod kernel;
pub(crate) mod notify;
pub(crate) mod pages;
pub(crate) mod processors;
pub(crate) mod raw;
pub(crate) mod session;
pub(crate) mod steps;
pub(crate) mod text;

/// The launcher's program: see `launcher/main.rs`. Empty where there is none for this machine.
pub(crate) static LAUNCHER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/launcher"));
