//! What is known of programs: the packed knowledge, found by name and read when it is first needed.

pub(crate) mod format;

use std::cmp::Ordering;
use std::sync::OnceLock;

pub(crate) use format::{Action, Block, Choice, Operands, Role, Slot, Style, Takes, Touch};

/// Where a name stands in the packed text, and which body is its.
struct Row {
    at: u32,
    length: u16,
    body: u16,
}

mod packed {
    use super::Row;
    include!(concat!(env!("OUT_DIR"), "/index.rs"));
    pub(super) static TEXT: &str = include_str!(concat!(env!("OUT_DIR"), "/knowledge.txt"));
}

/// A block that has been read, with its subcommands still to be read.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) block: Block<'static>,
    /// How deep it stands: 0 for a program.
    depth: usize,
    /// In the order of `block.branches`.
    branches: Vec<OnceLock<Box<Node>>>,
    /// An option does something that matters.
    pub(crate) weighty: bool,
    /// An option starts with `+`.
    pub(crate) plus: bool,
    /// An option runs something.
    pub(crate) runs: bool,
    /// An option's spelling has a value in it.
    pub(crate) valued: bool,
}

static READ: [OnceLock<Box<Node>>; packed::COUNT] = [const { OnceLock::new() }; packed::COUNT];

/// The block of a program, by its base name.
pub(crate) fn program(name: &str) -> Option<&'static Node> {
    let bytes = |row: &Row| bytes(row.at, u32::from(row.length));
    let row = match packed::NAMES.binary_search_by(|row| bytes(row).cmp(name.as_bytes())) {
        Ok(found) => packed::NAMES.get(found),
        Err(_) => packed::WILD.iter().find(|row| matches(row_name(row), name)),
    }?;
    let number = usize::from(row.body);
    let node = READ.get(number)?.get_or_init(|| {
        let (start, length) = packed::BODIES.get(number).copied().unwrap_or_default();
        Box::new(Node::read(slice(start, length), 0))
    });
    Some(node)
}

fn row_name(row: &Row) -> &'static str {
    slice(row.at, u32::from(row.length))
}

fn bytes(start: u32, length: u32) -> &'static [u8] {
    let start = start as usize;
    packed::TEXT.as_bytes().get(start..start + length as usize).unwrap_or_default()
}

fn slice(start: u32, length: u32) -> &'static str {
    let start = start as usize;
    packed::TEXT.get(start..start + length as usize).unwrap_or_default()
}

impl Node {
    fn read(body: &'static str, depth: usize) -> Node {
        // FAIL-CLOSED: the build has checked every block; one that cannot be read would do something unknown.
        let block = Block::read(body, depth).unwrap_or_else(|_| Block {
            does: vec![Action::Unknown("its knowledge cannot be read")],
            ..Block::default()
        });
        let actions = || block.choices.iter().flat_map(|choice| choice.actions.iter());
        Node {
            depth,
            branches: block.branches.iter().map(|_| OnceLock::new()).collect(),
            weighty: actions().any(|action| !is_light(action)),
            plus: block.spellings.iter().any(|(spelling, _)| spelling.starts_with('+')),
            runs: actions().any(is_running),
            valued: block.spellings.iter().any(|(spelling, _)| spelling.contains('=')),
            block,
        }
    }

    /// The subcommand of this name: one that is spelt out before one with a `*`.
    pub(crate) fn branch(&self, name: &str) -> Option<&Node> {
        let exact = |names: &str| match names.len().cmp(&name.len()) {
            Ordering::Less => false,
            Ordering::Equal => names == name,
            // Few have more than one name.
            Ordering::Greater => {
                names.bytes().any(|byte| byte.is_ascii_whitespace())
                    && names.split_ascii_whitespace().any(|one| one == name)
            }
        };
        let wild =
            |names: &str| names.split_ascii_whitespace().any(|one| one.contains('*') && matches(one, name));
        let branches = &self.block.branches;
        let place = branches
            .iter()
            .position(|branch| exact(branch.names))
            .or_else(|| branches.iter().position(|branch| wild(branch.names)))?;
        let body = branches.get(place)?.body;
        Some(self.branches.get(place)?.get_or_init(|| Box::new(Node::read(body, self.depth + 1))))
    }
}

/// An option that does only this may stand anywhere without being looked at.
fn is_light(action: &Action<'_>) -> bool {
    match action {
        Action::Stop | Action::StopAlone | Action::Dry | Action::Nothing | Action::End => true,
        Action::Value(role) => matches!(role, Role::Text | Role::Assign),
        Action::Operands(operands) => operands.slots.iter().all(|slot| matches!(slot.role, Role::Text)),
        Action::Recursive
        | Action::Deep
        | Action::DataInput
        | Action::Listen
        | Action::OwnNames
        | Action::InPlace
        | Action::Chdir
        | Action::Path(..)
        | Action::Query(_)
        | Action::Send(_)
        | Action::Connect
        | Action::Run(_)
        | Action::Code(_)
        | Action::Privilege(_)
        | Action::System(_)
        | Action::History(_)
        | Action::Environment(_)
        | Action::Unknown(_) => false,
    }
}

pub(crate) fn is_running(action: &Action<'_>) -> bool {
    match action {
        Action::Value(role) => matches!(
            role,
            Role::Command
                | Role::Elsewhere
                | Role::Shell
                | Role::Shells
                | Role::Program
                | Role::Output
                | Role::Script(_)
                | Role::Code(_)
                | Role::Module
                | Role::Env
        ),
        _ => false,
    }
}

/// Whether a name fits a pattern in which each `*` stands for anything.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((head, tail)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut rest) = name.strip_prefix(head) else { return false };
    let (middle, end) = tail.rsplit_once('*').unwrap_or(("", tail));
    // The earliest place for each piece leaves the most room for those after it.
    for piece in middle.split('*').filter(|piece| !piece.is_empty()) {
        match rest.split_once(piece) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_rest() {
        assert!(matches("python3.*", "python3.11"));
        assert!(matches("describe-*", "describe-x"));
        assert!(matches("*", "anything"));
        assert!(!matches("python3.*", "python3"));
        assert!(!matches("a*b", "ac"));
        assert!(!matches("ab*ba", "aba"));
        for (pattern, name, fits) in [
            ("*load*", "load(\"x\")", true),
            ("*load*", ".a | load_str(.b)", true),
            ("*load*", ".a.b", false),
            ("*=*", "kernel.panic=1", true),
            ("*=*", "kernel.panic", false),
            ("a*b*c", "aXbYc", true),
            ("a*b*c", "aXcYb", false),
            ("a*b*b", "ab", false),
            ("**", "x", true),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }
}
