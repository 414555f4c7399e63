//! The way from a ruling to a process: a judgement that allows becomes a [`Permit`], for one call and one fence plan, and a
//! permit is used up by running it. Nothing else in the project starts a program for an agent.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use call::{ErrorKind, What};
use fence::{Backend, Host, Impossible, Limits, Network, Outcome, Plan, Reach, Refusal, Terrain, Wishes};
use policy::Decision;

use crate::{Gate, Judgement};

/// Why a call that was judged does not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    /// The kind.
    pub kind: ErrorKind,
    /// Who stopped it: policy, approval or fence.
    pub by: &'static str,
    /// Why.
    pub why: String,
    /// What would help.
    pub help: Vec<String>,
}

/// Leave to run one call once, behind one fence.
#[derive(Debug)]
pub struct Permit {
    plan: Option<Plan>,
    backend: Backend,
    bwrap: Option<PathBuf>,
    program: PathBuf,
    arguments: Vec<OsString>,
}

impl Gate {
    /// What the fence that is configured holds on this machine. It is tried.
    pub(crate) fn fence_here(&self) -> policy::Fence {
        let backend = match self.backend() {
            None => return policy::Fence::none("its mode is not known"),
            Some(Backend::Local) => return policy::Fence::none("`sandbox.mode` is local"),
            Some(backend) => backend,
        };
        if self.config.denied_places().any(|place| place.is_err()) {
            return policy::Fence::none("`denied_paths` has a pattern that a fence cannot hide");
        }
        if self.workspace.is_none() {
            return policy::Fence::none("there is no workspace here that it could be built around");
        }
        // Whoever runs the call builds the fence and is refused where that fails; only a rehearsal needs a trial.
        match if self.rehearsal { fence::tried(backend) } else { Ok(()) } {
            Ok(()) => policy::Fence { name: "linux", holds_paths: true, holds_network: true, lacks: None },
            Err(_) => policy::Fence::none("it cannot be built here; `bailiwick sandbox status` says why"),
        }
    }

    /// Whether a call is asked about for nothing but code that it will read, and the fence holds whatever that does.
    fn rests_on_typing(&self, judgement: &Judgement) -> bool {
        let fence = self.fence.get_or_init(|| self.fence_here());
        let mut effects = judgement.analysis.parts.iter().flat_map(|part| &part.effects);
        judgement.ruling.rule.id == "safety.effects.code_unresolved"
            && fence.holds()
            && effects.all(|effect| {
                effect.class().is_none_or(|class| {
                    class == effects::Class::CodeUnresolved
                        || matches!(
                            self.config.stance(class).value,
                            policy::Stance::Allow | policy::Stance::Fenced
                        )
                })
            })
    }

    fn backend(&self) -> Option<Backend> {
        Backend::from_name(&self.config.sandbox_mode().value)
    }

    /// What the fence around a call would let it touch.
    ///
    /// # Errors
    /// What is asked for cannot be fenced.
    pub fn plan(&self, directory: &Path, environment: Vec<(OsString, OsString)>) -> Result<Plan, Impossible> {
        let config = &self.config;
        let paths = |texts: &[String]| texts.iter().map(PathBuf::from).collect::<Vec<_>>();
        let mut hide: Vec<PathBuf> = Vec::new();
        for place in config.denied_places() {
            match place {
                Ok(path) => hide.push(path.into()),
                Err(pattern) => {
                    return Err(Impossible {
                        why: format!("a fence cannot hide every path that `{pattern}` means"),
                        help: "deny whole directories or single files, or approve the call without a fence"
                            .into(),
                    });
                }
            }
        }
        hide.extend(self.world.own().map(Path::to_path_buf));
        let network = match config.network_mode() {
            mode if mode.value == "open" => Network::Open,
            mode if mode.value == "off" && mode.at.line > 0 => Network::Off,
            _ => Network::Allow(hosts(config.network_allow())?),
        };
        let limits = config.limits();
        fence::draw(
            &Wishes {
                workspace: self.workspace.clone(),
                cwd: directory.to_path_buf(),
                home: self.world.home.clone(),
                read: paths(config.sandbox_read()),
                write: paths(config.sandbox_write()),
                hide,
                read_only: config.is_read_only(),
                protect: config.protects(),
                environment,
                pass: config.sandbox_env().to_vec(),
                set: Vec::new(),
                network,
                limits: Limits {
                    memory_mb: limits.memory_mb.value,
                    wall_ms: Some(limits.wall_ms.value),
                    cpu_s: Some(limits.cpu_s.value).filter(|seconds| *seconds > 0),
                    processes: limits.processes.value,
                    open_files: limits.open_files.value,
                    file_mb: limits.file_mb.value,
                    scratch_mb: limits.scratch_mb.value,
                    output_bytes: limits.output_bytes.value,
                },
                execute_scratch: config.profile().value != policy::Profile::Prod,
            },
            &fence::Ground,
        )
    }

    /// Leave to run a call, if it was allowed. `environment` is that of whoever asks; the fence lets through what it may.
    /// `typed`: the program's standard input is a terminal with a person in front of it, who types the code that the call does
    /// not show.
    ///
    /// # Errors
    /// It was not allowed, or cannot be run as it was allowed.
    pub fn permit(
        &self,
        judgement: &Judgement,
        environment: Vec<(OsString, OsString)>,
        typed: bool,
    ) -> Result<Permit, Stopped> {
        let ruling = &judgement.ruling;
        match ruling.decision {
            Decision::Allow => {}
            Decision::Ask if typed && self.rests_on_typing(judgement) => {}
            Decision::Ask => {
                return Err(Stopped {
                    kind: ErrorKind::HumanRequired,
                    by: "policy",
                    why: format!("somebody must be asked, and nobody can be: {}", ruling.reason),
                    help: ruling.help.clone(),
                });
            }
            Decision::Deny => {
                return Err(Stopped {
                    kind: ErrorKind::Permission,
                    by: "policy",
                    why: ruling.reason.clone(),
                    help: ruling.help.clone(),
                });
            }
        }
        let words: Vec<OsString> = match judgement.call.exec().map(|exec| exec.what) {
            Some(What::Words(words)) => words.iter().map(OsString::from).collect(),
            Some(What::Text(..)) | None => {
                return Err(Stopped {
                    kind: ErrorKind::Validation,
                    by: "policy",
                    why: "only a program with its arguments can be run here".into(),
                    help: Vec::new(),
                });
            }
        };
        let directory = self.directory_of(&judgement.call);
        let fenced = match judgement.call.sandbox() {
            call::Sandbox::None => false,
            call::Sandbox::Inherit => self.config.restricted(),
            call::Sandbox::Restricted => true,
        };
        let backend = self.backend().unwrap_or(Backend::Auto);
        let search = environment.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone());
        let plan = match fenced && backend != Backend::Local {
            false => None,
            true => Some(self.plan(&directory, environment).map_err(|impossible| Stopped {
                kind: ErrorKind::SandboxDenied,
                by: "fence",
                why: impossible.why,
                help: vec![impossible.help],
            })?),
        };
        let program = find_program(&words, &directory, search.as_deref(), plan.as_ref())?;
        Ok(Permit {
            plan,
            backend,
            bwrap: self.config.bwrap_path().map(PathBuf::from),
            program,
            arguments: words,
        })
    }
}

impl Permit {
    /// The plan; `None` where the call runs without a fence, by name.
    #[must_use]
    pub fn plan(&self) -> Option<&Plan> {
        self.plan.as_ref()
    }

    /// The plan, to be changed before anything runs: a person who sits in front of a terminal is not timed.
    pub fn untimed(&mut self) {
        if let Some(plan) = &mut self.plan {
            plan.limits.wall_ms = None;
        }
    }

    /// The program's file.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Runs the call, with the standard streams and the terminal of this process.
    ///
    /// # Errors
    /// The fence cannot be built as planned, or the program could not be started.
    pub fn run(self) -> Result<Outcome, Stopped> {
        let Some(plan) = &self.plan else {
            return Err(Stopped {
                kind: ErrorKind::SandboxDenied,
                by: "fence",
                why: "running without a fence is not done by this command".into(),
                help: vec!["start the program yourself".into()],
            });
        };
        let order = fence::Order {
            plan,
            program: &self.program,
            arguments: &self.arguments,
            streams: None,
            stands_in: true,
            bwrap: self.bwrap.as_deref(),
            reins: None,
        };
        fence::run(self.backend, &order).map_err(|refusal| match refusal {
            Refusal::Fence { missing, help } => Stopped {
                kind: ErrorKind::SandboxDenied,
                by: "fence",
                why: format!("the fence cannot be built as planned: {missing}"),
                help: vec![help],
            },
            Refusal::Program(why) => {
                Stopped { kind: ErrorKind::NotFound, by: "fence", why, help: Vec::new() }
            }
            Refusal::Failed(why) => Stopped { kind: ErrorKind::Unknown, by: "fence", why, help: Vec::new() },
        })
    }
}

fn hosts(texts: &[String]) -> Result<Vec<Host>, Impossible> {
    let host = |text: &String| {
        Host::parse(text).map_err(|why| Impossible { why, help: "correct `sandbox.network.allow`".into() })
    };
    texts.iter().map(host).collect()
}

/// Looks a program up as an exec along `PATH` would, among what the fence shows.
fn find_program(
    words: &[OsString],
    directory: &Path,
    search: Option<&OsStr>,
    plan: Option<&Plan>,
) -> Result<PathBuf, Stopped> {
    let missing =
        |why: String, help: Vec<String>| Stopped { kind: ErrorKind::NotFound, by: "fence", why, help };
    let Some(name) = words.first().filter(|name| !name.is_empty()) else {
        return Err(missing("there is no program to run".into(), Vec::new()));
    };
    let executable = |path: &Path| {
        use std::os::unix::fs::PermissionsExt;
        path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    };
    // The fence shows real paths; a link along the way may lead out of what it shows.
    let visible = |path: &Path| {
        let real = fence::Ground.follow(path);
        plan.is_none_or(|plan| real.is_some_and(|real| plan.reach(&real) != Reach::None))
    };
    if name.as_bytes().contains(&b'/') {
        let path = directory.join(name);
        return match (executable(&path), visible(&path)) {
            (true, true) => Ok(fence::Ground.follow(&path).filter(|_| plan.is_some()).unwrap_or(path)),
            (true, false) => {
                let parent = path.parent().unwrap_or(&path).display().to_string();
                Err(missing(
                    format!("{} is outside what the fence shows", path.display()),
                    vec![format!("add `--read {parent}`")],
                ))
            }
            (false, _) if !path.exists() => {
                Err(missing(format!("there is no {}", path.display()), Vec::new()))
            }
            (false, _) => Err(missing(
                format!("{} cannot be executed", path.display()),
                vec!["chmod +x, or name the program that reads it".into()],
            )),
        };
    }
    let search = search.map_or_else(|| OsString::from("/usr/local/bin:/usr/bin:/bin"), OsStr::to_owned);
    let mut hidden = None;
    for entry in std::env::split_paths(&search) {
        let path = directory.join(entry).join(name);
        if executable(&path) {
            if visible(&path) {
                return Ok(path);
            }
            hidden = Some(path);
        }
    }
    match hidden {
        Some(path) => {
            let parent = path.parent().unwrap_or(&path).display().to_string();
            Err(missing(
                format!("{} is outside what the fence shows", path.display()),
                vec![format!("add `--read {parent}`")],
            ))
        }
        None => Err(missing(format!("there is no program `{}` along PATH", name.display()), Vec::new())),
    }
}
