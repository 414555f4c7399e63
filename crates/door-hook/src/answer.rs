//! An answer, before it is put into a host's words.

/// The most bytes of a reason: hosts cut longer ones, some in the middle of what matters.
const LONGEST: usize = 6000;

/// What was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// It may run.
    Allow,
    /// A person is asked.
    Ask,
    /// It may not run.
    Deny,
}

/// An answer for a host. Its texts are shown: whoever makes it has masked them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// What was decided.
    pub verdict: Verdict,
    /// Why, and what to do instead, for the agent.
    pub for_agent: String,
    /// Why, for the person.
    pub for_person: String,
    /// By which the question is known: `bailiwick grants approve ID`.
    pub approval: Option<String>,
    /// The command that is to run in place of the one that was asked about.
    pub rewritten: Option<String>,
}

impl Answer {
    /// An answer with the same reason for the agent and the person.
    #[must_use]
    pub fn new(verdict: Verdict, reason: impl Into<String>) -> Answer {
        let reason = reason.into();
        Answer { verdict, for_agent: reason.clone(), for_person: reason, approval: None, rewritten: None }
    }

    /// The same, with the name of the question that is pending.
    #[must_use]
    pub fn pending(mut self, id: impl Into<String>) -> Answer {
        self.approval = Some(id.into());
        self
    }

    /// The same, with another command to run.
    #[must_use]
    pub fn running(mut self, command: impl Into<String>) -> Answer {
        self.rewritten = Some(command.into());
        self
    }

    /// The answer for a host, or an event, that cannot ask: a question becomes a refusal that tells how to approve.
    pub(crate) fn without_asking(&self) -> Answer {
        match self.verdict {
            Verdict::Allow | Verdict::Deny => self.clone(),
            Verdict::Ask => {
                let how = match &self.approval {
                    Some(id) => format!(
                        "It needs a person's approval, and this host cannot ask for it here. The person runs \
                         `bailiwick grants approve {id}` in a terminal of their own; then repeat exactly the same call."
                    ),
                    None => "It needs a person's approval, and this host cannot ask for it here. The person can see \
                             what waits with `bailiwick grants` in a terminal of their own, or allow it in the \
                             configuration; then repeat exactly the same call."
                        .to_owned(),
                };
                Answer {
                    verdict: Verdict::Deny,
                    for_agent: joined(&self.for_agent, &how),
                    for_person: joined(&self.for_person, &how),
                    approval: self.approval.clone(),
                    rewritten: None,
                }
            }
        }
    }

    /// The reason for the agent, never empty: Codex takes a refusal without a reason for no refusal.
    pub(crate) fn agent_reason(&self) -> String {
        bounded(&self.for_agent, self.verdict)
    }

    /// The reason for the person, never empty.
    pub(crate) fn person_reason(&self) -> String {
        bounded(&self.for_person, self.verdict)
    }
}

fn joined(reason: &str, how: &str) -> String {
    match reason.trim_end() {
        "" => how.to_owned(),
        ended if ended.ends_with(['.', '!', '?']) => format!("{ended} {how}"),
        open => format!("{open}. {how}"),
    }
}

/// A long reason loses its middle: it starts with what was refused and ends with what to do.
fn bounded(reason: &str, verdict: Verdict) -> String {
    let reason = reason.trim();
    if reason.is_empty() {
        return match verdict {
            Verdict::Allow => "Bailiwick allows it".into(),
            Verdict::Ask => "Bailiwick wants a person to confirm it".into(),
            Verdict::Deny => "Bailiwick does not allow it".into(),
        };
    }
    if reason.len() <= LONGEST {
        return reason.to_owned();
    }
    let mut start = LONGEST / 2;
    while !reason.is_char_boundary(start) {
        start = start.saturating_sub(1);
    }
    let mut end = reason.len().saturating_sub(LONGEST / 2);
    while !reason.is_char_boundary(end) {
        end = end.saturating_add(1);
    }
    let first = reason.get(..start).unwrap_or_default();
    let last = reason.get(end..).unwrap_or_default();
    format!("{first} […] {last}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_that_cannot_be_put_becomes_a_refusal_that_tells_how_to_approve() {
        let ask = Answer::new(Verdict::Ask, "`curl` would connect").pending("k7").running("x");
        let refused = ask.without_asking();
        assert_eq!(refused.verdict, Verdict::Deny);
        assert_eq!(refused.rewritten, None);
        for reason in [refused.agent_reason(), refused.person_reason()] {
            assert!(reason.starts_with("`curl` would connect. It needs"), "{reason}");
            assert!(reason.contains("`bailiwick grants approve k7`"), "{reason}");
        }
        let nameless = Answer::new(Verdict::Ask, "").without_asking();
        assert!(nameless.agent_reason().contains("bailiwick grants"));
        for verdict in [Verdict::Allow, Verdict::Deny] {
            let answer = Answer::new(verdict, "why").running("x");
            assert_eq!(answer.without_asking(), answer);
        }
    }

    #[test]
    fn reasons_are_never_empty_and_never_endless() {
        for verdict in [Verdict::Allow, Verdict::Ask, Verdict::Deny] {
            assert!(!Answer::new(verdict, " \n").agent_reason().is_empty());
        }
        let long = format!("first {} last", "é".repeat(10_000));
        let reason = Answer::new(Verdict::Deny, long).agent_reason();
        assert!(reason.len() < LONGEST + 20);
        assert!(reason.starts_with("first") && reason.ends_with("last"));
    }
}
