//! Builds the launcher: a static program of a few kilobytes that becomes the first process inside a fence. It is a crate of
//! its own without the standard library, since it starts before every command and must start in no time.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

const SOURCES: [&str; 4] =
    ["src/sys/launcher/main.rs", "src/sys/launcher/init.rs", "src/sys/steps.rs", "src/sys/raw.rs"];

#[expect(clippy::disallowed_methods, reason = "a build script has the compiler run, and writes what it made")]
fn main() -> ExitCode {
    for source in SOURCES {
        println!("cargo::rerun-if-changed={source}");
    }
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let out = PathBuf::from(variable("OUT_DIR")).join("launcher");
    let known = matches!(variable("CARGO_CFG_TARGET_ARCH").as_str(), "x86_64" | "aarch64");
    if variable("CARGO_CFG_TARGET_OS") != "linux" || !known {
        // The library says that there is no launcher for this machine.
        return written(std::fs::write(&out, []).is_ok());
    }
    let mut compiler = Command::new(variable("RUSTC"));
    compiler
        .args([
            "--edition",
            "2024",
            "--crate-name",
            "launcher",
            "--crate-type",
            "bin",
            "--target",
            &variable("TARGET"),
        ])
        .args([
            "-C",
            "opt-level=2",
            "-C",
            "panic=abort",
            "-C",
            "relocation-model=static",
            "-C",
            "strip=symbols",
        ])
        .args(["-C", "overflow-checks=off", "-C", "debuginfo=0"])
        .args([
            "-C",
            "link-args=-nostartfiles -nostdlib -static -no-pie -Wl,--build-id=none -Wl,-z,noexecstack",
        ])
        .arg("-o")
        .arg(&out)
        .arg(SOURCES[0]);
    written(compiler.status().is_ok_and(|status| status.success()))
}

fn written(done: bool) -> ExitCode {
    if done {
        ExitCode::SUCCESS
    } else {
        eprintln!("the launcher could not be built");
        ExitCode::FAILURE
    }
}
