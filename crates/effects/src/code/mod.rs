//! Reading inline code of other languages: what would `python -c`, `node -e`, `psql -c`, an awk or sed program do?
//!
//! A reading has two halves that are sound in opposite directions. `complete` is a promise: everything that the code
//! does is among the findings. It is given only inside a closed subset of each language; one thing that is not
//! understood takes it back. The findings are certain whatever surrounds them: a constant `os.system("rm -rf ~")`
//! in otherwise unknown code is still found, and nothing is reported that is only mentioned in a string or a comment.
//!
//! What cannot be seen here: a file of the working directory that shadows a module (`./json.py`), start-up files of
//! the interpreter, and what a database does by triggers and views.

mod awk;
mod cursor;
mod debugger;
mod javascript;
mod less;
mod light;
mod listed;
mod lua;
mod makefile;
mod perl;
mod php;
mod python;
mod ruby;
mod sed;
mod sql;
mod tcl;
mod tree;
mod value;
mod vim;
mod walk;

/// Text that is longer is not read.
pub const LONGEST: usize = 64 * 1024;

/// What reading found out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// Everything that the code does is among the findings. Never true for code that was not wholly understood.
    pub complete: bool,
    /// What the code would certainly do, if the place where it stands is reached.
    pub findings: Vec<Finding>,
}

/// One thing that the code would do. Paths are as the code's constant strings spell them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// Reads a file, lists a directory, or looks whether it is there. May hold a glob.
    Read(String),
    /// Creates or changes a file or directory.
    Write(String),
    /// Deletes.
    Delete {
        /// What.
        path: String,
        /// With everything below it.
        recursive: bool,
    },
    /// Talks to a host, if the code names it.
    Connect(Option<String>),
    /// Runs a shell text.
    RunShell(String),
    /// Runs a program with these words.
    RunArgv(Vec<String>),
    /// Runs something that the code computes.
    RunUnknown,
    /// Sets a variable of the environment.
    Environment(String),
    /// Destroys what cannot be got back, in words without literals.
    History(String),
    /// Changes the machine or other processes.
    System(String),
    /// Changes a database: the verb.
    Data(String),
}

/// Reads `text` as code of `language`. An unknown language is never complete.
#[must_use]
pub fn read(language: &str, text: &str) -> Reading {
    let mut reading = Reading { complete: true, findings: Vec::new() };
    if text.len() > LONGEST || text.contains('\0') {
        reading.incomplete();
        return reading;
    }
    match language {
        "python" => python::read(text, &mut reading),
        "javascript" => javascript::read(text, &mut reading),
        "perl" => perl::read(text, &mut reading),
        "ruby" => ruby::read(text, &mut reading),
        "php" => php::read(text, &mut reading),
        "lua" => lua::read(text, &mut reading),
        "sql" => sql::read(text, &mut reading),
        "awk" => awk::read(text, &mut reading),
        "sed" => sed::read(text, &mut reading),
        "vim" => vim::read(text, &mut reading),
        "less" => less::read(text, &mut reading),
        "gdb" => debugger::gdb(text, &mut reading),
        "lldb" => debugger::lldb(text, &mut reading),
        "tcl" => tcl::read(text, &mut reading),
        "makefile" => makefile::read(text, &mut reading),
        _ => reading.incomplete(),
    }
    reading
}

impl Reading {
    /// Something was not understood.
    fn incomplete(&mut self) {
        self.complete = false;
    }

    /// Adds what is certain; the same thing once.
    fn found(&mut self, finding: Finding) {
        // The look-back is bounded, so that a long list of findings stays linear.
        if !self.findings.iter().rev().take(16).any(|known| *known == finding) {
            self.findings.push(finding);
        }
    }

    /// Something computed is run: found, and not understood.
    fn runs_unknown(&mut self) {
        self.found(Finding::RunUnknown);
        self.incomplete();
    }
}
