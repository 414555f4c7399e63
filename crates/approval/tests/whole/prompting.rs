//! What the prompt looks like, word for word.

use std::time::Duration;

use approval::{Style, explanation, prompt, propose};
use call::RawCall;
use serde_json::json;

use crate::asking::{Judged, config, dev, judge};

fn page(judged: &Judged, width: usize, style: Style) -> String {
    prompt(&judged.asked, width, style, Duration::from_secs(60))
}

fn force_push() -> Judged {
    judge(&dev(), RawCall::command("git push --force origin main"))
}

#[test]
fn a_command_on_eighty_columns() {
    assert_eq!(page(&force_push(), 80, Style::Plain), include_str!("prompts/force_push_80.txt"));
}

#[test]
fn the_same_on_a_narrow_terminal() {
    assert_eq!(page(&force_push(), 34, Style::Plain), include_str!("prompts/force_push_34.txt"));
}

#[test]
fn a_critical_call_wants_the_typed_words() {
    let mut judged = judge(&dev(), RawCall::command("rm -rf src; git push --force"));
    judged.asked.confirmation = Some(approval::CONFIRMATION);
    assert_eq!(page(&judged, 80, Style::Plain), include_str!("prompts/critical_80.txt"));
}

#[test]
fn a_file_tool_shows_what_it_would_write() {
    let raw = RawCall::new("file_write", json!({"path": "/etc/hosts.local", "content": "secret words"}));
    let judged = judge(&config("safety: {mode: ask}"), raw);
    assert_eq!(page(&judged, 80, Style::Plain), include_str!("prompts/file_write_80.txt"));
}

#[test]
fn the_explanation_leaves_nothing_out() {
    let yaml = "safety: {mode: ask}";
    let mut judged = judge(&config(yaml), RawCall::command("make test"));
    judged.asked.id = approval::AskId::from_hex(&"0".repeat(32)).expect("an id");
    judged.asked.always = propose(&judged.ruling, &judged.analysis);
    assert_eq!(explanation(&judged.asked, 80, Style::Plain), include_str!("prompts/explanation_80.txt"));
    assert!(page(&judged, 80, Style::Plain).contains("a always"));
}

#[test]
fn colours_only_colour() {
    let judged = force_push();
    let coloured = page(&judged, 80, Style::Coloured);
    assert!(coloured.contains("\u{1b}["));
    let mut plain = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = after.split_once('m').map_or("", |(_, after)| after);
    }
    plain.push_str(rest);
    assert_eq!(plain, page(&judged, 80, Style::Plain));
}
