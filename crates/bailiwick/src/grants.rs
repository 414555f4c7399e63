//! `bailiwick grants`: what was approved for now, what waits for an answer, and automatic approval. For people: an agent's call
//! of it is denied.

use std::io::IsTerminal;
use std::time::Duration;

use gate::approval::{AskId, CONFIRMATION, Extent, Grant, GrantKind, NotGranted, rfc3339};
use gate::call::{DigestKey, Shown, visible, visible_lines};
use gate::{GrantChange, Machine};
use serde_json::json;

use crate::cli::{Grants, GrantsCommand, print};
use crate::journal_command::desk;
use crate::terminal::Style;

/// Runs the command.
pub(crate) fn run(arguments: &Grants) -> Result<u8, String> {
    let desk = desk()?;
    let keys = desk.keys()?;
    let (grants, names) = (desk.grants(keys.digest_key()), Names(keys.digest_key()));
    let user = Machine::world()?.user;
    let by = Shown::of(user.as_deref().unwrap_or("somebody"));
    match arguments.command.as_ref().unwrap_or(&GrantsCommand::List { session: None }) {
        GrantsCommand::List { session } => {
            let all = names.of_session(&grants, session.as_deref());
            let text = if arguments.json {
                json_list(&all, &names)?
            } else {
                table(&all, &names, Style::of_stdout())
            };
            print(text.as_bytes())?;
            for complaint in grants.complaints() {
                Machine::tell(format_args!("bailiwick: {}", visible(&complaint)));
            }
            Ok(0)
        }
        GrantsCommand::Approve { id, for_session } => {
            let waiting = find(&grants.list(None), id, |kind| matches!(kind, GrantKind::Waiting { .. }))?;
            let typed = match waiting.kind {
                GrantKind::Waiting { typed: true } => Some(confirm(&waiting, &names)?),
                _ => None,
            };
            let extent = if *for_session { Extent::Session } else { Extent::Once };
            let grant = grants.approve(waiting.id, extent, &by, typed.as_deref()).map_err(explain)?;
            desk.record(GrantChange::Added, &grant)?;
            say(arguments.json, &grant, &names, "approved; it may be tried again")
        }
        GrantsCommand::Deny { id } => {
            let waiting = find(&grants.list(None), id, |kind| matches!(kind, GrantKind::Waiting { .. }))?;
            grants.revoke(waiting.id).map_err(explain)?;
            desk.record(GrantChange::Revoked, &waiting)?;
            say(arguments.json, &waiting, &names, "denied")
        }
        GrantsCommand::Revoke { id, session, all } => {
            let listed = names.of_session(&grants, session.as_deref());
            let gone = match id {
                Some(id) => vec![find(&listed, id, |_| true)?],
                None if *all || session.is_some() => listed,
                None => Vec::new(),
            };
            for grant in &gone {
                match grants.revoke(grant.id) {
                    Ok(_) | Err(NotGranted::Unknown) => desk.record(GrantChange::Revoked, grant)?,
                    Err(why) => return Err(explain(why)),
                }
            }
            let text = if arguments.json {
                format!("{}\n", json!({ "revoked": gone.len() }))
            } else {
                format!("{} taken back\n", gone.len())
            };
            print(text.as_bytes())
        }
        GrantsCommand::Auto { session, off: true, .. } => {
            let session = &names.session(&grants, session);
            let ended: Vec<Grant> = grants
                .list(Some(session))
                .into_iter()
                .filter(|grant| matches!(grant.kind, GrantKind::Auto(_)))
                .collect();
            grants.end_auto_approve(session).map_err(explain)?;
            for grant in &ended {
                desk.record(GrantChange::Revoked, grant)?;
            }
            print(format!("automatic approval is off for {}\n", names.shown(session)).as_bytes())
        }
        GrantsCommand::Auto { session, tool, lasts, off: false } => {
            let id = AskId::from_bytes(Machine::random()?);
            let (session, lasts) = (&names.session(&grants, session), Duration::from_millis(*lasts));
            let grant = grants.auto_approve(id, session, tool.as_deref(), lasts, &by).map_err(explain)?;
            desk.record(GrantChange::Added, &grant)?;
            say(
                arguments.json,
                &grant,
                &names,
                "automatic approval is on; nothing that is denied is lifted by it",
            )
        }
    }
}

/// The names of sessions: one that could be a secret is shown, and may be given, by the digest that the journal has for it.
struct Names(DigestKey);

impl Names {
    fn shown(&self, session: &str) -> String {
        visible(Shown::identifier(session, &self.0).as_str())
    }

    /// The session that goes by this name.
    fn session(&self, grants: &gate::approval::Grants, name: &str) -> String {
        let known = grants.list(None).into_iter().find(|grant| self.shown(&grant.session) == name);
        known.map_or_else(|| name.to_owned(), |grant| grant.session)
    }

    fn of_session(&self, grants: &gate::approval::Grants, name: Option<&str>) -> Vec<Grant> {
        match name {
            None => grants.list(None),
            Some(name) => grants.list(Some(&self.session(grants, name))),
        }
    }
}

fn explain(why: NotGranted) -> String {
    why.to_string()
}

/// The one whose id begins so.
fn find(all: &[Grant], id: &str, fits: impl Fn(&GrantKind) -> bool) -> Result<Grant, String> {
    let begins = |grant: &&Grant| fits(&grant.kind) && grant.id.to_string().starts_with(id);
    let mut found = all.iter().filter(begins);
    match (found.next(), found.next()) {
        (Some(only), None) if !id.is_empty() => Ok(only.clone()),
        (None, _) => Err(format!(
            "there is none whose id begins with `{}`; `bailiwick grants` lists them",
            visible(id)
        )),
        _ => Err(format!("`{}` could be several; write more of the id", visible(id))),
    }
}

fn confirm(grant: &Grant, names: &Names) -> Result<String, String> {
    if !std::io::stdin().is_terminal() {
        return Err(format!("a yes to this needs `{CONFIRMATION}`, typed at a terminal"));
    }
    Machine::tell(format_args!(
        "{}This cannot be undone. Type `{CONFIRMATION}` to approve it:",
        entry(grant, names)
    ));
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).map_err(|error| error.to_string())?;
    Ok(line.trim().to_owned())
}

fn say(as_json: bool, grant: &Grant, names: &Names, what: &str) -> Result<u8, String> {
    let text = if as_json {
        format!("{}\n", json(grant, names))
    } else {
        format!("{}\n{}{what}\n", grant.id, entry(grant, names))
    };
    print(text.as_bytes())
}

fn json(grant: &Grant, names: &Names) -> serde_json::Value {
    let (kind, tool) = words(&grant.kind);
    json!({
        "id": grant.id.to_string(),
        "kind": kind,
        "session": names.shown(&grant.session),
        "approval_key": grant.key.as_ref().map(|key| key.as_str()),
        "tool": shown(&tool.unwrap_or_else(|| grant.tool.clone())),
        "call": visible_lines(grant.shown.as_str()),
        "effects": grant.about.effects.iter().map(|effect| visible(effect.as_str())).collect::<Vec<_>>(),
        "directory": grant.about.directory.as_ref().map(|place| visible(place.as_str())),
        "risk": grant.about.risk.as_ref().map(|risk| visible(risk.as_str())),
        "by": visible(grant.by.as_str()),
        "since": rfc3339(grant.date_ms),
        "seconds_left": grant.left.as_secs(),
    })
}

fn json_list(all: &[Grant], names: &Names) -> Result<String, String> {
    let all: Vec<serde_json::Value> = all.iter().map(|grant| json(grant, names)).collect();
    serde_json::to_string_pretty(&all).map(|text| text + "\n").map_err(|error| error.to_string())
}

fn words(kind: &GrantKind) -> (&'static str, Option<String>) {
    match kind {
        GrantKind::Session => ("session", None),
        GrantKind::Once => ("once", None),
        GrantKind::Cover(_) => ("typing", None),
        GrantKind::Auto(tool) => ("auto", Some(tool.clone().unwrap_or_else(|| "*".into()))),
        GrantKind::Waiting { .. } => ("waiting", None),
    }
}

fn shown(text: &str) -> String {
    visible(Shown::of(text).as_str())
}

/// The whole call, each line of it behind a bar, and what it would do, where, how risky.
fn entry(grant: &Grant, names: &Names) -> String {
    let mut out = String::new();
    for line in visible_lines(grant.shown.as_str()).lines() {
        out.push_str(&format!("              | {line}\n"));
    }
    let about = &grant.about;
    if !about.effects.is_empty() {
        let effects: Vec<String> = about.effects.iter().map(|effect| visible(effect.as_str())).collect();
        out.push_str(&format!("              would {}\n", effects.join("; ")));
    }
    let mut more = Vec::new();
    more.extend(about.directory.as_ref().map(|place| format!("in {}", visible(place.as_str()))));
    more.extend(about.risk.as_ref().map(|risk| format!("risk {}", visible(risk.as_str()))));
    more.push(format!("session {}, by {}", names.shown(&grant.session), visible(grant.by.as_str())));
    out.push_str(&format!("              {}\n", more.join(", ")));
    out
}

fn table(all: &[Grant], names: &Names, style: Style) -> String {
    if all.is_empty() {
        return "Nothing is granted, and nothing waits.\n".into();
    }
    let mut out = String::new();
    for grant in all {
        let (kind, tool) = words(&grant.kind);
        let painted = match grant.kind {
            GrantKind::Waiting { .. } => style.yellow(&format!("{kind:<8}")),
            GrantKind::Auto(_) => style.red(&format!("{kind:<8}")),
            _ => style.green(&format!("{kind:<8}")),
        };
        let id: String = grant.id.to_string().chars().take(12).collect();
        let minutes = grant.left.as_secs().div_ceil(60);
        let tool = tool.unwrap_or_else(|| grant.tool.clone());
        out.push_str(&format!("{id}  {painted}  {minutes:>4} min  {}\n", shown(&tool)));
        out.push_str(&entry(grant, names));
    }
    out
}
