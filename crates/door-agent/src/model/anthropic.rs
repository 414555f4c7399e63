//! Anthropic's messages.

use serde::Serialize;
use serde_json::Value;

use super::{Arguments, Piece, Request, Stop};
use crate::conversation::{Message, ToolResult};

/// The path below the base.
pub(super) const PATH: &str = "/v1/messages";
/// The version of the protocol.
pub(super) const VERSION: &str = "2023-06-01";
/// The most that is asked for at once: every model of these years can write so much.
const MOST: u64 = 8192;

/// The body of a request.
#[derive(Serialize)]
pub(super) struct Body<'a> {
    model: &'a str,
    max_tokens: u64,
    system: [Block<'a>; 1],
    messages: Vec<Turn<'a>>,
    stream: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
}

#[derive(Serialize)]
struct Turn<'a> {
    role: &'static str,
    content: Vec<Block<'a>>,
}

#[derive(Serialize)]
struct Block<'a> {
    #[serde(flatten)]
    what: What<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<Cache>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum What<'a> {
    Text { text: &'a str },
    Image { source: Source<'a> },
    ToolUse { id: &'a str, name: &'a str, input: Arguments<'a> },
    ToolResult { tool_use_id: &'a str, content: Vec<What<'a>>, is_error: bool },
}

/// What was sent before need not be read anew.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Cache {
    Ephemeral,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Source<'a> {
    Base64 { media_type: &'a str, data: &'a str },
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Value,
}

impl<'a> Body<'a> {
    /// The body of this request.
    pub(super) fn of(model: &'a str, request: &Request<'a>) -> Body<'a> {
        let mut messages: Vec<Turn<'a>> = Vec::new();
        for message in request.messages {
            let (role, content) = match message {
                Message::User { text } => ("user", vec![What::Text { text }]),
                Message::Assistant { text, calls } => {
                    let said = (!text.trim().is_empty()).then_some(What::Text { text });
                    let calls = calls.iter().map(|call| What::ToolUse {
                        id: &call.id,
                        name: &call.name,
                        input: Arguments::of(&call.arguments),
                    });
                    ("assistant", said.into_iter().chain(calls).collect())
                }
                Message::Results { results } => ("user", results.iter().map(result).collect()),
            };
            let content = content.into_iter().map(Block::from);
            // Turns alternate: what the same side says twice is one turn.
            match messages.last_mut() {
                Some(last) if last.role == role => last.content.extend(content),
                _ if content.len() == 0 => {}
                _ => messages.push(Turn { role, content: content.collect() }),
            }
        }
        // Marks at the end of the instructions and of the last turn.
        let mut system = Block::from(What::Text { text: request.system });
        for block in
            messages.last_mut().and_then(|turn| turn.content.last_mut()).into_iter().chain([&mut system])
        {
            block.cache_control = Some(Cache::Ephemeral);
        }
        let tools = request.tools.iter().map(|tool| Tool {
            name: &tool.name,
            description: &tool.about,
            input_schema: &tool.schema,
        });
        let max_tokens = request.most.clamp(1, MOST);
        Body { model, max_tokens, system: [system], messages, stream: true, tools: tools.collect() }
    }
}

impl<'a> From<What<'a>> for Block<'a> {
    fn from(what: What<'a>) -> Block<'a> {
        Block { what, cache_control: None }
    }
}

fn result(result: &ToolResult) -> What<'_> {
    let image = result.image.as_ref().map(|image| What::Image {
        source: Source::Base64 { media_type: &image.media_type, data: &image.base64 },
    });
    let content = [What::Text { text: &result.text }].into_iter().chain(image).collect();
    What::ToolResult { tool_use_id: &result.id, content, is_error: result.error }
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
