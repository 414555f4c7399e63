//! A configuration as plain values, and the YAML that says the same. The reference evaluator reads the values, the real one
//! reads the YAML; nothing else joins them.

use std::fmt::Write as _;

use call::{Category, Sandbox};
use effects::{Analysis, Class};
use policy::{Base, Config, Consultation, Decision, Fence, Layer, Origin, Profile, Question, Stance};

/// The working directory of every case.
pub(crate) const CWD: &str = "/w/app";
/// The home directory of every case.
pub(crate) const HOME: &str = "/home/u";

/// One file. `None` and empty lists are keys that it does not have.
#[derive(Debug, Clone, Default)]
pub(crate) struct File {
    pub(crate) origin: Option<Origin>,
    pub(crate) profile: Option<Profile>,
    pub(crate) mode: Option<Decision>,
    pub(crate) allowlist: Vec<&'static str>,
    pub(crate) denylist: Vec<&'static str>,
    pub(crate) denied_commands: Vec<&'static str>,
    pub(crate) tool_allowlist: Vec<&'static str>,
    pub(crate) tool_denylist: Vec<&'static str>,
    pub(crate) read_only: Option<bool>,
    pub(crate) allowed_paths: Option<Vec<&'static str>>,
    pub(crate) denied_paths: Vec<&'static str>,
    pub(crate) path_rules: Vec<PathRule>,
    pub(crate) command_rules: Vec<CommandRule>,
    pub(crate) writes_ask: Option<bool>,
    pub(crate) execute_asks: Option<bool>,
    pub(crate) complex_asks: Option<bool>,
    pub(crate) effects: Vec<(Class, Stance)>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) restricted: Option<bool>,
    pub(crate) hosts: Vec<&'static str>,
}

#[derive(Debug, Clone)]
pub(crate) struct PathRule {
    pub(crate) pattern: &'static str,
    pub(crate) read: bool,
    pub(crate) write: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct CommandRule {
    pub(crate) look: Look,
    pub(crate) decision: Decision,
}

/// How a command rule looks at a command.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Look {
    /// By meaning: program, options, first operands.
    Meaning(&'static str),
    Text(Search),
}

/// A regular expression that is simple enough to be searched by hand.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Search {
    Starts(&'static str),
    Contains(&'static str),
    Ends(&'static str),
}

impl Search {
    pub(crate) fn finds(self, text: &str) -> bool {
        match self {
            Search::Starts(word) => text.starts_with(word),
            Search::Contains(word) => text.contains(word),
            Search::Ends(word) => text.ends_with(word),
        }
    }

    fn regex(self) -> String {
        match self {
            Search::Starts(word) => format!("^{word}"),
            Search::Contains(word) => word.into(),
            Search::Ends(word) => format!("{word}$"),
        }
    }
}

/// A rule; conditions that are absent hold.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rule {
    pub(crate) action: Option<Decision>,
    pub(crate) tools: Vec<&'static str>,
    pub(crate) commands: Vec<&'static str>,
    pub(crate) contains: Vec<&'static str>,
    pub(crate) command_patterns: Vec<Search>,
    pub(crate) path_patterns: Vec<Search>,
    pub(crate) effects: Vec<Class>,
    pub(crate) hosts: Vec<&'static str>,
    pub(crate) hosts_except: Vec<&'static str>,
    pub(crate) outside_workspace: Option<bool>,
    pub(crate) over_wall_ms: Option<u64>,
    pub(crate) over_memory_mb: Option<u64>,
    pub(crate) unfenced: Option<bool>,
    pub(crate) require_sandbox: bool,
}

/// A question that owns what it refers to.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) tool: &'static str,
    pub(crate) category: Category,
    pub(crate) text: Option<String>,
    pub(crate) analysis: Analysis,
    pub(crate) sandbox: Sandbox,
    pub(crate) escalated: bool,
    pub(crate) wall_ms: Option<u64>,
    pub(crate) memory_mb: Option<u64>,
    pub(crate) fence: Fence,
    pub(crate) engine: Consultation,
}

impl Asked {
    pub(crate) fn question(&self) -> Question<'_> {
        Question {
            arguments: None,
            tool: self.tool,
            category: self.category,
            text: self.text.as_deref(),
            analysis: &self.analysis,
            sandbox: self.sandbox,
            escalated: self.escalated,
            wall_ms: self.wall_ms,
            memory_mb: self.memory_mb,
            fence: &self.fence,
            engine: &self.engine,
        }
    }
}

/// What `<cwd>` and `~` stand for.
pub(crate) fn base() -> Base {
    Base { cwd: CWD.into(), home: Some(HOME.into()) }
}

/// The real configuration of these files.
pub(crate) fn load(files: &[File]) -> Config {
    let layers = files
        .iter()
        .map(|file| {
            let origin = file.origin.unwrap();
            let text = file.yaml();
            Layer::parse(origin, &format!("{origin:?}.yaml"), &text)
                .unwrap_or_else(|error| panic!("{error}\n{text}"))
        })
        .collect();
    Config::merge(layers, &base()).unwrap_or_else(|error| {
        let texts: Vec<String> =
            files.iter().map(|file| format!("# {:?}\n{}", file.origin, file.yaml())).collect();
        panic!("{error}\n{}", texts.join("\n"))
    })
}

impl File {
    /// The same as YAML.
    pub(crate) fn yaml(&self) -> String {
        let mut out = String::from("config_version: 1\n");
        if let Some(profile) = self.profile {
            let _ = writeln!(out, "profile: {}", profile.name());
        }
        let mut safety = String::new();
        let mut set = |key: &str, value: Option<String>| {
            if let Some(value) = value {
                let _ = writeln!(safety, "  {key}: {value}");
            }
        };
        set("mode", self.mode.map(|mode| mode.name().into()));
        set("allowlist", list(&self.allowlist));
        set("denylist", list(&self.denylist));
        set("denied_commands", list(&self.denied_commands));
        set("tool_allowlist", list(&self.tool_allowlist));
        set("tool_denylist", list(&self.tool_denylist));
        set("read_only", self.read_only.map(|on| on.to_string()));
        set("allowed_paths", self.allowed_paths.as_ref().map(|set| flow(set)));
        set("denied_paths", list(&self.denied_paths));
        set("path_rules", (!self.path_rules.is_empty()).then(|| flow_of(&self.path_rules, PathRule::yaml)));
        set(
            "command_rules",
            (!self.command_rules.is_empty()).then(|| flow_of(&self.command_rules, CommandRule::yaml)),
        );
        set("require_approval_for_writes", self.writes_ask.map(|on| on.to_string()));
        set("require_approval_for_execute", self.execute_asks.map(|on| on.to_string()));
        set("complex_shell", self.complex_asks.map(|asks| if asks { "ask" } else { "by_part" }.into()));
        let pairs: Vec<String> = self
            .effects
            .iter()
            .map(|(class, stance)| format!("{}: {}", class.key(), stance.name()))
            .collect();
        set("effects", (!pairs.is_empty()).then(|| format!("{{{}}}", pairs.join(", "))));
        if !safety.is_empty() {
            let _ = write!(out, "safety:\n{safety}");
        }
        let mut fence = String::new();
        if let Some(restricted) = self.restricted {
            let _ = writeln!(fence, "  default_policy: {}", if restricted { "restricted" } else { "none" });
        }
        if !self.hosts.is_empty() {
            let _ = writeln!(fence, "  network: {{allow: {}}}", flow(&self.hosts));
        }
        if !fence.is_empty() {
            let _ = write!(out, "sandbox:\n{fence}");
        }
        if !self.rules.is_empty() {
            out.push_str("rules:\n");
            for (number, rule) in self.rules.iter().enumerate() {
                let _ = writeln!(out, "  - {}", rule.yaml(number));
            }
        }
        out
    }
}

impl PathRule {
    fn yaml(&self) -> String {
        format!(
            "{{pattern: {}, allow_read: {}, allow_write: {}}}",
            quoted(self.pattern),
            self.read,
            self.write
        )
    }
}

impl CommandRule {
    fn yaml(&self) -> String {
        let (pattern, is_regex) = match self.look {
            Look::Meaning(words) => (words.to_owned(), false),
            Look::Text(search) => (search.regex(), true),
        };
        format!("{{pattern: {}, decision: {}, is_regex: {is_regex}}}", quoted(&pattern), self.decision.name())
    }
}

impl Rule {
    fn yaml(&self, number: usize) -> String {
        let mut out = format!("{{name: r{number}, action: {}", self.action.unwrap().name());
        let mut set = |key: &str, value: Option<String>| {
            if let Some(value) = value {
                let _ = write!(out, ", {key}: {value}");
            }
        };
        let regexes = |searches: &[Search]| {
            let texts: Vec<String> = searches.iter().map(|search| search.regex()).collect();
            list(&texts.iter().map(String::as_str).collect::<Vec<_>>())
        };
        set("tools", list(&self.tools));
        set("commands", list(&self.commands));
        set("contains", list(&self.contains));
        set("command_patterns", regexes(&self.command_patterns));
        set("path_patterns", regexes(&self.path_patterns));
        set("effects", list(&self.effects.iter().map(|class| class.key()).collect::<Vec<_>>()));
        set("hosts", list(&self.hosts));
        set("hosts_except", list(&self.hosts_except));
        set("outside_workspace", self.outside_workspace.map(|on| on.to_string()));
        set("over_wall_ms", self.over_wall_ms.map(|limit| limit.to_string()));
        set("over_memory_mb", self.over_memory_mb.map(|limit| limit.to_string()));
        set("unfenced", self.unfenced.map(|on| on.to_string()));
        set("obligations", self.require_sandbox.then(|| "[require_sandbox]".into()));
        out.push('}');
        out
    }
}

fn quoted(text: &str) -> String {
    format!("'{text}'")
}

fn flow(texts: &[&str]) -> String {
    format!("[{}]", texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", "))
}

fn list(texts: &[&str]) -> Option<String> {
    (!texts.is_empty()).then(|| flow(texts))
}

fn flow_of<T>(items: &[T], yaml: impl Fn(&T) -> String) -> String {
    format!("[{}]", items.iter().map(yaml).collect::<Vec<_>>().join(", "))
}
