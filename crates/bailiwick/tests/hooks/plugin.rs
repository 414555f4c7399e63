//! OpenCode's plugin, run by node as OpenCode runs it: what is denied throws, what is allowed passes, what is rewritten comes back
//! in the arguments, and without the binary nothing passes.

use serde_json::Value;

use crate::home::Home;

/// A host that loads the plugin, asks about a call and says what came of it.
const HOST: &str = r#"
const { Bailiwick } = await import(process.argv[2]);
const hooks = await Bailiwick({ directory: process.argv[3] });
const input = { tool: process.argv[4], sessionID: "s", callID: "c" };
const output = { args: JSON.parse(process.argv[5]) };
let threw = null;
try {
  await hooks["tool.execute.before"](input, output);
} catch (error) {
  threw = error.message;
}
await hooks["tool.execute.after"]({ ...input, args: output.args }, {});
console.log(JSON.stringify({ threw, args: output.args }));
"#;

#[expect(clippy::disallowed_methods, reason = "a test has files and starts programs")]
fn run(machine: &Home, plugin: &str, tool: &str, args: &str) -> Value {
    let host = machine.0.join("host.mjs");
    std::fs::write(&host, HOST).expect("a host");
    // Node takes a file for a module by its ending.
    let module = machine.0.join("plugin.mjs");
    std::fs::write(&module, plugin).expect("a plugin");
    let mut command = machine.command("timeout");
    command.args(["-s", "KILL", "60", "node"]).arg(&host).arg(&module);
    command.arg(machine.work()).args([tool, args]);
    let output = command.output().expect("node");
    let text = String::from_utf8_lossy(&output.stdout);
    let failed = String::from_utf8_lossy(&output.stderr);
    serde_json::from_str(text.trim()).unwrap_or_else(|_| panic!("{text} {failed}"))
}

#[test]
fn the_plugin_throws_passes_and_rewrites() {
    let machine = Home::hooked();
    let plugin = machine.read(".config/opencode/plugins/bailiwick.js");
    let allowed = run(&machine, &plugin, "read", "{\"filePath\": \"notes.txt\"}");
    assert_eq!(
        (&allowed["threw"], &allowed["args"]["filePath"]),
        (&Value::Null, &"notes.txt".into()),
        "{allowed}"
    );
    let rewritten = run(&machine, &plugin, "bash", "{\"command\": \"echo hello\", \"description\": \"d\"}");
    assert_eq!((&rewritten["threw"], &rewritten["args"]["description"]), (&Value::Null, &"d".into()));
    let command = rewritten["args"]["command"].as_str().expect("a command");
    assert!(command.contains(" exec --session s --call c "), "{command}");
    assert_eq!(machine.shell(command, "").out, "hello\n");
    for (tool, args, why) in [
        ("bash", "{\"command\": \"rm -rf /\"}", "Bailiwick denied this call"),
        ("read", "{\"filePath\": \"/etc/shadow\"}", "Bailiwick denied this call"),
        ("bash", "{\"command\": \"git push --force\"}", "bailiwick grants approve "),
        ("no_such_tool", "{}", "bailiwick grants approve "),
    ] {
        let denied = run(&machine, &plugin, tool, args);
        assert!(denied["threw"].as_str().is_some_and(|said| said.contains(why)), "{tool} {args}: {denied}");
    }
}

#[test]
fn without_the_binary_nothing_passes() {
    let machine = Home::hooked();
    let plugin = machine.read(".config/opencode/plugins/bailiwick.js");
    let program = plugin.lines().find(|line| line.starts_with("const PROGRAM = ")).expect("its program");
    for (other, why) in [
        ("/no/such/bailiwick", "does not start"),
        ("/bin/false", "the hook failed"),
        ("/bin/true", "cannot be read"),
    ] {
        let broken = plugin.replace(program, &format!("const PROGRAM = \"{other}\";"));
        let came = run(&machine, &broken, "read", "{\"filePath\": \"notes.txt\"}");
        assert!(came["threw"].as_str().is_some_and(|said| said.contains(why)), "{other}: {came}");
    }
}
