//! What a tool's answer, or a refusal, looks like to the model: short, and with what helps it go on.

use gate::call::ErrorKind;
use gate::tools::Outcome;
use serde_json::Value;

use crate::conversation::{Image, ToolResult};

/// The longest text of one result; its middle gives way.
const LONGEST: usize = 48 * 1024;

/// A result for the model.
pub(crate) fn for_model(id: &str, tool: &str, outcome: &Outcome) -> ToolResult {
    let image = if tool == "view_image" { image(outcome) } else { None };
    ToolResult { id: id.to_owned(), text: bounded(&text(tool, outcome)), error: !outcome.ok, image }
}

fn text(tool: &str, outcome: &Outcome) -> String {
    let mut out = String::new();
    if let Some(kind) = outcome.error_kind {
        out.push_str(&format!("error: {}\n{}", kind.name(), outcome.stderr.trim_end()));
        out.push_str(&format!("\n{}", advice(kind, outcome)));
        if !outcome.stdout.is_empty() {
            out.push_str(&format!("\n--- what it said before\n{}", outcome.stdout));
        }
        return out;
    }
    if let Some(code) = outcome.exit_code {
        out.push_str(&format!("exit code {code}\n"));
    }
    out.push_str(&outcome.stdout);
    if !outcome.stderr.is_empty() {
        if !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
        out.push_str(&format!("--- stderr\n{}", outcome.stderr));
    }
    // Where a program is left running, and what other agents do, stands only in the part for programs.
    let told = matches!(
        tool,
        "exec_command"
            | "write_stdin"
            | "spawn_agent"
            | "wait"
            | "send_input"
            | "close_agent"
            | "resume_agent"
    );
    if let Some(data) = outcome.data.as_ref().filter(|_| told || out.is_empty()) {
        if !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
        out.push_str(&data.to_string());
    }
    if outcome.truncated {
        out.push_str("\n[some of it was left out]");
    }
    if out.is_empty() { "done, without output".into() } else { out }
}

/// What the model should do about an error.
fn advice(kind: ErrorKind, outcome: &Outcome) -> &'static str {
    let by = outcome.data.as_ref().and_then(|data| data.get("denied_by")).and_then(Value::as_str);
    match (kind, by) {
        (ErrorKind::Validation, _) => "Correct the arguments and call again.",
        (ErrorKind::Permission, Some("approval")) => {
            "A person or a rule said no to this call. Do not make it again: the run ends if you do. Go on another way, or say \
             what you need and why."
        }
        (ErrorKind::Permission, _) => {
            "This is a rule: the same call will always be denied, and making it again ends the run. Go on another way, or say \
             what you need and why."
        }
        (ErrorKind::SandboxDenied, _) => {
            "The call cannot run behind the fence as it is. Do without what it wants to reach."
        }
        (ErrorKind::Timeout, _) => "It took too long. Do less at once, or give it more time.",
        (ErrorKind::HumanRequired, _) => "There is nobody to ask now. Decide with what you know, or finish.",
        (ErrorKind::NotFound, _) => "Look at what there is first.",
        (ErrorKind::Cancelled, _) => "It was stopped. Ask what is wanted instead.",
        (ErrorKind::ConfigError | ErrorKind::Unknown, _) => "Go on without it if you can.",
    }
}

fn image(outcome: &Outcome) -> Option<Image> {
    let data = outcome.data.as_ref()?;
    let text = |name: &str| data.get(name).and_then(Value::as_str).map(str::to_owned);
    Some(Image { media_type: text("media_type")?, base64: text("base64")? })
}

/// Both ends of a long text.
pub(crate) fn bounded(text: &str) -> String {
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    let half = LONGEST / 2;
    let head_end = (0..=half).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let tail_start =
        (text.len() - half..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let (head, tail) = (text.get(..head_end).unwrap_or_default(), text.get(tail_start..).unwrap_or_default());
    format!("{head}\n[… {} bytes left out …]\n{tail}", tail_start - head_end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_refusal_keeps_its_reason_rule_and_help_and_says_how_to_go_on() {
        let mut outcome =
            Outcome::error(ErrorKind::Permission, "no (permission, by policy)\nrule: r\nhelp: h".into());
        outcome.data = Some(json!({"denied_by": "policy"}));
        let result = for_model("c", "shell_command", &outcome);
        for part in ["error: permission", "rule: r", "help: h", "always be denied"] {
            assert!(result.text.contains(part), "{part}: {}", result.text);
        }
        assert!(result.error);
        outcome.data = Some(json!({"denied_by": "approval"}));
        assert!(for_model("c", "x", &outcome).text.contains("said no"));
    }

    #[test]
    fn a_long_result_keeps_both_ends_and_whole_characters() {
        let long = format!("begin{}end", "ä".repeat(60_000));
        let short = bounded(&long);
        assert!(short.len() < LONGEST + 100 && short.starts_with("begin") && short.ends_with("end"));
        assert!(short.contains("bytes left out"));
        assert_eq!(bounded("short"), "short");
    }

    #[test]
    fn what_only_programs_are_told_reaches_the_model_where_it_matters() {
        let mut outcome = Outcome::success("out".into(), json!({"session_id": 3, "running": true}));
        assert!(for_model("c", "exec_command", &outcome).text.contains("\"session_id\":3"));
        assert_eq!(for_model("c", "file_read", &outcome).text, "out");
        outcome.data = Some(json!({"media_type": "image/png", "base64": "AAAA"}));
        assert_eq!(for_model("c", "view_image", &outcome).image.unwrap().media_type, "image/png");
        assert_eq!(for_model("c", "file_read", &outcome).image, None);
    }
}
