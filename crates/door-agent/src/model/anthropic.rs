//! Anthropic's messages.

use serde_json::{Value, json};

use super::{Piece, Request, Stop};
use crate::conversation::{Message, ToolResult};

/// The path below the base.
pub(super) const PATH: &str = "/v1/messages";
/// The version of the protocol.
pub(super) const VERSION: &str = "2023-06-01";
/// The most that is asked for at once: every model of these years can write so much.
const MOST: u64 = 8192;

/// The body of a request.
pub(super) fn body(model: &str, request: &Request<'_>) -> Value {
    let mut messages: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in request.messages {
        let (role, content) = match message {
            Message::User { text } => ("user", vec![json!({"type": "text", "text": text})]),
            Message::Assistant { text, calls } => {
                let mut content = Vec::new();
                if !text.trim().is_empty() {
                    content.push(json!({"type": "text", "text": text}));
                }
                content.extend(calls.iter().map(|call| {
                    json!({"type": "tool_use", "id": call.id, "name": call.name,
                        "input": super::object(&call.arguments)})
                }));
                if content.is_empty() {
                    continue;
                }
                ("assistant", content)
            }
            Message::Results { results } => ("user", results.iter().map(result).collect()),
        };
        // Turns alternate: what the same side says twice is one turn.
        match messages.last_mut() {
            Some((last, held)) if *last == role => held.extend(content),
            _ => messages.push((role, content)),
        }
    }
    // What was sent before need not be read anew: marks at the end of the instructions and of the last turn.
    if let Some(Value::Object(block)) = messages.last_mut().and_then(|(_, content)| content.last_mut()) {
        block.insert("cache_control".into(), json!({"type": "ephemeral"}));
    }
    let messages: Vec<Value> =
        messages.into_iter().map(|(role, content)| json!({"role": role, "content": content})).collect();
    let tools: Vec<Value> = request
        .tools
        .iter()
        .map(|tool| json!({"name": tool.name, "description": tool.about, "input_schema": tool.schema}))
        .collect();
    let system = json!([{"type": "text", "text": request.system, "cache_control": {"type": "ephemeral"}}]);
    let mut body = json!({
        "model": model,
        "max_tokens": request.most.clamp(1, MOST),
        "system": system,
        "messages": messages,
        "stream": true,
    });
    if !tools.is_empty()
        && let Value::Object(members) = &mut body
    {
        members.insert("tools".into(), tools.into());
    }
    body
}

fn result(result: &ToolResult) -> Value {
    let mut content = vec![json!({"type": "text", "text": result.text})];
    if let Some(image) = &result.image {
        content.push(json!({"type": "image",
            "source": {"type": "base64", "media_type": image.media_type, "data": image.base64}}));
    }
    json!({"type": "tool_result", "tool_use_id": result.id, "content": content, "is_error": result.error})
}

/// The pieces in one event.
pub(super) fn pieces(data: &str) -> Result<Vec<Piece>, String> {
    let event: Value = serde_json::from_str(data).map_err(|error| format!("not JSON: {error}"))?;
    let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let index = event.get("index").and_then(Value::as_u64).unwrap_or(0);
    Ok(match event.get("type").and_then(Value::as_str).unwrap_or_default() {
        "message_start" => {
            let usage = event.get("message").and_then(|message| message.get("usage"));
            let count = |name: &str| usage.and_then(|usage| usage.get(name)).and_then(Value::as_u64);
            let cached = ["cache_read_input_tokens", "cache_creation_input_tokens"];
            let cached: u64 = cached.iter().filter_map(|name| count(name)).sum();
            count("input_tokens")
                .map(|fresh| Piece::Input(fresh.saturating_add(cached)))
                .into_iter()
                .collect()
        }
        "content_block_start" => match event.get("content_block") {
            Some(block) if text(block, "type").as_deref() == Some("tool_use") => {
                vec![Piece::Call { index, id: text(block, "id"), name: text(block, "name") }]
            }
            Some(block) => {
                text(block, "text").filter(|text| !text.is_empty()).map(Piece::Text).into_iter().collect()
            }
            None => Vec::new(),
        },
        "content_block_delta" => {
            let delta = event.get("delta").cloned().unwrap_or_default();
            match text(&delta, "type").as_deref() {
                Some("text_delta") => text(&delta, "text").map(Piece::Text).into_iter().collect(),
                Some("input_json_delta") => text(&delta, "partial_json")
                    .map(|text| Piece::Arguments { index, text })
                    .into_iter()
                    .collect(),
                _ => Vec::new(),
            }
        }
        "message_delta" => {
            let mut pieces = Vec::new();
            let output = event.get("usage").and_then(|usage| usage.get("output_tokens"));
            pieces.extend(output.and_then(Value::as_u64).map(Piece::Output));
            let reason = event.get("delta").and_then(|delta| text(delta, "stop_reason"));
            pieces.extend(reason.map(|reason| {
                Piece::Stop(match reason.as_str() {
                    "max_tokens" => Stop::Length,
                    "refusal" => Stop::Refused,
                    _ => Stop::Done,
                })
            }));
            pieces
        }
        "message_stop" => vec![Piece::End],
        "error" => {
            let error = event.get("error").cloned().unwrap_or_default();
            let kind = text(&error, "type").unwrap_or_default();
            let retry = matches!(kind.as_str(), "overloaded_error" | "api_error" | "rate_limit_error");
            let message = text(&error, "message").unwrap_or_else(|| "no reason given".into());
            vec![Piece::Error { retry, message }]
        }
        // `ping`, `content_block_stop`, and what may come later.
        _ => Vec::new(),
    })
}
