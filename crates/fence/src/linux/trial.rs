//! Whether a fence can be built here, found out by building the part of one that machines refuse.

use super::namespaces;
use crate::outcome::Refusal;
use crate::sys::clone::{Birth, spawn};
use crate::sys::image::Builder;
use crate::sys::kernel;
use std::os::fd::AsFd;

/// Makes a user namespace and one more, takes an identity in them, uses its rights, and ends.
pub(crate) fn namespaces() -> Result<(), Refusal> {
    let refused = |what: String| Refusal::Fence { missing: what, help: super::NAMESPACES.into() };
    let user = rustix::process::geteuid().as_raw();
    let group = rustix::process::getegid().as_raw();
    let mut steps: Builder = namespaces::birth(user, group);
    namespaces::trial(&mut steps);
    let Some(image) = steps.image() else {
        return Err(Refusal::Failed("the trial's list is too long".into()));
    };
    let flags = libc::CLONE_NEWUSER | libc::CLONE_NEWUTS;
    let (ours, theirs) = rustix::net::socketpair(
        rustix::net::AddressFamily::UNIX,
        rustix::net::SocketType::SEQPACKET,
        rustix::net::SocketFlags::CLOEXEC,
        None,
    )
    .map_err(|error| Refusal::Failed(format!("a socket: {error}")))?;
    let (input, output, error) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
    let stdio = [input.as_fd(), output.as_fd(), error.as_fd()];
    let birth = Birth { namespaces: flags, stdio, control: theirs.as_fd() };
    let child = spawn(&birth, &mut image.words())
        .map_err(|error| refused(format!("namespaces cannot be made: {error}")))?;
    drop(theirs);
    let status = kernel::reap(child).map_err(|error| Refusal::Failed(format!("the trial: {error}")))?;
    if status == 0 {
        return Ok(());
    }
    let mut message = [0u8; 16];
    let heard = rustix::net::recv(&ours, message.as_mut_slice(), rustix::net::RecvFlags::DONTWAIT).is_ok();
    let word = |at: usize| {
        let mut bytes = [0; 4];
        bytes.copy_from_slice(message.get(at..at + 4).unwrap_or(&[0; 4]));
        i32::from_ne_bytes(bytes)
    };
    let step = usize::try_from(word(4)).unwrap_or(usize::MAX);
    Err(refused(match heard {
        true => format!("could not {}: {}", image.label(step), std::io::Error::from_raw_os_error(word(8))),
        false => format!("the trial ended with wait status {status:#x}"),
    }))
}
