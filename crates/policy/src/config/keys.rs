//! Every key that a configuration file may hold: the one table from which reading, the JSON Schema and the reference
//! page are made.

/// What a key's value looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `true` or `false`
    Bool,
    /// A whole number of at least this
    Whole(u64),
    /// Seconds, with a fraction
    Seconds,
    /// Text
    Text,
    /// One of these words
    Word(&'static [&'static str]),
    /// A list of text
    Texts,
    /// A mapping from effect classes to stances
    Effects,
    /// A list of `{pattern, allow_read, allow_write}`
    PathRules,
    /// A list of `{pattern, decision, is_regex}`
    CommandRules,
    /// A list of rules
    Rules,
    /// A list of rows that answer questions
    ApprovalRules,
    /// A list of test cases for `policy test`
    Cases,
    /// A mapping from names to paths
    Places,
    /// A mapping from names to MCP servers
    Servers,
}

/// One key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key {
    /// Its dotted path.
    pub(crate) path: &'static str,
    pub(crate) kind: Kind,
    /// For the reference page and for editors.
    pub(crate) about: &'static str,
}

const fn key(path: &'static str, kind: Kind, about: &'static str) -> Key {
    Key { path, kind, about }
}

const MODES: &[&str] = &["allow", "ask", "deny"];
const SANDBOXES: &[&str] =
    &["auto", "linux", "landlock", "bubblewrap", "seatbelt", "windows", "wsl", "local"];

/// The table. Sections are the dotted prefixes.
pub(crate) const KEYS: &[Key] = &[
    key("config_version", Kind::Whole(1), "The version of this format: 1."),
    key("profile", Kind::Word(&["dev", "balanced", "prod"]), "The built-in profile to start from."),
    key("final", Kind::Texts, "Managed file only: keys that no other file or flag may set."),
    key(
        "safety.mode",
        Kind::Word(MODES),
        "What happens with a call that nothing else decides: allow, ask or deny. `deny` refuses every call.",
    ),
    key(
        "safety.allowlist",
        Kind::Texts,
        "Commands that may run without a question: a program, or a program with its first words and options. Spelling does not matter: `rm -rf` is `rm --force -r`.",
    ),
    key("safety.denylist", Kind::Texts, "Commands that may never run, written as in allowlist."),
    key(
        "safety.tool_allowlist",
        Kind::Texts,
        "Custom tools, by exact name, that may run without a question; `mcp__server` means every tool of that MCP server.",
    ),
    key(
        "safety.tool_denylist",
        Kind::Texts,
        "Tools, by exact name, that may never run; `mcp__server` means every tool of that MCP server.",
    ),
    key("safety.read_only", Kind::Bool, "Refuse everything that writes or executes."),
    key(
        "safety.allowed_paths",
        Kind::Texts,
        "If set, only paths that match may be touched, by file tools and by commands. `<cwd>` is the working directory.",
    ),
    key(
        "safety.denied_paths",
        Kind::Texts,
        "Paths that may never be touched: `~/x`, `<cwd>/x/**`, `**/.env`. Adds to the built-in list of credentials.",
    ),
    key(
        "safety.path_rules",
        Kind::PathRules,
        "Ordered rules for paths; the first that matches decides whether the path may be read and written.",
    ),
    key(
        "safety.command_rules",
        Kind::CommandRules,
        "Ordered rules for commands; the first that matches decides.",
    ),
    key("safety.denied_commands", Kind::Texts, "Commands that may never run. Adds to what is built in."),
    key("safety.require_approval_for_writes", Kind::Bool, "Ask before everything that writes or deletes."),
    key("safety.require_approval_for_execute", Kind::Bool, "Ask before every command."),
    key(
        "safety.complex_shell",
        Kind::Word(&["ask", "by_part"]),
        "Whether a shell program (pipes, chains, redirections, expansions) is always asked about, or judged part by part.",
    ),
    key(
        "safety.approval_timeout_ms",
        Kind::Whole(1),
        "How long a question waits before it counts as denied.",
    ),
    key("safety.log_all_commands", Kind::Bool, "Record the (masked) text of every command in the journal."),
    key(
        "safety.effects",
        Kind::Effects,
        "What happens with each class of effect: allow, fenced, ask or deny.",
    ),
    key("safety.sandbox.mode", Kind::Word(SANDBOXES), "Another place for sandbox.mode."),
    key(
        "safety.sandbox.linux.workspace",
        Kind::Text,
        "The directory that commands may write to; the working directory where it is not set.",
    ),
    key("safety.sandbox.linux.max_memory_mb", Kind::Whole(1), "Memory for a command."),
    key("safety.sandbox.windows.workspace", Kind::Text, "The directory that commands may write to."),
    key("safety.sandbox.windows.max_memory_mb", Kind::Whole(1), "Memory for a command."),
    key("safety.sandbox.windows.max_processes", Kind::Whole(1), "Processes of a command."),
    key("safety.sandbox.windows.use_low_integrity", Kind::Bool, "Run commands at low integrity."),
    key("safety.sandbox.wsl.profile", Kind::Text, "A file with a distribution's settings."),
    key("safety.sandbox.wsl.distro", Kind::Text, "The distribution's name."),
    key("safety.sandbox.wsl.shell", Kind::Text, "The shell inside it."),
    key("safety.sandbox.wsl.workspace", Kind::Text, "The directory that commands work in."),
    key("safety.sandbox.wsl.install_path", Kind::Text, "Where the distribution is kept."),
    key("safety.sandbox.wsl.rootfs_url", Kind::Text, "Where its root file system comes from."),
    key(
        "safety.sandbox.wsl.pre_install_commands",
        Kind::Texts,
        "Run inside it before packages are installed.",
    ),
    key("safety.sandbox.wsl.packages", Kind::Texts, "Packages to install inside it."),
    key("safety.sandbox.wsl.package_install_command", Kind::Text, "How packages are installed inside it."),
    key("safety.sandbox.wsl.system_prompt_hint", Kind::Text, "What a model is told about it."),
    key(
        "rules",
        Kind::Rules,
        "Ordered rules; the first that matches a command decides for it, and the strictest command of a call decides for the call.",
    ),
    key("policies", Kind::Texts, "Further rule files, relative to this one."),
    key("cases", Kind::Cases, "Calls and the decisions that `bailiwick policy test` expects for them."),
    key("engine.url", Kind::Text, "An external policy engine that is asked about every call."),
    key("engine.timeout_ms", Kind::Whole(1), "How long its answer may take; later is a denial."),
    key(
        "sandbox.default_policy",
        Kind::Word(&["none", "restricted"]),
        "Whether commands run behind the fence where the call says nothing.",
    ),
    key("sandbox.mode", Kind::Word(SANDBOXES), "Which fence."),
    key("sandbox.os.mode", Kind::Word(SANDBOXES), "Another place for sandbox.mode."),
    key(
        "sandbox.network.mode",
        Kind::Word(&["off", "allowlist", "open"]),
        "Which connections the fence lets through.",
    ),
    key(
        "sandbox.network.allow",
        Kind::Texts,
        "Hosts that may be connected to without a question: exact names, or `*.example.com`.",
    ),
    key("sandbox.read", Kind::Texts, "Further paths that a fenced command may read."),
    key(
        "sandbox.write",
        Kind::Texts,
        "Further paths that a fenced command may write; also protected ones of the workspace, by name.",
    ),
    key("sandbox.env", Kind::Texts, "Names of environment variables that are handed on, beyond the usual."),
    key(
        "sandbox.protect",
        Kind::Bool,
        "Whether hooks and settings inside the workspace that decide what runs on your side stay as they are.",
    ),
    key("sandbox.bwrap_path", Kind::Text, "Where bubblewrap is, if not in /usr/bin."),
    key(
        "sandbox.unshare_net",
        Kind::Bool,
        "false is another word for network.mode open; true leaves the network mode as it is.",
    ),
    key("sandbox.limits.memory_mb", Kind::Whole(1), "Memory for a command and its children."),
    key("sandbox.limits.wall_ms", Kind::Whole(1), "Time for a command."),
    key("sandbox.limits.processes", Kind::Whole(1), "Processes of a command."),
    key("sandbox.limits.output_bytes", Kind::Whole(1), "Output of a command that is kept."),
    key(
        "sandbox.limits.cpu_s",
        Kind::Whole(1),
        "Seconds on a processor for one process; none where it is not set.",
    ),
    key("sandbox.limits.open_files", Kind::Whole(16), "Open files of one process."),
    key("sandbox.limits.file_mb", Kind::Whole(1), "The largest file that is written."),
    key("sandbox.limits.scratch_mb", Kind::Whole(1), "Everything in the private /tmp and home together."),
    key(
        "approval.providers",
        Kind::Texts,
        "Who is asked, in order: rules, command, terminal, queue (the console). Without it: all four, as far as there are any.",
    ),
    key(
        "approval.rules",
        Kind::ApprovalRules,
        "Rows that answer questions in your place; the first that matches decides, and what none matches is denied unless somebody else is asked after them.",
    ),
    key(
        "approval.command",
        Kind::Texts,
        "A program of yours, by its whole path, with its arguments: it gets the question as JSON on its input and answers with `{\"decision\": …}` on its output. Anything else that it does is a denial.",
    ),
    key("approval.command_timeout_ms", Kind::Whole(1), "How long that program may take."),
    key(
        "approval.max_pending",
        Kind::Whole(1),
        "How many questions of one session may be open; more are denied.",
    ),
    key("approval.session_grants_ttl_s", Kind::Whole(1), "How long a yes for the session holds."),
    key("approval.auto_approve_max_s", Kind::Whole(1), "How long auto-approve holds at most."),
    key(
        "journal.sync",
        Kind::Word(&["always", "group", "os"]),
        "When a record counts as written: synced on its own, together with those of the same moment, or when the system sees fit.",
    ),
    key("journal.output", Kind::Bool, "Whether the output of commands is kept, with secrets taken out."),
    key(
        "journal.rotate_mb",
        Kind::Whole(1),
        "How large a file of the journal grows before the next is begun.",
    ),
    key("journal.directory", Kind::Text, "Where the journal is, if not in your state directory."),
    key(
        "hooks.fence",
        Kind::Bool,
        "Whether a coding agent's allowed shell commands are rewritten to run behind the fence, where its host can do that.",
    ),
    key(
        "skills.spaces",
        Kind::Places,
        "Folders of skills, each under its namespace: `{team: ~/skills}` has `$[team].report` in `~/skills/report`. An action is judged as the command that it stands for. A folder inside the workspace can be written by an agent: nothing of your environment is passed on to its actions.",
    ),
    key(
        "search.url",
        Kind::Text,
        "Who is asked when an agent searches the web: an https address (http on this machine) whose query has `{q}`, and `{limit}` and `{recency}` where they are wanted, as in `https://search.example/api?q={q}&count={limit}`. Its host is what is judged.",
    ),
    key("search.key_variable", Kind::Text, "The environment variable that holds the provider's key."),
    key(
        "search.key_header",
        Kind::Text,
        "The header that the key is sent as; `authorization`, which adds `Bearer`, where it is not set.",
    ),
    key("search.timeout_ms", Kind::Whole(1), "How long the provider's answer may take, up to a minute."),
    key(
        "mcp.servers",
        Kind::Servers,
        "MCP servers that `bailiwick mcp proxy` starts behind the fence, by name: the program with its arguments, environment variables, the directory, and hosts that it may connect to.",
    ),
    key("run.human_timeout_ms", Kind::Whole(1), "How long a question to a person waits."),
    key(
        "agent.provider",
        Kind::Word(&["openai", "anthropic"]),
        "The protocol of the model that `run` and `chat` talk to: OpenAI's chat completions, or Anthropic's messages.",
    ),
    key("agent.base_url", Kind::Text, "Where the model is served, if not by the provider itself."),
    key("agent.model", Kind::Text, "The model's name."),
    key(
        "agent.key_env",
        Kind::Text,
        "The environment variable that holds the key; otherwise OPENAI_API_KEY or ANTHROPIC_API_KEY.",
    ),
    key("agent.max_steps", Kind::Whole(1), "The most steps of a run: requests to the model."),
    key("agent.wall_ms", Kind::Whole(1), "The longest time of a run."),
    key("agent.output_tokens", Kind::Whole(1), "The most that the model may write in a run, in tokens."),
    key(
        "agent.context_tokens",
        Kind::Whole(1000),
        "The most that a conversation may take, in tokens; beyond, it is shortened.",
    ),
    key("agent.max_agents", Kind::Whole(0), "How many agents a run may have started at one time."),
    key("agent.max_depth", Kind::Whole(0), "How deep agents may start agents."),
    key("version", Kind::Text, "Rule files: their version."),
    key("name", Kind::Text, "Rule files: their name."),
    key(
        "settings.default_action",
        Kind::Word(&["allow", "require_approval", "deny"]),
        "Rule files: what holds for a command that none of their rules matches.",
    ),
    key("settings.approval_timeout_seconds", Kind::Seconds, "Rule files: as safety.approval_timeout_ms."),
    key("provider.name", Kind::Text, "Another place for agent.provider."),
    key("provider.model", Kind::Text, "Another place for agent.model."),
    key("max_steps", Kind::Whole(1), "Another place for agent.max_steps."),
    key("timeout", Kind::Seconds, "Another place for agent.wall_ms, in seconds."),
    key("prompt", Kind::Text, "Of a request that carries its own `safety` section; not used by the gate."),
    key("distro", Kind::Text, "Of a distribution's settings; see safety.sandbox.wsl."),
    key("shell", Kind::Text, "Of a distribution's settings; see safety.sandbox.wsl."),
    key("rootfs_url", Kind::Text, "Of a distribution's settings; see safety.sandbox.wsl."),
    key("pre_install_commands", Kind::Texts, "Of a distribution's settings; see safety.sandbox.wsl."),
    key("packages", Kind::Texts, "Of a distribution's settings; see safety.sandbox.wsl."),
    key("package_install_command", Kind::Text, "Of a distribution's settings; see safety.sandbox.wsl."),
    key("system_prompt_hint", Kind::Text, "Of a distribution's settings; see safety.sandbox.wsl."),
];

/// The key of exactly this path.
pub(crate) fn find(path: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.path == path)
}

/// The names that may stand directly below a section (the empty path is the top).
pub(crate) fn children(section: &str) -> impl Iterator<Item = &'static str> {
    KEYS.iter()
        .filter_map(move |key| {
            let rest = if section.is_empty() {
                key.path
            } else {
                key.path.strip_prefix(section)?.strip_prefix('.')?
            };
            rest.split('.').next()
        })
        .chain((section == "safety.sandbox").then_some("local"))
}

/// Whether this path is a section.
pub(crate) fn is_section(path: &str) -> bool {
    path == "safety.sandbox.local" || children(path).next().is_some()
}
