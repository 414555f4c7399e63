//! What a tool says it would touch, in the tool's own words: the raw material from which effects are found.

/// One thing that a call is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Intent {
    /// Runs this program with these arguments.
    Argv {
        /// Program and arguments, at least one.
        argv: Vec<String>,
        /// Where, as the call gave it.
        cwd: Option<String>,
        /// The names of the variables that the call sets.
        env_names: Vec<String>,
    },
    /// Runs this text with a shell.
    Shell {
        /// The text.
        text: String,
        /// Which shell.
        shell: Shell,
        /// Where, as the call gave it.
        cwd: Option<String>,
        /// The names of the variables that the call sets.
        env_names: Vec<String>,
    },
    /// Reads a file or lists a directory.
    Read {
        /// As the call gave it.
        path: String,
    },
    /// Creates or changes a file.
    Write {
        /// As the call gave it.
        path: String,
    },
    /// Deletes a file.
    Delete {
        /// As the call gave it.
        path: String,
    },
    /// Connects to a host named in the call (`Some`), or to a service (`None`).
    Connect {
        /// The host, where the call names one.
        host: Option<String>,
        /// What it is for, in words.
        what: String,
    },
    /// Types into a program that is already running.
    Stdin {
        /// The exec session.
        session: u64,
        /// Nothing is typed: output is only collected.
        poll: bool,
    },
    /// Starts or steers another agent.
    Agent {
        /// In words.
        what: String,
    },
    /// Touches nothing: a question to a person, a plan.
    Nothing,
    /// Not known.
    Unknown {
        /// Why, in words.
        why: String,
    },
}

/// Which shell runs a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shell {
    /// bash
    Bash,
    /// `/bin/sh`
    Posix,
}
