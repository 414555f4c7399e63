//! Checking what a configuration says about itself: rules' `examples:` when it is loaded, and its `cases:` on request.

use call::RawCall;
use policy::{Consultation, Decision};

use crate::{Gate, Judgement};

/// Something that a configuration says of itself and that is not so.
#[derive(Debug)]
pub struct Failure {
    /// Where it says so: file and line.
    pub at: policy::At,
    /// The call.
    pub call: String,
    /// What was expected, in words.
    pub expected: String,
    /// What came instead, in words.
    pub got: String,
    /// The judgement, with its trace, where there is one.
    pub judgement: Option<Box<Judgement>>,
}

impl Gate {
    /// Checks the `examples:` of every rule: what should match matches, and what should not does not.
    #[must_use]
    pub fn check_examples(&self) -> Vec<Failure> {
        let mut failures = Vec::new();
        for rule in self.config.rules() {
            let examples = rule.examples();
            for (commands, should) in [(&examples.matching, true), (&examples.not_matching, false)] {
                for (command, at) in commands {
                    let matched = self.rule_matches(rule, command);
                    if matched == Ok(should) {
                        continue;
                    }
                    let verb = |yes: bool| if yes { "matches" } else { "does not match" };
                    let got = match matched {
                        Ok(yes) => format!("it {}", verb(yes)),
                        Err(why) => why,
                    };
                    failures.push(Failure {
                        at: at.clone(),
                        call: command.clone(),
                        expected: format!("the rule `{}` {}", rule.name, verb(should)),
                        got,
                        judgement: None,
                    });
                }
            }
        }
        failures
    }

    /// Runs the `cases:`. Returns how many there are, and which fail.
    #[must_use]
    pub fn check_cases(&self) -> (usize, Vec<Failure>) {
        let mut failures = Vec::new();
        for case in self.config.cases() {
            let (call, raw) = match (&case.command, &case.tool) {
                (Some(command), _) => (command.clone(), RawCall::command(command.clone())),
                (None, Some((tool, args))) => {
                    (format!("{tool} {args}"), RawCall::new(tool.clone(), args.clone()))
                }
                (None, None) => continue,
            };
            let expected = case.expect.name().to_owned();
            match self.judge(raw) {
                Ok(judgement) if judgement.ruling.decision == case.expect => {}
                Ok(judgement) => failures.push(Failure {
                    at: case.at.clone(),
                    call,
                    expected,
                    got: judgement.ruling.decision.name().to_owned(),
                    judgement: Some(Box::new(judgement)),
                }),
                // A malformed call never runs, which is what a denial means.
                Err(_) if case.expect == Decision::Deny => {}
                Err(invalid) => failures.push(Failure {
                    at: case.at.clone(),
                    call,
                    expected,
                    got: invalid.to_string(),
                    judgement: None,
                }),
            }
        }
        (self.config.cases().len(), failures)
    }

    fn rule_matches(&self, rule: &policy::Rule, command: &str) -> Result<bool, String> {
        let judgement = self.judge(RawCall::command(command)).map_err(|invalid| invalid.to_string())?;
        let engine = Consultation::NotContacted;
        Ok(rule.matches_any(&self.question(&judgement.call, &judgement.analysis, &engine)))
    }
}
