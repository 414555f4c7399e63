//! A conversation that grew too long is shortened: the model writes down what matters, or, where that fails, the oldest outputs
//! are left out. Whoever watches is told.

use crate::conversation::{Conversation, Message};
use crate::model::{Client, Heard, Request};

/// A conversation is shortened when it takes this share of what it may, and is then to take at most the other.
const FULL: u64 = 85;
const ROOM: u64 = 50;
/// The share that the latest messages may keep.
const LATEST: u64 = 20;
/// The most that a summary may take, in tokens.
const SUMMARY: u64 = 4000;

const ASK: &str = "The conversation is about to be shortened. Write down everything that is needed to go on without it: what the \
task is, what was decided and why, what was done (files, commands and how they ended), what was denied and must not be tried \
again, and what is still to be done. Write only that.";

/// Whether a conversation of so many tokens is too long.
pub(crate) const fn is_full(tokens: u64, most: u64) -> bool {
    tokens.saturating_mul(100) > most.saturating_mul(FULL)
}

/// How it was shortened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    Summary,
    Dropped,
}

impl How {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            How::Summary => "summary",
            How::Dropped => "dropped",
        }
    }
}

/// Shortens a conversation.
pub(crate) async fn compact(
    conversation: &mut Conversation,
    client: &Client,
    instructions: &str,
    most: u64,
) -> How {
    // The summary is asked for over the conversation itself, which must still fit.
    let mut asked = conversation.clone();
    drop_outputs(&mut asked, most.saturating_mul(FULL) / 100);
    asked.messages.push(Message::User { text: ASK.into() });
    let request = Request { system: instructions, messages: &asked.messages, tools: &[], most: SUMMARY };
    let summary = client.ask(&request, &mut |_: Heard| Box::pin(std::future::ready(()))).await;
    match summary {
        Ok(reply) if !reply.text.trim().is_empty() => {
            summarized(conversation, reply.text.trim(), most.saturating_mul(LATEST) / 100);
            drop_outputs(conversation, most.saturating_mul(ROOM) / 100);
            How::Summary
        }
        _ => {
            drop_outputs(conversation, most.saturating_mul(ROOM) / 100);
            How::Dropped
        }
    }
}

/// The first words of the user, the summary, and the latest messages as far as they fit.
fn summarized(conversation: &mut Conversation, summary: &str, latest: u64) {
    let messages = std::mem::take(&mut conversation.messages);
    let first = messages.iter().find_map(|message| match message {
        Message::User { text } => Some(text.clone()),
        _ => None,
    });
    let (mut from, mut taken) = (messages.len(), 0_u64);
    for (at, message) in messages.iter().enumerate().rev() {
        taken = taken.saturating_add(message.tokens());
        if taken > latest {
            break;
        }
        // Results stand behind the calls that they answer: what is kept begins with neither.
        if !matches!(message, Message::Results { .. }) {
            from = at;
        }
    }
    let task = first.map(|text| format!("{text}\n\n")).unwrap_or_default();
    let text = format!("{task}[What was said before this was shortened to:]\n{summary}");
    conversation.messages.push(Message::User { text });
    conversation.messages.extend(messages.into_iter().skip(from.max(1)));
}

/// Leaves out the oldest outputs, then the oldest words, until the rest takes at most so many tokens.
fn drop_outputs(conversation: &mut Conversation, most: u64) {
    const LEFT_OUT: &str = "[left out: the conversation grew too long]";
    let mut tokens = conversation.tokens();
    for message in &mut conversation.messages {
        if tokens <= most {
            return;
        }
        if let Message::Results { results } = message {
            let before: u64 = Message::Results { results: results.clone() }.tokens();
            for result in results.iter_mut().filter(|result| result.text.len() > LEFT_OUT.len()) {
                result.text = LEFT_OUT.into();
                result.image = None;
            }
            let after = Message::Results { results: results.clone() }.tokens();
            tokens = tokens.saturating_sub(before.saturating_sub(after));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::{ToolResult, ToolUse};

    fn long() -> Conversation {
        let mut messages = vec![Message::User { text: "the task".into() }];
        for number in 0..10 {
            let id = format!("c{number}");
            let call = ToolUse { id: id.clone(), name: "file_read".into(), arguments: "{}".into() };
            messages.push(Message::Assistant { text: format!("step {number}"), calls: vec![call] });
            let result = ToolResult { id, text: "x".repeat(4000), error: false, image: None };
            messages.push(Message::Results { results: vec![result] });
        }
        Conversation { messages }
    }

    /// Every result stands right behind the calls that it answers, and the other way round.
    fn is_whole(conversation: &Conversation) -> bool {
        let mut open: Vec<String> = Vec::new();
        for message in &conversation.messages {
            match message {
                Message::Results { results } => {
                    let ids: Vec<String> = results.iter().map(|result| result.id.clone()).collect();
                    if ids != open {
                        return false;
                    }
                    open.clear();
                }
                _ if !open.is_empty() => return false,
                Message::Assistant { calls, .. } => open = calls.iter().map(|call| call.id.clone()).collect(),
                Message::User { .. } => {}
            }
        }
        true
    }

    #[test]
    fn dropping_leaves_out_the_oldest_outputs_first_and_keeps_every_call_answered() {
        let mut conversation = long();
        let before = conversation.tokens();
        drop_outputs(&mut conversation, before / 2);
        assert!(conversation.tokens() <= before / 2 + 10 && is_whole(&conversation));
        let Message::Results { results } = &conversation.messages[2] else { panic!() };
        assert!(results[0].text.starts_with("[left out"));
        let Some(Message::Results { results }) = conversation.messages.last() else { panic!() };
        assert_eq!(results[0].text.len(), 4000, "the latest stays");
    }

    #[test]
    fn a_summary_keeps_the_task_and_the_latest_and_every_call_answered() {
        for latest in [0, 500, 1100, 3000, 100_000] {
            let mut conversation = long();
            summarized(&mut conversation, "SUMMARY", latest);
            assert!(is_whole(&conversation), "{latest}");
            let Message::User { text } = &conversation.messages[0] else { panic!() };
            assert!(text.contains("the task") && text.contains("SUMMARY"));
            let kept = conversation.tokens() - conversation.messages[0].tokens();
            assert!(kept <= latest, "{kept} of {latest}");
        }
    }

    #[test]
    fn fullness_is_a_share_of_what_is_allowed() {
        assert!(!is_full(850, 1000) && is_full(851, 1000) && is_full(u64::MAX, u64::MAX / 200));
    }
}
