//! The answer of `check` for a person: the verdict, why, where in the command, and what would help.

use std::fmt::Write;

use gate::Judgement;
use gate::call::{mask, visible};
use gate::policy::{Decision, Step};

use crate::terminal::Style;

/// The answer in words.
pub(crate) fn answer(judgement: &Judgement, text: Option<&str>, explain: bool, style: Style) -> String {
    let ruling = &judgement.ruling;
    let mut out = String::new();
    let _ = writeln!(out, "{}  {}", verdict(ruling.decision, style), visible(&ruling.reason));
    if let Some(shown) = text.and_then(|text| underlined(judgement, text, style)) {
        let _ = writeln!(out, "\n{shown}");
    } else if ruling.decision != Decision::Allow || explain {
        out.push('\n');
    }
    if ruling.decision != Decision::Allow || explain {
        let at = ruling.rule.at.as_ref().map(|at| format!("  ({at})")).unwrap_or_default();
        field(&mut out, style, "rule", &format!("{}{at}", ruling.rule.id));
        let factors = ruling.risk.factors.join(", ");
        let risk = if factors.is_empty() {
            ruling.risk.level.name().to_owned()
        } else {
            format!("{}: {factors}", ruling.risk.level.name())
        };
        field(&mut out, style, "risk", &risk);
        for (index, help) in ruling.help.iter().enumerate() {
            field(&mut out, style, if index == 0 { "help" } else { "" }, help);
        }
        for obligation in &ruling.obligations {
            field(&mut out, style, "term", obligation.name());
        }
    }
    if explain {
        parts(&mut out, judgement, style);
        trace(&mut out, judgement, style);
    }
    out
}

fn verdict(decision: Decision, style: Style) -> String {
    match decision {
        Decision::Allow => style.green("allow"),
        Decision::Ask => style.yellow("ask"),
        Decision::Deny => style.red("deny"),
    }
}

fn field(out: &mut String, style: Style, name: &str, value: &str) {
    let _ = writeln!(out, "  {}  {}", style.dim(&format!("{name:<4}")), visible(value));
}

/// The line of the command that holds the deciding part, underlined. Only where the text can be shown as it is: if
/// something in it had to be masked or made visible, the columns would lie.
fn underlined(judgement: &Judgement, text: &str, style: Style) -> Option<String> {
    const WIDEST: usize = 400;
    let part = judgement.analysis.parts.get(judgement.ruling.part?)?;
    let (start, end) = part.span?;
    let (start, end) = (usize::try_from(start).ok()?, usize::try_from(end).ok()?);
    let line_start = text.get(..start)?.rfind('\n').map_or(0, |at| at + 1);
    let line_end = text.get(start..)?.find('\n').map_or(text.len(), |at| start + at);
    let line = text.get(line_start..line_end)?;
    let before = text.get(line_start..start)?;
    let focus = text.get(start..end.min(line_end))?;
    // A shell may put together what the text has in pieces.
    let hidden = judgement.analysis.parts.iter().any(|part| mask(&part.text) != part.text);
    if line.chars().count() > WIDEST || hidden || mask(line) != line || visible(line) != line {
        return None;
    }
    let pad = " ".repeat(before.chars().count());
    let marks = "^".repeat(focus.chars().count().max(1));
    let marks = match judgement.ruling.decision {
        Decision::Deny => style.red(&marks),
        Decision::Ask | Decision::Allow => style.yellow(&marks),
    };
    Some(format!("    {line}\n    {pad}{marks}\n"))
}

fn parts(out: &mut String, judgement: &Judgement, style: Style) {
    let _ = writeln!(out, "\nWhat would run");
    let hidden = judgement.analysis.hidden();
    for part in &judgement.analysis.parts {
        let via = if part.via.is_empty() { String::new() } else { format!("  (by {})", part.via.join(", ")) };
        let _ = writeln!(out, "  {}{}", visible(&mask(&part.text)), style.dim(&via));
        if part.effects.is_empty() {
            let _ = writeln!(out, "    {}", style.dim("nothing beyond its output"));
        }
        for effect in &part.effects {
            let class = effect.class().map_or("", gate::effects::Class::key);
            let text = visible(&hidden.effect(effect));
            let _ = writeln!(out, "    {text}  {}", style.dim(class));
        }
    }
    if let Some(why) = judgement.analysis.complex {
        let _ = writeln!(out, "  {}", style.dim(&format!("a shell program: {why}")));
    }
}

fn trace(out: &mut String, judgement: &Judgement, style: Style) {
    let _ = writeln!(out, "\nHow it was decided");
    for line in &judgement.ruling.trace {
        let decision =
            line.decision.map_or_else(|| "  –  ".to_owned(), |decision| format!("{:<5}", decision.name()));
        let decision = match line.decision {
            Some(Decision::Allow) => style.green(&decision),
            Some(Decision::Ask) => style.yellow(&decision),
            Some(Decision::Deny) => style.red(&decision),
            None => style.dim(&decision),
        };
        let number = line.step as u8;
        let _ = writeln!(out, "  {number:>2}  {:<28} {decision}  {}", line.step.about(), visible(&line.note));
    }
    let last = judgement.ruling.step as u8;
    if last < Step::Otherwise as u8 {
        let _ = writeln!(out, "  {}", style.dim("later steps were not reached"));
    }
}
