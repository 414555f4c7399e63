//! What a command's place in the program touches before it runs: its directory and its redirections.

use shell::{Command, Redirect, RedirectKind, Value};

use crate::arg::{self, Arg};
use crate::classify::Purpose;
use crate::doing::{Cwds, Doing};
use crate::effect::{Carries, Connection, Effect, Peer};
use crate::hosts;
use crate::place::Surroundings;

/// The most directories that are looked at one by one.
const MOST: usize = 8;

/// The directories in which a command may run.
pub(crate) fn directories(value: &Value) -> Cwds<'_> {
    let mut all = Vec::new();
    arg::flatten(value, &mut all, 0);
    let mut cwds = Cwds::default();
    for one in all {
        match one {
            Arg::Text(text) if cwds.known.len() < MOST => cwds.known.push(text),
            _ => cwds.open = true,
        }
    }
    cwds.open |= cwds.known.is_empty();
    cwds
}

/// `{ cat other >&3 | echo ls; } 3>&1`: a redirection of what stands around the command lets others print where it
/// prints.
pub(crate) fn shares_output(command: &Command) -> bool {
    command.redirects.iter().any(|redirect| {
        let around = redirect.span.start < command.span.start || redirect.span.end > command.span.end;
        let joins = match redirect.kind {
            RedirectKind::Read | RedirectKind::Text => false,
            RedirectKind::Duplicate => true,
            RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite => match &redirect.target {
                Value::Text(path) => {
                    path != "/dev/null" && (path.contains("/dev/") || path.contains("/proc/"))
                }
                _ => true,
            },
        };
        around && joins
    })
}

/// What a redirection touches.
pub(crate) fn touch(redirect: &Redirect, cwds: &Cwds<'_>, around: &Surroundings<'_>, doing: &mut Doing<'_>) {
    let purposes: &[Purpose] = match redirect.kind {
        RedirectKind::Read => &[Purpose::Read],
        RedirectKind::Write | RedirectKind::Append => &[Purpose::Write],
        RedirectKind::ReadWrite => &[Purpose::Read, Purpose::Write],
        RedirectKind::Duplicate => {
            if !matches!(redirect.target, Value::Text(_)) {
                doing.unknown("a redirection whose target is not known");
            }
            return;
        }
        RedirectKind::Text => return,
    };
    let mut targets = Vec::new();
    arg::flatten(&redirect.target, &mut targets, 0);
    for target in &targets {
        let lead = target.lead();
        if let Some(address) = lead.strip_prefix("/dev/tcp/").or_else(|| lead.strip_prefix("/dev/udp/")) {
            let host = address.split('/').next().unwrap_or_default();
            let peer = if target.is_certain() || address.contains('/') {
                hosts::of_host(host)
            } else {
                Peer::Unnamed
            };
            doing.add(Effect::Connect(Connection { peer, carries: Carries::Data }));
            continue;
        }
        for purpose in purposes {
            doing.path(target, *purpose, cwds, around);
        }
    }
}
