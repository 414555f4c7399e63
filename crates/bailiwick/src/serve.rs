//! `bailiwick serve`: the door over HTTP, wired to this machine.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use door_serve::{App, Listening, Loader, Place, Presence, Tokens, Unfit, bind, bind_socket};
use gate::{Desk, Gate, Machine};

use crate::always::InConfiguration;
use crate::approvers::Audience;
use crate::cli::{Serve, Setup};
use crate::replace::replace;
use crate::setup::told_to_agents;
use crate::stop::stop;
use crate::transport::Transport;

/// Runs the command.
pub(crate) fn run(arguments: &Serve) -> Result<u8, String> {
    let address = arguments.listen;
    if arguments.socket.is_none() && !address.ip().is_loopback() {
        if !arguments.reachable_by_others {
            return Err(format!(
                "{address} can be reached by others; if that is meant, say --reachable-by-others (nothing is encrypted)"
            ));
        }
        if address.ip().is_unspecified() {
            return Err(
                "name the address itself: requests are answered only under a name that is known".into()
            );
        }
    }
    let setup = &arguments.safety.setup(Transport::Serve)?;
    let gate = setup.gate(None)?.running();
    let console = Desk::of(gate.world(), gate.config())?.console().to_path_buf();
    let presence = Presence::new(Some(console));
    let gate = setup.with_office(gate, &[], Audience::Console(std::sync::Arc::clone(&presence)))?;
    let hosted = setup.with_office(setup.gate(None)?.running(), &[], Audience::Host)?;
    let journal = Desk::of(gate.world(), gate.config())?.journal_directory().to_path_buf();
    let directory = gate.world().keys.clone().ok_or("there is no directory for the token")?.join("keys");
    if arguments.new_token {
        let token = door_serve::new_token()?;
        replace(&Tokens::file(&directory), &format!("{token}\n"))
            .map_err(|error| format!("the token: {error}"))?;
    }
    let tokens = Tokens::open(&directory)?;
    let configuration = gate.world().configuration.clone();
    let always_file = configuration
        .map(|directory| InConfiguration::new(setup, &[], journal.clone(), directory).file().to_path_buf());
    let user = gate.world().user.clone().unwrap_or_else(|| "somebody".into());
    let loader = Box::new(Files::new(setup.clone(), &gate));
    let app = App::new(door_serve::Setup {
        gate,
        hosted,
        loader,
        presence,
        journal,
        always_file,
        user,
        tokens,
        token_directory: Some(directory.clone()),
    })?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("no threads: {error}"))?;
    let served = runtime.block_on(async {
        let listening = match &arguments.socket {
            Some(path) => bind_socket(path).await?,
            None => bind(address).await?,
        };
        announce(&listening, &directory)?;
        let stop = stop()?;
        door_serve::serve(app, listening, stop).await
    });
    // What still waits for the disk or for a program that is being ended does not hold the end up.
    runtime.shutdown_timeout(std::time::Duration::from_secs(2));
    served.map(|()| 0)
}

/// Says where it is. The token goes to nobody but a person at a terminal.
fn announce(listening: &Listening, directory: &Path) -> Result<(), String> {
    let token = Tokens::file(directory);
    let place = match listening.place().map_err(|error| error.to_string())? {
        Place::Address(address) => format!("http://{address}/"),
        Place::Socket(path) => {
            Machine::tell(format_args!("bailiwick: listening at {}", path.display()));
            Machine::tell(format_args!("bailiwick: the token is in {}", token.display()));
            return Ok(());
        }
    };
    if std::io::stderr().is_terminal() {
        let world = Machine::world()?;
        let text = world.disk.read(&token)?.unwrap_or_default();
        Machine::tell(format_args!("bailiwick: the console is at {place}#token={}", text.trim()));
    } else {
        Machine::tell(format_args!("bailiwick: the console is at {place}"));
        Machine::tell(format_args!("bailiwick: the token is in {}", token.display()));
    }
    Ok(())
}

/// Gates from the configuration files of this machine.
struct Files {
    setup: Setup,
    /// The files that may hold configuration.
    read: Mutex<Vec<PathBuf>>,
}

impl Files {
    fn new(setup: Setup, gate: &Gate) -> Files {
        let files = Files { setup, read: Mutex::default() };
        files.note(gate);
        files
    }

    /// Remembers which files were read, and where others may appear.
    fn note(&self, gate: &Gate) {
        let mut all: Vec<PathBuf> = gate.config().files().map(|(_, file)| PathBuf::from(file)).collect();
        let world = gate.world();
        for directory in [&world.managed, &world.configuration].into_iter().flatten() {
            all.extend(["config.yaml", "config.yml", "config.json"].map(|name| directory.join(name)));
        }
        let workspace = self.setup.workspace.clone().or_else(|| world.workspace(&world.cwd));
        all.extend(workspace.map(|workspace| workspace.join(".bailiwick.yaml")));
        all.extend(self.setup.config.clone());
        *self.read.lock().unwrap_or_else(PoisonError::into_inner) = all;
    }
}

/// What clients are told of it.
fn told(unfit: Unfit) -> Unfit {
    let short = |why: &str| told_to_agents(why).to_owned();
    match unfit {
        Unfit::Configuration(why) => Unfit::Configuration(short(&why)),
        Unfit::Request(why) => Unfit::Request(short(&why)),
    }
}

impl Loader for Files {
    fn gate(&self, directory: Option<&str>, request: Option<&str>) -> Result<Gate, Unfit> {
        let gate = match request {
            Some(request) => self.setup.gate_for_request(directory, request).map_err(told)?,
            None => self.setup.gate(directory).map_err(|why| told(Unfit::Configuration(why)))?,
        };
        if directory.is_none() && request.is_none() {
            self.note(&gate);
        }
        Ok(gate.running())
    }

    fn stamp(&self) -> String {
        let one = |path: &PathBuf| {
            let found = path.metadata().ok();
            let when = found.as_ref().and_then(|found| found.modified().ok());
            format!("{when:?} {:?};", found.map(|found| found.len()))
        };
        self.read.lock().unwrap_or_else(PoisonError::into_inner).iter().map(one).collect()
    }
}
