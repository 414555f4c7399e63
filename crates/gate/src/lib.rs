//! In what order?
//!
//! ```text
//! RawCall ─→ call ─→ effects ─→ policy ─→ prepare ─→ approval ─→ Permit ─→ fence ─→ Outcome
//!            what    what       may it    exactly    who said    once,     what can  how it
//!            was     would      run?      what,      yes?        for one   it        ended
//!            asked?  it do?               fenced how             plan      touch?
//!               └───────┴──────────┴─────────┴──────────┴───────────┴─────────┴─→ journal: what happened?
//! ```
//!
//! This is the one crate that sees all stages. A door hands in a [`RawCall`] and gets back a [`Judgement`] (what would be
//! decided) or a [`Permit`] (it may run, and that is on disk); it decides nothing itself. What the stages need from outside
//! comes in as a [`World`], and for calls that run as an [`Office`].
//!
//! Whoever builds an agent starts with [`Gate::of_this_machine`] and hands every call of the model to [`Gate::perform`], or to
//! [`Gate::call`] to await it; `examples/` has three small agents' worth of it. To look only:
//! ```
//! use gate::call::{DigestKey, RawCall};
//! use gate::policy::{Base, Config, Decision};
//! use gate::{Gate, Machine};
//!
//! let config = Config::merge(Vec::new(), &Base::default()).map_err(|error| error.to_string())?;
//! let gate = Gate::new(config, Machine::world()?, None, DigestKey::from_bytes([7; 32]));
//! let judgement = gate.judge(RawCall::command("rm -rf /")).map_err(|invalid| invalid.to_string())?;
//! assert_eq!(judgement.ruling.decision, Decision::Deny);
//! # Ok::<(), String>(())
//! ```

mod admit;
mod agents;
mod answer;
mod calling;
mod caveat;
mod consider;
mod custom_tool;
mod desk;
mod directly;
mod engine;
mod entrusted;
mod equip;
mod examples;
mod lately;
mod load;
mod machine;
mod office;
mod opened;
mod perform;
mod permit;
mod pins;
mod prepare;
mod question;
mod reach;
mod record;
mod replay;
mod run;
mod scattered;
mod stopped;
mod world;

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

use call::{ApprovalKey, Call, Descriptors, DigestKey, Intent, Invalid, RawCall, Request, Seen, What};
use effects::{Analysis, Surroundings};
use policy::{Config, Consultation, Fence, Question, Ruling};

pub use admit::{Terms, ToldJudgement};
pub use agents::Agents;
pub use answer::Answer;
pub use approval;
pub use call;
pub use calling::Calling;
pub use caveat::Caveat;
pub use consider::{Considered, Hearing};
pub use custom_tool::CustomTool;
pub use desk::{Desk, GrantChange};
pub use effects;
pub use entrusted::Entrusted;
pub use examples::Failure;
pub use fence;
pub use journal;
pub use load::{Wanted, load, load_for};
pub use machine::Machine;
pub use office::{Fenced, Keeper, Office, Ran, Runner};
pub use perform::{Elsewhere, Hands, Watcher, refusal};
pub use permit::Permit;
pub use pins::{Pinned, Pins};
pub use policy;
pub use prepare::Prepared;
pub use record::Told;
pub use replay::{Past, past};
pub use run::RunEvent;
pub use stopped::{By, Stopped};
pub use tools;
pub use world::{Disk, World};

/// The gate: a configuration, and the world that it stands in.
pub struct Gate {
    config: Arc<Config>,
    world: World,
    workspace: Option<PathBuf>,
    descriptors: Descriptors,
    digest_key: Arc<DigestKey>,
    fence: OnceLock<Fence>,
    contact_engine: bool,
    rehearsal: bool,
    office: Option<Arc<Office>>,
    custom: BTreeMap<String, CustomTool>,
    skills: OnceLock<Result<tools::SkillSpaces, tools::Failure>>,
    search: OnceLock<Result<Option<tools::SearchProvider>, tools::Failure>>,
}

/// Everything that was found out about one call.
#[derive(Debug)]
pub struct Judgement {
    /// The call.
    pub call: Call,
    /// What it would do.
    pub analysis: Arc<Analysis>,
    /// What was decided.
    pub ruling: Ruling,
    seen: Seen,
}

impl Gate {
    /// A gate with this configuration. `digest_key` keys the digests of what may not be written down.
    #[must_use]
    pub fn new(config: Config, world: World, workspace: Option<PathBuf>, digest_key: DigestKey) -> Gate {
        Gate {
            config: Arc::new(config),
            world,
            workspace,
            descriptors: Descriptors::new(),
            digest_key: Arc::new(digest_key),
            fence: OnceLock::new(),
            contact_engine: false,
            rehearsal: true,
            office: None,
            custom: BTreeMap::new(),
            skills: OnceLock::new(),
            search: OnceLock::new(),
        }
    }

    /// The fence that would be around commands.
    #[must_use]
    pub fn with_fence(mut self, fence: Fence) -> Gate {
        self.fence = OnceLock::from(fence);
        self
    }

    /// Descriptors of custom tools.
    #[must_use]
    pub fn with_descriptors(mut self, descriptors: Descriptors) -> Gate {
        self.descriptors = descriptors;
        self
    }

    /// The gate is for calls that are run afterwards: the fence is tried by building it for them.
    #[must_use]
    pub fn running(mut self) -> Gate {
        self.rehearsal = false;
        self.contact_engine = true;
        self
    }

    /// Who is asked, where it is written, how it is run; and the key of digests that lasts.
    #[must_use]
    pub fn with_office(mut self, office: Office, digest_key: DigestKey) -> Gate {
        self.office = Some(Arc::new(office));
        self.digest_key = Arc::new(digest_key);
        self
    }

    /// The same office, and the same key, as another gate has.
    #[must_use]
    pub fn with_office_of(mut self, other: &Gate) -> Gate {
        self.office.clone_from(&other.office);
        self.digest_key = Arc::clone(&other.digest_key);
        self
    }

    /// Who is asked, where it is written, how it is run.
    #[must_use]
    pub fn office(&self) -> Option<&Office> {
        self.office.as_deref()
    }

    /// Whether the external policy engine is asked. A rehearsal does not, unless it is told to.
    #[must_use]
    pub fn contacting_the_engine(mut self, contact: bool) -> Gate {
        self.contact_engine = contact;
        self
    }

    /// A name that somebody gave to a call or a session, as the journal has it.
    #[must_use]
    pub fn shown_identifier(&self, text: &str) -> call::Shown {
        call::Shown::identifier(text, &self.digest_key)
    }

    /// The world that it stands in.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The configuration.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Judges a call: what was asked, what it would do, whether it may run. Nothing runs.
    ///
    /// # Errors
    /// The call is malformed.
    pub fn judge(&self, raw: RawCall) -> Result<Judgement, Invalid> {
        let mut call = Call::parse(raw)?;
        self.complete(&mut call)?;
        let cwd = self.directory_of(&call);
        let analysis = self.analyse(&call, &cwd);
        let seen = Seen {
            argv: single_argv(&call, &analysis),
            complex: analysis.complex.map(str::to_owned),
            risk: analysis.risk.level.name(),
            cwd: cwd.to_string_lossy().into_owned(),
        };
        let engine = self.consult(&call, &seen, &analysis);
        let mut ruling = self.config.rule(&self.question(&call, &analysis, &engine));
        // What allows speaks of the configuration and quotes nothing of the call.
        if ruling.decision != policy::Decision::Allow {
            hide(&mut ruling, &analysis.hidden());
        }
        Ok(Judgement { call, analysis: Arc::new(analysis), ruling, seen })
    }

    /// Whether a tool is worth being offered: the policy does not deny a call like this one. Nobody else is asked about it.
    #[must_use]
    pub fn offers(&self, raw: RawCall) -> bool {
        let Ok(call) = Call::parse(raw) else { return false };
        let analysis = self.analyse(&call, &self.directory_of(&call));
        let engine = Consultation::NotContacted;
        self.config.rule(&self.question(&call, &analysis, &engine)).decision != policy::Decision::Deny
    }

    /// A call that was judged, as approvals and the journal may hold it.
    #[must_use]
    pub fn request(&self, judgement: &Judgement) -> Request {
        self.descriptors.of(&judgement.call).sanitize_for_approval(
            &judgement.call,
            &judgement.seen,
            &self.digest_key,
        )
    }

    /// What an approval of a call that was judged is bound to.
    #[must_use]
    pub fn approval_key(&self, judgement: &Judgement) -> ApprovalKey {
        self.descriptors.of(&judgement.call).approval_key(&judgement.call, &judgement.seen, &self.digest_key)
    }

    fn analyse(&self, call: &Call, cwd: &Path) -> Analysis {
        let mut intents = self.descriptors.of(call).intents(call);
        for intent in &mut intents {
            // The directory is resolved already; what the call said about it must not be applied a second time.
            if let Intent::Argv { cwd, .. } | Intent::Shell { cwd, .. } = intent {
                *cwd = None;
            }
        }
        let around = Surroundings {
            cwd,
            home: self.world.home.as_deref(),
            user: self.world.user.as_deref(),
            workspace: self.workspace.as_deref(),
            files: self.world.disk.as_ref(),
        };
        effects::analyse(&intents, &around)
    }

    /// The question that a call puts to the policy.
    pub(crate) fn question<'a>(
        &'a self,
        call: &'a Call,
        analysis: &'a Analysis,
        engine: &'a Consultation,
    ) -> Question<'a> {
        static UNFENCED: Fence = Fence::none("the call runs without one");
        let exec = call.exec();
        let text = exec.and_then(|exec| match exec.what {
            What::Text(text, _) => Some(text),
            What::Words(_) => None,
        });
        let category = self.descriptors.of(call).category();
        let fence = match () {
            // Nothing that is no command runs behind it, so nothing needs to be tried for it. What is typed goes to a program that
            // was started behind it.
            _ if exec.is_none() && category != call::Category::Stdin => &UNFENCED,
            _ if exec.is_some() && !self.is_fenced(call) => &UNFENCED,
            _ => self.fence.get_or_init(|| self.fence_here()),
        };
        Question {
            tool: call.tool(),
            category,
            text,
            analysis,
            sandbox: call.sandbox(),
            escalated: call.sandbox_permissions() == call::SandboxPermissions::RequireEscalated,
            wall_ms: exec.and_then(|exec| exec.timeout_ms),
            memory_mb: Some(self.config.limits().memory_mb.value),
            fence,
            arguments: match call.arguments() {
                call::Arguments::Custom(arguments) => Some(arguments.expose()),
                _ => None,
            },
            engine,
        }
    }

    /// Whether a command would run behind the fence.
    pub(crate) fn is_fenced(&self, call: &Call) -> bool {
        match call.sandbox() {
            call::Sandbox::None => false,
            call::Sandbox::Restricted => true,
            call::Sandbox::Inherit => {
                self.config.restricted()
                    && call.sandbox_permissions() != call::SandboxPermissions::RequireEscalated
            }
        }
    }

    fn consult(&self, call: &Call, seen: &Seen, analysis: &Analysis) -> Consultation {
        match self.config.engine() {
            None => Consultation::NotConfigured,
            Some(_) if !self.contact_engine => Consultation::NotContacted,
            Some((url, timeout_ms)) => {
                let request = self.descriptors.of(call).sanitize_for_approval(call, seen, &self.digest_key);
                engine::consult(url, timeout_ms, &engine::body(call, &request, analysis, &seen.cwd))
            }
        }
    }

    /// Where a call would run: its own directory, against the asker's, against ours.
    fn directory_of(&self, call: &Call) -> PathBuf {
        let asker = call.cwd().map_or_else(|| self.world.cwd.clone(), |cwd| self.world.cwd.join(cwd));
        let directory = match call.exec().and_then(|exec| exec.workdir) {
            Some(workdir) => asker.join(workdir),
            None => asker,
        };
        normalize(&directory)
    }
}

/// The words of a call that is one simple command with literal words: what its approval is bound to, whichever tool or
/// shell brought it. Wrappers that change more than that (`env`, `timeout`, `sudo` …) stay in it.
fn single_argv(call: &Call, analysis: &Analysis) -> Option<Vec<String>> {
    analysis.words.clone().or_else(|| match call.exec()?.what {
        What::Words(words) => Some(words.to_vec()),
        What::Text(..) => None,
    })
}

/// What a ruling says of paths does not tell what is masked in the command.
fn hide(ruling: &mut Ruling, hidden: &effects::Hidden) {
    let one = |text: &mut String| {
        if let std::borrow::Cow::Owned(shown) = hidden.within(text) {
            *text = shown;
        }
    };
    one(&mut ruling.reason);
    ruling.help.iter_mut().for_each(one);
    ruling.warning.iter_mut().for_each(|warning| one(&mut warning.message));
    for line in &mut ruling.trace {
        if let std::borrow::Cow::Owned(shown) = hidden.within(&line.note) {
            line.note = shown.into();
        }
    }
}

/// A path without `.` and `..`, by its words alone.
fn normalize(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    clean
}
