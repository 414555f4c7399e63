//! `/healthz`: it answers. That is all that somebody without a token learns.

use schemars::JsonSchema;
use serde::Serialize;

use crate::refusal::{Answered, json_answer};

/// It answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Health {
    status: &'static str,
}

/// `GET /healthz`
pub(crate) async fn health() -> Answered {
    Ok(json_answer(&Health { status: "ok" }))
}
