//! `bailiwick init`: puts the hook into the settings of the coding agents on this machine, and takes it out again. Every
//! change is shown before it is made, and either all are made or the first that fails is said.

use std::io::{BufRead as _, IsTerminal as _};
use std::path::{Path, PathBuf};

use door_hook::Host;
use door_hook::settings::{self, Undone};
use gate::call::visible;
use gate::{Machine, World};

use crate::cli::{Init, InitCommand, InitMcp, print};
use crate::diff::diff;
use crate::hook::own_path;
use crate::replace::replace;
use crate::terminal::Style;

/// What is added to a file's name for the copy of what it was before.
const BACKUP: &str = ".bailiwick-backup";

/// The project's own file.
const PROJECT: &str = ".bailiwick.yaml";

/// One file that would change.
struct Change {
    path: PathBuf,
    /// What it is for.
    what: String,
    old: Option<String>,
    /// Nothing where the file goes.
    new: Option<String>,
    /// Whether what is there now is kept beside it; where it goes again, so does the copy.
    backup: Backup,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Backup {
    None,
    Keep,
    Drop,
}

/// Runs the command.
pub(crate) fn run(arguments: &Init) -> Result<u8, String> {
    let world = Machine::world()?;
    let home = world.home.clone().ok_or("there is no home directory; set HOME")?;
    let workspace = world.workspace(&world.cwd);
    if let Some(InitCommand::Mcp(servers)) = &arguments.command {
        let changes = serve(&world, &home, workspace.as_deref(), servers)?;
        let end = "Done. Start your client anew.";
        return make(&changes, servers.dry_run, servers.yes, end);
    }
    let named: Vec<Host> = arguments.hosts.iter().filter_map(|name| Host::from_name(name)).collect();
    let (changes, end) = if arguments.undo {
        let end = "Done. What you wrote yourself, the keys and the journal are left.";
        (undo(&world, &home, workspace.as_deref(), &named)?, end)
    } else {
        let changes = add(&world, &home, workspace.as_deref(), &named)?;
        let end = if changes.iter().any(|change| change.what.contains(Host::Codex.title())) {
            "Codex CLI runs a hook only once you have trusted it: start codex, type /hooks, and trust Bailiwick's.\n\n\
             Done. Start your agent anew, then see `bailiwick doctor`."
        } else {
            "Done. Start your agent anew, then see `bailiwick doctor`."
        };
        (changes, end)
    };
    make(&changes, arguments.dry_run, arguments.yes, end)
}

/// Shows the changes, asks, and makes them.
fn make(changes: &[Change], dry_run: bool, yes: bool, end: &str) -> Result<u8, String> {
    if changes.is_empty() {
        return print(b"Nothing to change.\n");
    }
    print(shown(changes, Style::of_stdout()).as_bytes())?;
    if dry_run {
        return print(b"\nNothing was changed (--dry-run).\n");
    }
    if !yes && !confirmed()? {
        return print(b"Nothing was changed.\n");
    }
    for change in changes {
        apply(change).map_err(|error| format!("{}: {error}", change.path.display()))?;
    }
    print(format!("\n{end}\n").as_bytes())
}

/// Our MCP server in the settings of each client, or the proxy in front of one of theirs.
fn serve(
    world: &World,
    home: &Path,
    workspace: Option<&Path>,
    wanted: &InitMcp,
) -> Result<Vec<Change>, String> {
    let binary = own_path()?;
    let named: Vec<Host> = wanted.hosts.iter().filter_map(|name| Host::from_name(name)).collect();
    let hosts = if named.is_empty() { &settings::SERVER_HOSTS[..] } else { &named };
    let mut changes = Vec::new();
    let mut refused = Vec::new();
    for host in hosts {
        let Some(path) = settings::server_file(*host, home, workspace) else {
            refused.push(format!("{} keeps its servers in a project; go into one", host.title()));
            continue;
        };
        let old = read(world, &path)?;
        // A client that nobody named is one that has such a file already.
        if named.is_empty() && old.is_none() {
            continue;
        }
        let explain = |error: settings::Unreadable| format!("{}: {error}", path.display());
        let new = match (&wanted.wrap, &old) {
            _ if wanted.undo => match old.as_deref().map(|text| settings::undo_servers(*host, text)) {
                None => continue,
                Some(undone) => match undone.map_err(explain)? {
                    Undone::Nothing => continue,
                    Undone::Text(text) => Some(text),
                    Undone::Gone => None,
                },
            },
            (None, old) => Some(settings::add_server(*host, old.as_deref(), &binary).map_err(explain)?),
            (Some(name), Some(text)) => match settings::wrap_server(*host, text, name, &binary) {
                Ok(text) => Some(text),
                Err(why) => {
                    refused.push(format!("{}: {why}", path.display()));
                    continue;
                }
            },
            (Some(_), None) => {
                refused.push(format!("there is no {}", path.display()));
                continue;
            }
        };
        if old != new {
            let what = format!("the MCP servers of {}", host.title());
            changes.push(Change { path, what, old, new, backup: Backup::None });
        }
    }
    if changes.is_empty() && !refused.is_empty() {
        return Err(refused.join("\n"));
    }
    if changes.is_empty() && named.is_empty() && !wanted.undo && wanted.wrap.is_none() {
        let names = settings::SERVER_HOSTS.map(Host::name).join(", ");
        return Err(format!("no client has a file for its servers here; name one of: {names}"));
    }
    Ok(changes)
}

/// The hook in the settings of each host, and a first configuration where there is none.
fn add(world: &World, home: &Path, workspace: Option<&Path>, named: &[Host]) -> Result<Vec<Change>, String> {
    let exists = |path: &Path| world.disk.exists(path);
    let binary = own_path()?;
    let found = settings::detect(home, workspace, exists);
    let places: Vec<settings::Place> = if named.is_empty() {
        found.into_iter().map(|found| found.place).collect()
    } else {
        let place = |host: &Host| {
            settings::places(*host, home, workspace)
                .into_iter()
                .next()
                .ok_or_else(|| format!("{} keeps its hooks in a project; go into one", host.title()))
        };
        named.iter().map(place).collect::<Result<_, _>>()?
    };
    if places.is_empty() {
        let names = Host::ALL.map(Host::name).join(", ");
        return Err(format!("no coding agent was found on this machine; name one of: {names}"));
    }
    let mut changes: Vec<Change> = Vec::new();
    for place in places {
        // Two hosts read the same file.
        if changes.iter().any(|change| change.path == place.path) {
            continue;
        }
        let old = read(world, &place.path)?;
        let explain = |error: settings::Unreadable| format!("{}: {error}", place.path.display());
        let new = settings::add(place.host, old.as_deref(), &binary).map_err(explain)?;
        if old.as_deref() == Some(new.as_str()) {
            continue;
        }
        // A copy of something with our hook in it would be no way back.
        let ours = match &old {
            Some(text) => settings::undo(place.host, text, None).map_err(explain)? != Undone::Nothing,
            None => true,
        };
        let backup = if ours { Backup::None } else { Backup::Keep };
        let what = format!("the hook of {}", place.host.title());
        changes.push(Change { path: place.path, what, old, new: Some(new), backup });
    }
    let names = names_in(workspace.unwrap_or(&world.cwd));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let starter = door_hook::starter(&names);
    if let Some(root) = workspace
        && exists(&root.join(".git"))
        && !exists(&root.join(PROJECT))
    {
        let what = "what is stricter in this project".to_owned();
        let new = Some(starter.workspace);
        changes.push(Change { path: root.join(PROJECT), what, old: None, new, backup: Backup::None });
    }
    if let Some(directory) = &world.configuration
        && !["config.yaml", "config.yml", "config.json"].iter().any(|name| exists(&directory.join(name)))
    {
        let known = starter.recognised.join(", ");
        let what = if known.is_empty() {
            "your configuration".to_owned()
        } else {
            format!("your configuration, for {known}")
        };
        let path = directory.join("config.yaml");
        changes.push(Change { path, what, old: None, new: Some(starter.user), backup: Backup::None });
    }
    Ok(changes)
}

/// The settings without our hook, in every place where it could be.
fn undo(world: &World, home: &Path, workspace: Option<&Path>, named: &[Host]) -> Result<Vec<Change>, String> {
    let hosts = if named.is_empty() { &Host::ALL[..] } else { named };
    let mut changes: Vec<Change> = Vec::new();
    for place in hosts.iter().flat_map(|host| settings::places(*host, home, workspace)) {
        let Some(old) = read(world, &place.path)? else { continue };
        if changes.iter().any(|change| change.path == place.path) {
            continue;
        }
        let before = read(world, &beside(&place.path))?;
        let undone = settings::undo(place.host, &old, before.as_deref())
            .map_err(|error| format!("{}: {error}", place.path.display()))?;
        let new = match undone {
            Undone::Nothing => continue,
            Undone::Text(text) => Some(text),
            Undone::Gone => None,
        };
        let what = format!("the hook of {}", place.host.title());
        changes.push(Change { path: place.path, what, old: Some(old), new, backup: Backup::Drop });
    }
    // One host of several still needs them. What somebody has written into them stays.
    if named.is_empty() {
        let project = door_hook::starter(&[]).workspace;
        let is_ours = |text: &String| *text == project || door_hook::is_starter(text);
        let of_project = workspace.map(|root| root.join(PROJECT));
        let of_user = world.configuration.as_ref().map(|directory| directory.join("config.yaml"));
        for path in of_project.into_iter().chain(of_user) {
            let Some(old) = read(world, &path)?.filter(is_ours) else { continue };
            let what = "a first policy, as it was written here".to_owned();
            changes.push(Change { path, what, old: Some(old), new: None, backup: Backup::None });
        }
    }
    Ok(changes)
}

fn read(world: &World, path: &Path) -> Result<Option<String>, String> {
    // Somebody keeps the file elsewhere, and a new one in the link's place would be one that they do not know of.
    if path.is_symlink() && !path.exists() {
        let to = path.read_link().map(|to| format!(" ({})", to.display())).unwrap_or_default();
        return Err(format!(
            "{} is a link to a file that is not there{to}: make that file, or take the link away",
            path.display()
        ));
    }
    world.disk.read(path).map_err(|why| format!("{} {why}", path.display()))
}

/// The names in a directory; that of one that cannot be read is empty.
fn names_in(directory: &Path) -> Vec<String> {
    let entries = directory.read_dir().into_iter().flatten().flatten();
    entries.take(10_000).filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(BACKUP);
    PathBuf::from(name)
}

fn shown(changes: &[Change], style: Style) -> String {
    let mut out = String::new();
    for change in changes {
        let path = visible(&change.path.display().to_string());
        let verb = match (&change.old, &change.new) {
            (None, _) => "new file",
            (_, None) => "goes",
            _ => "changes",
        };
        out.push_str(&format!("{} ({verb}: {})\n", style.green(&path), change.what));
        let old = change.old.as_deref().unwrap_or_default();
        for line in diff(old, change.new.as_deref().unwrap_or_default()).lines() {
            let line = visible(line);
            let painted = match line.chars().next() {
                Some('+') => style.green(&line),
                Some('-') => style.red(&line),
                _ => line,
            };
            out.push_str(&painted);
            out.push('\n');
        }
        if change.backup == Backup::Keep {
            let copy = beside(&change.path);
            out.push_str(&style.dim(&format!("a copy is kept in {}\n", copy.display())));
        }
        out.push('\n');
    }
    out
}

fn confirmed() -> Result<bool, String> {
    if !std::io::stdin().is_terminal() {
        return Err("nothing was changed: without a terminal, say --yes".into());
    }
    Machine::prompt("Make these changes? [y/N] ");
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).map_err(|error| error.to_string())?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

fn apply(change: &Change) -> std::io::Result<()> {
    if change.backup == Backup::Keep
        && let Some(old) = &change.old
    {
        replace(&beside(&change.path), old)?;
    }
    match &change.new {
        Some(text) => replace(&change.path, text)?,
        None => std::fs::remove_file(&change.path)?,
    }
    if change.backup != Backup::Drop {
        return Ok(());
    }
    match std::fs::remove_file(beside(&change.path)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
