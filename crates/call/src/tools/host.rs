//! The tools of coding agents' hosts, by the names that Claude Code gives them.
//!
//! The host owns their schemas and runs them itself, so keys that are not known here are tolerated; the known ones
//! decide what the call is about.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::exec::NO_ENV;
use super::{Exec, Kind, Sandbox, SandboxPermissions, What};
use crate::bounds::{check_command, check_path};
use crate::descriptor::Category;
use crate::form::Form;
use crate::intent::{Intent, Shell};
use crate::invalid::Invalid;
use crate::secret::Secret;

/// Arguments of `Bash`.
#[derive(Deserialize, JsonSchema)]
pub struct HostBash {
    /// Text for bash.
    #[schemars(length(min = 1))]
    pub command: String,
    /// How long it may take, in milliseconds.
    pub timeout: Option<u64>,
    /// What it does, in the agent's words.
    pub description: Option<String>,
    /// Whether the agent goes on meanwhile.
    #[serde(default)]
    pub run_in_background: bool,
}

impl Kind for HostBash {
    const NAME: &'static str = "Bash";
    const CATEGORY: Category = Category::Exec;
    const ABOUT: &'static str = "Runs a text with bash.";
    const HOST: bool = true;

    fn check(&self) -> Result<(), Invalid> {
        check_command(&self.command).map_err(|error| error.in_key("command"))
    }

    fn intents(&self) -> Vec<Intent> {
        let text = self.command.clone();
        vec![Intent::Shell { text, shell: Shell::Bash, cwd: None, env_names: Vec::new() }]
    }

    fn fill(&self, form: &mut Form<'_>) {
        form.exec("command", &self.view());
    }

    fn exec(&self) -> Option<Exec<'_>> {
        Some(self.view())
    }
}

impl HostBash {
    fn view(&self) -> Exec<'_> {
        Exec {
            what: What::Text(&self.command, Shell::Bash),
            workdir: None,
            env: &NO_ENV,
            passed_on: &[],
            timeout_ms: self.timeout,
            tty: false,
            sandbox: Sandbox::Inherit,
            permissions: SandboxPermissions::Restricted,
            justification: self.description.as_deref(),
        }
    }
}

/// Arguments of `Read`.
#[derive(Deserialize, JsonSchema)]
pub struct HostRead {
    /// The file.
    #[schemars(length(min = 1))]
    pub file_path: String,
    /// The first line.
    pub offset: Option<u64>,
    /// How many lines.
    pub limit: Option<u64>,
}

impl Kind for HostRead {
    const NAME: &'static str = "Read";
    const CATEGORY: Category = Category::Read;
    const ABOUT: &'static str = "Reads a file.";
    const HOST: bool = true;

    fn check(&self) -> Result<(), Invalid> {
        check_path(&self.file_path).map_err(|error| error.in_key("file_path"))
    }

    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Read { path: self.file_path.clone() }]
    }

    fn fill(&self, form: &mut Form<'_>) {
        form.path("file_path", &self.file_path);
    }
}

/// Arguments of `Write`.
#[derive(Deserialize, JsonSchema)]
pub struct HostWrite {
    /// The file.
    #[schemars(length(min = 1))]
    pub file_path: String,
    /// All that it will hold.
    pub content: Secret,
}

impl Kind for HostWrite {
    const NAME: &'static str = "Write";
    const CATEGORY: Category = Category::Write;
    const ABOUT: &'static str = "Writes a file.";
    const HOST: bool = true;
    const RAW_KEYS: &'static [&'static str] = &["content"];

    fn check(&self) -> Result<(), Invalid> {
        check_path(&self.file_path).map_err(|error| error.in_key("file_path"))
    }

    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Write { path: self.file_path.clone() }]
    }

    fn fill(&self, form: &mut Form<'_>) {
        form.path("file_path", &self.file_path);
        form.content(&self.content);
    }
}

/// Arguments of `Edit`.
#[derive(Deserialize, JsonSchema)]
pub struct HostEdit {
    /// The file.
    #[schemars(length(min = 1))]
    pub file_path: String,
    /// What is replaced.
    pub old_string: Secret,
    /// By what.
    pub new_string: Secret,
    /// Everywhere, or once.
    #[serde(default)]
    pub replace_all: bool,
}

impl Kind for HostEdit {
    const NAME: &'static str = "Edit";
    const CATEGORY: Category = Category::Write;
    const ABOUT: &'static str = "Changes a part of a file.";
    const HOST: bool = true;
    const RAW_KEYS: &'static [&'static str] = &["old_string", "new_string"];

    fn check(&self) -> Result<(), Invalid> {
        check_path(&self.file_path).map_err(|error| error.in_key("file_path"))
    }

    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Write { path: self.file_path.clone() }]
    }

    fn fill(&self, form: &mut Form<'_>) {
        form.path("file_path", &self.file_path);
        form.value("replace_all", self.replace_all);
        form.contents(&json!([self.old_string.expose(), self.new_string.expose()]));
    }
}

/// Arguments of `MultiEdit`.
#[derive(Deserialize, JsonSchema)]
pub struct HostMultiEdit {
    /// The file.
    #[schemars(length(min = 1))]
    pub file_path: String,
    /// The changes, in order.
    #[schemars(length(min = 1))]
    pub edits: Vec<MultiEditStep>,
}

/// One change of `MultiEdit`.
#[derive(Deserialize, JsonSchema)]
pub struct MultiEditStep {
    /// What is replaced.
    pub old_string: Secret,
    /// By what.
    pub new_string: Secret,
    /// Everywhere, or once.
    #[serde(default)]
    pub replace_all: bool,
}

impl Kind for HostMultiEdit {
    const NAME: &'static str = "MultiEdit";
    const CATEGORY: Category = Category::Write;
    const ABOUT: &'static str = "Changes several parts of a file.";
    const HOST: bool = true;
    const RAW_KEYS: &'static [&'static str] = &["old_string", "new_string"];

    fn check(&self) -> Result<(), Invalid> {
        check_path(&self.file_path).map_err(|error| error.in_key("file_path"))
    }

    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Write { path: self.file_path.clone() }]
    }

    fn fill(&self, form: &mut Form<'_>) {
        form.path("file_path", &self.file_path);
        form.value("edits", self.edits.len());
        let edit = |step: &MultiEditStep| {
            json!([step.old_string.expose(), step.new_string.expose(), step.replace_all])
        };
        form.contents(&self.edits.iter().map(edit).collect());
    }
}

/// Arguments of `NotebookEdit`.
#[derive(Deserialize, JsonSchema)]
pub struct HostNotebookEdit {
    /// The notebook.
    #[schemars(length(min = 1))]
    pub notebook_path: String,
    /// What the cell will hold.
    pub new_source: Option<Secret>,
    /// Which cell.
    pub cell_id: Option<String>,
    /// `replace`, `insert` or `delete`.
    pub edit_mode: Option<String>,
    /// `code` or `markdown`.
    pub cell_type: Option<String>,
}

impl Kind for HostNotebookEdit {
    const NAME: &'static str = "NotebookEdit";
    const CATEGORY: Category = Category::Write;
    const ABOUT: &'static str = "Changes a cell of a notebook.";
    const HOST: bool = true;
    const RAW_KEYS: &'static [&'static str] = &["new_source"];

    fn check(&self) -> Result<(), Invalid> {
        check_path(&self.notebook_path).map_err(|error| error.in_key("notebook_path"))
    }

    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Write { path: self.notebook_path.clone() }]
    }

    fn fill(&self, form: &mut Form<'_>) {
        form.path("notebook_path", &self.notebook_path);
        let parts =
            [("cell_id", &self.cell_id), ("edit_mode", &self.edit_mode), ("cell_type", &self.cell_type)];
        for (name, part) in parts {
            if let Some(part) = part {
                form.text(name, part);
            }
        }
        if let Some(new_source) = &self.new_source {
            form.content(new_source);
        }
    }
}

/// Arguments of `Glob`.
#[derive(Deserialize, JsonSchema)]
pub struct HostGlob {
    /// What names must match.
    #[schemars(length(min = 1))]
    pub pattern: String,
    /// Where; the working directory if absent.
    pub path: Option<String>,
}

impl Kind for HostGlob {
    const NAME: &'static str = "Glob";
    const CATEGORY: Category = Category::Read;
    const ABOUT: &'static str = "Lists files whose names match.";
    const HOST: bool = true;

    fn check(&self) -> Result<(), Invalid> {
        check_path(&self.pattern).map_err(|error| error.in_key("pattern"))?;
        self.path.as_deref().map_or(Ok(()), check_path).map_err(|error| error.in_key("path"))
    }

    fn intents(&self) -> Vec<Intent> {
        let mut intents = vec![Intent::Read { path: self.path.clone().unwrap_or_else(|| ".".into()) }];
        intents.extend(leaving(&self.pattern));
        intents
    }

    fn fill(&self, form: &mut Form<'_>) {
        form.text("pattern", &self.pattern);
        form.path("path", self.path.as_deref().unwrap_or("."));
    }
}

/// What a pattern reads besides the directory that it is applied to: `/etc/**` leaves it at once.
fn leaving(pattern: &str) -> Option<Intent> {
    let is_glob = |step: &str| step.contains(['*', '?', '[', ']', '{', '}', '(', ')', '!', '\\']);
    let fixed: Vec<&str> = pattern.split('/').take_while(|step| !is_glob(step)).collect();
    let climbs = pattern.split(['/', '{', '}', ',']).any(|step| step == "..");
    if climbs && !fixed.contains(&"..") {
        return Some(Intent::Unknown {
            why: "the pattern leaves its directory in a way that is not resolved".into(),
        });
    }
    if !(pattern.starts_with(['/', '~']) || climbs || pattern.contains("{/") || pattern.contains(",/")) {
        return None;
    }
    let path = match fixed.join("/") {
        root if root.is_empty() && !fixed.is_empty() => "/".to_owned(),
        none if none.is_empty() => {
            return Some(Intent::Unknown { why: "the pattern is not resolved".into() });
        }
        path => path,
    };
    Some(Intent::Read { path })
}

/// Arguments of `Grep`.
#[derive(Deserialize, JsonSchema)]
pub struct HostGrep {
    /// A regular expression.
    #[schemars(length(min = 1))]
    pub pattern: String,
    /// Where; the working directory if absent.
    pub path: Option<String>,
    /// Only files that match.
    pub glob: Option<String>,
}

impl Kind for HostGrep {
    const NAME: &'static str = "Grep";
    const CATEGORY: Category = Category::Read;
    const ABOUT: &'static str = "Searches files for a regular expression.";
    const HOST: bool = true;

    fn check(&self) -> Result<(), Invalid> {
        self.path.as_deref().map_or(Ok(()), check_path).map_err(|error| error.in_key("path"))
    }

    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Read { path: self.path.clone().unwrap_or_else(|| ".".into()) }]
    }

    fn fill(&self, form: &mut Form<'_>) {
        form.text("pattern", &self.pattern);
        form.path("path", self.path.as_deref().unwrap_or("."));
        if let Some(glob) = &self.glob {
            form.text("glob", glob);
        }
    }
}

/// Arguments of `WebFetch`.
#[derive(Deserialize, JsonSchema)]
pub struct HostWebFetch {
    /// What to fetch.
    #[schemars(length(min = 1))]
    pub url: String,
    /// What to find in it.
    pub prompt: Option<String>,
}

impl Kind for HostWebFetch {
    const NAME: &'static str = "WebFetch";
    const CATEGORY: Category = Category::Connect;
    const ABOUT: &'static str = "Fetches a page.";
    const HOST: bool = true;

    fn intents(&self) -> Vec<Intent> {
        vec![match host_of(&self.url) {
            Some(host) => Intent::Connect { host: Some(host), what: "fetches a page".into() },
            None => Intent::Unknown { why: "the address is not a plain web address".into() },
        }]
    }

    fn fill(&self, form: &mut Form<'_>) {
        form.text("url", &self.url);
        if let Some(prompt) = &self.prompt {
            form.prose("prompt", prompt);
        }
    }
}

/// The host of a web address, in lower case; nothing where two readers could see two hosts.
fn host_of(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    if !(scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")) {
        return None;
    }
    let authority = rest.split(['/', '?', '#']).next()?;
    let host_and_port = authority.rsplit('@').next()?;
    let (host, port) = match host_and_port.strip_prefix('[') {
        Some(six) => {
            let (host, after) = six.split_once(']')?;
            let colons = host.bytes().filter(|b| *b == b':').count();
            if colons < 2 || !host.bytes().all(|b| b.is_ascii_hexdigit() || matches!(b, b':' | b'.')) {
                return None;
            }
            (host, after.strip_prefix(':').or(after.is_empty().then_some(""))?)
        }
        None => {
            let (host, port) = host_and_port.split_once(':').unwrap_or((host_and_port, ""));
            if !host.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_')) {
                return None;
            }
            (host, port)
        }
    };
    let plain = !host.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) && !authority.contains('\\');
    plain.then(|| host.trim_end_matches('.').to_ascii_lowercase()).filter(|host| !host.is_empty())
}

/// Arguments of `WebSearch`.
#[derive(Deserialize, JsonSchema)]
pub struct HostWebSearch {
    /// What to search for.
    #[schemars(length(min = 1))]
    pub query: String,
}

impl Kind for HostWebSearch {
    const NAME: &'static str = "WebSearch";
    const CATEGORY: Category = Category::Connect;
    const ABOUT: &'static str = "Searches the web.";
    const HOST: bool = true;

    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Connect { host: None, what: "a web search".into() }]
    }

    fn fill(&self, form: &mut Form<'_>) {
        form.text("query", &self.query);
    }
}

/// Arguments of `Task`.
#[derive(Deserialize, JsonSchema)]
pub struct HostTask {
    /// What the agent is to do.
    #[schemars(length(min = 1))]
    pub prompt: String,
}

impl Kind for HostTask {
    const NAME: &'static str = "Task";
    const CATEGORY: Category = Category::Agent;
    const ABOUT: &'static str = "Starts another agent.";
    const HOST: bool = true;

    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Agent { what: "starts an agent".into() }]
    }

    fn fill(&self, form: &mut Form<'_>) {
        form.prose("prompt", &self.prompt);
    }
}

/// Arguments of `Agent`.
#[derive(Deserialize, JsonSchema)]
pub struct HostAgent {
    /// What the agent is to do.
    #[schemars(length(min = 1))]
    pub prompt: String,
}

impl Kind for HostAgent {
    const NAME: &'static str = "Agent";
    const CATEGORY: Category = Category::Agent;
    const ABOUT: &'static str = "Starts another agent.";
    const HOST: bool = true;

    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Agent { what: "starts an agent".into() }]
    }

    fn fill(&self, form: &mut Form<'_>) {
        form.prose("prompt", &self.prompt);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_web_address_gives_its_host_or_nothing() {
        let table = [
            ("https://Example.com/a", Some("example.com")),
            ("http://example.com.:8080?x", Some("example.com")),
            ("https://user:pw@evil.test@real.test/", Some("real.test")),
            ("https://[::1]:80/", Some("::1")),
            ("https://127.0.0.1#x", Some("127.0.0.1")),
            ("file:///etc/passwd", None),
            ("https://", None),
            ("https://a b/", None),
            ("https://good.test\\@evil.test/", None),
            ("https://a:b/", None),
            ("https://é.test/", None),
            ("https://[x]/", None),
            ("example.com", None),
        ];
        for (url, expected) in table {
            assert_eq!(host_of(url).as_deref(), expected, "{url}");
        }
    }

    #[test]
    fn a_pattern_that_leaves_its_directory_reads_there() {
        let unknown = || Some(Intent::Unknown { why: String::new() });
        let read = |path: &str| Some(Intent::Read { path: path.into() });
        let table = [
            ("**/*.rs", None),
            ("src/*.rs", None),
            ("a..b/*", None),
            ("/etc/**", read("/etc")),
            ("/*", read("/")),
            ("~/.ssh/*", read("~/.ssh")),
            ("../other/*", read("../other")),
            ("src/../../x", read("src/../../x")),
            ("*/../../etc/*", unknown()),
            ("{..,src}/*", unknown()),
            ("{/etc,src}/*", unknown()),
        ];
        for (pattern, expected) in table {
            let got = leaving(pattern).map(|intent| match intent {
                Intent::Unknown { .. } => Intent::Unknown { why: String::new() },
                other => other,
            });
            assert_eq!(got, expected, "{pattern}");
        }
    }
}
