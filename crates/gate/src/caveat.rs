//! What a door knows of a call that the policy cannot see: a tool of somebody else's server may have been exchanged since it was
//! last approved. A caveat can only make a ruling stricter.

use std::borrow::Cow;

use call::Request;
use policy::{Cited, Decision};

use crate::Judgement;

/// The rule that rulings name where a caveat is the reason to ask.
const RULE: &str = "changed";

/// What a door knows of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Caveat {
    /// What an approval is bound to besides the call itself.
    pub bound: Vec<(&'static str, String)>,
    /// Why somebody must be asked, whatever the policy allows.
    pub doubt: Option<String>,
}

impl Caveat {
    /// The request with all that an approval of it is bound to.
    pub(crate) fn bind(&self, request: Request) -> Request {
        self.bound.iter().fold(request, |request, (name, value)| request.bind(name, value))
    }

    /// What is allowed is asked about, what is asked about is asked with the doubt in front; a denial stays as it is.
    pub(crate) fn weigh(&self, judgement: &mut Judgement) {
        let Some(doubt) = &self.doubt else { return };
        let ruling = &mut judgement.ruling;
        match ruling.decision {
            Decision::Allow => {
                ruling.decision = Decision::Ask;
                ruling.reason.clone_from(doubt);
                ruling.rule = Cited { id: Cow::Borrowed(RULE), at: None };
            }
            Decision::Ask => ruling.reason = format!("{doubt}; {}", ruling.reason),
            Decision::Deny => {}
        }
    }
}
