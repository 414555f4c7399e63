//! Questions as forms, and what was filled in as answers. Everything in a form is masked, and what could deceive is spelt out.

use gate::approval::{Answer, Asked, CONFIRMATION, Decision};
use gate::call::{mask, visible};
use gate::tools::{Given, HumanAnswer, HumanQuestion};
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::{Map, Value, json};

const ONCE: &str = "approve";
const SESSION: &str = "approve for session";
const DENY: &str = "deny";

/// The question of an approval. Nothing where it cannot be put.
pub(crate) fn question(asked: &Asked, expires_ms: u64) -> Option<ElicitRequestParams> {
    let view = asked.to_json(expires_ms);
    let text = |key: &str| view.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut message = format!("Bailiwick asks: may `{}` run?\n", text("toolName"));
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            message.push_str(&format!("{name}: {value}\n"));
        }
    };
    if asked.request.fields().contains_key("arguments") {
        let arguments = view.pointer("/args/arguments").map(Value::to_string).unwrap_or_default();
        line("arguments", &arguments);
    } else {
        line("command", &asked.told().replace('\n', "\n         "));
    }
    for (name, key) in [
        ("path", "/args/path"),
        ("files", "/args/file_paths"),
        ("directory", "/args/cwd"),
        ("directory", "/args/workdir"),
    ] {
        let value =
            view.pointer(key).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        line(name, &value.unwrap_or_default());
    }
    line("effects", &asked.facts.effects().join("; "));
    let factors = asked.risk.factors.join(", ");
    let risk = asked.risk.level.name().to_uppercase();
    line("risk", &if factors.is_empty() { risk } else { format!("{risk} ({factors})") });
    line("reason", &text("reason"));
    line("rule", &text("rule"));
    line("open until", &text("expires_at"));
    let mut choices = vec![ONCE];
    if asked.may_grant_session() {
        choices.push(SESSION);
    }
    choices.push(DENY);
    let mut properties = Map::new();
    properties.insert(
        "decision".into(),
        json!({"type": "string", "title": "Decision", "enum": choices, "description": "What is to happen with this call"}),
    );
    let mut required = vec!["decision"];
    if let Some(words) = asked.confirmation {
        line("this is critical", &format!("to approve it, type `{words}`"));
        let about = format!("To approve, type: {words}");
        properties.insert(
            "confirmation".into(),
            json!({"type": "string", "title": "Confirmation", "description": about}),
        );
        required.push("confirmation");
    }
    of(&message, &Value::Object(properties), &required)
}

/// What somebody says with a form. Whatever is not plainly a yes is a no.
pub(crate) fn answer(asked: &Asked, result: &ElicitResult, client: &str) -> Answer {
    let by = format!("the person at {}", visible(&mask(client)));
    let no = |why: &str| Answer::new(Decision::Denied, &by).noting(why).to(&asked.key);
    match result.action {
        ElicitationAction::Accept => {}
        ElicitationAction::Decline => return no("the form was declined"),
        _ => return no("the form was dismissed"),
    }
    let filled =
        |name: &str| result.content.as_ref().and_then(|content| content.get(name)).and_then(Value::as_str);
    let decision = match filled("decision") {
        Some(ONCE) => Decision::Approved,
        Some(SESSION) => Decision::ApprovedForSession,
        Some(DENY) => return no("by the form"),
        _ => return no("the form has no decision"),
    };
    let typed = filled("confirmation").map(str::trim);
    // FAIL-CLOSED: a form that can be accepted by a single key has not been read.
    if asked.confirmation.is_some_and(|words| typed != Some(words)) {
        return no(&format!("`{CONFIRMATION}` was not typed"));
    }
    Answer::new(decision, &by).to(&asked.key).typing(typed.unwrap_or_default())
}

/// An agent's own questions.
pub(crate) fn of_items(question: &HumanQuestion) -> Option<ElicitRequestParams> {
    let mut properties = Map::new();
    let mut message = String::from("The agent asks:\n");
    let mut required = Vec::new();
    for (number, item) in question.items.iter().enumerate() {
        let title = visible(item.header.as_deref().unwrap_or(&item.id));
        let mut field = json!({"type": "string", "title": title, "description": visible(&item.question)});
        if let Value::Object(field) = &mut field
            && !item.options.is_empty()
            && !item.own_words
        {
            let labels: Vec<String> = item.options.iter().map(|option| option.label.clone()).collect();
            field.insert("enum".into(), labels.into());
        }
        message.push_str(&format!("{}\n", visible(&item.question)));
        for option in &item.options {
            let about = option.description.as_deref().unwrap_or_default();
            message.push_str(&format!("- {} {}\n", visible(&option.label), visible(about)));
        }
        properties.insert(name(number), field);
        required.push(name(number));
    }
    let required: Vec<&str> = required.iter().map(String::as_str).collect();
    of(&message, &Value::Object(properties), &required)
}

/// What was filled in for an agent's own questions.
pub(crate) fn given(question: &HumanQuestion, result: &ElicitResult) -> HumanAnswer {
    if result.action != ElicitationAction::Accept {
        return HumanAnswer::Closed;
    }
    let mut all = Vec::new();
    for (number, item) in question.items.iter().enumerate() {
        let filled = result.content.as_ref().and_then(|content| content.get(name(number)));
        let Some(text) = filled.and_then(Value::as_str) else { return HumanAnswer::Closed };
        let choice = item.options.iter().position(|option| option.label == text);
        all.push(Given { id: item.id.clone(), choice, text: text.to_owned() });
    }
    HumanAnswer::Answers(all)
}

fn name(number: usize) -> String {
    format!("answer_{}", number.saturating_add(1))
}

fn of(message: &str, properties: &Value, required: &[&str]) -> Option<ElicitRequestParams> {
    let schema = json!({"type": "object", "properties": properties, "required": required});
    let form = json!({"mode": "form", "message": message, "requestedSchema": schema});
    serde_json::from_value(form).ok()
}
