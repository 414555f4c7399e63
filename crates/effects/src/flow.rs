//! What flows from one command to the next: whether it comes from the network, whether it is secret, and the text
//! itself where that is certain.

use std::rc::Rc;

use crate::effect::{Effect, Origin, Place};

/// What is known of some bytes: a command's input or output, a file that the text writes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flow {
    /// There is something at all.
    pub(crate) any: bool,
    /// It comes from the network.
    pub(crate) network: bool,
    /// Keys, tokens or passwords may be in it.
    pub(crate) secret: bool,
    /// Exactly this, unless there is more.
    pub(crate) constant: Option<Rc<str>>,
    /// The constant may come more than once, or with something else.
    pub(crate) more: bool,
    /// Names of files, one a line: patterns that fit all of them.
    pub(crate) paths: Option<Rc<[String]>>,
}

impl Flow {
    /// Something that is not known.
    pub(crate) fn some() -> Flow {
        Flow { any: true, ..Flow::default() }
    }

    /// Exactly this text.
    pub(crate) fn constant(text: &str) -> Flow {
        Flow { any: true, constant: Some(text.into()), ..Flow::default() }
    }

    /// Both together.
    pub(crate) fn join(&mut self, other: &Flow) {
        if !other.any {
            return;
        }
        if self.any {
            self.constant = None;
            self.paths = None;
        } else {
            self.constant.clone_from(&other.constant);
            self.more = other.more;
            self.paths.clone_from(&other.paths);
        }
        self.any = true;
        self.network |= other.network;
        self.secret |= other.secret;
    }

    /// Adds where it comes from, not what it is.
    pub(crate) fn taint(&mut self, other: &Flow) {
        self.network |= other.network;
        self.secret |= other.secret;
    }

    /// Adds what a command with these effects puts into its output.
    pub(crate) fn taint_by(&mut self, effects: &[Effect]) {
        for effect in effects {
            match effect {
                Effect::Connect(_) => self.network = true,
                Effect::Read(target) if target.place == Place::Credential => self.secret = true,
                _ => {}
            }
        }
    }

    /// Where code comes from that is made of this.
    pub(crate) fn origin(&self) -> Origin {
        if self.network { Origin::Network } else { Origin::Unresolved }
    }
}
