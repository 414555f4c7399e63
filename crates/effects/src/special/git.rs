//! `git`: settings that run something, remotes that are addresses, refspecs that overwrite, files that are restored.

use crate::arg::Arg;
use crate::classify::{self, Named, Purpose};
use crate::doing::Inner;
use crate::effect::{Carries, Effect, Peer};
use crate::evaluate::Evaluation;
use crate::hosts;
use crate::options::Line;
use crate::variables;

pub(super) fn read<'a>(
    evaluation: &mut Evaluation<'_, '_, '_, '_, 'a>,
    line: &Line<'a>,
    place: usize,
) -> bool {
    if place > 0 {
        subcommand(evaluation, line);
        return false;
    }
    let Some(outer) = line.nodes.first() else { return false };
    for set in &line.options {
        let own = set.choice.canonical == "-c"
            && outer.block.choices.iter().any(|choice| std::ptr::eq(choice, set.choice));
        if let Some(value) = set.value.as_ref().filter(|_| own) {
            setting(evaluation, value);
        }
    }
    if evaluation.cwds.known.iter().any(|cwd| is_another_repository(evaluation, cwd)) {
        evaluation.doing.add(Effect::Run { program: "the configuration of another repository".into() });
    }
    false
}

/// Whether the repository that git finds from here is not the workspace's own: a directory elsewhere, or one inside that
/// has in it what git keeps. Its settings may name programs, and nobody guards them as they guard `.git`.
fn is_another_repository(evaluation: &Evaluation<'_, '_, '_, '_, '_>, cwd: &str) -> bool {
    let around = evaluation.engine.around;
    let Some(root) = around.workspace.and_then(|root| root.to_str()) else { return false };
    let named = Named { text: cwd, pattern: false, cwd: "/" };
    let path = classify::target(named, Purpose::Read, false, around).0.path;
    if classify::below(&path, root.trim_end_matches('/')).is_none() {
        return true;
    }
    let there = |directory: &str, name: &str| {
        let path = format!("{directory}/{name}");
        let made = |effect: &Effect| matches!(effect, Effect::Write(target) if target.path == path);
        around.files.is_directory(std::path::Path::new(&path)).is_some()
            || evaluation.engine.parts.iter().flat_map(|part| &part.effects).any(made)
    };
    let mut directory = path.as_str();
    // Git looks here, then above, until it finds one.
    for _ in 0..MOST_ABOVE {
        if there(directory, ".git") {
            return false;
        }
        if there(directory, "HEAD") && there(directory, "objects") && there(directory, "refs") {
            return true;
        }
        match directory.rsplit_once('/') {
            Some((above, _)) if directory != root && !above.is_empty() => directory = above,
            _ => return false,
        }
    }
    false
}

/// How many directories above one are looked at.
const MOST_ABOVE: usize = 16;

/// `name=value` for this one run.
fn setting<'a>(evaluation: &mut Evaluation<'_, '_, '_, '_, 'a>, value: &Arg<'a>) {
    let lead = value.lead();
    let Some(at) = lead.find('=') else {
        if !value.is_certain() {
            evaluation.doing.unknown("a setting of git that is not known");
        }
        return;
    };
    let name = lead.get(..at).unwrap_or_default().to_owned();
    let value = value.after(at + 1);
    weigh(evaluation, &name, &value);
}

/// What a setting does to later commands.
fn weigh<'a>(evaluation: &mut Evaluation<'_, '_, '_, '_, 'a>, name: &str, value: &Arg<'a>) {
    let name = name.to_ascii_lowercase();
    if name.starts_with("alias.") {
        match value.text() {
            Some(text) => {
                if let Some(command) = text.strip_prefix('!') {
                    evaluation.doing.inner.push(Inner::Shell("sh", Arg::owned(command)));
                }
            }
            None => evaluation.doing.unknown("an alias that is not known"),
        }
        return;
    }
    if !runs(&name) {
        return;
    }
    if value.text().is_some_and(|text| variables::is_plain_tool(text) || matches!(text, "always" | "auto")) {
        return;
    }
    evaluation.doing.add(Effect::Environment(name.clone()));
    if by_shell(&name) && value.text().is_some() {
        evaluation.doing.inner.push(Inner::Shell("sh", value.clone()));
    }
}

/// Settings that name a program, a place where programs are found, or another machine.
fn runs(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    matches!(
        name,
        "core.pager"
            | "core.editor"
            | "core.sshcommand"
            | "core.fsmonitor"
            | "core.hookspath"
            | "core.gitproxy"
            | "core.askpass"
            | "core.attributesfile"
            | "core.alternaterefscommand"
            | "core.worktree"
            | "diff.external"
            | "sequence.editor"
            | "credential.helper"
            | "gpg.program"
            | "interactive.difffilter"
            | "init.templatedir"
            | "uploadpack.packobjectshook"
            | "include.path"
            | "http.proxy"
            | "http.sslverify"
            | "http.cookiefile"
            | "web.browser"
            | "help.browser"
            | "receive.denycurrentbranch"
            | "protocol.allow"
            | "extensions.worktreeconfig"
            | "remote.pushdefault"
            | "safe.directory"
            | "sendemail.smtpserver"
            | "core.sshvariant"
            | "ssh.variant"
    ) || name.starts_with("filter.")
        || name.starts_with("pager.")
        || name.starts_with("includeif.")
        || name.starts_with("protocol.")
        || name.starts_with("submodule.")
        || name.starts_with("trailer.")
        || name.starts_with("sendemail.")
        || name.starts_with("gpg.")
        || matches!(
            last,
            "command"
                | "cmd"
                | "textconv"
                | "driver"
                | "helper"
                | "insteadof"
                | "pushinsteadof"
                | "uploadpack"
                | "receivepack"
                | "vcs"
                | "proxy"
                | "path"
                | "program"
                | "hookspath"
                | "askpass"
                | "process"
                | "clean"
                | "smudge"
                | "tool"
        )
}

fn by_shell(name: &str) -> bool {
    matches!(
        name,
        "core.pager"
            | "core.editor"
            | "core.sshcommand"
            | "core.fsmonitor"
            | "core.gitproxy"
            | "diff.external"
            | "sequence.editor"
            | "interactive.difffilter"
            | "uploadpack.packobjectshook"
            | "core.askpass"
            | "core.alternaterefscommand"
    ) || name.starts_with("pager.")
        || name.starts_with("filter.")
        || matches!(name.rsplit('.').next(), Some("command" | "cmd" | "textconv" | "driver"))
}

fn subcommand<'a>(evaluation: &mut Evaluation<'_, '_, '_, '_, 'a>, line: &Line<'a>) {
    let Some(name) = line.subs.first().and_then(Arg::text) else { return };
    let carries = if name == "push" { Carries::Data } else { Carries::Query };
    match name {
        "push" | "fetch" | "pull" | "ls-remote" | "clone" => {
            for operand in &line.operands {
                address(evaluation, operand, carries);
            }
            if name == "push" {
                for refspec in line.operands.iter().skip(1) {
                    match refspec.lead().chars().next() {
                        Some('+') => {
                            evaluation.doing.add(Effect::History("overwrites what the remote has".into()))
                        }
                        Some(':') => {
                            evaluation.doing.add(Effect::History("removes refs of the remote".into()))
                        }
                        _ if !refspec.is_certain() && refspec.lead().is_empty() => {
                            evaluation.doing.unknown("a refspec that is not known");
                        }
                        _ => {}
                    }
                }
            }
        }
        "checkout" => {
            // After `--`, and for paths, changes in the work tree are thrown away.
            let dashes = line.words.iter().any(|word| word.text() == Some("--"));
            let creates = super::has(line, &["-b", "-B", "--orphan", "-t", "--track"]);
            let path = line.operands.iter().any(|operand| match operand.text() {
                Some(text) => {
                    text == "." || text.starts_with("./") || text.ends_with('/') || text.contains('*')
                }
                None => !operand.is_certain() || matches!(operand, Arg::Pattern(_)),
            });
            if !creates && (dashes || path || line.operands.len() > 1) {
                evaluation.doing.add(Effect::History("throws away changes that are not committed".into()));
            }
        }
        "restore" => {
            let staged_only =
                super::has(line, &["-S", "--staged"]) && !super::has(line, &["-W", "--worktree"]);
            if !staged_only {
                evaluation.doing.add(Effect::History("throws away changes that are not committed".into()));
            }
        }
        "branch" | "tag" => {
            let lists = line.operands.is_empty()
                || super::has(
                    line,
                    &[
                        "-l",
                        "--list",
                        "--contains",
                        "--no-contains",
                        "--merged",
                        "--no-merged",
                        "--points-at",
                        "-a",
                        "-r",
                        "-v",
                        "--show-current",
                        "-n",
                        "--verify",
                    ],
                ) && !super::has(line, &["-d", "-D", "-m", "-M", "-f"]);
            if !lists {
                evaluation.doing.named(
                    ".git",
                    false,
                    Purpose::Write,
                    &evaluation.cwds,
                    evaluation.engine.around,
                );
                own(&mut evaluation.doing.effects);
            }
        }
        _ => {}
    }
}

/// git's own files, which it keeps itself, are not what is protected.
fn own(effects: &mut [Effect]) {
    for effect in effects {
        if let Effect::Write(target) = effect
            && target.place == crate::effect::Place::Protected
            && target.path.ends_with("/.git")
        {
            target.place = crate::effect::Place::Workspace;
        }
    }
}

/// A remote that is an address and not a name.
fn address<'a>(evaluation: &mut Evaluation<'_, '_, '_, '_, 'a>, operand: &Arg<'a>, carries: Carries) {
    let lead = operand.lead();
    if let Some(command) = lead.strip_prefix("ext::") {
        evaluation.doing.inner.push(Inner::Shell("sh", Arg::owned(command)));
        return;
    }
    if lead.contains("::") && !lead.contains("://") {
        evaluation.doing.add(Effect::Run { program: "a remote helper of git".into() });
        return;
    }
    if !operand.is_certain() {
        evaluation.doing.connect(Peer::Unnamed, carries);
        return;
    }
    let looks = lead.contains("://")
        || lead.split_once(':').is_some_and(|(host, _)| host.contains(['@', '.']) && !host.contains('/'));
    if looks && let Some(peer) = hosts::of_remote(lead) {
        evaluation.doing.connect(peer, carries);
    }
}

/// `git config`: one word asks, two set.
pub(super) fn config<'a>(evaluation: &mut Evaluation<'_, '_, '_, '_, 'a>, line: &Line<'a>) -> bool {
    let mut words = line.operands.iter();
    let mut sets = super::has(
        line,
        &[
            "--add",
            "--replace-all",
            "--unset",
            "--unset-all",
            "--rename-section",
            "--remove-section",
            "-e",
            "--append",
            "--edit",
        ],
    );
    let mut rest: Vec<&Arg<'a>> = words.by_ref().collect();
    match rest.first().and_then(|first| first.text()) {
        Some("get" | "list" | "get-color") => return true,
        Some("set" | "unset" | "edit" | "rename-section" | "remove-section") => {
            sets = true;
            rest.remove(0);
        }
        _ => {
            let asks = super::has(
                line,
                &[
                    "--get",
                    "--get-all",
                    "--get-regexp",
                    "--get-urlmatch",
                    "-l",
                    "--list",
                    "--get-color",
                    "--get-colorbool",
                ],
            );
            sets |= rest.len() >= 2 && !asks;
        }
    }
    if rest.iter().any(|word| !word.is_certain() && word.may_be_option()) {
        evaluation.doing.unknown("a setting of git that is not known");
    }
    if !sets {
        return true;
    }
    if let [name, value, ..] = rest.as_slice()
        && let Some(name) = name.text()
    {
        let (name, value) = (name.to_owned(), (*value).clone());
        weigh(evaluation, &name, &value);
    }
    let file = if super::has(line, &["--global"]) {
        Arg::owned("~/.gitconfig")
    } else if super::has(line, &["--system"]) {
        Arg::owned("/etc/gitconfig")
    } else if let Some(Some(file)) = super::option(line, "-f") {
        file.clone()
    } else {
        Arg::owned(".git/config")
    };
    evaluation.doing.path(&file, Purpose::Write, &evaluation.cwds, evaluation.engine.around);
    true
}
