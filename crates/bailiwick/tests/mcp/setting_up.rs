//! `bailiwick init mcp`: our server in a client's settings, and the proxy in front of one of theirs.

use serde_json::{Value, json};

use crate::client::Place;
use crate::home::BINARY;

const SETTINGS: &str = "{\n  \"mcpServers\": {\n    \"files\": {\n      \"command\": \"python3\",\n      \"args\": [\n        \"server.py\"\n      ]\n    }\n  }\n}\n";

fn settings(home: &Place) -> Value {
    serde_json::from_str(&home.read("work/.mcp.json").expect("settings")).expect("JSON")
}

#[test]
fn servers_are_added_and_wrapped_and_all_of_it_is_undone() {
    let home = Place::new();
    home.write("work/.mcp.json", SETTINGS);
    let (code, said) = home.run(&["init", "mcp", "--dry-run"]);
    assert!(code == 0 && said.contains("Nothing was changed"), "{said}");
    assert_eq!(home.read("work/.mcp.json").as_deref(), Some(SETTINGS));
    let (code, said) = home.run(&["init", "mcp", "--yes"]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(settings(&home)["mcpServers"]["bailiwick"], json!({"command": BINARY, "args": ["mcp"]}));
    let (code, said) = home.run(&["init", "mcp", "--wrap", "files", "claude-code", "--yes"]);
    assert_eq!(code, 0, "{said}");
    let args = &settings(&home)["mcpServers"]["files"]["args"];
    assert_eq!(args, &json!(["mcp", "proxy", "--name", "files", "--", "python3", "server.py"]));
    let (code, said) = home.run(&["init", "mcp", "--wrap", "nothing", "claude-code", "--yes"]);
    assert!(code != 0 && said.contains("there is no server `nothing`"), "{said}");
    let (code, said) = home.run(&["init", "mcp", "--undo", "--yes"]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(home.read("work/.mcp.json").as_deref(), Some(SETTINGS));
}

#[test]
fn a_client_that_is_named_gets_a_file_of_its_own() {
    let home = Place::new();
    let (code, said) = home.run(&["init", "mcp", "--yes"]);
    assert!(code != 0 && said.contains("name one of: claude-code"), "{said}");
    for (host, file, path) in [
        ("vs-code", "work/.vscode/mcp.json", "/servers/bailiwick/type"),
        ("cursor", "work/.cursor/mcp.json", "/mcpServers/bailiwick/command"),
    ] {
        let (code, said) = home.run(&["init", "mcp", host, "--yes"]);
        assert_eq!(code, 0, "{host}: {said}");
        let written: Value = serde_json::from_str(&home.read(file).expect("a file")).expect("JSON");
        assert!(written.pointer(path).is_some(), "{host}: {written}");
        let (code, _) = home.run(&["init", "mcp", host, "--undo", "--yes"]);
        assert_eq!((code, home.read(file)), (0, None), "{host}");
    }
}

#[test]
fn codex_has_its_servers_in_toml() {
    let home = Place::new();
    let (file, before) =
        (".codex/config.toml", "# mine\nmodel = \"x\"\n\n[mcp_servers.files]\ncommand = \"npx\"\n");
    home.write(file, before);
    let (code, said) = home.run(&["init", "mcp", "codex", "--yes"]);
    assert_eq!(code, 0, "{said}");
    let (code, said) = home.run(&["init", "mcp", "--wrap", "files", "codex", "--yes"]);
    assert_eq!(code, 0, "{said}");
    let written = home.read(file).expect("a file");
    for part in [
        "# mine\n",
        "[mcp_servers.bailiwick]\n",
        "\"mcp\", \"proxy\", \"--name\", \"files\", \"--\", \"npx\"",
    ] {
        assert!(written.contains(part), "{part}: {written}");
    }
    let (code, said) = home.run(&["init", "mcp", "codex", "--undo", "--yes"]);
    assert_eq!((code, home.read(file).as_deref()), (0, Some(before)), "{said}");
}
