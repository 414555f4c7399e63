//! Names that come from elsewhere: what is copied, moved or fetched into a directory keeps its own name there, and that
//! name may be one that decides what runs.

use crate::arg::Arg;
use crate::classify::{self, Named, Purpose};
use crate::doing::{Doing, Inner};
use crate::effect::{Effect, Place};
use crate::evaluate::Evaluation;
use crate::hosts;
use crate::knowledge::Role;
use crate::options::Line;

impl<'a> Evaluation<'_, '_, '_, '_, 'a> {
    /// `cp a b`, `cp a… directory`, `cp -t directory a…`.
    pub(crate) fn own_names(&mut self, line: &Line<'a>) {
        let has =
            |name: &str| line.options.iter().any(|set| set.choice.canonical == name && set.value.is_none());
        let given = line
            .options
            .iter()
            .rev()
            .find(|set| set.choice.canonical == "-t")
            .and_then(|set| set.value.as_ref());
        let writes = line.roles().and_then(|roles| roles.slots.last()).map(|slot| slot.role);
        let here = Arg::owned(".");
        let (directory, sources) = match (given, line.operands.split_last()) {
            (Some(directory), _) => (directory, line.operands.as_slice()),
            // `ln -s TARGET`
            (None, Some((only, []))) if matches!(self.name, "ln" | "gln") => {
                (&here, std::slice::from_ref(only))
            }
            (None, Some((last, sources))) if matches!(writes, Some(Role::Write | Role::RemoteWrite)) => {
                (last, sources)
            }
            _ => return,
        };
        let Some(text) = directory.written().map(|text| text.into_owned()) else { return };
        if writes == Some(Role::RemoteWrite) && hosts::of_remote(&text).is_some() {
            return;
        }
        let exact = has("-T");
        let certain = given.is_some() || sources.len() > 1 || is_directory(&text);
        let whole = has("--parents") || self.name == "rsync" && has("-R");
        for source in sources {
            let path = match source {
                Arg::Hazy(hazy) if hazy.suffix.contains('/') => hazy.suffix.to_owned(),
                Arg::Text(text) | Arg::Pattern(text) => text.clone().into_owned(),
                Arg::Hazy(_) | Arg::Process { .. } => continue,
            };
            let contents = if self.name == "rsync" { path.ends_with('/') } else { false };
            if contents || exact || matches!(path.rsplit('/').next(), Some("." | "..")) {
                // Not the directory itself is copied but what is in it, and what that is called is not known.
                self.unpack(directory);
                continue;
            }
            if !(certain || self.may_be_directory(&text)) {
                continue;
            }
            let trimmed = path.trim_end_matches('/');
            let name = if whole { trimmed } else { trimmed.rsplit(['/', ':']).next().unwrap_or(trimmed) };
            self.arrives(&text, name, matches!(source, Arg::Pattern(_)));
        }
    }

    /// `curl -O URL`, `wget URL`: the file is called as the last part of its address says.
    pub(crate) fn downloads(&mut self, line: &Line<'a>) {
        if self.doing.fetched.is_empty() || self.doing.directories.is_empty() {
            return;
        }
        // Where the call gives the file a name, that is its name.
        if line.options.iter().any(|set| set.choice.canonical == "-O" && set.value.is_some()) {
            return;
        }
        let directories = self.doing.directories.clone();
        let names: Vec<String> = self.doing.fetched.iter().map(|name| unescaped(name)).collect();
        for directory in directories.iter().filter_map(Arg::text) {
            for name in &names {
                self.arrives(directory, name, false);
            }
        }
    }

    /// A file to write; after a `|`, a command that is given what would be written.
    pub(crate) fn output(&mut self, word: &Arg<'a>) {
        if word.lead().trim_start().starts_with('|') {
            let lead = word.lead();
            let start = lead.find('|').unwrap_or_default();
            self.doing.inner.push(Inner::Shell("sh", word.after(start + 1)));
        } else {
            self.doing.path(word, Purpose::Write, &self.cwds, self.engine.around);
        }
    }

    /// What a copy's name has beside the file's own. With a `/` or a `*` in it, the copy stands elsewhere.
    pub(crate) fn suffix(&mut self, word: &Arg<'a>) {
        if word.text().is_none_or(|text| text.contains(['/', '*'])) {
            self.doing.unknown("a copy is written under a name that is made of a pattern");
        }
    }

    /// A pattern for the files that are looked into: where it asks for a key, a key is read.
    pub(crate) fn filter(&mut self, word: &Arg<'a>, line: &Line<'a>) {
        // Only names are printed then.
        if line.options.iter().any(|set| set.choice.canonical == "--files") {
            return;
        }
        let Some(text) = word.written().filter(|text| !text.starts_with('!')) else { return };
        let mut read = Doing::default();
        let pattern = format!("./**/{}", text.trim_start_matches("**/").trim_start_matches('/'));
        read.path(&Arg::Pattern(pattern.into()), Purpose::Read, &self.cwds, self.engine.around);
        for effect in read.effects {
            if matches!(&effect, Effect::Read(target) if target.place == Place::Credential) {
                self.doing.add(effect);
            }
        }
    }

    /// Something is written under this name in a directory. It counts where the name makes it more than the directory is.
    fn arrives(&mut self, directory: &str, name: &str, pattern: bool) {
        let around = self.engine.around;
        let mut found = Vec::new();
        for cwd in &self.cwds.known {
            let place = |text: &str, pattern| {
                classify::target(Named { text, pattern, cwd }, Purpose::Write, false, around).0
            };
            let target = place(&format!("{}/{name}", directory.trim_end_matches('/')), pattern);
            let sensitive = matches!(target.place, Place::Protected | Place::Credential);
            if sensitive && target.place > place(directory, false).place {
                found.push(Effect::Write(target));
            }
        }
        for effect in found {
            self.doing.add(effect);
        }
    }

    /// Whether a file is there, and will be when the command runs: nothing of the text has touched it or what it is in.
    pub(crate) fn is_plainly_a_file(&self, word: &Arg<'a>) -> bool {
        let context = self.at.context;
        let (Some(text), [cwd]) = (word.text(), self.cwds.known.as_slice()) else { return false };
        if self.cwds.open || context.repeated || !context.via.is_empty() {
            return false;
        }
        let around = self.engine.around;
        let (target, _) =
            classify::target(Named { text, pattern: false, cwd }, Purpose::Delete, false, around);
        let touched = |effect: &Effect| match effect {
            Effect::Write(other) | Effect::Delete { target: other, .. } => {
                classify::below(&target.path, &other.path).is_some()
            }
            _ => false,
        };
        around.files.is_directory(std::path::Path::new(&target.path)) == Some(false)
            && !self.engine.parts.iter().flat_map(|part| &part.effects).any(touched)
    }

    /// Whether what is there, or what the name looks like, may be a directory.
    fn may_be_directory(&self, text: &str) -> bool {
        let looked = self.cwds.known.iter().find_map(|cwd| {
            let path = if text.starts_with('/') { text.to_owned() } else { format!("{cwd}/{text}") };
            self.engine.around.files.is_directory(std::path::Path::new(&path))
        });
        looked.unwrap_or_else(|| {
            let name = text.rsplit('/').next().unwrap_or(text);
            !name.trim_start_matches('.').contains('.')
        })
    }
}

/// Whether the text can only name a directory.
fn is_directory(text: &str) -> bool {
    text.ends_with('/') || matches!(text.rsplit('/').next(), Some("." | ".." | "~"))
}

/// A name of an address with its `%2e` and the like taken out.
fn unescaped(name: &str) -> String {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code =
            (*first == b'%').then(|| after.get(..2)).flatten().and_then(|hex| std::str::from_utf8(hex).ok());
        match code.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
