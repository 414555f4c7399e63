//! The reference page of the configuration, made from the same tables that read it.

use std::fmt::Write;

use effects::Class;

use super::approval::APPROVAL_RULE_KEYS;
use super::keys::{KEYS, Kind};
use super::profile::Profile;
use crate::rule::RULE_KEYS;

const INTRODUCTION: &str = "\
# Configuration

<!-- Made from the code by `cargo xtask generate`. -->

YAML, or JSON with the same keys. Layers, weakest first: the built-in profile, the managed file (`/etc/bailiwick/config.yaml`), the user's
(`$XDG_CONFIG_HOME/bailiwick/config.yaml`), the workspace's (`.bailiwick.yaml`), `--config`, flags. A stronger layer sets a value anew and adds
to lists. A denial of any layer holds. The workspace's file may only tighten, because an agent can write it. Keys that the managed file names
under `final` cannot be set elsewhere.

With no file at all the profile `dev` holds. A file that names no profile starts from none: its mode and its lists decide, above a floor of what
is always denied. `bailiwick policy show` prints what holds and who set it.

An unknown key, or a value that makes no sense, is an error with its place. Nothing is decided under a broken configuration.
";

/// The page, in Markdown.
#[must_use]
pub fn reference() -> String {
    let mut page = String::from(INTRODUCTION);
    let _ = writeln!(page, "\n## Keys\n\n| key | value | meaning |\n|---|---|---|");
    for key in KEYS {
        let value = match key.kind {
            Kind::Bool => "true, false".to_owned(),
            Kind::Whole(minimum) => format!("whole number, at least {minimum}"),
            Kind::Seconds => "seconds".into(),
            Kind::Text => "text".into(),
            Kind::Word(words) => words.join(", "),
            Kind::Texts => "list of text".into(),
            Kind::Effects => "effect: allow, fenced, ask, deny".into(),
            Kind::PathRules => "list of `{pattern, allow_read, allow_write}`".into(),
            Kind::CommandRules => "list of `{pattern, decision, is_regex}`".into(),
            Kind::Rules => "list of rules".into(),
            Kind::ApprovalRules => "list of rows".into(),
            Kind::Places => "mapping of names to paths".into(),
            Kind::Servers => "name: `{command, env, cwd, network}`".into(),
            Kind::Cases => "list of `{command, expect}` or `{tool, args, expect}`".into(),
        };
        let _ = writeln!(page, "| `{}` | {value} | {} |", key.path, key.about);
    }
    let _ = writeln!(
        page,
        "\n## Rules\n\nOrdered; the first that matches a command decides for it. Conditions that stand side by side must all hold.\n\n| key | meaning |\n|---|---|"
    );
    for (key, about) in RULE_KEYS {
        let _ = writeln!(page, "| `{key}` | {about} |");
    }
    let _ = writeln!(
        page,
        "\n## Approval rules\n\nRows of `approval.rules`, in order. A row that says yes must fit every command, path and effect of the call; a row that says no needs one of them.\n\n| key | meaning |\n|---|---|"
    );
    for (key, about) in APPROVAL_RULE_KEYS {
        let _ = writeln!(page, "| `{key}` | {about} |");
    }
    let _ = writeln!(
        page,
        "\n## Effects and profiles\n\nThe keys of `safety.effects`, and what each profile says of them. `fenced`: allowed where a fence holds every boundary of the call, else asked about.\n`–`: nothing is said, so that lists and the mode decide.\n\n| effect | the call would … | no profile | dev | balanced | prod |\n|---|---|---|---|---|---|"
    );
    for class in Class::ALL {
        let stances = [Profile::Plain, Profile::Dev, Profile::Balanced, Profile::Prod]
            .map(|profile| profile.stance(class).name().replace("unset", "–"));
        let _ = writeln!(page, "| `{}` | {} | {} |", class.key(), class.about(), stances.join(" | "));
    }
    page
}
