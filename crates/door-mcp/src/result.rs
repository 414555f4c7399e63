//! What came of a call, as an MCP client gets it.

use gate::call::{mask, visible};
use gate::tools::Outcome;
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, ErrorCode, MetaObject};
use serde_json::{Value, json};

/// The key under which only Bailiwick speaks: what others put there is taken out.
pub(crate) const OWN_KEY: &str = "bailiwick";

/// The result of a built-in tool, or of a refusal.
pub(crate) fn of(outcome: &Outcome) -> CallToolResult {
    let mut content = Vec::new();
    let mut structured = serde_json::to_value(outcome).unwrap_or_default();
    if let Some(Value::Object(data)) = structured.get_mut("data")
        && let (Some(Value::String(image)), Some(Value::String(kind))) =
            (data.shift_remove("base64"), data.get("media_type").cloned())
    {
        content.push(ContentBlock::image(image, kind));
    }
    content.insert(0, ContentBlock::text(text(outcome)));
    let mut result =
        if outcome.ok { CallToolResult::success(content) } else { CallToolResult::error(content) };
    result.structured_content = Some(structured);
    if let Some(kind) = outcome.error_kind {
        result.meta = Some(own(&json!({"error_kind": kind.name()})));
    }
    result
}

/// A refusal or a failure of Bailiwick's own, in a sentence.
pub(crate) fn failure(kind: gate::call::ErrorKind, why: &str) -> CallToolResult {
    of(&Outcome::error(kind, why.to_owned()))
}

fn own(value: &Value) -> MetaObject {
    let mut meta = MetaObject::new();
    meta.insert(OWN_KEY.into(), value.clone());
    meta
}

/// What a model reads.
fn text(outcome: &Outcome) -> String {
    use gate::call::ErrorKind::{ConfigError, HumanRequired, Permission, SandboxDenied};
    let mut text = String::new();
    if matches!(outcome.error_kind, Some(Permission | HumanRequired | SandboxDenied | ConfigError))
        && outcome.stdout.is_empty()
        && outcome.exit_code.is_none()
    {
        text.push_str("Bailiwick denied this call: ");
    }
    text.push_str(&outcome.stdout);
    if !outcome.stderr.is_empty() {
        if !outcome.stdout.is_empty() {
            text.push_str(if outcome.stdout.ends_with('\n') { "stderr:\n" } else { "\nstderr:\n" });
        }
        text.push_str(&outcome.stderr);
    }
    match outcome.exit_code {
        Some(code) if code != 0 => {
            text.push_str(if text.is_empty() || text.ends_with('\n') { "" } else { "\n" });
            text.push_str(&format!("exit code {code}"));
        }
        _ => {}
    }
    if outcome.truncated {
        text.push_str("\n[some of the output was left out]");
    }
    text
}

/// What is said to a request that is no known one. One whose method is known got there by parameters that cannot be read.
pub(crate) fn not_understood(method: &str) -> ErrorData {
    const KNOWN: [&str; 11] = [
        "initialize",
        "tools/list",
        "tools/call",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "resources/subscribe",
        "resources/unsubscribe",
        "prompts/list",
        "prompts/get",
        "completion/complete",
    ];
    if KNOWN.contains(&method) {
        return ErrorData::invalid_params(format!("the parameters of `{method}` cannot be read"), None);
    }
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, visible(&mask(method)), None)
}
