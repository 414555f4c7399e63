//! Answers by rules: rows of the configuration, or anything of a library user's that can look at a question and say yes or no.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use policy::{ApprovalRule, ApprovalWord};

use crate::asked::Asked;
use crate::outcome::{Answer, Decision};
use crate::provider::{Provider, Reply, Wait};

/// One rule. The first that has an answer decides.
pub trait Rule: Send + Sync {
    /// The answer, or `None` where the rule does not match or cannot tell.
    fn answer(&self, asked: &Asked) -> Option<Answer>;
}

/// Rules in order. What none of them answers is denied, unless somebody after them is asked.
#[derive(Default)]
pub struct Rules {
    rules: Vec<Box<dyn Rule>>,
}

impl Rules {
    /// The rows of a configuration.
    #[must_use]
    pub fn of(rows: &[Arc<ApprovalRule>]) -> Self {
        let rules = rows.iter().map(|row| Box::new(Row(Arc::clone(row))) as Box<dyn Rule>).collect();
        Rules { rules }
    }

    /// With one more.
    #[must_use]
    pub fn with(mut self, rule: Box<dyn Rule>) -> Self {
        self.rules.push(rule);
        self
    }
}

impl Provider for Rules {
    fn name(&self) -> &'static str {
        "rules"
    }

    fn ask(&self, asked: &Arc<Asked>, _wait: &Wait<'_>) -> Reply {
        for rule in &self.rules {
            // A rule that fails does not match.
            let answer = catch_unwind(AssertUnwindSafe(|| rule.answer(asked))).unwrap_or(None);
            if let Some(answer) = answer {
                return Reply::Answer(answer);
            }
        }
        Reply::Otherwise(Answer::new(Decision::Denied, "rules").noting("no approval rule matches"))
    }
}

/// A row of the configuration.
struct Row(Arc<ApprovalRule>);

impl Rule for Row {
    fn answer(&self, asked: &Asked) -> Option<Answer> {
        let Row(row) = self;
        if !row.matches(&asked.tool, asked.facts.analysis(), asked.risk.level) {
            return None;
        }
        let decision = match row.decision {
            ApprovalWord::Approved => Decision::Approved,
            ApprovalWord::ApprovedForSession => Decision::ApprovedForSession,
            ApprovalWord::Denied => Decision::Denied,
            ApprovalWord::Abort => Decision::Abort,
        };
        let answer = Answer::new(decision, &format!("rules ({})", row.at));
        Some(match &row.reason {
            Some(reason) => answer.noting(reason),
            None => answer,
        })
    }
}

impl std::fmt::Debug for Rules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rules").field("count", &self.rules.len()).finish()
    }
}
