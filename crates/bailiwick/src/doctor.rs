//! `bailiwick doctor`: one page on what is protected on this machine, what is not, and how to change that. Nothing is looked
//! up that can be tried: the fence is built, the hooks are run as their hosts would run them.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use door_hook::Host;
use door_hook::settings::{self, Place, Scope, Undone};
use gate::call::{visible, visible_lines};
use gate::fence::status;
use gate::journal::PublicKey;
use gate::{Desk, Machine, Wanted, World, load};
use serde_json::{Value, json};

use crate::cli::{Doctor, print};
use crate::hook::own_path;
use crate::samples::sample;
use crate::setup::explain;
use crate::terminal::Style;

/// How good something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// As it should be.
    Green,
    /// It is as it is; somebody should know.
    Yellow,
    /// Not protected, or broken.
    Red,
}

/// One line of the page.
struct Line {
    area: &'static str,
    state: State,
    what: String,
    fix: Option<String>,
}

/// Runs the command. Its code is 1 where something is red.
pub(crate) fn run(arguments: &Doctor) -> Result<u8, String> {
    let world = Machine::world()?;
    let mut lines = fence();
    lines.extend(configuration(&world));
    lines.extend(records(&world));
    lines.extend(hosts(&world)?);
    let red = lines.iter().any(|line| line.state == State::Red);
    let text = if arguments.json { as_json(&lines)? } else { page(&lines, Style::of_stdout()) };
    print(text.as_bytes())?;
    Ok(u8::from(red))
}

fn line(area: &'static str, state: State, what: impl Into<String>, fix: Option<&str>) -> Line {
    Line { area, state, what: what.into(), fix: fix.map(str::to_owned) }
}

fn fence() -> Vec<Line> {
    let parts = status::parts();
    let held: Vec<&str> =
        parts.iter().filter(|part| part.whole && part.held.is_ok()).map(|part| part.name).collect();
    let mut lines = Vec::new();
    if held.is_empty() {
        let fix = "allow user namespaces or install bubblewrap; `bailiwick sandbox status` says what fails";
        lines.push(line(
            "fence",
            State::Red,
            "no fence can be built here: fenced commands are refused",
            Some(fix),
        ));
    } else {
        let count = parts.iter().filter(|part| !part.whole && part.held.is_ok()).count();
        let what = format!("{} works; {count} parts tried and held", held.join(", "));
        lines.push(line("fence", State::Green, what, None));
    }
    for part in parts.iter().filter(|part| !part.whole) {
        if let Err(why) = &part.held {
            lines.push(line("fence", State::Yellow, format!("not held: {} ({why})", part.name), None));
        }
    }
    lines
}

fn configuration(world: &World) -> Vec<Line> {
    let workspace = world.workspace(&world.cwd);
    let wanted = Wanted { workspace: workspace.clone(), ..Wanted::default() };
    let config = match load(world, &wanted) {
        Ok(config) => config,
        Err(error) => {
            let fix = "correct it: until then every call is blocked";
            return vec![line("configuration", State::Red, explain(world, &error), Some(fix))];
        }
    };
    let mut files: Vec<String> = Vec::new();
    for directory in [&world.managed, &world.configuration].into_iter().flatten() {
        let names = ["config.yaml", "config.yml", "config.json"];
        let found = names.iter().map(|name| directory.join(name)).find(|path| world.disk.exists(path));
        files.extend(found.map(|path| path.display().to_string()));
    }
    let own = workspace.map(|root| root.join(".bailiwick.yaml")).filter(|path| world.disk.exists(path));
    files.extend(own.map(|path| path.display().to_string()));
    let what = if files.is_empty() {
        "no file: the built-in profile dev holds".to_owned()
    } else {
        format!("in force, weakest first: {}", files.join(", "))
    };
    let mut lines = vec![line("configuration", State::Green, what, None)];
    if !config.restricted() {
        let fix = "set `sandbox.default_policy: restricted`";
        lines.push(line("configuration", State::Red, "commands run without a fence", Some(fix)));
    } else if !config.fences_hooks() {
        let fix = "set `hooks.fence: true`";
        lines.push(line(
            "configuration",
            State::Yellow,
            "agents' shell commands are judged but not fenced (`hooks.fence: false`)",
            Some(fix),
        ));
    }
    lines
}

/// The journal and the keys.
fn records(world: &World) -> Vec<Line> {
    let desk = match load(world, &Wanted::default()) {
        Ok(config) => Desk::of(world, &config),
        Err(_) => return Vec::new(),
    };
    let opened = desk.and_then(|desk| {
        let keys = desk.keys()?;
        let public = keys.public();
        drop(desk.journal(keys)?);
        let directory = desk.journal_directory();
        writable(directory)?;
        let short: String = public.to_hex().chars().take(16).collect();
        let seal = seal(directory, public)?;
        Ok(format!("{} can be written, {seal}; key {short}…", directory.display()))
    });
    match opened {
        Ok(what) => vec![line("journal", State::Green, what, None)],
        Err(why) => {
            let fix = "until it can be written every call is blocked; `bailiwick journal verify` says more";
            vec![line("journal", State::Red, why, Some(fix))]
        }
    }
}

/// Whether there is room for a few records: a journal can be opened on a disk that is full.
fn writable(directory: &Path) -> Result<(), String> {
    let probe = directory.join(format!(".doctor-{}", std::process::id()));
    let tried = std::fs::OpenOptions::new().write(true).create_new(true).open(&probe).and_then(|mut file| {
        let written = file.write_all(&[b' '; 16 * 1024]).and_then(|()| file.sync_all());
        // Whatever came of it, the next doctor finds nothing of it.
        std::fs::remove_file(&probe).and(written)
    });
    tried.map_err(|error| format!("nothing can be written to {}: {error}", directory.display()))
}

/// Checks the signatures: all of the journal where that is quick, else its last checkpoint.
fn seal(directory: &Path, key: PublicKey) -> Result<String, String> {
    let reader = crate::journal_command::reader(directory)?;
    let files = directory.read_dir().into_iter().flatten().flatten();
    let size: u64 = files.filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum();
    let keys = [key];
    if size <= CHECKED_WHOLE {
        let report = reader.verify(&keys, None).map_err(|error| error.to_string())?;
        return match report.is_good() {
            true => {
                Ok(format!("all {} records hang together and are signed as they should be", report.records))
            }
            false => Err(format!("the journal is damaged: {}", report.to_string().replace('\n', ", "))),
        };
    }
    match reader.head().map_err(|error| error.to_string())? {
        None => Err("the journal is long and has no checkpoint".into()),
        Some(head) if head.is_signed_by(&keys) => Ok(format!(
            "its last checkpoint (record {}) is signed with its key (`bailiwick journal verify` checks all of it)",
            head.seq
        )),
        Some(head) => Err(format!("the last checkpoint (record {}) is not signed with this key", head.seq)),
    }
}

/// A journal up to this size is read from its beginning: that takes well under a second.
const CHECKED_WHOLE: u64 = 32 * 1024 * 1024;

fn hosts(world: &World) -> Result<Vec<Line>, String> {
    let Some(home) = &world.home else {
        return Ok(vec![line("hosts", State::Red, "there is no home directory", Some("set HOME"))]);
    };
    let binary = own_path()?;
    let workspace = world.workspace(&world.cwd);
    let found = settings::detect(home, workspace.as_deref(), |path| world.disk.exists(path));
    let mut lines = Vec::new();
    if found.is_empty() {
        lines.push(line("hosts", State::Yellow, "no coding agent was found on this machine", None));
    }
    for host in found.iter().map(|found| found.host) {
        let places = settings::places(host, home, workspace.as_deref());
        lines.push(hooked(world, host, &places, &binary));
        let more = settings::read_too(host, home, workspace.as_deref());
        lines.extend(off(world, host, &places, more));
        lines.extend(untrusted(world, host, home, &places));
        lines.extend(limits(host));
    }
    Ok(lines)
}

/// Whether the hook is in the settings of a host, and answers.
fn hooked(world: &World, host: Host, places: &[Place], binary: &str) -> Line {
    let title = host.title();
    let fix = format!("bailiwick init {}", host.name());
    let mut other = None;
    for place in places {
        let Ok(Some(text)) = world.disk.read(&place.path) else { continue };
        match settings::is_in(host, &text, binary) {
            Ok(true) => {
                let path = place.path.display();
                return match fires(host, binary, &world.cwd) {
                    Ok(()) => line(
                        "hosts",
                        State::Green,
                        format!("{title}: hooked in {path}; the hook allows and denies as it should"),
                        None,
                    ),
                    Err(why) => line(
                        "hosts",
                        State::Red,
                        format!("{title}: hooked in {path}, but the hook does not answer: {why}"),
                        Some(&fix),
                    ),
                };
            }
            Ok(false) => {
                let there = settings::undo(host, &text, None).is_ok_and(|undone| undone != Undone::Nothing);
                if there {
                    other = Some(format!(
                        "{title}: hooked in {}, but not as this program would",
                        place.path.display()
                    ));
                }
            }
            Err(error) => other = Some(format!("{title}: {}: {error}", place.path.display())),
        }
    }
    let what = other
        .unwrap_or_else(|| format!("{title} is on this machine and not hooked: nothing of it is judged"));
    line("hosts", State::Red, what, Some(&fix))
}

/// Settings that keep hooks from running at all.
fn off(world: &World, host: Host, places: &[Place], more: Vec<PathBuf>) -> Option<Line> {
    let paths = places.iter().map(|place| place.path.clone()).chain(more);
    let (path, key) = paths
        .filter_map(|path| Some((world.disk.read(&path).ok()??, path)))
        .find_map(|(text, path)| Some((path, settings::switched_off(host, &text)?)))?;
    let what = format!("{}: `{key}` in {} keeps every hook from running", host.title(), path.display());
    Some(line("hosts", State::Red, what, Some("take that setting out")))
}

/// Codex passes hooks over that nobody has trusted in it, and Copilot CLI those of a project that nobody has.
fn untrusted(world: &World, host: Host, home: &Path, places: &[Place]) -> Option<Line> {
    if host == Host::CopilotCli {
        let there =
            |scope: Scope| places.iter().any(|place| place.scope == scope && world.disk.exists(&place.path));
        let what = "GitHub Copilot CLI: hooked in the project alone, whose hooks it passes over in silence until the directory is trusted there";
        // Where there is only the project's file, it may be VS Code's.
        let used = world.disk.exists(&home.join(".copilot"));
        return (used && there(Scope::Project) && !there(Scope::User))
            .then(|| line("hosts", State::Red, what, Some("bailiwick init copilot-cli")));
    }
    if host != Host::Codex {
        return None;
    }
    let config = world.disk.read(&home.join(".codex/config.toml")).ok().flatten().unwrap_or_default();
    let there: Vec<&Place> = places.iter().filter(|place| world.disk.exists(&place.path)).collect();
    let trusted = there.iter().any(|place| settings::is_trusted(&config, &place.path.to_string_lossy()));
    if trusted || there.is_empty() {
        return None;
    }
    let what =
        "Codex CLI: nobody has trusted the hook there yet, and until then it is passed over in silence";
    Some(line(
        "hosts",
        State::Red,
        what,
        Some("start codex, type /hooks, look at Bailiwick's and trust them"),
    ))
}

/// What a host does not give, whatever its settings say.
fn limits(host: Host) -> Option<Line> {
    let what = match host {
        Host::ClaudeCode | Host::GeminiCli => return None,
        Host::Codex => {
            "Codex CLI: a question becomes a refusal that says how to approve; hooks see its shell, patches, sub-agents and MCP tools; a hook that changed must be trusted anew (/hooks)"
        }
        Host::Cursor => {
            "Cursor: most questions become refusals that say how to approve; a shell command is fenced only where preToolUse is honoured"
        }
        Host::CopilotCli => {
            "GitHub Copilot CLI: a hook that is out of time counts as a yes there; ours gives up long before"
        }
        Host::VsCode => {
            "VS Code: a hook that crashes is only warned about; ours ends with a code that blocks"
        }
        Host::OpenCode => "OpenCode: a question becomes a refusal that says how to approve",
    };
    Some(line("limits", State::Yellow, what, None))
}

/// Runs the hook as its host would, with a harmless call and with one that must not pass.
fn fires(host: Host, binary: &str, directory: &Path) -> Result<(), String> {
    let command = command(host, binary)?;
    let directory = directory.to_string_lossy();
    for (text, passes) in [("pwd", true), ("cat /etc/shadow", false)] {
        let question = sample(host, &directory, "doctor", text).to_string();
        let (code, out) = ran(&command, &question)?;
        let word = decision(&out);
        let passed = code == 0 && matches!(word.as_deref(), None | Some("allow"));
        if passed != passes {
            let said = word.unwrap_or_else(|| "nothing".into());
            return Err(format!("`{text}` got {said} with exit code {code}"));
        }
    }
    Ok(())
}

/// The command as it stands in the settings.
fn command(host: Host, binary: &str) -> Result<String, String> {
    if host == Host::OpenCode {
        return Ok(format!("{} hook opencode", door_hook::quote(binary)));
    }
    let text = settings::add(host, None, binary).map_err(|error| error.to_string())?;
    let settings: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let lists = settings.get("hooks").and_then(Value::as_object).into_iter().flatten();
    let entries = lists.filter_map(|(_, list)| list.get(0));
    let inner = |entry: &Value| {
        let direct = entry.get("command").or_else(|| entry.get("bash"));
        let nested = entry.get("hooks").and_then(|hooks| hooks.get(0)).and_then(|hook| hook.get("command"));
        direct.or(nested).and_then(Value::as_str).map(str::to_owned)
    };
    entries.filter_map(inner).next().ok_or_else(|| "there is no command in its settings".into())
}

#[expect(clippy::disallowed_methods, reason = "the hook is run as its host runs it, at the user's word")]
fn ran(command: &str, question: &str) -> Result<(i32, String), String> {
    let failed = |error: std::io::Error| error.to_string();
    let mut child = Command::new("sh")
        .args(["-c", command])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(question.as_bytes()).map_err(failed)?;
    }
    let output = child.wait_with_output().map_err(failed)?;
    let code = output.status.code().unwrap_or(-1);
    Ok((code, String::from_utf8_lossy(&output.stdout).into_owned()))
}

/// The word of an answer, wherever the host wants it.
fn decision(answer: &str) -> Option<String> {
    let answer: Value = serde_json::from_str(answer.trim()).ok()?;
    let inner = answer.get("hookSpecificOutput").unwrap_or(&answer);
    let word = ["permissionDecision", "permission", "decision"]
        .iter()
        .find_map(|key| inner.get(*key).or_else(|| answer.get(*key)).and_then(Value::as_str));
    word.map(str::to_owned)
}

fn as_json(lines: &[Line]) -> Result<String, String> {
    let rows: Vec<Value> = lines
        .iter()
        .map(|line| json!({"area": line.area, "state": word(line.state), "what": line.what, "fix": line.fix}))
        .collect();
    let red = lines.iter().any(|line| line.state == State::Red);
    let all = json!({"good": !red, "lines": rows});
    serde_json::to_string_pretty(&all).map(|text| text + "\n").map_err(|error| error.to_string())
}

const fn word(state: State) -> &'static str {
    match state {
        State::Green => "green",
        State::Yellow => "yellow",
        State::Red => "red",
    }
}

fn page(lines: &[Line], style: Style) -> String {
    let mut out = String::new();
    for line in lines {
        let mark = match line.state {
            State::Green => style.green("good "),
            State::Yellow => style.yellow("note "),
            State::Red => style.red("bad  "),
        };
        let what = visible_lines(&line.what).replace('\n', "\n                      ");
        out.push_str(&format!("{mark} {:<14}  {what}\n", line.area));
        if let Some(fix) = &line.fix {
            out.push_str(&format!(
                "                      {}\n",
                style.dim(&format!("to change that: {}", visible(fix)))
            ));
        }
    }
    out
}
