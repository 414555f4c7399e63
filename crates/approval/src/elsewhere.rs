//! Somebody in another process: a person at a console. The question is kept where that process sees it, until it is answered
//! there, its time is over, or nobody is there any more.

use std::sync::Arc;
use std::time::Duration;

use crate::asked::Asked;
use crate::grants::{Deferred, Extent, Grants};
use crate::outcome::{Answer, Decision};
use crate::provider::{Provider, Reply, Wait};

/// How often it is looked whether there is an answer.
const LOOK: Duration = Duration::from_millis(50);
/// For so many looks nobody may be there, as while a page is loaded again.
const AWAY: u32 = 100;

/// Asks somebody in another process.
pub struct Elsewhere {
    grants: Arc<Grants>,
    there: Box<dyn Fn() -> bool + Send + Sync>,
}

impl Elsewhere {
    /// Asks by way of these grants, while `there` says that somebody looks at them.
    #[must_use]
    pub fn new(grants: Arc<Grants>, there: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Elsewhere { grants, there: Box::new(there) }
    }
}

impl Provider for Elsewhere {
    fn name(&self) -> &'static str {
        "console"
    }

    fn ask(&self, asked: &Arc<Asked>, wait: &Wait<'_>) -> Reply {
        if !(self.there)() {
            return Reply::Pass;
        }
        let id = match self.grants.defer_for(asked, wait.left()) {
            Ok(id) => id,
            Err(why) => return Reply::Failed(why.to_string()),
        };
        let mut away = 0;
        loop {
            match self.grants.deferred(asked) {
                Deferred::Approved(extent, by) => {
                    let decision = match extent {
                        Extent::Once => Decision::Approved,
                        Extent::Session => Decision::ApprovedForSession,
                    };
                    // The words were held against the question where it was approved.
                    let mut answer = Answer::new(decision, by.as_str()).to(&asked.key);
                    answer.typed = asked.confirmation.map(str::to_owned);
                    return Reply::Answer(answer);
                }
                Deferred::Gone if wait.is_over() => return Reply::Held,
                Deferred::Gone => {
                    return Reply::Answer(Answer::new(Decision::Denied, "somebody at the console"));
                }
                Deferred::Waiting => {}
            }
            away = if (self.there)() { 0 } else { away + 1 };
            if wait.is_over() || away > AWAY {
                // One whose time is over ends by that; its name is there still for whoever is told to say yes later.
                if !wait.left().is_zero() {
                    let _unless_gone = self.grants.revoke(id);
                }
                return if wait.is_over() {
                    Reply::Held
                } else {
                    Reply::Failed("whoever was at the console went away".into())
                };
            }
            std::thread::sleep(LOOK.min(wait.left()));
        }
    }
}
