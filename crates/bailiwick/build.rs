//! How the binary is linked. It starts once for every command that it stands in for, so what it does before its first line
//! counts: every address that the loader must correct is a page that is copied, and every shared library is files to open and
//! code to run.

use std::process::Command;

#[expect(clippy::disallowed_methods, reason = "a build script asks the linker's driver what it has")]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    if variable("CARGO_CFG_TARGET_OS") != "linux" || variable("CARGO_CFG_TARGET_ENV") != "gnu" {
        return;
    }
    // At a fixed address: 278 KiB of tables need no correction. Libraries, heap and stack stay where chance puts them.
    println!("cargo::rustc-link-arg-bins=-no-pie");
    // Unwinding is only used to show where a panic was; a shared library for it costs a tenth of a millisecond at each start.
    if variable("HOST") == variable("TARGET") {
        let asked = Command::new("cc").arg("--print-file-name=libgcc_eh.a").output();
        let found = asked.map(|output| String::from_utf8_lossy(&output.stdout).starts_with('/'));
        if found.unwrap_or(false) {
            println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
        }
    }
}
