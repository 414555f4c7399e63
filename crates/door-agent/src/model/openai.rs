//! OpenAI's chat completions, as it and many other servers speak them.

use serde::Serialize;
use serde_json::Value;

use super::{Arguments, Piece, Request, Stop};
use crate::conversation::{Image, Message, ToolResult};

/// The path below the base.
pub(super) const PATH: &str = "/chat/completions";

/// The body of a request.
#[derive(Serialize)]
pub(super) struct Body<'a> {
    model: &'a str,
    messages: Vec<Turn<'a>>,
    stream: bool,
    stream_options: StreamOptions,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Function<'a, Tool<'a>>>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
enum Turn<'a> {
    System {
        content: &'a str,
    },
    User {
        content: Content<'a>,
    },
    Assistant {
        content: &'a str,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<Function<'a, Call<'a>>>,
    },
    Tool {
        tool_call_id: &'a str,
        content: &'a str,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(&'a str),
    Shown(Vec<Shown>),
}

/// What is a function, as everything is here.
#[derive(Serialize)]
struct Function<'a, F> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    r#type: &'static str,
    function: F,
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

#[derive(Serialize)]
struct Call<'a> {
    name: &'a str,
    arguments: &'a str,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Shown {
    ImageUrl { image_url: Address },
}

#[derive(Serialize)]
struct Address {
    url: String,
}

impl<'a> Body<'a> {
    /// The body of this request.
    pub(super) fn of(model: &'a str, request: &Request<'a>) -> Body<'a> {
        let mut messages = vec![Turn::System { content: request.system }];
        for message in request.messages {
            match message {
                Message::User { text } => messages.push(Turn::User { content: Content::Text(text) }),
                Message::Assistant { text, calls } => {
                    let calls = calls.iter().map(|call| Function {
                        id: Some(&call.id),
                        r#type: "function",
                        function: Call { name: &call.name, arguments: Arguments::of(&call.arguments).text() },
                    });
                    messages.push(Turn::Assistant { content: text, tool_calls: calls.collect() });
                }
                Message::Results { results } => {
                    let told = |result: &'a ToolResult| Turn::Tool {
                        tool_call_id: &result.id,
                        content: &result.text,
                    };
                    messages.extend(results.iter().map(told));
                    // What a tool says is text here; an image goes along as something that the user shows.
                    let images: Vec<Shown> =
                        results.iter().filter_map(|result| result.image.as_ref()).map(shown).collect();
                    if !images.is_empty() {
                        messages.push(Turn::User { content: Content::Shown(images) });
                    }
                }
            }
        }
        let tools = request.tools.iter().map(|tool| Function {
            id: None,
            r#type: "function",
            function: Tool { name: &tool.name, description: &tool.about, parameters: &tool.schema },
        });
        let stream_options = StreamOptions { include_usage: true };
        Body { model, messages, stream: true, stream_options, tools: tools.collect() }
    }
}

fn shown(image: &Image) -> Shown {
    let url = format!("data:{};base64,{}", image.media_type, image.base64);
    Shown::ImageUrl { image_url: Address { url } }
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
