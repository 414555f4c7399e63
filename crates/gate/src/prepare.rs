//! What exactly would be executed: the program's file, its words, its directory, and the fence around it. All of that is
//! bound into what somebody approves.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use call::{Arguments, ErrorKind, Request, Shell, What};
use fence::{Backend, Host, Impossible, Limits, Network, Plan, Reach, Terrain, Wishes};

use crate::directly;
use crate::opened::Opened;
use crate::stopped::{By, Stopped};
use crate::{Gate, Judgement};

/// A command as it would be executed.
#[derive(Debug)]
pub struct Prepared {
    pub(crate) plan: Option<Plan>,
    pub(crate) backend: Backend,
    pub(crate) bwrap: Option<PathBuf>,
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) directory: PathBuf,
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// Why it could not do what it was let through for.
    pub(crate) lost: Option<Stopped>,
}

impl Gate {
    /// What the fence that is configured holds on this machine. It is tried.
    pub(crate) fn fence_here(&self) -> policy::Fence {
        let backend = match self.backend() {
            None => return policy::Fence::none("its mode is not known"),
            Some(Backend::Local) => return policy::Fence::none("`sandbox.mode` is local"),
            Some(backend) => backend,
        };
        if self.workspace.is_none() {
            return policy::Fence::none("there is no workspace here that it could be built around");
        }
        // Whoever runs the call builds the fence and is refused where that fails; only a rehearsal needs a trial.
        let bwrap = self.config.bwrap_path().map(Path::new);
        match if self.rehearsal { fence::tried_with(backend, bwrap) } else { Ok(()) } {
            Ok(()) => policy::Fence { name: "linux", holds_paths: true, holds_network: true, lacks: None },
            Err(_) => policy::Fence::none("it cannot be built here; `bailiwick sandbox status` says why"),
        }
    }

    /// Whether a call is asked about for nothing but code that it will read, and the fence holds whatever that does.
    pub(crate) fn rests_on_typing(&self, judgement: &Judgement) -> bool {
        let fence = self.fence.get_or_init(|| self.fence_here());
        let mut effects = judgement.analysis.parts.iter().flat_map(|part| &part.effects);
        judgement.ruling.rule.id == "safety.effects.code_unresolved"
            && self.config.is_held_by(fence)
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

    pub(crate) fn backend(&self) -> Option<Backend> {
        Backend::from_name(&self.config.sandbox_mode().value)
    }

    /// Has the fence begun that a call would get, while it is still being judged: nothing is in it yet. `None` where a call would
    /// get another one, or none.
    #[must_use]
    pub fn begin(&self, starter: fence::Starter) -> Option<fence::Begun> {
        if !self.config.restricted() || self.workspace.is_none() {
            return None;
        }
        match self.backend()? {
            Backend::Auto | Backend::Linux => {
                let open_network = self.config.network_mode().value == "open";
                Some(starter.namespaces(fence::Ahead { open_network, scratch_mb: self.limits().scratch_mb }))
            }
            Backend::Landlock => Some(starter.plain()),
            Backend::Bubblewrap | Backend::Seatbelt | Backend::Windows | Backend::Wsl | Backend::Local => {
                None
            }
        }
    }

    /// What the fence around a call would let it touch. `set` are variables that it gets, `opened` what its ruling opens.
    fn plan(
        &self,
        directory: &Path,
        environment: Vec<(OsString, OsString)>,
        set: Vec<(OsString, OsString)>,
        opened: Opened,
    ) -> Result<Plan, Impossible> {
        let config = &self.config;
        let paths = |texts: &[String]| texts.iter().map(PathBuf::from).collect::<Vec<_>>();
        let network = match config.network_mode() {
            mode if mode.value == "open" => Network::Open,
            mode if mode.value == "off" && mode.at.line > 0 => Network::Off,
            _ => Network::Allow(hosts(config.network_allow())?.into_iter().chain(opened.hosts).collect()),
        };
        self.draw(Wishes {
            workspace: self.workspace.clone(),
            cwd: directory.to_path_buf(),
            home: self.world.home.clone(),
            read: paths(config.sandbox_read()).into_iter().chain(opened.read).collect(),
            write: paths(config.sandbox_write()).into_iter().chain(opened.write).collect(),
            hide: self.world.own().map(Path::to_path_buf).collect(),
            read_only: config.is_read_only(),
            protect: config.protects(),
            lifted: opened.lifted,
            environment,
            pass: config.sandbox_env().to_vec(),
            set,
            network,
            limits: self.limits(),
            execute_scratch: config.profile().value != policy::Profile::Prod,
        })
    }

    /// The limits that the configuration has.
    pub(crate) fn limits(&self) -> Limits {
        let limits = self.config.limits();
        Limits {
            memory_mb: limits.memory_mb.value,
            wall_ms: Some(limits.wall_ms.value),
            cpu_s: Some(limits.cpu_s.value).filter(|seconds| *seconds > 0),
            processes: limits.processes.value,
            open_files: limits.open_files.value,
            file_mb: limits.file_mb.value,
            scratch_mb: limits.scratch_mb.value,
            output_bytes: limits.output_bytes.value,
        }
    }

    /// What would be executed. `environment` is that of whoever asks; the fence lets through what it may.
    ///
    /// # Errors
    /// It is no command, the program is not there, or the fence cannot be drawn.
    pub fn prepare(
        &self,
        judgement: &Judgement,
        environment: Vec<(OsString, OsString)>,
    ) -> Result<Prepared, Stopped> {
        let Some(exec) = judgement.call.exec() else {
            return Err(Stopped::new(ErrorKind::Validation, By::Gate, "the call runs no command"));
        };
        let mut words: Vec<OsString> = match exec.what {
            What::Words(words) => words.iter().map(OsString::from).collect(),
            // The shell that was modelled, without start-up files: nothing runs that was not judged.
            What::Text(text, Shell::Posix) => ["/bin/sh", "-c", text].map(OsString::from).into(),
            What::Text(text, Shell::Bash) => ["/bin/bash", "-c", text].map(OsString::from).into(),
        };
        let directory = self.directory_of(&judgement.call);
        let fenced = self.is_fenced(&judgement.call);
        let backend = self.backend().unwrap_or(Backend::Auto);
        let mut set: Vec<(OsString, OsString)> =
            exec.env.iter().map(|(name, value)| (name.into(), value.expose().into())).collect();
        set.extend(
            exec.passed_on
                .iter()
                .filter_map(|name| environment.iter().find(|(other, _)| other == name.as_str()).cloned()),
        );
        let mut whole = environment;
        whole.retain(|(name, _)| set.iter().all(|(other, _)| other != name));
        whole.extend(set.iter().cloned());
        let search = whole.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone());
        let mut lost = None;
        let mut plan = match fenced && backend != Backend::Local {
            false => None,
            true => {
                let mut opened = self.opened(judgement);
                if let Arguments::SkillExec(skill) = judgement.call.arguments() {
                    opened.read.extend(skill.command().map(|command| PathBuf::from(&command.root)));
                }
                let shut = std::mem::take(&mut opened.shut);
                let drawn = self.plan(&directory, whole.clone(), set, opened).map_err(|impossible| {
                    Stopped::new(ErrorKind::SandboxDenied, By::Fence, impossible.why).help(impossible.help)
                })?;
                lost = Gate::can_be_kept(&drawn, &shut).err();
                Some(drawn)
            }
        };
        let mut program = find_program(&words, &directory, search.as_deref(), plan.as_ref())?;
        if let (What::Text(text, shell), Some(plan)) = (exec.what, &mut plan)
            && let Some(plain) = directly::words(text, judgement.analysis.words.as_deref())
        {
            let plain: Vec<OsString> = plain.iter().map(OsString::from).collect();
            // Of a program that is not there, the shell has its own words.
            if let Ok(found) = find_program(&plain, &directory, search.as_deref(), Some(plan)) {
                directly::tell(plan, shell, &found);
                (program, words) = (found, plain);
            }
        }
        Ok(Prepared {
            plan,
            backend,
            bwrap: self.config.bwrap_path().map(PathBuf::from),
            program,
            arguments: words,
            directory,
            environment: whole,
            lost,
        })
    }

    /// The request of a command together with all that an approval of it is bound to: the program's file, the fence, and the
    /// content of what the agent could change between a yes and the run.
    #[must_use]
    pub fn bound(&self, judgement: &Judgement, prepared: &Prepared) -> Request {
        let request = self.fenced_request(judgement, prepared);
        match self.contents(judgement, prepared) {
            contents if contents.is_empty() => request,
            contents => request.bind("contents", &contents),
        }
    }

    pub(crate) fn fenced_request(&self, judgement: &Judgement, prepared: &Prepared) -> Request {
        let environment = match &prepared.plan {
            Some(plan) => format!("{plan:?}"),
            None => format!("{:?}", prepared.environment),
        };
        let backend = format!("{:?}", prepared.backend);
        self.request(judgement)
            .bind("program", &prepared.program.to_string_lossy())
            .bind("backend", &backend)
            .bind_digest("fence", &environment, &self.digest_key)
    }

    /// The programs of a call that can be written by whatever runs in the workspace, each with the digest of its content.
    fn contents(&self, judgement: &Judgement, prepared: &Prepared) -> String {
        let changeable = |path: &Path| match &prepared.plan {
            Some(plan) => plan.reach(path) == Reach::Write,
            None => self.workspace.as_deref().is_some_and(|workspace| path.starts_with(workspace)),
        };
        let run =
            judgement.analysis.parts.iter().flat_map(|part| &part.effects).filter_map(
                |effect| match effect {
                    effects::Effect::Run { program } => Some(prepared.directory.join(program)),
                    _ => None,
                },
            );
        let mut paths: Vec<PathBuf> = run.chain([prepared.program.clone()]).collect();
        paths.sort_unstable();
        paths.dedup();
        let line = |path: &PathBuf| {
            let real = fence::Ground.follow(path)?;
            let digest = self.world.disk.content(&real).filter(|_| changeable(&real))?;
            Some(format!("{}={digest}", real.display()))
        };
        paths.iter().filter_map(line).collect::<Vec<_>>().join(" ")
    }
}

impl Prepared {
    /// The plan; `None` where the call runs without a fence, by name.
    #[must_use]
    pub fn plan(&self) -> Option<&Plan> {
        self.plan.as_ref()
    }

    /// A person who sits in front of a terminal is not timed.
    pub fn untimed(&mut self) {
        if let Some(plan) = &mut self.plan {
            plan.limits.wall_ms = None;
        }
    }

    /// Lets it connect to these hosts too. A network that is open is so already.
    pub(crate) fn reach(&mut self, names: &[String]) -> Result<(), Stopped> {
        let Some(plan) = self.plan.as_mut().filter(|_| !names.is_empty()) else { return Ok(()) };
        let more = hosts(names).map_err(|impossible| {
            Stopped::new(ErrorKind::SandboxDenied, By::Fence, impossible.why).help(impossible.help)
        })?;
        match &mut plan.network {
            Network::Open => {}
            Network::Allow(known) => known.extend(more),
            Network::Off => plan.network = Network::Allow(more),
        }
        Ok(())
    }

    /// The words, the program's name first.
    #[must_use]
    pub fn arguments(&self) -> &[OsString] {
        &self.arguments
    }

    /// The program's file.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
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
    let missing = |why: String, help: Vec<String>| Stopped {
        help,
        ..Stopped::new(ErrorKind::NotFound, By::Fence, why)
    };
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
