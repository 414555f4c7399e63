//! What a command's place in the program touches before it runs: its directory and its redirections.

use std::borrow::Cow;

use shell::{Redirect, RedirectKind, Value};

use crate::arg::{self, Arg};
use crate::classify::Purpose;
use crate::doing::{Cwds, Doing};
use crate::effect::{Carries, Connection, Effect, Peer};
use crate::hosts;
use crate::place::Surroundings;

/// The directories in which a command may run; none where that is not known.
pub(crate) fn directories<'v>(value: &'v Value, into: &mut Cwds<'v>) {
    let mut all = Vec::new();
    arg::flatten(value, &mut all, 0);
    for one in &all {
        match one {
            Arg::Text(Cow::Borrowed(text)) => into.push(Cow::Borrowed(text)),
            _ => {
                into.clear();
                return;
            }
        }
    }
    if into.len() > 16 {
        into.clear();
    }
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
