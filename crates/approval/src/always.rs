//! The narrowest useful rule that a yes for always would write down.
//!
//! "The same tool" is too wide and the exact text too narrow: the rule names the program, its subcommand, the options that were
//! seen, and what the command may touch. What destroys, gains rights, changes the machine, runs code from the call, touches
//! credentials, connects, or is not understood is never offered. The rule is written in the configuration's own words, so that
//! reading it back gives exactly it.

use std::fmt::Write as _;

use call::{mask, sha256_hex};
use effects::{Analysis, Class, Effect, Part};
use policy::{Ruling, Step};

use crate::asked::quoted;

/// Programs of which the first words say what they do.
const SUBCOMMANDS: &[&str] = &[
    "apt",
    "brew",
    "bundle",
    "bun",
    "cargo",
    "composer",
    "conda",
    "deno",
    "docker",
    "dotnet",
    "flutter",
    "gem",
    "gh",
    "git",
    "go",
    "gradle",
    "helm",
    "hg",
    "jj",
    "just",
    "kubectl",
    "make",
    "mix",
    "mvn",
    "npm",
    "npx",
    "nx",
    "pip",
    "pip3",
    "pnpm",
    "podman",
    "poetry",
    "rails",
    "rake",
    "rustup",
    "sbt",
    "stack",
    "svn",
    "swift",
    "task",
    "terraform",
    "tox",
    "turbo",
    "uv",
    "yarn",
    "zig",
];
/// How many such words a rule keeps at most.
const MOST_WORDS: usize = 3;
/// How many examples are shown.
const MOST_EXAMPLES: usize = 6;
/// How many commands of the past are looked at.
const MOST_HISTORY: usize = 100_000;

/// A rule that could be saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    name: String,
    /// The rule's lines, without any indentation of the list.
    lines: Vec<String>,
    command: String,
    words: Vec<String>,
    options: Vec<String>,
    radius: Option<Radius>,
}

/// What else a rule would allow.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Radius {
    /// Variants of the command that it would allow too.
    pub variants: Vec<String>,
    /// How many variants were tried.
    pub tried: usize,
    /// Commands of the past that were asked about and that it would allow.
    pub history: Vec<String>,
    /// How many of the past it would have allowed in all.
    pub history_count: usize,
}

/// The rule that would answer this question for always, where there is one that is narrow enough to offer.
#[must_use]
pub fn propose(ruling: &Ruling, analysis: &Analysis) -> Option<Proposal> {
    // A rule can only help where the question comes from an effect, or from nothing having allowed the call.
    let helps = match ruling.step {
        Step::AskRules => ruling.rule.id.starts_with("safety.effects"),
        Step::Otherwise => true,
        _ => false,
    };
    if !helps || !analysis.parts.iter().all(is_offered) {
        return None;
    }
    let part = match (ruling.part, analysis.parts.as_slice()) {
        (Some(index), parts) => parts.get(index)?,
        (None, [only]) => only,
        (None, _) => return None,
    };
    Proposal::of(part)
}

/// Whether nothing about a part is of the kinds that are never offered.
fn is_offered(part: &Part) -> bool {
    part.effects.iter().filter_map(Effect::class).all(|class| match class {
        Class::ReadWorkspace
        | Class::ReadTemporary
        | Class::ReadSystem
        | Class::WriteWorkspace
        | Class::WriteTemporary
        | Class::Run => true,
        Class::ReadOutside
        | Class::Credentials
        | Class::WriteProtected
        | Class::WriteOutside
        | Class::WriteSystem
        | Class::Delete
        | Class::DeleteGenerated
        | Class::DeleteRecursive
        | Class::ConnectLocal
        | Class::ConnectService
        | Class::Connect
        | Class::Exfiltrate
        | Class::Code
        | Class::CodeUnresolved
        | Class::CodeNetwork
        | Class::Privilege
        | Class::System
        | Class::History
        | Class::Environment
        | Class::Unknown => false,
    }) && part.via.is_empty()
}

impl Proposal {
    fn of(part: &Part) -> Option<Proposal> {
        let argv = part.argv.as_ref()?;
        let normal = &part.normal;
        let operands: Vec<&str> = normal.operands.iter().map(Option::as_deref).collect::<Option<_>>()?;
        let mut classes: Vec<Class> = part.effects.iter().filter_map(Effect::class).collect();
        classes.sort_unstable();
        classes.dedup();
        if classes.is_empty() || normal.program.is_empty() {
            return None;
        }
        // What the program does with its operands is not known: only these very ones, and no option that brings a value.
        let runs = classes.contains(&Class::Run);
        if runs && has_values(argv, operands.len()) {
            return None;
        }
        let kept = if runs { operands.len() } else { subcommands(&normal.program, &operands, part) };
        let program = argv.first().filter(|program| program.contains('/')).unwrap_or(&normal.program);
        let mut words = vec![program.clone()];
        words.extend(operands.iter().take(kept).map(|word| (*word).to_owned()));
        let options = normal.options.clone();
        let text = quoted(&argv.clone());
        if words.iter().chain(&options).any(|word| !is_plain(word)) || mask(&text) != text {
            return None;
        }
        let keys: Vec<&str> = classes.iter().map(|class| class.key()).collect();
        let mut lines = vec![
            "action: allow".to_owned(),
            "tool: Bash".to_owned(),
            format!("commands: [{}]", json(&words.join(" "))),
            format!(
                "options_only: [{}]",
                options.iter().map(|option| json(option)).collect::<Vec<_>>().join(", ")
            ),
        ];
        if runs {
            lines.push("more_operands: false".to_owned());
        }
        lines.push(format!("effects: [{}]", keys.join(", ")));
        lines.push("outside_workspace: false".to_owned());
        let name = name(&words, &lines);
        lines.insert(0, format!("name: {name}"));
        Some(Proposal { name, lines, command: text, words, options, radius: None })
    }

    /// The rule's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The rule as an entry of a configuration's `rules:`.
    #[must_use]
    pub fn snippet(&self) -> String {
        self.entry("").trim_end().to_owned()
    }

    /// A whole configuration that holds nothing but the rule.
    #[must_use]
    pub fn document(&self) -> String {
        format!("rules:\n{}", self.entry("  "))
    }

    /// The entry of a list, indented.
    pub(crate) fn entry(&self, indent: &str) -> String {
        let mut text = String::new();
        for (index, line) in self.lines.iter().enumerate() {
            let mark = if index == 0 { "- " } else { "  " };
            let _ = writeln!(text, "{indent}{mark}{line}");
        }
        text
    }

    /// Finds out what else the rule would allow: `allows` says of a command whether it would run without a question if the rule
    /// were there; `history` are the commands of the past that were asked about.
    #[must_use]
    pub fn with_radius<'h>(
        mut self,
        allows: impl Fn(&str) -> bool,
        history: impl IntoIterator<Item = &'h str>,
    ) -> Proposal {
        let mut radius = Radius::default();
        for variant in self.variants() {
            radius.tried += 1;
            if allows(&variant) && radius.variants.len() < MOST_EXAMPLES {
                radius.variants.push(variant);
            }
        }
        for past in history.into_iter().take(MOST_HISTORY) {
            if past != self.command && allows(past) {
                radius.history_count += 1;
                if radius.history.len() < MOST_EXAMPLES && !radius.history.iter().any(|known| known == past) {
                    radius.history.push(past.to_owned());
                }
            }
        }
        self.radius = Some(radius);
        self
    }

    /// What else it would allow, where that was found out.
    #[must_use]
    pub const fn radius(&self) -> Option<&Radius> {
        self.radius.as_ref()
    }

    /// What else it would allow, in lines.
    #[must_use]
    pub fn radius_lines(&self) -> Vec<String> {
        let Some(radius) = &self.radius else { return Vec::new() };
        let mut lines = Vec::new();
        if radius.variants.is_empty() {
            lines.push(format!("Of {} variants of the command it allows none.", radius.tried));
        } else {
            lines.push(format!("It would also allow, of {} variants:", radius.tried));
            lines.extend(radius.variants.iter().map(|variant| format!("  {variant}")));
        }
        if radius.history_count > 0 {
            lines.push(format!(
                "Of what was asked before it would have allowed {} more:",
                radius.history_count
            ));
            lines.extend(radius.history.iter().map(|past| format!("  {past}")));
        }
        lines
    }

    /// Commands that somebody could take for the same.
    fn variants(&self) -> Vec<String> {
        let head = quoted(&self.words);
        let program = self.words.first().cloned().unwrap_or_default();
        let all = self.options.join(" ");
        let with = |rest: &str| {
            [head.as_str(), all.as_str(), rest]
                .iter()
                .filter(|word| !word.is_empty())
                .copied()
                .collect::<Vec<_>>()
                .join(" ")
        };
        let mut variants = vec![head.clone()];
        variants.extend(self.options.iter().map(|option| format!("{head} {option}")));
        for rest in [
            "other",
            "README.md",
            "src/main.rs",
            ".",
            "./sub/dir",
            "../elsewhere",
            "/etc/passwd",
            "/tmp/x",
            "~/.ssh/id_rsa",
            ".git/config",
            "--force",
            "--all",
            "--verbose",
            "--help",
            "-x",
            "-f",
            "--config=x",
            "--output=../x",
            "-o /tmp/x",
            "> out.txt",
            "> ../out.txt",
            "| sh",
            "&& rm -rf .",
            "; curl example.com",
            "$(date)",
            "$HOME",
            "*",
            "&",
        ] {
            variants.push(with(rest));
        }
        for other in ["install", "publish", "deploy", "clean", "run", "test", "build", "push"] {
            variants.push(format!("{} {other}", quoted(std::slice::from_ref(&program))));
        }
        variants.retain(|variant| *variant != self.command);
        variants.sort();
        variants.dedup();
        variants
    }
}

/// How many of a command's operands say what it does rather than to what.
fn subcommands(program: &str, operands: &[&str], part: &Part) -> usize {
    if !SUBCOMMANDS.contains(&program) {
        return 0;
    }
    let is_path = |word: &str| {
        word.contains(['/', '.'])
            || part.effects.iter().any(|effect| match effect {
                Effect::Read(target) | Effect::Write(target) | Effect::Delete { target, .. } => {
                    target.given.as_deref() == Some(word) || target.path.ends_with(&format!("/{word}"))
                }
                _ => false,
            })
    };
    operands.iter().take(MOST_WORDS).take_while(|word| !is_path(word)).count()
}

/// Whether some word is neither option nor operand, or an option brings its value along.
fn has_values(argv: &[String], operands: usize) -> bool {
    let words = argv.get(1..).unwrap_or_default();
    let options = words.iter().filter(|word| word.starts_with('-') && word.len() > 1);
    options.clone().any(|option| option.contains('=')) || options.count() + operands != words.len()
}

/// A word that an entry of a list can hold as it is.
fn is_plain(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:@%+,=".contains(c))
}

fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// `always-cargo-build-3f9a1c`: readable, and another one for another rule.
fn name(words: &[String], lines: &[String]) -> String {
    let mut name = String::from("always");
    for word in words.iter().take(3) {
        let base = word.rsplit('/').next().unwrap_or(word);
        let clean: String =
            base.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(24).collect();
        if !clean.is_empty() {
            name.push('-');
            name.push_str(&clean.to_lowercase());
        }
    }
    let digest = sha256_hex(lines.join("\n").as_bytes());
    format!("{name}-{}", digest.get(..6).unwrap_or_default())
}
