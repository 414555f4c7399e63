//! The built-in tools through the whole pipeline: from a call to the answer that its agent gets.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use call::{Arguments, ErrorKind, RawCall, Shown};
use serde_json::json;
use tools::{Ask, Cancel, Capture, Human, Job, Outcome, Plans, Sessions, Setting, Size, Start, Stream};

use crate::admit::Terms;
use crate::agents::Agents;
use crate::permit::{Permit, Work};
use crate::record::Told;
use crate::stopped::Stopped;
use crate::{Gate, Judgement};

/// Sees output while it comes.
pub type Watcher = Arc<dyn Fn(Stream, &[u8]) + Send + Sync>;

/// Runs a tool that is neither built in nor added to the gate: its name, its arguments, and how it is taken back.
pub type Elsewhere = Arc<dyn Fn(&str, &serde_json::Value, &Cancel) -> Outcome + Send + Sync>;

/// What the tools of one front door share.
pub struct Hands {
    /// Programs that are left running and typed to.
    pub sessions: Arc<Sessions>,
    /// Sees output while it comes.
    pub watch: Option<Watcher>,
    /// Hears that a call was let through and is about to run.
    pub starting: Option<Arc<dyn Fn() + Send + Sync>>,
    /// Who answers an agent's questions; without anybody they are `human_required`.
    pub human: Option<Box<dyn Human>>,
    /// The plans that agents keep.
    pub plans: Arc<Plans>,
    /// Who runs the tools that are not known here; without anybody they cannot be run.
    pub elsewhere: Option<Elsewhere>,
    /// Who starts and steers other agents; without anybody there are none.
    pub agents: Option<Arc<dyn Agents>>,
}

impl Hands {
    /// With no program running yet.
    ///
    /// # Errors
    /// No descriptor or no thread is to be had.
    pub fn new() -> std::io::Result<Hands> {
        let sessions = Arc::new(Sessions::new(tools::SessionBounds::default())?);
        Ok(Hands::sharing(&sessions, &Arc::new(Plans::new())))
    }

    /// Hands that share with others the programs that are left running, and the plans.
    #[must_use]
    pub fn sharing(sessions: &Arc<Sessions>, plans: &Arc<Plans>) -> Hands {
        Hands {
            sessions: Arc::clone(sessions),
            plans: Arc::clone(plans),
            watch: None,
            starting: None,
            human: None,
            elsewhere: None,
            agents: None,
        }
    }
}

impl Gate {
    /// The whole way of one call: judged, asked about, written down, run, and answered. A refusal is an answer too: its
    /// `error_kind` says which, its `stderr` who refused it, why, by which rule, and what would help.
    pub fn perform(&self, raw: RawCall, terms: Terms, hands: &Hands) -> Outcome {
        let session = raw.session.clone().unwrap_or_default();
        let cancel = terms.cancel.clone();
        match self.admit(raw, terms) {
            Ok(permit) => permit.perform(self, &session, hands, &cancel),
            Err(stopped) => refusal(&stopped),
        }
    }
}

/// A refusal as the agent and the person get it.
#[must_use]
pub fn refusal(stopped: &Stopped) -> Outcome {
    let mut text = format!("{} ({}, by {})", stopped.why, stopped.kind, stopped.by.name());
    for (name, lines) in [("rule", stopped.rule.as_slice()), ("help", &stopped.help)] {
        for line in lines {
            text.push_str(&format!("\n{name}: {line}"));
        }
    }
    if let Some(id) = &stopped.pending {
        text.push_str(&format!(
            "\nto approve it: `bailiwick grants approve {id}` at a terminal, then try again"
        ));
    }
    let mut outcome = Outcome::error(stopped.kind, text);
    outcome.data = Some(json!({
        "denied_by": stopped.by.name(),
        "rule": stopped.rule,
        "confirmation_id": stopped.pending,
        "run_ends": stopped.ends_run,
    }));
    outcome.retryable = stopped.pending.is_some();
    outcome
}

/// One call's turn.
#[derive(Clone, Copy)]
struct Turn<'a> {
    gate: &'a Gate,
    session: &'a str,
    hands: &'a Hands,
    cancel: &'a Cancel,
    watch: Option<&'a Watcher>,
}

impl Permit {
    /// Does what was permitted, with the tool that the call names.
    pub fn perform(self, gate: &Gate, session: &str, hands: &Hands, cancel: &Cancel) -> Outcome {
        self.perform_watched(gate, session, hands, cancel, hands.watch.as_ref())
    }

    /// The same, with somebody of its own who sees its output while it comes.
    pub fn perform_watched(
        mut self,
        gate: &Gate,
        session: &str,
        hands: &Hands,
        cancel: &Cancel,
        watch: Option<&Watcher>,
    ) -> Outcome {
        let judgement = self.take_judgement();
        let turn = &Turn { gate, session, hands, cancel, watch };
        let outcome = match (self.take_work(), judgement) {
            (Err(stopped), _) => Outcome::error(stopped.kind, stopped.why),
            // Somebody may have taken it back while it was asked about.
            _ if cancel.is_cancelled() => {
                Outcome::error(ErrorKind::Cancelled, "the call was taken back".into())
            }
            (Ok(Some(work)), Some(judgement)) => {
                if let Some(starting) = &turn.hands.starting {
                    starting();
                }
                self.done(turn, work, &judgement)
            }
            _ => Outcome::error(ErrorKind::Unknown, "the permit was used before".into()),
        };
        self.conclude(&outcome);
        outcome
    }

    /// The journal learns how it ended.
    pub(crate) fn conclude(&mut self, outcome: &Outcome) {
        let how = match outcome.error_kind {
            None => journal::Outcome::Finished,
            Some(ErrorKind::Timeout | ErrorKind::Cancelled) => journal::Outcome::Aborted,
            Some(ErrorKind::SandboxDenied | ErrorKind::Permission) => journal::Outcome::Denied,
            Some(_) => journal::Outcome::Finished,
        };
        let told = Told {
            error_kind: outcome.error_kind,
            exit_code: outcome.exit_code.and_then(|code| u8::try_from(code).ok()),
            ..self.told()
        };
        self.close(how, told);
    }

    fn done(&mut self, turn: &Turn<'_>, work: Work, judgement: &Judgement) -> Outcome {
        let Turn { session, hands, cancel, gate, .. } = *turn;
        match (work, judgement.call.arguments()) {
            (Work::Command(prepared), arguments) => {
                let (backend, plan) = match &prepared.plan {
                    Some(plan) => (prepared.backend, plan.clone()),
                    // Said by name, by the configuration or by an approval: there is no other way to have no plan.
                    None => {
                        let environment = prepared.environment.iter().cloned();
                        let limits = gate.limits();
                        let plan = fence::Plan::unfenced(&prepared.directory, environment, limits);
                        (fence::Backend::Local, plan)
                    }
                };
                let mut job = Job {
                    backend,
                    plan,
                    program: prepared.program.clone(),
                    arguments: prepared.arguments.clone(),
                    bwrap: prepared.bwrap.clone(),
                };
                match arguments {
                    Arguments::ExecCommand(call) => {
                        // A session lives until it ends or lies idle; its limit of time is the one of sessions.
                        job.plan.limits.wall_ms = None;
                        let tty = call.tty.then(Size::default);
                        if call.tty {
                            job.name_terminal();
                        }
                        let ask = ask(call.yield_time_ms, call.max_output_tokens);
                        match hands.sessions.start(session, job, &Start { tty, ask }, cancel) {
                            Ok(said) => {
                                self.cover(said.session);
                                said.outcome()
                            }
                            Err(error) => error.into(),
                        }
                    }
                    _ => self.captured(turn, &mut job, judgement),
                }
            }
            (Work::Files(reach), arguments) => {
                let stop = AtomicBool::new(cancel.is_cancelled());
                let setting = Setting {
                    area: &reach.area,
                    cwd: &reach.directory,
                    home: reach.home.as_deref(),
                    stop: Some(&stop),
                };
                match arguments {
                    Arguments::FileRead(call) => tools::file_read::run(call, &setting),
                    Arguments::ReadFile(call) => tools::read_file::run(call, &setting),
                    Arguments::FileWrite(call) => tools::file_write::run(call, &setting),
                    Arguments::ListDir(call) => tools::list_dir::run(call, &setting),
                    Arguments::GrepFiles(call) => tools::grep_files::run(call, &setting),
                    Arguments::ApplyPatch(call) => tools::apply_patch::run(call, &setting),
                    Arguments::ViewImage(call) => tools::view_image::run(call, &setting),
                    Arguments::SkillRefRead(call) => match gate.skills() {
                        Ok(spaces) => tools::skill_ref_read::run(call, spaces),
                        Err(failure) => failure.into(),
                    },
                    _ => not_here(judgement),
                }
            }
            (Work::Other, Arguments::WriteStdin(call)) => {
                let chars = call.chars.as_ref().map_or(&b""[..], |chars| chars.expose().as_bytes());
                let ask = ask(call.yield_time_ms, call.max_output_tokens);
                match hands.sessions.write(session, call.session_id, chars, ask, cancel) {
                    Ok(said) => said.outcome(),
                    Err(error) => error.into(),
                }
            }
            (Work::Other, Arguments::AskHuman(call)) => {
                let patience = Duration::from_millis(gate.config.human_timeout_ms());
                tools::ask_human::run(call, hands.human.as_deref(), patience, cancel)
            }
            (Work::Other, Arguments::RequestUserInput(call)) => {
                let patience = Duration::from_millis(gate.config.human_timeout_ms());
                tools::request_user_input::run(call, hands.human.as_deref(), patience, cancel)
            }
            (Work::Other, Arguments::UpdatePlan(call)) => {
                tools::update_plan::run(call, &hands.plans, session)
            }
            (Work::Other, Arguments::WebSearch(call)) => match gate.search_provider() {
                Ok(provider) => tools::web_search::run(call, provider, self.search_key()),
                Err(failure) => failure.into(),
            },
            (Work::Other, Arguments::Custom(arguments)) => {
                let (name, arguments) = (judgement.call.tool(), arguments.expose());
                match (gate.custom.get(name), &hands.elsewhere) {
                    (Some(tool), _) => tool.run(arguments, cancel),
                    (None, Some(elsewhere)) => elsewhere(name, arguments, cancel),
                    (None, None) => not_here(judgement),
                }
            }
            (
                Work::Other,
                Arguments::SpawnAgent(_)
                | Arguments::Wait(_)
                | Arguments::SendInput(_)
                | Arguments::CloseAgent(_)
                | Arguments::ResumeAgent(_),
            ) => match &hands.agents {
                Some(agents) => agents.perform(&judgement.call, cancel),
                None => not_here(judgement),
            },
            (Work::Other, _) => not_here(judgement),
        }
    }

    fn captured(&mut self, turn: &Turn<'_>, job: &mut Job, judgement: &Judgement) -> Outcome {
        let Turn { gate, cancel, watch, .. } = *turn;
        let exec = judgement.call.exec();
        let tty = exec.filter(|exec| exec.tty).map(|_| Size::default());
        if tty.is_some() {
            job.name_terminal();
        }
        let seen = |stream: Stream, bytes: &[u8]| {
            if let Some(watch) = watch {
                watch(stream, bytes);
            }
        };
        let capture = Capture {
            timeout: exec.and_then(|exec| exec.timeout_ms).map(Duration::from_millis),
            tty,
            watch: watch.is_some().then_some(&seen as tools::exec::Watch<'_>),
            ..Capture::default()
        };
        match tools::run_captured(job, &capture, cancel) {
            Ok(ran) => {
                let told = self.told_mut();
                let (out, error) = (ran.output.bytes(Stream::Out), ran.output.bytes(Stream::Error));
                told.output_bytes = Some(out.saturating_add(error));
                told.output_sha256 = ran.output.sha256(Stream::Out).and_then(|digest| digest_name(&digest));
                told.fence = Some(Shown::of(ran.enforced));
                told.blocked =
                    ran.blocked.iter().take(32).map(|blocked| Shown::of(&blocked.to_string())).collect();
                if gate.config.journal().output.value {
                    told.output = Some(Shown::of(&ran.output.interleaved().text));
                }
                ran.outcome()
            }
            Err(refusal) => tools::refused(&refusal),
        }
    }
}

/// The digest of what came out is not a secret, though it looks like one: the words around it keep the mask off.
fn digest_name(digest: &str) -> Option<Shown> {
    let mut bytes = [0; 32];
    for (place, pair) in bytes.iter_mut().zip(digest.as_bytes().chunks(2)) {
        *place = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(Shown::digest(bytes))
}

fn ask(yield_time_ms: u64, max_output_tokens: Option<u64>) -> Ask {
    Ask { yield_time: Duration::from_millis(yield_time_ms), max_output_tokens }
}

fn not_here(judgement: &Judgement) -> Outcome {
    Outcome::error(
        ErrorKind::NotFound,
        format!(
            "the tool `{}` cannot be run here; `bailiwick tools` lists those that can",
            judgement.call.tool()
        ),
    )
}
