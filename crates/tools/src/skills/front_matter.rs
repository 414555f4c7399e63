//! What a `SKILL.md` says about its skill.
//!
//! ```text
//! ---
//! name: report                     # the name of the folder
//! description: Writes the weekly report.
//! actions:                         # optional
//!   build:
//!     description: Builds it.      # optional
//!     kind: shell                  # optional, and the only kind
//!     argv: [python3, actions/build.py, --quick]
//!     env: {MODE: weekly}          # optional: values, or a list of names that are passed on
//!     timeout_ms: 30000            # optional
//! ---
//! instructions for the agent …
//! ```
//!
//! Other keys at the top belong to other readers of the same file and are left alone. In an action every key counts, so one
//! that is not known is an error. In `argv`, a word with `/` in it names a file of the skill, below `actions/`, `scripts/`,
//! `references/` or `assets/`; the program itself may be an absolute path as well.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::mention::is_word;
use super::yaml::{self, Node, Quoted, Value, Wrong};

/// The largest front matter.
const MAX_BYTES: usize = 64 * 1024;
/// The most actions.
const MOST_ACTIONS: usize = 64;
/// The most words of a command, and the most variables.
const MOST_WORDS: usize = 128;
/// The most bytes of a command.
const LONGEST_COMMAND: usize = 32 * 1024;
/// How long an action may take, if it does not say: as a `shell_exec`.
pub(crate) const TIMEOUT_MS: u64 = 60_000;
/// The longest that it may say.
const LONGEST_TIMEOUT_MS: u64 = 24 * 60 * 60 * 1000;

/// What a skill says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FrontMatter {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) actions: BTreeMap<String, Action>,
}

/// What an action says about itself.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Action {
    pub(crate) description: Option<String>,
    pub(crate) argv: Vec<Word>,
    pub(crate) env: BTreeMap<String, String>,
    /// Variables that are passed on with the value that they have.
    pub(crate) passed_on: BTreeSet<String>,
    pub(crate) timeout_ms: u64,
}

impl fmt::Debug for Action {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The values of variables are not shown.
        out.debug_struct("Action").field("argv", &self.argv).finish_non_exhaustive()
    }
}

/// A word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Word {
    Plain(String),
    /// A file of the skill, by its steps.
    File(Vec<String>),
}

/// Reads the front matter of a `SKILL.md`.
pub(crate) fn read(text: &str) -> Result<FrontMatter, Wrong> {
    let (matter, lines_before) = split(text)?;
    let shifted = |wrong: Wrong| Wrong { line: wrong.line.saturating_add(lines_before), ..wrong };
    let root = yaml::parse(matter).map_err(shifted)?;
    let root = root.ok_or(Wrong { line: 1, message: "the front matter is empty".into() })?;
    of_node(&root).map_err(shifted)
}

/// The text between the lines `---`, and how many lines are before it.
fn split(text: &str) -> Result<(&str, usize), Wrong> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let is_border = |line: &str| line.trim_end() == "---";
    let wrong = |line, message: &str| Err(Wrong { line, message: message.into() });
    let mut lines = text.split_inclusive('\n');
    match lines.next() {
        Some(first) if is_border(first) => {
            let rest = text.get(first.len()..).unwrap_or_default();
            let mut length: usize = 0;
            for line in lines {
                if is_border(line) {
                    return Ok((rest.get(..length).unwrap_or_default(), 1));
                }
                length = length.saturating_add(line.len());
                if length > MAX_BYTES {
                    return wrong(1, &format!("front matter of more than {MAX_BYTES} bytes"));
                }
            }
            wrong(1, "the front matter does not end: expected a line `---`")
        }
        _ => wrong(1, "expected front matter: a first line `---`"),
    }
}

fn of_node(root: &Node) -> Result<FrontMatter, Wrong> {
    let entries = root.map("the front matter")?;
    let find = |key: &str| entries.iter().find(|(name, _)| name == key).map(|(_, node)| node);
    let text = |key: &str| match find(key) {
        Some(node) => {
            let text = node.text(&format!("`{key}`"))?.trim();
            if text.is_empty() { Err(node.wrong(format!("`{key}` is empty"))) } else { Ok(text.to_owned()) }
        }
        None => Err(root.wrong(format!("expected the key `{key}`"))),
    };
    let mut actions = BTreeMap::new();
    if let Some(node) = find("actions") {
        let found = node.map("`actions`")?;
        if found.len() > MOST_ACTIONS {
            return Err(node.wrong(format!("more than {MOST_ACTIONS} actions")));
        }
        for (id, node) in found {
            if !is_word(id) {
                return Err(node.wrong(format!("`{id}` is no name for an action: expected a plain word")));
            }
            actions.insert(id.clone(), action(id, node)?);
        }
    }
    Ok(FrontMatter { name: text("name")?, description: text("description")?, actions })
}

fn action(id: &str, node: &Node) -> Result<Action, Wrong> {
    let mut argv = None;
    let mut action = Action {
        description: None,
        argv: Vec::new(),
        env: BTreeMap::new(),
        passed_on: BTreeSet::new(),
        timeout_ms: TIMEOUT_MS,
    };
    for (key, node) in node.map(&format!("the action `{id}`"))? {
        match key.as_str() {
            "description" => action.description = Some(node.text("`description`")?.trim().to_owned()),
            "kind" if node.text("`kind`")? == "shell" => {}
            "kind" => return Err(node.wrong("the only kind of action is `shell`")),
            "argv" => argv = Some(words(node)?),
            "env" => env(node, &mut action)?,
            "timeout_ms" => {
                let number = match &node.value {
                    Value::Scalar(text, Quoted::No) => text.parse::<u64>().ok(),
                    _ => None,
                };
                let inside = number.filter(|number| (1..=LONGEST_TIMEOUT_MS).contains(number));
                action.timeout_ms = inside.ok_or_else(|| {
                    node.wrong(format!("expected `timeout_ms` to be a number from 1 to {LONGEST_TIMEOUT_MS}"))
                })?;
            }
            other => {
                return Err(node.wrong(format!(
                    "an action has no `{other}` (it has argv, env, timeout_ms, description, kind)"
                )));
            }
        }
    }
    action.argv = argv.ok_or_else(|| node.wrong(format!("the action `{id}` has no `argv`")))?;
    Ok(action)
}

fn words(node: &Node) -> Result<Vec<Word>, Wrong> {
    let items = node.list("`argv`")?;
    if items.is_empty() || items.len() > MOST_WORDS {
        return Err(node.wrong(format!("expected `argv` to have 1 to {MOST_WORDS} words")));
    }
    let mut length: usize = 0;
    let mut words = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let text = item.text("a word of `argv`")?;
        length = length.saturating_add(text.len());
        if length > LONGEST_COMMAND {
            return Err(item.wrong(format!("`argv` has more than {LONGEST_COMMAND} bytes")));
        }
        if text.contains('\0') || (at == 0 && text.trim().is_empty()) {
            return Err(item.wrong("this is no word of a command"));
        }
        let is_program = at == 0 && text.starts_with('/');
        let is_path = (text.contains('/') && !is_program) || matches!(text, "." | "..");
        words.push(if is_path { file(item, text)? } else { Word::Plain(text.to_owned()) });
    }
    Ok(words)
}

/// A word that names a file of the skill.
fn file(item: &Node, text: &str) -> Result<Word, Wrong> {
    let steps = steps(text, &["actions", "scripts", "references", "assets"]).ok_or_else(|| {
        item.wrong(format!(
            "`{text}` is a path, and not one below `actions/`, `scripts/`, `references/` or `assets/` of the skill"
        ))
    })?;
    Ok(Word::File(steps))
}

/// The steps of a relative path below one of these folders; `None` if there is anything odd about it.
pub(crate) fn steps(text: &str, folders: &[&str]) -> Option<Vec<String>> {
    let steps: Vec<String> = text.split('/').map(str::to_owned).collect();
    let plain = |step: &String| !matches!(step.as_str(), "" | "." | "..") && !step.contains('\0');
    let below = steps.first().is_some_and(|first| folders.contains(&first.as_str()));
    (below && (2..=16).contains(&steps.len()) && steps.iter().all(plain)).then_some(steps)
}

fn env(node: &Node, action: &mut Action) -> Result<(), Wrong> {
    let named = |node: &Node, name: &str| {
        let plain = (1..=128).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && !name.starts_with(|first: char| first.is_ascii_digit());
        // The name is not repeated: whoever confuses name and value would see the value here.
        if plain { Ok(name.to_owned()) } else { Err(node.wrong("this is no name of a variable")) }
    };
    match &node.value {
        Value::Map(entries) => {
            for (name, value) in entries {
                let text = match &value.value {
                    Value::Scalar(text, _) if !text.contains('\0') => text.clone(),
                    _ => return Err(value.wrong("expected the value of a variable to be text")),
                };
                action.env.insert(named(value, name)?, text);
            }
        }
        Value::List(items) => {
            for item in items {
                action.passed_on.insert(named(item, item.text("a name in `env`")?)?);
            }
        }
        Value::Scalar(..) => {
            return Err(node.wrong("expected `env` to be a mapping, or a list of names"));
        }
    }
    if action.env.len().max(action.passed_on.len()) > MOST_WORDS {
        return Err(node.wrong(format!("more than {MOST_WORDS} variables")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GOOD: &str = "---\nname: report\ndescription: >\n  Writes\n  it.\nlicense: MIT\nallowed-tools: [Read]\nactions:\n  build:\n    description: Builds it.\n    kind: shell\n    argv: [python3, actions/build.py, -n, 5, --quick]\n    env: {MODE: weekly, LEVEL: 3}\n    timeout_ms: 30000\n  show:\n    argv:\n      - scripts/show.sh\n    env: [LANG, TZ]\n---\n# Text\n---\nmore: text\n";

    #[test]
    fn front_matter_is_read_as_it_is_documented() {
        for text in [GOOD.to_owned(), GOOD.replace('\n', "\r\n"), format!("\u{feff}{GOOD}")] {
            let matter = read(&text).unwrap();
            assert_eq!((matter.name.as_str(), matter.description.as_str()), ("report", "Writes it."));
            let build = &matter.actions["build"];
            let plain = |text: &str| Word::Plain(text.into());
            let script = Word::File(vec!["actions".into(), "build.py".into()]);
            let argv = [plain("python3"), script, plain("-n"), plain("5"), plain("--quick")];
            assert_eq!(build.argv, argv);
            assert_eq!(build.timeout_ms, 30_000);
            let values: Vec<_> = build.env.iter().map(|(name, value)| (&**name, &**value)).collect();
            assert_eq!(values, [("LEVEL", "3"), ("MODE", "weekly")]);
            assert!(!format!("{build:?}").contains("weekly"));
            let show = &matter.actions["show"];
            assert_eq!(show.timeout_ms, TIMEOUT_MS);
            assert_eq!(show.passed_on.iter().collect::<Vec<_>>(), ["LANG", "TZ"]);
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let head = "---\nname: n\ndescription: d\nactions:\n  a:\n";
        let deep = format!("---\nname: n\ndescription: d\nx: {}{}\n---\n", "[".repeat(40), "]".repeat(40));
        let table = [
            ("", 1, "first line"),
            ("name: n\n", 1, "first line"),
            ("---\nname: n\n", 1, "does not end"),
            ("---\n---\n", 1, "empty"),
            ("---\n- a\n---\n", 2, "to be a mapping, found a list"),
            ("---\nname: n\n---\n", 2, "the key `description`"),
            ("---\ndescription: d\nname:\n---\n", 3, "`name` to be text, found nothing"),
            ("---\ndescription: d\nname: ' '\n---\n", 3, "`name` is empty"),
            ("---\nname: n\nname: m\n---\n", 3, "twice"),
            ("---\nname: n\ndescription: [\n---\n", 0, "not valid YAML"),
            ("---\nname: &a n\ndescription: d\n---\n", 2, "anchors"),
            ("---\nname: !!str n\ndescription: d\n---\n", 2, "tags"),
            ("---\nname: n\ndescription: *a\n---\n", 0, ""),
            ("---\n? [a]\n: b\n---\n", 2, "a key is text"),
            (&deep, 4, "nested deeper"),
            ("---\nname: n\ndescription: d\nactions: [a]\n---\n", 4, "`actions` to be a mapping"),
            ("---\nname: n\ndescription: d\nactions: {../a: {argv: [x]}}\n---\n", 4, "plain word"),
            (&format!("{head}    env: {{A: b}}\n---\n"), 6, "no `argv`"),
            (&format!("{head}    argv: echo hi\n---\n"), 6, "to be a list, found text"),
            (&format!("{head}    argv: []\n---\n"), 6, "1 to"),
            (&format!("{head}    argv: ['']\n---\n"), 6, "no word"),
            (&format!("{head}    argv: [[x]]\n---\n"), 6, "found a list"),
            (&format!("{head}    argv:\n    - sh\n    - ../x.sh\n---\n"), 8, "is a path"),
            (&format!("{head}    argv: [sh, /etc/x.sh]\n---\n"), 6, "is a path"),
            (&format!("{head}    argv: [sh, actions/../../x]\n---\n"), 6, "is a path"),
            (&format!("{head}    argv: [sh, actions//x]\n---\n"), 6, "is a path"),
            (&format!("{head}    argv: [sh, ./actions/x]\n---\n"), 6, "is a path"),
            (&format!("{head}    argv: [sh, --file=actions/x]\n---\n"), 6, "is a path"),
            (&format!("{head}    argv: [sh, SKILL.md/x]\n---\n"), 6, "is a path"),
            (&format!("{head}    argv: [sh, ..]\n---\n"), 6, "is a path"),
            (&format!("{head}    argv: [sh, \"a\\0b\"]\n---\n"), 6, "no word"),
            (&format!("{head}    argv: [x]\n    timeout_ms: 0\n---\n"), 7, "from 1 to"),
            (&format!("{head}    argv: [x]\n    timeout_ms: soon\n---\n"), 7, "from 1 to"),
            (&format!("{head}    argv: [x]\n    timeout_ms: '5'\n---\n"), 7, "from 1 to"),
            (&format!("{head}    argv: [x]\n    timeout_ms: -1\n---\n"), 7, "from 1 to"),
            (&format!("{head}    argv: [x]\n    kind: python\n---\n"), 7, "only kind"),
            (&format!("{head}    argv: [x]\n    cwd: /\n---\n"), 7, "no `cwd`"),
            (&format!("{head}    argv: [x]\n    env: {{'A=B': c}}\n---\n"), 7, "no name of a variable"),
            (&format!("{head}    argv: [x]\n    env: {{A: [b]}}\n---\n"), 7, "to be text"),
            (&format!("{head}    argv: [x]\n    env: text\n---\n"), 7, "mapping, or a list"),
        ];
        for (text, line, part) in table {
            let wrong = read(text).expect_err(text);
            assert!(wrong.message.contains(part), "{text:?}: {}", wrong.message);
            assert!(line == 0 || wrong.line == line, "{text:?}: line {}", wrong.line);
        }
        let long = format!("---\nname: {}\n---\n", "x".repeat(MAX_BYTES));
        assert!(read(&long).expect_err("long").message.contains("more than"));
        let many: String = (0..5000).map(|_| "- a\n").collect();
        let many = format!("---\nname: n\ndescription: d\nx:\n{many}---\n");
        assert!(read(&many).expect_err("many").message.contains("values"));
    }

    #[test]
    fn texts_that_repeat_one_thing_are_read_or_refused_quickly() {
        let start = crate::clock::now();
        for piece in [
            "[",
            "{",
            "- ",
            "? ",
            "a: ",
            "a:\n",
            "'",
            "\"",
            "|\n",
            "&a ",
            "*a ",
            "!x ",
            "#",
            "%",
            "\t",
            "a,",
            "- a\n",
            "- - - a\n",
            "a: {b: c}\n",
            "\u{85}",
            "[a,",
            "{a: ",
            ">\n a\n\n",
            "x\n  y\n",
            ": ",
            "?\n",
            "--- \n",
        ] {
            let text = format!("---\n{}\n---\n", piece.repeat((MAX_BYTES - 10) / piece.len()));
            assert!(read(&text).is_err(), "{piece:?}");
            let text = format!("---\nname: {}\n---\n", piece.repeat((MAX_BYTES - 10) / piece.len()));
            assert!(read(&text).is_err(), "{piece:?}");
        }
        assert!(start.elapsed() < std::time::Duration::from_secs(10), "{:?}", start.elapsed());
    }

    proptest! {
        /// Whatever the text is, reading it ends without a panic, and an error has a line of the file.
        #[test]
        fn no_text_is_too_odd(text in "(---\n)?(\\PC{0,10}|[-:\\[\\]{}#&*!|>'\" \na-c0~\t]){0,60}(\n---\n)?") {
            if let Err(wrong) = read(&text) {
                prop_assert!(wrong.line <= text.lines().count() + 2);
                prop_assert!(!wrong.message.is_empty());
            }
        }

        /// A known text with something put in anywhere is read or refused, too; what is read keeps its paths in the skill.
        #[test]
        fn no_change_leads_out_of_the_skill(at in 0..GOOD.len(), put in "[./~:\\-\n a\\[\\]{}'\"]{0,6}") {
            let (before, after) = GOOD.split_at(at);
            let text = format!("{before}{put}{after}");
            if let Ok(matter) = read(&text) {
                for word in matter.actions.values().flat_map(|action| action.argv.iter().skip(1)) {
                    match word {
                        Word::Plain(text) => prop_assert!(!text.contains('/')),
                        Word::File(steps) => prop_assert!(steps.iter().all(|step| step != ".." && !step.contains('/'))),
                    }
                }
            }
        }
    }
}
