//! Flags of `exec`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::Setup;
use super::amount::{mebibytes, milliseconds};

pub(super) const EXEC_HELP: &str = "\
Exit codes: the program's own; 124 its time was up, 125 Bailiwick itself failed, 126 the gate or the fence
refused, 127 there is no such program.

Examples:
  bailiwick exec -- cargo test
  bailiwick exec --net crates.example.org -- cargo fetch
  bailiwick exec --write ../shared --time 60 -- ./generate.sh
  bailiwick exec --plan -- make";

/// What to run, and what it may touch beyond what the configuration says.
#[derive(Debug, Default, Args)]
pub(crate) struct Exec {
    /// A further path to read
    #[arg(long, value_name = "P")]
    pub(crate) read: Vec<PathBuf>,
    /// A further path to write
    #[arg(long, value_name = "P")]
    pub(crate) write: Vec<PathBuf>,
    /// Connections: off, open, or host names separated by commas
    #[arg(long, value_name = "off|HOST,…|open")]
    pub(crate) net: Option<String>,
    /// Memory in MiB, or with K, M or G
    #[arg(long, value_name = "SIZE", value_parser = mebibytes)]
    pub(crate) memory: Option<u64>,
    /// Time in seconds, or with ms, s, m or h
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    pub(crate) time: Option<u64>,
    /// Print what the program could touch, and run nothing
    #[arg(long)]
    pub(crate) plan: bool,
    /// The session of the coding agent whose hook rewrote the command: its host times it, and nobody is asked at a terminal
    #[arg(long, value_name = "S", hide = true)]
    pub(crate) session: Option<String>,
    /// The call that the hook let through: what happens is written down under the same name
    #[arg(long, value_name = "ID", hide = true, requires = "session")]
    pub(crate) call: Option<String>,
    /// Who asked the hook: a name and its groups, with commas between
    #[arg(long, value_name = "WHO", hide = true, requires = "call")]
    pub(crate) by: Option<String>,
    #[command(flatten)]
    pub(crate) setup: Setup,
    /// The program and its arguments
    #[arg(value_name = "PROGRAM", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) command: Vec<String>,
}

impl Exec {
    /// Reads what hooks write and people mostly do: `-- PROGRAM ARGS…`, with nothing before it but whose call it is. `None` for
    /// everything else; to put the description of all flags together takes longer than to judge the call.
    pub(super) fn plainly(words: impl IntoIterator<Item = OsString>) -> Option<Exec> {
        let mut words = words.into_iter().map(|word| word.into_string().ok());
        let mut exec = Exec::default();
        loop {
            let place = match words.next()??.as_str() {
                "--" => break,
                "--session" => &mut exec.session,
                "--call" => &mut exec.call,
                "--by" => &mut exec.by,
                _ => return None,
            };
            let value = words.next()??;
            if value.starts_with('-') || place.replace(value).is_some() {
                return None;
            }
        }
        exec.command = words.collect::<Option<_>>()?;
        let whole =
            (exec.session.is_some() || exec.call.is_none()) && (exec.call.is_some() || exec.by.is_none());
        (whole && !exec.command.is_empty()).then_some(exec)
    }

    /// What the flags say of the sandbox, as the YAML that they stand for.
    pub(crate) fn terms(&self) -> Result<Vec<String>, String> {
        let quoted = |text: &str| serde_json::to_string(text).map_err(|error| error.to_string());
        let paths = |paths: &[PathBuf]| {
            let each = paths.iter().map(|path| match path.to_str() {
                Some(text) => quoted(text),
                None => Err(format!("{} is not UTF-8 text", path.display())),
            });
            each.collect::<Result<Vec<_>, _>>().map(|texts| texts.join(", "))
        };
        let mut terms = Vec::new();
        if !self.read.is_empty() {
            terms.push(format!("read: [{}]", paths(&self.read)?));
        }
        if !self.write.is_empty() {
            terms.push(format!("write: [{}]", paths(&self.write)?));
        }
        match self.net.as_deref() {
            None => {}
            Some("off" | "open") => {
                terms.push(format!("network: {{mode: {}}}", self.net.as_deref().unwrap_or("off")))
            }
            Some(hosts) => {
                let hosts = hosts.split(',').map(quoted).collect::<Result<Vec<_>, _>>()?.join(", ");
                terms.push(format!("network: {{mode: allowlist, allow: [{hosts}]}}"));
            }
        }
        let mut limits = Vec::new();
        limits.extend(self.memory.map(|memory| format!("memory_mb: {memory}")));
        limits.extend(self.time.map(|time| format!("wall_ms: {time}")));
        if !limits.is_empty() {
            terms.push(format!("limits: {{{}}}", limits.join(", ")));
        }
        Ok(terms)
    }
}

#[cfg(test)]
mod tests {
    use clap::FromArgMatches as _;

    use super::*;

    #[test]
    fn what_is_read_plainly_is_what_the_whole_description_reads() {
        let whole = |words: &[&str]| {
            let all = Exec::augment_args(clap::Command::new("bailiwick exec").no_binary_name(true));
            let found = all.try_get_matches_from(words).ok()?;
            Exec::from_arg_matches(&found).ok()
        };
        let rows: [(&[&str], bool); 17] = [
            (&["--", "ls", "-la"], true),
            (&["--", "ls", "--", "--session", "x", "-h"], true),
            (&["--session", "s", "--", "ls"], true),
            (&["--session", "s", "--call", "c", "--by", "w,g", "--", "/bin/bash", "-c", "a b"], true),
            (&["--call", "c", "--session", "", "--", "ls"], true),
            (&["--call", "c", "--", "ls"], false),
            (&["--session", "s", "--by", "w", "--", "ls"], false),
            (&["--session", "s", "--session", "t", "--", "ls"], false),
            (&["--session", "--", "ls"], false),
            (&["--session", "-s", "--", "ls"], false),
            (&["--session=s", "--", "ls"], false),
            (&["--plan", "--", "ls"], false),
            (&["--read", "/a", "--", "ls"], false),
            (&["ls", "-la"], false),
            (&["--"], false),
            (&["--session", "s"], false),
            (&[], false),
        ];
        for (words, plain) in rows {
            let read = Exec::plainly(words.iter().map(OsString::from));
            assert_eq!(read.is_some(), plain, "{words:?}");
            if let Some(read) = read {
                assert_eq!(format!("{:?}", Some(read)), format!("{:?}", whole(words)), "{words:?}");
            }
        }
    }
}
