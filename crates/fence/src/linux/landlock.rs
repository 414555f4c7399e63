//! Landlock: which rights the kernel's version knows, and the steps that give them out.

use std::path::Path;

use crate::sys::image::{Builder, Slot};

/// Rights to files, by the version that brought them.
const EXECUTE: u64 = 1;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
/// What version 1 knows: bits 0 to 12.
const FIRST: u64 = (1 << 13) - 1;
const REFER: u64 = 1 << 13;
const TRUNCATE: u64 = 1 << 14;
const IOCTL_DEVICE: u64 = 1 << 15;

/// All rights that a version knows. Later versions than the seventh know more, which is not used.
pub(crate) fn rights(version: u32) -> u64 {
    let mut rights = FIRST;
    for (since, right) in [(2, REFER), (3, TRUNCATE), (5, IOCTL_DEVICE)] {
        if version >= since {
            rights |= right;
        }
    }
    rights
}

/// Reading and executing.
pub(crate) const READ: u64 = READ_FILE | READ_DIR | EXECUTE;
/// What a device or another file can be given.
pub(crate) const FILE: u64 = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEVICE;

/// The version that refuses signals and abstract sockets to the outside: what a fence without namespaces needs.
pub(crate) const SCOPED: u32 = 6;

/// A ruleset in the making, in a list of steps.
pub(crate) struct Ruleset {
    slot: Slot,
    version: u32,
}

impl Ruleset {
    /// Adds the step that makes a ruleset which handles everything that the version knows. `ports`: TCP as well.
    pub(crate) fn new(steps: &mut Builder, version: u32, ports: bool) -> Ruleset {
        let handled_net: u64 = if ports && version >= 4 { 3 } else { 0 };
        let scoped: u64 = if version >= SCOPED { 3 } else { 0 };
        let mut attributes = rights(version).to_le_bytes().to_vec();
        if version >= 4 {
            attributes.extend(handled_net.to_le_bytes());
        }
        if version >= SCOPED {
            attributes.extend(scoped.to_le_bytes());
        }
        let length = attributes.len() as u64;
        let attributes = steps.bytes(&attributes);
        let slot = steps.keep(
            "make a Landlock ruleset",
            libc::SYS_landlock_create_ruleset,
            [attributes.into(), length.into(), 0.into()],
        );
        Ruleset { slot, version }
    }

    /// Gives rights to a path and everything below it.
    pub(crate) fn give(&self, steps: &mut Builder, path: &Path, rights_wanted: u64) {
        let name = steps.text(path);
        let opened = steps.keep(
            ("open ", name, " for Landlock"),
            libc::SYS_openat,
            [libc::AT_FDCWD.into(), name.into(), (libc::O_PATH | libc::O_CLOEXEC).into(), 0.into()],
        );
        // struct landlock_path_beneath_attr: the rights, then the descriptor, packed.
        let [a, b, c, d, e, f, g, h] = (rights_wanted & rights(self.version)).to_le_bytes();
        let rule = steps.shared(&[a, b, c, d, e, f, g, h, 0, 0, 0, 0]);
        let descriptor = steps.within(rule, 8);
        steps.store(opened, descriptor);
        steps.step(
            ("give Landlock rights to ", name),
            libc::SYS_landlock_add_rule,
            [self.slot.into(), 1.into(), rule.into(), 0.into()],
        );
        steps.step("close", libc::SYS_close, [opened.into()]);
    }

    /// Puts the process under the ruleset.
    pub(crate) fn enforce(&self, steps: &mut Builder) {
        steps.step("restrict by Landlock", libc::SYS_landlock_restrict_self, [self.slot.into(), 0.into()]);
        steps.step("close", libc::SYS_close, [self.slot.into()]);
    }
}
