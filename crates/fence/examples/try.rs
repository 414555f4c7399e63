//! Runs a program behind the fence, as `exec` does without the gate.
use fence::*;
fn main() {
    let args: Vec<std::ffi::OsString> = std::env::args_os().skip(1).collect();
    let cwd = std::env::current_dir().unwrap();
    let wishes = Wishes {
        workspace: Some(cwd.clone()),
        cwd,
        home: std::env::var_os("HOME").map(Into::into),
        read: vec![],
        write: vec![],
        hide: vec![],
        read_only: false,
        protect: true,
        environment: std::env::vars_os().collect(),
        pass: vec![],
        set: vec![],
        network: Network::Off,
        limits: Limits {
            memory_mb: 4096,
            wall_ms: None,
            cpu_s: None,
            processes: 1024,
            open_files: 4096,
            file_mb: 4096,
            scratch_mb: 1024,
            output_bytes: 1 << 20,
        },
        execute_scratch: true,
    };
    let plan = draw(&wishes, &Ground).unwrap();
    if args[0] == "--plan" {
        println!("{plan:#?}");
        return;
    }
    println!(
        "{:?}",
        run(Backend::Linux, &plan, std::path::Path::new(&args[0]), &args, Console::of_this_process())
    );
}
