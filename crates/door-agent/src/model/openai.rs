//! OpenAI's chat completions, as it and many other servers speak them.

use serde_json::{Value, json};

use super::{Piece, Request, Stop};
use crate::conversation::{Image, Message};

/// The path below the base.
pub(super) const PATH: &str = "/chat/completions";

/// The body of a request.
pub(super) fn body(model: &str, request: &Request<'_>) -> Value {
    let mut messages = vec![json!({"role": "system", "content": request.system})];
    for message in request.messages {
        match message {
            Message::User { text } => messages.push(json!({"role": "user", "content": text})),
            Message::Assistant { text, calls } => {
                let mut said = json!({"role": "assistant", "content": text});
                if !calls.is_empty() {
                    let calls: Vec<Value> = calls
                        .iter()
                        .map(|call| {
                            let arguments = super::object(&call.arguments).to_string();
                            json!({"id": call.id, "type": "function",
                                "function": {"name": call.name, "arguments": arguments}})
                        })
                        .collect();
                    if let Value::Object(members) = &mut said {
                        members.insert("tool_calls".into(), calls.into());
                    }
                }
                messages.push(said);
            }
            Message::Results { results } => {
                for result in results {
                    messages.push(json!({"role": "tool", "tool_call_id": result.id, "content": result.text}));
                }
                // What a tool says is text here; an image goes along as something that the user shows.
                let images: Vec<Value> =
                    results.iter().filter_map(|result| result.image.as_ref()).map(shown).collect();
                if !images.is_empty() {
                    messages.push(json!({"role": "user", "content": images}));
                }
            }
        }
    }
    let mut body = json!({
        "model": model,
        "messages": messages,
        "stream": true,
        "stream_options": {"include_usage": true},
    });
    if !request.tools.is_empty()
        && let Value::Object(members) = &mut body
    {
        let tools: Vec<Value> = request
            .tools
            .iter()
            .map(|tool| {
                json!({"type": "function", "function":
                    {"name": tool.name, "description": tool.about, "parameters": tool.schema}})
            })
            .collect();
        members.insert("tools".into(), tools.into());
    }
    body
}

fn shown(image: &Image) -> Value {
    let url = format!("data:{};base64,{}", image.media_type, image.base64);
    json!({"type": "image_url", "image_url": {"url": url}})
}

/// The pieces in one event.
pub(super) fn pieces(data: &str) -> Result<Vec<Piece>, String> {
    if data == "[DONE]" {
        return Ok(vec![Piece::End]);
    }
    let event: Value = serde_json::from_str(data).map_err(|error| format!("not JSON: {error}"))?;
    let mut pieces = Vec::new();
    if let Some(error) = event.get("error").filter(|error| !error.is_null()) {
        let message = error.get("message").and_then(Value::as_str).unwrap_or("no reason given").to_owned();
        let kind = error.get("type").and_then(Value::as_str).unwrap_or_default();
        let retry = kind.contains("server") || kind.contains("overloaded") || kind.contains("rate");
        return Ok(vec![Piece::Error { retry, message }]);
    }
    if let Some(usage) = event.get("usage").filter(|usage| usage.is_object()) {
        let count = |name: &str| usage.get(name).and_then(Value::as_u64);
        pieces.extend(count("prompt_tokens").map(Piece::Input));
        pieces.extend(count("completion_tokens").map(Piece::Output));
    }
    let Some(choice) = event.get("choices").and_then(|choices| choices.get(0)) else { return Ok(pieces) };
    if let Some(delta) = choice.get("delta") {
        if let Some(text) = delta.get("content").and_then(Value::as_str)
            && !text.is_empty()
        {
            pieces.push(Piece::Text(text.to_owned()));
        }
        for (at, call) in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten().enumerate()
        {
            let text = |value: Option<&Value>| {
                value.and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
            };
            let index = call
                .get("index")
                .and_then(Value::as_u64)
                .unwrap_or_else(|| u64::try_from(at).unwrap_or(u64::MAX));
            let function = call.get("function");
            let (id, name) = (text(call.get("id")), text(function.and_then(|function| function.get("name"))));
            if id.is_some() || name.is_some() {
                pieces.push(Piece::Call { index, id, name });
            }
            if let Some(text) = text(function.and_then(|function| function.get("arguments"))) {
                pieces.push(Piece::Arguments { index, text });
            }
        }
    }
    if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
        pieces.push(Piece::Stop(match reason {
            "length" => Stop::Length,
            "content_filter" => Stop::Refused,
            _ => Stop::Done,
        }));
    }
    Ok(pieces)
}
