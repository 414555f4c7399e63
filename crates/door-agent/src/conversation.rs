//! What was said between the user, the model and the tools, in a form that both protocols are made from.

use serde::{Deserialize, Serialize};

/// One thing that was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// By the user.
    User {
        /// What.
        text: String,
    },
    /// By the model.
    Assistant {
        /// What.
        text: String,
        /// The calls that it wants.
        calls: Vec<ToolUse>,
    },
    /// By the tools, in the order of the calls before.
    Results {
        /// One for each call.
        results: Vec<ToolResult>,
    },
}

/// A call that the model wants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolUse {
    /// By which the model knows it.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments, as the model wrote them.
    pub arguments: String,
}

/// What a call came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The call.
    pub id: String,
    /// For the model.
    pub text: String,
    /// It did not do what was asked.
    pub error: bool,
    /// An image for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<Image>,
}

/// An image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Such as `image/png`.
    pub media_type: String,
    /// Its bytes, in base64.
    pub base64: String,
}

/// About so many tokens an image takes, whatever its size in bytes.
const IMAGE_TOKENS: u64 = 1600;

impl Message {
    /// About how many tokens it takes: a token is some four bytes of ordinary text.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        let text = |text: &str| u64::try_from(text.len()).unwrap_or(u64::MAX) / 4 + 4;
        match self {
            Message::User { text: said } => text(said),
            Message::Assistant { text: said, calls } => {
                let calls = calls.iter().map(|call| text(&call.name) + text(&call.arguments)).sum::<u64>();
                text(said).saturating_add(calls)
            }
            Message::Results { results } => results
                .iter()
                .map(|result| text(&result.text) + result.image.as_ref().map_or(0, |_| IMAGE_TOKENS))
                .sum(),
        }
    }
}

/// All that was said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversation {
    /// In order.
    pub messages: Vec<Message>,
}

impl Conversation {
    /// About how many tokens it takes.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.messages.iter().map(Message::tokens).sum()
    }

    /// Makes it one that a model can go on with: every call has its result. A run that ended in the middle of calls left some
    /// without.
    pub fn mend(&mut self) {
        let Some(Message::Assistant { calls, .. }) = self.messages.last() else { return };
        if calls.is_empty() {
            return;
        }
        let lost = "the run ended before this call did; whether it did anything is not known";
        let results = calls
            .iter()
            .map(|call| ToolResult { id: call.id.clone(), text: lost.into(), error: true, image: None })
            .collect();
        self.messages.push(Message::Results { results });
    }

    /// The model's last words.
    #[must_use]
    pub fn last_words(&self) -> &str {
        let said = |message: &'_ Message| matches!(message, Message::Assistant { .. });
        match self.messages.iter().rev().find(|message| said(message)) {
            Some(Message::Assistant { text, .. }) => text,
            _ => "",
        }
    }
}
