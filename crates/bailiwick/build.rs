//! How the binary is linked. It starts once for every command that it stands in for, so what it does before its first line
//! counts: every address that the loader must correct is a page that is copied, and every shared library is files to open and
//! code to run.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

#[expect(
    clippy::disallowed_methods,
    reason = "cargo tells a build script in its environment what it builds for"
)]
fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    if variable("CARGO_CFG_TARGET_OS") != "linux" || variable("CARGO_CFG_TARGET_ENV") != "gnu" {
        return Ok(());
    }
    // At a fixed address: 278 KiB of tables need no correction. Heap and stack stay where chance puts them.
    println!("cargo::rustc-link-arg-bins=-no-pie");
    if variable("HOST") == variable("TARGET") {
        let directory = PathBuf::from(variable("OUT_DIR")).join("archives");
        if archives(&directory)? {
            println!("cargo::rustc-link-arg-bins=-L{}", directory.display());
            println!("cargo::rustc-link-arg-bins=-static");
        }
    }
    Ok(())
}

/// The libraries that the standard library asks for by name, and what each is linked from.
const LIBRARIES: [(&str, &str); 7] = [
    ("libc.a", "libc.a"),
    ("libm.a", "libm.a"),
    // Unwinding is only used to show where a panic was.
    ("libgcc_s.a", "libgcc_eh.a"),
    ("libutil.a", "libutil.a"),
    ("librt.a", "librt.a"),
    ("libpthread.a", "libpthread.a"),
    ("libdl.a", "libdl.a"),
];

/// Makes a directory in which the linker finds an archive for every library, before it finds a shared one
/// (docs/decisions/one-piece.md). Whether all were found; without them the binary is linked as any other.
fn archives(directory: &Path) -> io::Result<bool> {
    std::fs::create_dir_all(directory)?;
    for (asked, archive) in LIBRARIES {
        let Some(path) = found(archive) else { return Ok(false) };
        write(&directory.join(asked), &format!("INPUT({path})\n"))?;
    }
    Ok(true)
}

#[expect(clippy::disallowed_methods, reason = "a build script asks the linker's driver what it has")]
fn found(archive: &str) -> Option<String> {
    let output = Command::new("cc").arg(format!("--print-file-name={archive}")).output().ok()?;
    let path = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    path.starts_with('/').then_some(path)
}

#[expect(clippy::disallowed_methods, reason = "a build script writes what the linker reads")]
fn write(path: &Path, text: &str) -> io::Result<()> {
    std::fs::write(path, text)
}
