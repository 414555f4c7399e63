//! What a call would do to the world: the vocabulary in which everything is judged.

use std::fmt;

/// One thing that a call would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Reads a file, or lists a directory.
    Read(Target),
    /// Creates or changes a file, a directory or its attributes.
    Write(Target),
    /// Deletes.
    Delete {
        /// What.
        target: Target,
        /// With everything below it.
        recursive: bool,
    },
    /// Talks to another machine or to a service.
    Connect(Connection),
    /// Runs a program whose own effects are not known.
    Run {
        /// As it was named.
        program: String,
    },
    /// Runs code that is not a file of its own.
    Code {
        /// `shell`, `python`, `sql`, …
        language: &'static str,
        /// Where the code comes from.
        origin: Origin,
    },
    /// Gains rights that the caller does not have.
    Privilege(String),
    /// Changes the machine: devices, services, kernel, other processes, time, users.
    System(String),
    /// Destroys what cannot be got back.
    History(String),
    /// Sets a variable that changes what later programs run.
    Environment(String),
    /// Could not be found out.
    Unknown(String),
}

/// A path that an effect is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Absolute and normalized, symlinks followed where they could be looked up. May end in a glob.
    pub path: String,
    /// As the call named it, where that differs.
    pub given: Option<String>,
    /// What kind of place it is.
    pub place: Place,
}

/// What kind of place a path is in. The most sensitive kind that fits wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// `/dev/null`, `/dev/stdout`, `/dev/tty`, `/dev/zero` …: nothing is touched.
    Nowhere,
    /// Build output, caches and dependencies inside the workspace, which a tool makes again.
    Generated,
    /// Inside the workspace.
    Workspace,
    /// `/tmp`, `/var/tmp`, `$TMPDIR`.
    Temporary,
    /// Somewhere else: other projects, other people's files, the rest of the home directory.
    Outside,
    /// Inside the workspace, but it decides what runs or who may do what: `.git/hooks`, agents' and editors'
    /// settings, shell start-up files, Bailiwick's own configuration.
    Protected,
    /// The operating system's files.
    System,
    /// The whole workspace, the home directory itself, the root directory, a device, or all of a system directory.
    Vital,
    /// Keys, tokens, passwords.
    Credential,
}

/// Where a connection goes and what goes with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// The other end.
    pub peer: Peer,
    /// What is sent.
    pub carries: Carries,
}

/// The other end of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Peer {
    /// This machine: loopback addresses, `localhost`.
    Loopback,
    /// A host named in the call, lowercase, without user, port or path.
    Host(String),
    /// The fixed service that a program belongs to and that the call cannot choose (`gh` and GitHub, `npm` and its
    /// registry, `kubectl` and the current cluster).
    Service(String),
    /// Some host that the call does not name.
    Unnamed,
}

/// What a connection carries away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Carries {
    /// A request that only looks: nothing changes at the other end, nothing of this machine leaves.
    Query,
    /// Data of this machine leaves, or the other end is changed.
    Data,
    /// Something secret leaves.
    Secret,
}

/// Where code comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// It is written in the call: `python -c '…'`, a here-document.
    Written,
    /// It is decoded, computed or read from somewhere that the call does not show.
    Unresolved,
    /// It comes from the network.
    Network,
}

/// The classes that a policy rules on: every effect belongs to exactly one.
///
/// The names (`Class::key`) are the keys of `safety.effects` in the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[expect(missing_docs, reason = "each is explained by `Class::about`")]
pub enum Class {
    ReadWorkspace,
    ReadTemporary,
    ReadSystem,
    ReadOutside,
    Credentials,
    WriteWorkspace,
    WriteTemporary,
    WriteProtected,
    WriteOutside,
    WriteSystem,
    Delete,
    DeleteGenerated,
    DeleteRecursive,
    ConnectLocal,
    ConnectService,
    Connect,
    Exfiltrate,
    Run,
    Code,
    CodeUnresolved,
    CodeNetwork,
    Privilege,
    System,
    History,
    Environment,
    Unknown,
}

impl Class {
    /// Every class, in the order of the documentation.
    pub const ALL: [Class; 26] = [
        Class::ReadWorkspace,
        Class::ReadTemporary,
        Class::ReadSystem,
        Class::ReadOutside,
        Class::Credentials,
        Class::WriteWorkspace,
        Class::WriteTemporary,
        Class::WriteProtected,
        Class::WriteOutside,
        Class::WriteSystem,
        Class::Delete,
        Class::DeleteGenerated,
        Class::DeleteRecursive,
        Class::ConnectLocal,
        Class::ConnectService,
        Class::Connect,
        Class::Exfiltrate,
        Class::Run,
        Class::Code,
        Class::CodeUnresolved,
        Class::CodeNetwork,
        Class::Privilege,
        Class::System,
        Class::History,
        Class::Environment,
        Class::Unknown,
    ];

    /// The key in the configuration.
    #[must_use]
    pub const fn key(self) -> &'static str {
        self.words().0
    }

    /// One line for a person: "would …".
    #[must_use]
    pub const fn about(self) -> &'static str {
        self.words().1
    }

    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Class::ReadWorkspace => ("read_workspace", "read in the workspace"),
            Class::ReadTemporary => ("read_temporary", "read temporary files"),
            Class::ReadSystem => ("read_system", "read the system's files"),
            Class::ReadOutside => ("read_outside", "read outside the workspace"),
            Class::Credentials => ("credentials", "touch keys, tokens or passwords"),
            Class::WriteWorkspace => ("write_workspace", "write in the workspace"),
            Class::WriteTemporary => ("write_temporary", "write or delete temporary files"),
            Class::WriteProtected => {
                ("write_protected", "change settings or hooks that decide what runs in the workspace")
            }
            Class::WriteOutside => ("write_outside", "write or delete outside the workspace"),
            Class::WriteSystem => {
                ("write_system", "write or delete system files, a device, the home directory or the root")
            }
            Class::Delete => ("delete", "delete a file in the workspace"),
            Class::DeleteGenerated => ("delete_generated", "delete build output, caches or dependencies"),
            Class::DeleteRecursive => ("delete_recursive", "delete a directory of the workspace"),
            Class::ConnectLocal => ("connect_local", "talk to this machine"),
            Class::ConnectService => ("connect_service", "look something up at a tool's own service"),
            Class::Connect => ("connect", "connect to another machine"),
            Class::Exfiltrate => ("exfiltrate", "send something secret away"),
            Class::Run => ("run", "run a program whose effects are not known"),
            Class::Code => ("code", "run code that is written in the call"),
            Class::CodeUnresolved => ("code_unresolved", "run code that the call does not show"),
            Class::CodeNetwork => ("code_network", "run code that comes from the network"),
            Class::Privilege => ("privilege", "gain rights"),
            Class::System => ("system", "change the machine itself"),
            Class::History => ("history", "destroy what cannot be got back"),
            Class::Environment => ("environment", "set a variable that changes what runs"),
            Class::Unknown => ("unknown", "do something that could not be found out"),
        }
    }

    /// The class of that name.
    #[must_use]
    pub fn from_key(key: &str) -> Option<Class> {
        Class::ALL.into_iter().find(|class| class.key() == key)
    }
}

impl Effect {
    /// The class that a policy rules on. `None`: nothing is touched (`/dev/null`).
    #[must_use]
    pub fn class(&self) -> Option<Class> {
        Some(match self {
            Effect::Read(target) => match target.place {
                Place::Nowhere => return None,
                Place::Generated | Place::Workspace | Place::Protected => Class::ReadWorkspace,
                Place::Temporary => Class::ReadTemporary,
                Place::System | Place::Vital => Class::ReadSystem,
                Place::Outside => Class::ReadOutside,
                Place::Credential => Class::Credentials,
            },
            Effect::Write(target) => match target.place {
                Place::Nowhere => return None,
                Place::Generated | Place::Workspace => Class::WriteWorkspace,
                Place::Temporary => Class::WriteTemporary,
                Place::Protected => Class::WriteProtected,
                Place::Outside => Class::WriteOutside,
                Place::System | Place::Vital => Class::WriteSystem,
                Place::Credential => Class::Credentials,
            },
            Effect::Delete { target, recursive } => match target.place {
                Place::Nowhere => return None,
                Place::Generated => Class::DeleteGenerated,
                Place::Workspace if *recursive => Class::DeleteRecursive,
                Place::Workspace => Class::Delete,
                Place::Temporary => Class::WriteTemporary,
                Place::Protected => Class::WriteProtected,
                Place::Outside => Class::WriteOutside,
                Place::System | Place::Vital => Class::WriteSystem,
                Place::Credential => Class::Credentials,
            },
            Effect::Connect(connection) => match (&connection.peer, connection.carries) {
                (Peer::Loopback, _) => Class::ConnectLocal,
                (_, Carries::Secret) => Class::Exfiltrate,
                (Peer::Service(_), Carries::Query) => Class::ConnectService,
                (Peer::Service(_) | Peer::Host(_) | Peer::Unnamed, Carries::Query | Carries::Data) => {
                    Class::Connect
                }
            },
            Effect::Run { .. } => Class::Run,
            Effect::Code { origin: Origin::Written, .. } => Class::Code,
            Effect::Code { origin: Origin::Unresolved, .. } => Class::CodeUnresolved,
            Effect::Code { origin: Origin::Network, .. } => Class::CodeNetwork,
            Effect::Privilege(_) => Class::Privilege,
            Effect::System(_) => Class::System,
            Effect::History(_) => Class::History,
            Effect::Environment(_) => Class::Environment,
            Effect::Unknown(_) => Class::Unknown,
        })
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Effect::Read(target) => write!(f, "read({})", target.path),
            Effect::Write(target) => write!(f, "write({})", target.path),
            Effect::Delete { target, recursive: false } => write!(f, "delete({})", target.path),
            Effect::Delete { target, recursive: true } => write!(f, "delete({}, recursive)", target.path),
            Effect::Connect(Connection { peer, carries }) => {
                let what = match carries {
                    Carries::Query => "",
                    Carries::Data => ", sends data",
                    Carries::Secret => ", sends something secret",
                };
                match peer {
                    Peer::Loopback => write!(f, "connect(this machine{what})"),
                    Peer::Host(name) | Peer::Service(name) => write!(f, "connect({name}{what})"),
                    Peer::Unnamed => write!(f, "connect(a host that is not named{what})"),
                }
            }
            Effect::Run { program } => write!(f, "run({program})"),
            Effect::Code { language, origin } => {
                let from = match origin {
                    Origin::Written => "",
                    Origin::Unresolved => ", not shown",
                    Origin::Network => ", from the network",
                };
                write!(f, "code({language}{from})")
            }
            Effect::Privilege(how) => write!(f, "privilege({how})"),
            Effect::System(what) => write!(f, "system({what})"),
            Effect::History(what) => write!(f, "history({what})"),
            Effect::Environment(name) => write!(f, "environment({name})"),
            Effect::Unknown(why) => write!(f, "unknown({why})"),
        }
    }
}
