//! MCP servers in the configuration, and rules that look at the arguments of their tools.

use policy::{Base, Config, ConfigError, Layer, Origin, is_server_name};

fn config(origin: Origin, yaml: &str) -> Result<Config, ConfigError> {
    Config::merge(vec![Layer::parse(origin, "file", yaml)?], &Base::default())
}

#[test]
fn a_server_has_a_name_a_command_and_what_it_may_reach() {
    let yaml = "mcp: {servers: {files: {command: [fs, 1], env: {KEY: v}, cwd: sub, network: [a.example]}}}";
    let config = config(Origin::User, yaml).unwrap();
    let server = config.server("files").unwrap();
    assert_eq!(server.command, ["fs", "1"]);
    assert_eq!(server.env, [("KEY".to_owned(), "v".to_owned())]);
    assert_eq!(
        (server.cwd.as_deref(), server.network.as_slice()),
        (Some("sub"), &["a.example".to_owned()][..])
    );
    assert!(config.server("file").unwrap_err().contains("did you mean `files`"));
    assert!(!config.shown().iter().any(|line| line.value.contains("=v")), "values may be secret");
}

#[test]
fn what_is_wrong_with_a_server_or_with_args_is_an_error_that_says_so() {
    // origin, text, part of the message
    let table = [
        (Origin::User, "mcp: {servers: {files: {}}}", "has no `command`"),
        (Origin::User, "mcp: {servers: {files: {command: []}}}", "has no `command`"),
        (Origin::User, "mcp: {servers: {files: {command: [a], comand: 1}}}", "unknown key `comand`"),
        (Origin::User, "mcp: {servers: {a__b: {command: [a]}}}", "cannot be a server's name"),
        (Origin::User, "mcp: {servers: {a: {command: [a], network: ['http://x/']}}}", "is not a host name"),
        (Origin::User, "mcp: {servers: [a]}", "a mapping from names to servers"),
        (Origin::Workspace, "mcp: {servers: {a: {command: [a]}}}", "may not stand in a workspace file"),
        (Origin::User, "rules: [{name: a, action: deny, args: {a: '('}}]", "not a regular expression"),
        (Origin::User, "rules: [{name: a, action: deny, args: {a..b: x}}]", "names with dots between them"),
        (Origin::User, "rules: [{name: a, action: deny, args: [a]}]", "a mapping from paths"),
        (Origin::User, "rules: [{name: a, action: deny, tool: file_read, args: {path: x}}]", "not built in"),
    ];
    for (origin, yaml, wanted) in table {
        let error = config(origin, yaml).map(drop).unwrap_err().to_string();
        assert!(error.contains(wanted), "{yaml}: {error}");
    }
}

#[test]
fn a_name_can_be_read_in_one_way_only() {
    for (name, sound) in [
        ("files", true),
        ("my-files_2", true),
        ("", false),
        ("a__b", false),
        ("_a", false),
        ("a_", false),
        ("a b", false),
        ("ä", false),
    ] {
        assert_eq!(is_server_name(name), sound, "{name}");
    }
}
