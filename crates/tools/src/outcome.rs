//! What a tool answers: one form for all tools.

use std::time::Duration;

use call::ErrorKind;
use serde::{Serialize, Serializer};
use serde_json::Value;

/// The answer of a tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// It did what was asked.
    pub ok: bool,
    /// What it says.
    pub stdout: String,
    /// What went wrong, or what should be known.
    pub stderr: String,
    /// The code of a program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// How long it took.
    pub duration_ms: u64,
    /// Something was left out.
    pub truncated: bool,
    /// The same for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// Why it did not.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "name")]
    pub error_kind: Option<ErrorKind>,
    /// The same call may succeed later.
    pub retryable: bool,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

#[expect(clippy::ref_option, reason = "serde hands it over so")]
fn name<S: Serializer>(kind: &Option<ErrorKind>, serializer: S) -> Result<S::Ok, S::Error> {
    match kind {
        Some(kind) => serializer.serialize_str(kind.name()),
        None => serializer.serialize_none(),
    }
}

impl Outcome {
    /// It worked.
    #[must_use]
    pub fn success(stdout: String, data: Value) -> Outcome {
        Outcome {
            ok: true,
            stdout,
            stderr: String::new(),
            exit_code: None,
            duration_ms: 0,
            truncated: false,
            data: Some(data),
            error_kind: None,
            retryable: false,
            retry_after_ms: None,
        }
    }

    /// It did not.
    #[must_use]
    pub fn error(kind: ErrorKind, message: String) -> Outcome {
        Outcome {
            ok: false,
            stdout: String::new(),
            stderr: message,
            exit_code: None,
            duration_ms: 0,
            truncated: false,
            data: None,
            error_kind: Some(kind),
            retryable: false,
            retry_after_ms: None,
        }
    }

    /// Says whether something was left out.
    #[must_use]
    pub fn truncated(mut self, truncated: bool) -> Outcome {
        self.truncated = truncated;
        self
    }

    pub(crate) fn took(mut self, time: Duration) -> Outcome {
        self.duration_ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_has_the_keys_of_the_contract_and_no_others() {
        let good = Outcome::success("text".into(), serde_json::json!({"bytes": 4}));
        let bad = Outcome::error(ErrorKind::NotFound, "there is no `x`".into());
        let keys = |outcome: &Outcome| {
            let value = serde_json::to_value(outcome).unwrap();
            value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(keys(&good), "ok stdout stderr duration_ms truncated data retryable");
        assert_eq!(keys(&bad), "ok stdout stderr duration_ms truncated error_kind retryable");
        assert_eq!(serde_json::to_value(&bad).unwrap()["error_kind"], "not_found");
        let full = Outcome { exit_code: Some(3), retry_after_ms: Some(5), ..bad };
        assert_eq!(
            keys(&full),
            "ok stdout stderr exit_code duration_ms truncated error_kind retryable retry_after_ms"
        );
    }
}
