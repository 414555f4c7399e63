//! The files that a patch touches, read strictly: a patch that is not fully understood is refused as a whole.
//!
//! What is judged must be what is applied, so whoever applies a patch must read it with this parser. The form:
//!
//! ```text
//! *** Begin Patch
//! *** Add File: path            then lines that start with `+`
//! *** Delete File: path
//! *** Update File: path         then, where it is renamed, `*** Move to: path`,
//! @@ where                      then hunks of lines that start with ` `, `+` or `-` (or are empty),
//! *** End of File               each closed by this where it must stand at the end of the file
//! *** End Patch
//! ```

use crate::bounds::check_path;
use crate::invalid::Invalid;

/// The files that a patch touches, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Patch {
    /// At least one.
    pub files: Vec<PatchFile>,
}

/// One file of a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchFile {
    /// As the patch gave it.
    pub path: String,
    /// What happens to it.
    pub operation: PatchOperation,
}

/// What a patch does to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatchOperation {
    /// Creates it.
    Add,
    /// Changes it.
    Update,
    /// Deletes it.
    Delete,
    /// Changes it and moves it.
    Move {
        /// Where to.
        to: String,
    },
}

/// The text of one file of a patch. It cannot be shown by accident: it holds what the file will hold.
#[derive(Default)]
pub struct PatchText<'t> {
    /// The lines of a new file.
    pub added: Vec<&'t str>,
    /// The changes of an old one, in order.
    pub hunks: Vec<Hunk<'t>>,
}

/// One change of a file.
#[derive(Default)]
pub struct Hunk<'t> {
    /// What followed `@@`, where something did: lines that stand above the change, the outer first.
    pub headers: Vec<&'t str>,
    /// The lines of the change.
    pub lines: Vec<HunkLine<'t>>,
    /// The last line must be the file's.
    pub at_end: bool,
}

/// A line of a change, without its mark.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum HunkLine<'t> {
    /// It is there and stays.
    Keep(&'t str),
    /// It is there and goes.
    Remove(&'t str),
    /// It comes.
    Add(&'t str),
}

impl Patch {
    /// Reads a patch.
    ///
    /// # Errors
    /// [`Invalid`] with the line at fault, without its text.
    pub fn parse(text: &str) -> Result<Patch, Invalid> {
        Patch::parse_with_texts(text).map(|(patch, _)| patch)
    }

    /// Reads a patch for whoever applies it, with the text of each file.
    ///
    /// # Errors
    /// [`Invalid`] with the line at fault, without its text.
    pub fn parse_with_texts(text: &str) -> Result<(Patch, Vec<PatchText<'_>>), Invalid> {
        let mut reader = Reader { files: Vec::new(), texts: Vec::new(), at: Place::Start, hunk_lines: 0 };
        let body = text.trim_end_matches('\n');
        let mut number = 0;
        for line in body.split('\n') {
            number += 1;
            reader.line(line).map_err(|expected| fault(number, expected))?;
        }
        match reader.at {
            Place::End if reader.files.is_empty() => Err(fault(number, "at least one file")),
            Place::End => Ok((Patch { files: reader.files }, reader.texts)),
            _ => Err(fault(number, "`*** End Patch` at the end")),
        }
    }
}

fn fault(number: usize, expected: &str) -> Invalid {
    Invalid::new(format!("a patch with {expected}"), format!("something else in line {number}"))
}

struct Reader<'t> {
    files: Vec<PatchFile>,
    /// One for each file.
    texts: Vec<PatchText<'t>>,
    at: Place,
    /// Lines of change in the file, or in the hunk, that is being read.
    hunk_lines: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Start,
    /// After `*** Begin Patch` or a deletion: only a header can follow.
    Between,
    Add,
    /// Right after the header of an update, where it may be moved.
    UpdateHeader,
    /// In an update, before its first hunk.
    UpdateStart,
    Hunk,
    /// After `*** End of File`.
    HunkEnd,
    End,
}

impl<'t> Reader<'t> {
    fn line(&mut self, line: &'t str) -> Result<(), &'static str> {
        if self.at == Place::Start {
            return self.go(line == "*** Begin Patch", Place::Between, "`*** Begin Patch` first");
        }
        if self.at == Place::End {
            return Err("nothing after `*** End Patch`");
        }
        if let Some(header) = line.strip_prefix("*** ") {
            return self.header(header);
        }
        match self.at {
            Place::Add => {
                self.hunk_lines += 1;
                if let (Some(added), Some(text)) = (line.strip_prefix('+'), self.texts.last_mut()) {
                    text.added.push(added);
                }
                self.go(line.starts_with('+'), Place::Add, "`+` before every line of a new file")
            }
            Place::UpdateHeader | Place::UpdateStart | Place::Hunk | Place::HunkEnd
                if line == "@@" || line.starts_with("@@ ") =>
            {
                let header = line.strip_prefix("@@ ").filter(|header| !header.trim().is_empty());
                if self.at == Place::Hunk && self.hunk_lines == 0 {
                    // `@@ class` and then `@@ function` narrow down one place; both belong to one hunk.
                    if let Some(hunk) = self.hunk() {
                        hunk.headers.extend(header);
                    }
                    return Ok(());
                }
                self.begin_hunk(header);
                self.at = Place::Hunk;
                Ok(())
            }
            Place::UpdateHeader | Place::UpdateStart | Place::Hunk => {
                if self.at != Place::Hunk {
                    self.begin_hunk(None);
                }
                self.hunk_lines += 1;
                let read = match line.split_at_checked(1) {
                    None if line.is_empty() => Some(HunkLine::Keep("")),
                    Some((" ", rest)) => Some(HunkLine::Keep(rest)),
                    Some(("-", rest)) => Some(HunkLine::Remove(rest)),
                    Some(("+", rest)) => Some(HunkLine::Add(rest)),
                    _ => None,
                };
                let known = read.is_some();
                if let Some(hunk) = self.hunk() {
                    hunk.lines.extend(read);
                }
                self.go(known, Place::Hunk, "` `, `+` or `-` before every line of a change")
            }
            Place::HunkEnd => Err("a new hunk or file after `*** End of File`"),
            Place::Between | Place::Start | Place::End => Err("the header of a file"),
        }
    }

    fn begin_hunk(&mut self, header: Option<&'t str>) {
        self.hunk_lines = 0;
        if let Some(text) = self.texts.last_mut() {
            text.hunks.push(Hunk { headers: header.into_iter().collect(), ..Hunk::default() });
        }
    }

    /// The hunk that is being read. Outside of one there is nothing to be changed, and the patch is about to be refused.
    fn hunk(&mut self) -> Option<&mut Hunk<'t>> {
        self.texts.last_mut()?.hunks.last_mut()
    }

    fn header(&mut self, header: &str) -> Result<(), &'static str> {
        if let Some(path) = header.strip_prefix("Move to: ") {
            let Some(file) = self.files.last_mut().filter(|_| self.at == Place::UpdateHeader) else {
                return Err("`*** Move to:` right after `*** Update File:`");
            };
            file.operation = PatchOperation::Move { to: checked(path)? };
            self.at = Place::UpdateStart;
            return Ok(());
        }
        if header == "End of File" {
            let ends = self.at == Place::Hunk && self.hunk_lines > 0;
            if let Some(hunk) = self.hunk() {
                hunk.at_end = true;
            }
            return self.go(ends, Place::HunkEnd, "`*** End of File` after a change");
        }
        self.close()?;
        if header == "End Patch" {
            self.at = Place::End;
            return Ok(());
        }
        let headers = [
            ("Add File: ", PatchOperation::Add, Place::Add),
            ("Delete File: ", PatchOperation::Delete, Place::Between),
            ("Update File: ", PatchOperation::Update, Place::UpdateHeader),
        ];
        for (prefix, operation, place) in headers {
            if let Some(path) = header.strip_prefix(prefix) {
                self.files.push(PatchFile { path: checked(path)?, operation });
                self.texts.push(PatchText::default());
                self.hunk_lines = 0;
                self.at = place;
                return Ok(());
            }
        }
        Err("only headers that are known")
    }

    /// The file before is complete.
    fn close(&self) -> Result<(), &'static str> {
        match self.at {
            Place::UpdateHeader => Err("a change in every updated file"),
            Place::Hunk if self.hunk_lines == 0 => Err("a change in every hunk"),
            _ => Ok(()),
        }
    }

    fn go(&mut self, fits: bool, place: Place, expected: &'static str) -> Result<(), &'static str> {
        self.at = place;
        if fits { Ok(()) } else { Err(expected) }
    }
}

/// A path without anything that a second reader could take off: spaces around it, a carriage return, a NUL.
fn checked(path: &str) -> Result<String, &'static str> {
    let plain = check_path(path).is_ok() && path.trim() == path && !path.chars().any(char::is_control);
    if plain { Ok(path.to_owned()) } else { Err("plain paths") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patch(body: &str) -> Result<Vec<(String, String)>, String> {
        let text = format!("*** Begin Patch\n{body}*** End Patch");
        let read = Patch::parse(&text).map_err(|error| error.to_string())?;
        let named = |file: PatchFile| match file.operation {
            PatchOperation::Add => ("add".into(), file.path),
            PatchOperation::Update => ("update".into(), file.path),
            PatchOperation::Delete => ("delete".into(), file.path),
            PatchOperation::Move { to } => (format!("move to {to}"), file.path),
        };
        Ok(read.files.into_iter().map(named).collect())
    }

    #[test]
    fn the_files_of_a_patch_are_found_in_order() {
        let body = "*** Add File: a b.txt\n+one\n+*** Delete File: not/this\n*** Update File: src/x.rs\n\
                    @@ fn main\n context\n-old\n+new\n\n*** End of File\n@@\n+more\n*** Update File: y\n\
                    *** Move to: z\n@@\n-a\n*** Delete File: gone\n*** Update File: w\n-bare\n";
        let expected = [
            ("add", "a b.txt"),
            ("update", "src/x.rs"),
            ("move to z", "y"),
            ("delete", "gone"),
            ("update", "w"),
        ];
        let got = patch(body).unwrap();
        assert_eq!(got, expected.map(|(what, path)| (what.to_owned(), path.to_owned())));
        assert!(patch("*** Update File: a\n*** Move to: b\n").is_ok(), "a move without a change");
        assert!(patch("*** Add File: empty\n").is_ok());
    }

    #[test]
    fn whoever_applies_a_patch_gets_its_lines() {
        let text = "*** Begin Patch\n*** Add File: a\n+one\n+\n*** Update File: b\n@@ class A\n@@ fn x\n keep\n-old\n+new\n\n\
                    *** End of File\n@@\n+more\n*** Update File: c\n-bare\n*** Delete File: d\n*** End Patch\n";
        let (patch, texts) = Patch::parse_with_texts(text).unwrap();
        assert_eq!(patch.files.len(), texts.len());
        assert_eq!(texts[0].added, ["one", ""]);
        let [first, second] = texts[1].hunks.as_slice() else { panic!("two hunks") };
        assert_eq!(first.headers, ["class A", "fn x"]);
        let lines =
            [HunkLine::Keep("keep"), HunkLine::Remove("old"), HunkLine::Add("new"), HunkLine::Keep("")];
        assert!(first.lines == lines && first.at_end);
        assert!(second.headers.is_empty() && !second.at_end && second.lines == [HunkLine::Add("more")]);
        assert!(texts[2].hunks[0].lines == [HunkLine::Remove("bare")]);
        assert!(texts[3].hunks.is_empty() && texts[3].added.is_empty());
    }

    #[test]
    fn what_is_malformed_is_refused_with_its_line() {
        let table = [
            ("", "at least one file"),
            ("*** Add File: \n+x\n", "plain paths"),
            ("*** Add File: a\r\n+x\n", "plain paths"),
            ("*** Add File:  a\n+x\n", "plain paths"),
            ("*** Add File: a\nx\n", "`+` before"),
            ("*** Delete File: a\n+x\n", "the header of a file"),
            ("*** Update File: a\n", "a change in every updated file"),
            ("*** Update File: a\n@@\n", "a change in every hunk"),
            ("*** Update File: a\n@@\nx\n", "` `, `+` or `-`"),
            ("*** Update File: a\n@@\n+x\n*** Move to: b\n", "right after"),
            ("*** Delete File: a\n*** Move to: b\n", "right after"),
            ("*** Rename File: a\n", "only headers"),
            ("*** update file: a\n@@\n+x\n", "only headers"),
            ("*** Update File: a\n@@\n+x\n*** End of File\n+y\n", "after `*** End of File`"),
            ("*** End Patch\n*** Delete File: a\n", "nothing after"),
            ("stray\n", "the header of a file"),
        ];
        for (body, expected) in table {
            let error = patch(body).unwrap_err();
            assert!(error.contains(expected), "{body:?}: {error}");
        }
        for text in
            ["", "*** Begin Patch", "*** Begin Patch\n*** Delete File: a", " *** Begin Patch\n*** End Patch"]
        {
            assert!(Patch::parse(text).is_err(), "{text:?}");
        }
        let error = patch("*** Add File: a\nhunter2\n").unwrap_err();
        assert!(error.contains("line 3") && !error.contains("hunter2"), "{error}");
    }
}
