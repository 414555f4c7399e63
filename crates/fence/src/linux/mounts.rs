//! Steps that find, copy, restrict and put mounts. Every mount is made of a descriptor that was opened without following a link.

use std::path::Path;

use crate::sys::image::{Arg, Builder, Data, Slot};

const OPEN_TREE_CLONE: u64 = 1;
const AT_RECURSIVE: u64 = 0x8000;
const EMPTY_PATH: u64 = 0x1000;
const CLOEXEC: u64 = 0o2_000_000;
/// `MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH`.
const MOVE_BOTH: u64 = 0x44;
pub(crate) const RDONLY: u64 = 1;
pub(crate) const NOSUID: u64 = 2;
pub(crate) const NODEV: u64 = 4;
pub(crate) const NOEXEC: u64 = 8;

/// A file system that is not mounted anywhere yet.
pub(crate) fn file_system(s: &mut Builder, kind: &str, options: &[(&str, &str)], attributes: u64) -> Slot {
    let name = s.text(kind);
    let context = s.keep(("make a ", name), libc::SYS_fsopen, [name.into(), 1.into()]);
    for (key, value) in options {
        let key_text = s.text(key);
        // FSCONFIG_SET_FLAG is 0, FSCONFIG_SET_STRING 1.
        let (command, value_text) = match *value {
            "" => (0, 0.into()),
            value => (1, Arg::from(s.text(value))),
        };
        s.step(
            ("set an option of a file system: ", key_text),
            libc::SYS_fsconfig,
            [context.into(), command.into(), key_text.into(), value_text, 0.into()],
        );
    }
    // FSCONFIG_CMD_CREATE.
    s.step(("make a ", name), libc::SYS_fsconfig, [context.into(), 6.into(), 0.into(), 0.into(), 0.into()]);
    let mount = s.keep(("mount a ", name), libc::SYS_fsmount, [context.into(), 1.into(), attributes.into()]);
    s.step("close", libc::SYS_close, [context.into()]);
    mount
}

/// A descriptor for a path below another, found without following a link.
pub(crate) fn find(s: &mut Builder, below: Arg, name: Data) -> Slot {
    // struct open_how: O_PATH | O_CLOEXEC | O_NOFOLLOW, no mode, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS.
    let flags = u64::from((libc::O_PATH | libc::O_CLOEXEC | libc::O_NOFOLLOW).cast_unsigned());
    let how = shared_words(s, [flags, 0, 6]);
    s.keep(("find ", name), libc::SYS_openat2, [below, name.into(), how.into(), 24.into()])
}

/// A descriptor for a path of the machine.
pub(crate) fn find_outside(s: &mut Builder, path: &Path) -> (Slot, Data) {
    let name = s.text(path);
    (find(s, libc::AT_FDCWD.into(), name), name)
}

/// A copy of the mounts at a descriptor, with further restrictions.
pub(crate) fn copy_mount(s: &mut Builder, what: Data, at: Slot, recursive: bool, attributes: u64) -> Slot {
    let empty = s.shared(b"\0");
    let recursive = if recursive { AT_RECURSIVE } else { 0 };
    let copy = s.keep(
        ("copy the mount of ", what),
        libc::SYS_open_tree,
        [at.into(), empty.into(), (OPEN_TREE_CLONE | CLOEXEC | EMPTY_PATH | recursive).into()],
    );
    restrict(s, what, copy, recursive, attributes);
    copy
}

pub(crate) fn restrict(s: &mut Builder, what: Data, mount: Slot, recursive: u64, attributes: u64) {
    let empty = s.shared(b"\0");
    // struct mount_attr: set, clear, propagation, user namespace.
    let attr = shared_words(s, [attributes, 0, 0, 0]);
    s.step(
        ("restrict the mount of ", what),
        libc::SYS_mount_setattr,
        [mount.into(), empty.into(), (EMPTY_PATH | recursive).into(), attr.into(), 32.into()],
    );
}

fn shared_words<const N: usize>(s: &mut Builder, words: [u64; N]) -> Data {
    s.shared(words.map(u64::to_le_bytes).as_flattened())
}

pub(crate) fn mount_at(s: &mut Builder, path: Data, mount: Slot, target: Slot) {
    let empty = s.shared(b"\0");
    s.step(
        ("mount ", path),
        libc::SYS_move_mount,
        [mount.into(), empty.into(), target.into(), empty.into(), MOVE_BOTH.into()],
    );
}
