//! What the reference evaluator's patterns, lists and rules match.

use call::Category;
use effects::{Effect, Part, Peer, Place, Target, normalize};
use policy::Decision;

use super::model::{Asked, CWD, File, HOME, PathRule, Rule, Search};

/// The path of an effect and whether it is written; nothing for what touches nothing.
pub(crate) fn touched(effect: &Effect) -> Option<(&Target, bool)> {
    let (target, writes) = match effect {
        Effect::Read(target) => (target, false),
        Effect::Write(target) | Effect::Delete { target, .. } => (target, true),
        _ => return None,
    };
    (target.place != Place::Nowhere).then_some((target, writes))
}

pub(crate) fn path_rule<'a>(file: &'a File, target: &Target) -> Option<&'a PathRule> {
    file.path_rules.iter().find(|rule| glob(rule.pattern, &target.path))
}

/// Whether an entry of a list that allows covers a command.
pub(crate) fn covers(entry: &str, part: &Part) -> bool {
    part.normal.matches_prefix(&normalize(&entry.split(' ').collect::<Vec<_>>()))
}

/// Whether an entry of a list that denies names a command or a wrapper around it (and then what is wrapped).
pub(crate) fn names(entry: &str, part: &Part) -> bool {
    let (first, rest) = entry.split_once(' ').unwrap_or((entry, ""));
    let wrapped = part.via.iter().any(|wrapper| wrapper.rsplit('/').next() == Some(first));
    covers(entry, part) || (wrapped && (rest.is_empty() || covers(rest, part)))
}

pub(crate) fn host(pattern: &str, name: &str) -> bool {
    pattern
        .strip_prefix('*')
        .map_or(pattern == name, |suffix| name.ends_with(suffix) && name.len() > suffix.len())
}

/// Whether a rule matches one part of a call. A rule that allows must cover all of the part, any other one some of it.
pub(crate) fn matches(rule: &Rule, asked: &Asked, part: &Part) -> bool {
    let allows = rule.action == Some(Decision::Allow);
    let exec = asked.category == Category::Exec;
    let some = |hits: &mut dyn Iterator<Item = bool>| {
        let hits: Vec<bool> = hits.collect();
        hits.contains(&true) && !(allows && hits.contains(&false))
    };
    let tool = |name: &&str| match *name {
        "Bash" => exec,
        name => name == asked.tool || asked.tool.rsplit("__").next() == Some(name),
    };
    let peers = || {
        part.effects.iter().filter_map(|effect| match effect {
            Effect::Connect(connection) => Some(&connection.peer),
            _ => None,
        })
    };
    let named = |peer: &Peer, list: &[&str]| matches!(peer, Peer::Host(name) | Peer::Service(name) if list.iter().any(|pattern| host(pattern, name)));
    let search = |list: &[Search], text: &str| list.iter().any(|pattern| pattern.finds(text));
    let outside =
        part.effects.iter().filter_map(touched).any(|(target, _)| {
            !matches!(target.place, Place::Workspace | Place::Generated | Place::Protected)
        });
    let unknown = part.effects.iter().any(|effect| matches!(effect, Effect::Unknown(_)));
    // Whoever sets no bound may use more than any.
    let over = |limit: u64, wants: Option<u64>| wants.is_none_or(|wants| wants > limit);
    let text = if allows { None } else { asked.text.as_deref() };
    let commands = |entry: &&str| if allows { covers(entry, part) } else { names(entry, part) };
    (rule.tools.is_empty() || rule.tools.iter().any(tool))
        && (rule.commands.is_empty() || (exec && rule.commands.iter().any(commands)))
        && (rule.contains.is_empty()
            || (exec
                && asked
                    .analysis
                    .parts
                    .iter()
                    .any(|part| rule.contains.iter().any(|entry| names(entry, part)))))
        && (rule.command_patterns.is_empty()
            || (exec
                && (search(&rule.command_patterns, &part.text)
                    || text.is_some_and(|text| search(&rule.command_patterns, text)))))
        && (rule.path_patterns.is_empty()
            || some(
                &mut part
                    .effects
                    .iter()
                    .filter_map(touched)
                    .map(|(target, _)| search(&rule.path_patterns, &target.path)),
            ))
        && (rule.effects.is_empty()
            || some(
                &mut part.effects.iter().filter_map(Effect::class).map(|class| rule.effects.contains(&class)),
            ))
        && (rule.hosts.is_empty() || some(&mut peers().map(|peer| named(peer, &rule.hosts))))
        && (rule.hosts_except.is_empty() || some(&mut peers().map(|peer| !named(peer, &rule.hosts_except))))
        && rule
            .outside_workspace
            .is_none_or(|wanted| if unknown && !outside { !allows } else { wanted == outside })
        && rule.over_wall_ms.is_none_or(|limit| over(limit, asked.wall_ms))
        && rule.over_memory_mb.is_none_or(|limit| over(limit, asked.memory_mb))
        && rule.unfenced.is_none_or(|wanted| wanted != asked.fence.holds())
}

/// A glob: `**` is any number of segments, `*` anything within one.
pub(crate) fn glob(pattern: &str, path: &str) -> bool {
    fn segments(pattern: &[&str], path: &[&str]) -> bool {
        match (pattern, path) {
            ([], []) => true,
            (["**", rest @ ..], _) => (0..=path.len()).any(|skipped| segments(rest, &path[skipped..])),
            ([first, rest @ ..], [name, others @ ..]) => {
                let fits = first.split_once('*').map_or(first == name, |(head, tail)| {
                    name.len() >= head.len() + tail.len() && name.starts_with(head) && name.ends_with(tail)
                });
                fits && segments(rest, others)
            }
            _ => false,
        }
    }
    let full = pattern.replace("<cwd>", CWD).replacen('~', HOME, 1);
    let pattern: Vec<&str> = full.split('/').skip(usize::from(full.starts_with('/'))).collect();
    let path: Vec<&str> = path.split('/').skip(1).collect();
    segments(&pattern, &path)
}
