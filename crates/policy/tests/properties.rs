//! POL-1, POL-2, POL-3 and POL-7 over generated configurations and calls. `BAILIWICK_SEED` repeats a run.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of a test may fail as the test itself may"
)]

#[path = "reference/generate.rs"]
mod generate;
#[path = "reference/model.rs"]
#[expect(dead_code, reason = "shared with the comparison against the reference")]
mod model;

use std::collections::BTreeMap;

use call::{Category, Sandbox};
use effects::{Analysis, Class, Effect, Part, Place, Target, normalize};
use generate::Dice;
use model::{Asked, File, Rule};
use policy::{Answer, Config, Consultation, Decision, Fence, Layer, Origin, Ruling, Stance, Step};

/// Questions that are put to one configuration: loading is the slow half.
const QUESTIONS: usize = 20;

fn print_all(files: &[File]) -> String {
    files.iter().map(|file| format!("# {:?}\n{}", file.origin, file.yaml())).collect()
}

/// The file of this origin, made if there is none. Flags and the workspace's file do not change the profile.
fn file_of(files: &mut Vec<File>, origin: Origin) -> &mut File {
    let found = files.iter().position(|file| file.origin == Some(origin));
    let index = found.unwrap_or_else(|| {
        files.push(File { origin: Some(origin), ..File::default() });
        files.len() - 1
    });
    &mut files[index]
}

/// Any of the files, or a new one of the workspace.
fn any_file<'a>(dice: &mut Dice, files: &'a mut Vec<File>) -> &'a mut File {
    if files.is_empty() || dice.once_in(4) {
        return file_of(files, Origin::Workspace);
    }
    let index = dice.below(files.len());
    &mut files[index]
}

// ---------------------------------------------------------------------------------------------------------------- POL-1

/// Adds something that denies this very call; says what.
fn deny_it(dice: &mut Dice, files: &mut Vec<File>, asked: &Asked) -> &'static str {
    let effects: Vec<&Effect> = asked.analysis.parts.iter().flat_map(|part| &part.effects).collect();
    let deny = Rule { action: Some(Decision::Deny), ..Rule::default() };
    loop {
        match dice.below(8) {
            0 if !asked.analysis.parts.is_empty() => {
                any_file(dice, files).rules.insert(0, Rule { tools: vec![asked.tool], ..deny });
                return "a rule that names the tool";
            }
            1 => {
                let Some(class) = effects.first().and_then(|effect| effect.class()) else { continue };
                any_file(dice, files).rules.insert(0, Rule { effects: vec![class], ..deny });
                return "a rule that names an effect";
            }
            2 if asked.category == Category::Exec && !asked.analysis.parts.is_empty() => {
                let program = program_of(&asked.analysis.parts[0]);
                let file = any_file(dice, files);
                match dice.below(3) {
                    0 => file.denylist.push(program),
                    1 => file.denied_commands.push(program),
                    _ => file.rules.insert(0, Rule { commands: vec![program], ..deny }),
                }
                return "a list or rule that names the program";
            }
            3 => {
                let path = effects.iter().find_map(|effect| match effect {
                    Effect::Read(target) | Effect::Write(target) | Effect::Delete { target, .. } => {
                        (target.place != Place::Nowhere).then_some(target.path.as_str())
                    }
                    _ => None,
                });
                let Some(path) = path else { continue };
                let (known, _) = generate::PATHS.iter().find(|(known, _)| *known == path).unwrap();
                any_file(dice, files).denied_paths.push(known);
                return "a denied path";
            }
            4 => {
                any_file(dice, files).tool_denylist.push(asked.tool);
                return "a denied tool";
            }
            5 => {
                file_of(files, Origin::Flags).mode = Some(Decision::Deny);
                return "mode: deny";
            }
            6 if !matches!(asked.category, Category::Read | Category::Human | Category::None) => {
                file_of(files, Origin::Flags).read_only = Some(true);
                return "read_only";
            }
            7 => {
                let class = effects.first().and_then(|effect| effect.class());
                let Some(class) =
                    class.filter(|class| !matches!(class, Class::Connect | Class::ConnectService))
                else {
                    continue;
                };
                set_stance(file_of(files, Origin::Flags), class, Stance::Deny);
                return "an effect that is denied";
            }
            _ => {}
        }
    }
}

fn program_of(part: &Part) -> &'static str {
    let command = generate::COMMANDS.iter().find(|command| **command == part.text).unwrap();
    command.split(' ').next().unwrap()
}

fn set_stance(file: &mut File, class: Class, stance: Stance) {
    file.effects.retain(|(known, _)| *known != class);
    file.effects.push((class, stance));
}

#[test]
fn a_matching_deny_is_final_whatever_else_the_files_say() {
    let cases = generate::cases(200_000);
    let mut dice = Dice::new(generate::seed());
    let mut ways: BTreeMap<&str, usize> = BTreeMap::new();
    for _ in 0..cases {
        let mut files = generate::files(&mut dice);
        let asked = generate::asked(&mut dice);
        let way = deny_it(&mut dice, &mut files, &asked);
        let ruling = model::load(&files).rule(&asked.question());
        assert_eq!(ruling.decision, Decision::Deny, "{way}\n{}{asked:#?}\n{ruling:#?}", print_all(&files));
        assert!(ruling.step <= Step::Engine, "{way} at {:?}", ruling.step);
        *ways.entry(way).or_default() += 1;
    }
    println!("{ways:#?}");
    assert_eq!(ways.len(), 8);
}

// ---------------------------------------------------------------------------------------------------------------- POL-2

/// The ways to make a configuration stricter.
const WAYS: usize = 18;

/// Makes a configuration stricter in one of the ways; says in which, or `None` where this way does not apply.
fn tighten(way: usize, dice: &mut Dice, files: &mut Vec<File>, loose: &Config) -> Option<&'static str> {
    let flags = |files: &mut Vec<File>, set: fn(&mut File)| set(file_of(files, Origin::Flags));
    match way {
        0 => {
            let rule = generate::rule(dice, &[Decision::Deny]);
            let file = any_file(dice, files);
            let place = dice.below(file.rules.len() + 1);
            file.rules.insert(place, rule);
            Some("a deny rule more")
        }
        1 => {
            let entry = dice.pick(generate::ENTRIES);
            any_file(dice, files).denylist.push(entry);
            Some("a denylist entry more")
        }
        2 => {
            let entry = dice.pick(generate::ENTRIES);
            any_file(dice, files).denied_commands.push(entry);
            Some("a denied command more")
        }
        3 => {
            let pattern = dice.pick(generate::GLOBS);
            any_file(dice, files).denied_paths.push(pattern);
            Some("a denied path more")
        }
        4 => {
            let (tool, _) = dice.pick(generate::TOOLS);
            any_file(dice, files).tool_denylist.push(tool);
            Some("a denied tool more")
        }
        5 => files.iter_mut().find_map(|file| file.allowlist.pop()).map(|_| "an allowlist entry less"),
        6 => files.iter_mut().find_map(|file| file.tool_allowlist.pop()).map(|_| "an allowed tool less"),
        7 => files.iter_mut().find_map(|file| file.hosts.pop()).map(|_| "an allowed host less"),
        8 => {
            let set = any_file(dice, files).allowed_paths.as_mut().filter(|set| set.len() > 1)?;
            set.pop().map(|_| "an allowed path less")
        }
        9 => {
            let rules = &mut any_file(dice, files).command_rules;
            let index = rules.iter().position(|rule| rule.decision == Decision::Allow)?;
            rules.remove(index);
            Some("an allowing command rule less")
        }
        10 => {
            let rules = &mut any_file(dice, files).path_rules;
            let index = rules.iter().position(|rule| rule.read && rule.write)?;
            rules.remove(index);
            Some("an allowing path rule less")
        }
        11 => remove_allow_rule(dice, files),
        12 => {
            let modes = files.iter_mut().filter(|file| file.mode.is_some());
            let file = modes.max_by_key(|file| file.origin)?;
            file.mode = match file.mode? {
                Decision::Allow if dice.once_in(2) => Some(Decision::Ask),
                Decision::Allow | Decision::Ask => Some(Decision::Deny),
                Decision::Deny => return None,
            };
            Some("a stricter mode")
        }
        13 => {
            let class = dice.pick(generate::CLASSES);
            let stricter = match loose.stance(class).value {
                Stance::Allow => dice.pick(&[Stance::Fenced, Stance::Ask, Stance::Deny]),
                Stance::Unset | Stance::Fenced => dice.pick(&[Stance::Ask, Stance::Deny]),
                Stance::Ask => Stance::Deny,
                Stance::Deny => return None,
            };
            set_stance(file_of(files, Origin::Flags), class, stricter);
            Some("a stricter stance")
        }
        14 => {
            flags(files, |file| file.read_only = Some(true));
            Some("read_only")
        }
        15 => {
            flags(files, |file| file.writes_ask = Some(true));
            Some("require_approval_for_writes")
        }
        16 => {
            flags(files, |file| file.execute_asks = Some(true));
            Some("require_approval_for_execute")
        }
        _ => {
            flags(files, |file| file.complex_asks = Some(true));
            Some("complex_shell: ask")
        }
    }
}

/// A rule that allows on terms also narrows, by its terms: only a rule without terms is purely an allow.
fn remove_allow_rule(dice: &mut Dice, files: &mut Vec<File>) -> Option<&'static str> {
    let allows = |rule: &Rule| rule.action == Some(Decision::Allow);
    let rules = &mut any_file(dice, files).rules;
    let index = rules.iter().position(|rule| allows(rule) && !rule.require_sandbox)?;
    rules.remove(index);
    Some("an allow rule less")
}

#[test]
fn what_is_stricter_never_decides_more_mildly() {
    let cases = generate::cases(200_000);
    let mut dice = Dice::new(generate::seed());
    let mut ways: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut violations: BTreeMap<&str, (usize, String)> = BTreeMap::new();
    let (mut done, mut number) = (0, 0);
    while done < cases {
        let files = generate::files(&mut dice);
        let loose = model::load(&files);
        let mut tighter = files.clone();
        // Each way gets as many cases as any other, however rarely it applies.
        let Some(way) = tighten(number % WAYS, &mut dice, &mut tighter, &loose) else { continue };
        number += 1;
        let tight = model::load(&tighter);
        for _ in 0..QUESTIONS {
            done += 1;
            let asked = generate::asked(&mut dice);
            let (before, after) = (loose.rule(&asked.question()), tight.rule(&asked.question()));
            let row = ways.entry(way).or_default();
            row.0 += 1;
            row.1 += usize::from(after.decision > before.decision);
            if after.decision < before.decision {
                let told = || {
                    format!(
                        "{}-- becomes\n{}{asked:?}\nbefore {:?} at {:?}: {}\nafter {:?} at {:?}: {}\n",
                        print_all(&files),
                        print_all(&tighter),
                        before.decision,
                        before.step,
                        before.reason,
                        after.decision,
                        after.step,
                        after.reason
                    )
                };
                let entry = violations.entry(way).or_insert_with(|| (0, told()));
                entry.0 += 1;
                if told().len() < entry.1.len() {
                    entry.1 = told();
                }
            }
        }
    }
    println!("way: (cases, cases that became stricter) {ways:#?}");
    for (way, (count, told)) in &violations {
        println!("{way}: {count} times\n{told}");
    }
    assert!(violations.is_empty(), "{:?}", violations.keys());
    // A way that never changes anything would prove nothing.
    for (way, (cases, stricter)) in &ways {
        assert!(*stricter > 0, "{way}: none of {cases}");
    }
    assert_eq!(ways.len(), WAYS);
}

// ---------------------------------------------------------------------------------------------------------------- POL-3

fn shuffle<T: Clone>(dice: &mut Dice, list: &mut Vec<T>) {
    for _ in 0..dice.below(3) {
        if !list.is_empty() {
            let again = list[dice.below(list.len())].clone();
            list.push(again);
        }
    }
    for last in (1..list.len()).rev() {
        list.swap(last, dice.below(last + 1));
    }
}

/// The same configuration with everything that has no order in another one, and some of it twice.
fn reordered(dice: &mut Dice, files: &[File]) -> Vec<File> {
    let mut other = files.to_vec();
    for file in &mut other {
        shuffle(dice, &mut file.allowlist);
        shuffle(dice, &mut file.denylist);
        shuffle(dice, &mut file.denied_commands);
        shuffle(dice, &mut file.tool_allowlist);
        shuffle(dice, &mut file.tool_denylist);
        shuffle(dice, &mut file.denied_paths);
        shuffle(dice, &mut file.hosts);
        if let Some(set) = &mut file.allowed_paths {
            shuffle(dice, set);
        }
        file.effects.reverse();
        for rule in &mut file.rules {
            shuffle(dice, &mut rule.tools);
            shuffle(dice, &mut rule.commands);
            shuffle(dice, &mut rule.contains);
            shuffle(dice, &mut rule.command_patterns);
            shuffle(dice, &mut rule.path_patterns);
            shuffle(dice, &mut rule.effects);
            shuffle(dice, &mut rule.hosts);
            shuffle(dice, &mut rule.hosts_except);
        }
    }
    for last in (1..other.len()).rev() {
        other.swap(last, dice.below(last + 1));
    }
    other
}

#[test]
fn the_same_question_gets_the_same_ruling_and_what_has_no_order_does_not_matter() {
    let cases = generate::cases(100_000);
    let mut dice = Dice::new(generate::seed());
    for _ in 0..cases / QUESTIONS {
        let files = generate::files(&mut dice);
        let (one, two) = (model::load(&files), model::load(&files));
        let other = reordered(&mut dice, &files);
        let shuffled = model::load(&other);
        for _ in 0..QUESTIONS {
            let asked = generate::asked(&mut dice);
            let first = one.rule(&asked.question());
            let told = || format!("{}--\n{}{asked:?}", print_all(&files), print_all(&other));
            // Each map of each configuration has its own hash seed.
            assert_eq!(format!("{first:?}"), format!("{:?}", one.rule(&asked.question())), "{}", told());
            assert_eq!(format!("{first:?}"), format!("{:?}", two.rule(&asked.question())), "{}", told());
            let again = shuffled.rule(&asked.question());
            assert_eq!((first.decision, first.step), (again.decision, again.step), "{}", told());
            assert_eq!(first.obligations, again.obligations, "{}", told());
            assert_eq!(first.needs_fence, again.needs_fence, "{}", told());
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------- POL-7

fn config(text: &str) -> Config {
    let layer = Layer::parse(Origin::Given, "given.yaml", text).unwrap();
    Config::merge(vec![layer], &model::base()).unwrap()
}

/// A call of one part in the workspace, behind a fence that holds.
fn one(tool: &'static str, category: Category, text: &str, effects: Vec<Effect>) -> Asked {
    let words: Vec<&str> = text.split_whitespace().collect();
    let part = Part {
        span: None,
        text: text.into(),
        argv: Some(words.iter().map(ToString::to_string).collect()),
        normal: normalize(&words),
        via: Vec::new(),
        effects,
    };
    Asked {
        tool,
        category,
        text: (category == Category::Exec).then(|| text.into()),
        analysis: Analysis { parts: vec![part], ..Analysis::default() },
        sandbox: Sandbox::Inherit,
        escalated: false,
        wall_ms: None,
        memory_mb: None,
        fence: Fence { name: "test", holds_paths: true, holds_network: true, lacks: None },
        engine: Consultation::NotConfigured,
    }
}

fn rule(text: &str, asked: &Asked) -> Ruling {
    config(text).rule(&asked.question())
}

#[test]
fn a_pattern_that_fails_counts_as_found_where_it_denies_or_asks_and_as_not_found_where_it_allows() {
    // Look-ahead and a back-reference need a backtracker, and this text makes it try for ever.
    const BOMB: &str = r"^(a|b|ab)*(?=c)\1d";
    let text = format!("echo {}", "ab".repeat(64));
    let bomb = BOMB.replace('^', "^echo ");
    let read = vec![Effect::Read(Target {
        path: format!("/w/app/{}", "ab".repeat(64)),
        given: None,
        place: Place::Workspace,
    })];
    let exec = one("shell_exec", Category::Exec, &text, Vec::new());
    let file = one("file_read", Category::Read, "", read);
    let in_path = BOMB.replace('^', "^/w/app/");
    for (key, asked, yaml) in [
        (
            "command_patterns",
            &exec,
            format!("rules: [{{name: n, action: ACTION, command_patterns: ['{bomb}']}}]"),
        ),
        (
            "path_patterns",
            &file,
            format!("rules: [{{name: n, action: ACTION, path_patterns: ['{in_path}']}}]"),
        ),
        (
            "command_rules",
            &exec,
            format!("safety: {{command_rules: [{{pattern: '{bomb}', decision: ACTION, is_regex: true}}]}}"),
        ),
    ] {
        let control =
            |action: &str| rule(&yaml.replace("ACTION", action).replace(r"(?=c)\1d", ""), asked).decision;
        let real = |action: &str| rule(&yaml.replace("ACTION", action), asked);
        assert_eq!(control("deny"), Decision::Deny, "{key}: the control must match");
        assert_eq!(control("ask"), Decision::Ask, "{key}: the control must match");
        assert_eq!(control("allow"), Decision::Allow, "{key}: the control must match");
        assert_eq!(real("deny").decision, Decision::Deny, "{key}");
        assert_eq!((real("ask").decision, real("ask").step), (Decision::Ask, Step::AskRules), "{key}");
        assert_ne!(real("allow").rule.id, "n", "{key}");
        if asked.category == Category::Exec {
            assert_eq!(real("allow").decision, Decision::Ask, "{key}");
        }
    }
}

#[test]
fn a_tool_that_nobody_knows_is_never_allowed_but_by_its_name() {
    for (yaml, expected) in [
        ("safety: {mode: allow}", Decision::Ask),
        ("{profile: dev, safety: {mode: allow}}", Decision::Ask),
        ("safety: {allowlist: [deploy]}", Decision::Ask),
        ("safety: {tool_allowlist: [deploy2, Deploy, deplo, 'deploy ', '*']}", Decision::Ask),
        ("safety: {mode: deny}", Decision::Deny),
        ("safety: {tool_allowlist: [deploy]}", Decision::Allow),
        ("rules: [{name: n, action: allow, tool: deploy}]", Decision::Allow),
        ("rules: [{name: n, action: allow, tool: Bash}]", Decision::Ask),
        ("safety: {tool_allowlist: [deploy], tool_denylist: [deploy]}", Decision::Deny),
    ] {
        for effects in [Vec::new(), vec![Effect::Unknown("no schema".into())]] {
            let asked = one("deploy", Category::Custom, "", effects);
            assert_eq!(rule(yaml, &asked).decision, expected, "{yaml}");
        }
    }
}

#[test]
fn what_an_engine_says_wrongly_is_a_denial_whatever_the_files_allow() {
    let lax = "{profile: dev, safety: {mode: allow, allowlist: [cat]}}";
    let mut asked = one("shell_exec", Category::Exec, "cat a", Vec::new());
    assert_eq!(rule(lax, &asked).decision, Decision::Allow, "the control");
    let long = format!(r#"{{"decision":"ALLOW","reason":"{}"}}"#, "x".repeat(policy::MAX_ANSWER));
    let deep = format!(r#"{{"decision":{}1{}}}"#, "[".repeat(2_000), "]".repeat(2_000));
    for body in [
        "",
        " ",
        "null",
        "true",
        "\"ALLOW\"",
        "[]",
        "{}",
        r#"{"decision":"Allow"}"#,
        r#"{"decision":"PERMIT"}"#,
        r#"{"decision":null}"#,
        r#"{"decision":["ALLOW"]}"#,
        r#"{"Decision":"ALLOW"}"#,
        r#"{"decision":"ALLOW","reason":{}}"#,
        r#"{"decision":"ALLOW","obligations":{}}"#,
        r#"{"decision":"ALLOW","obligations":["fly"]}"#,
        r#"{"decision":"ALLOW","obligations":[{}]}"#,
        r#"{"decision":"ALLOW"} {"decision":"DENY"}"#,
        r#"{"decision":"ALLOW""#,
        long.as_str(),
        deep.as_str(),
    ] {
        let why = Answer::parse(body.as_bytes()).expect_err(body);
        asked.engine = Consultation::Failed(why);
        let ruling = rule(lax, &asked);
        assert_eq!((ruling.decision, ruling.step), (Decision::Deny, Step::Engine), "{body:.60}");
    }
    assert!(Answer::parse(b"{\"decision\":\"ALLOW\xff\"}").is_err(), "not UTF-8");
}

#[test]
fn what_could_not_be_found_out_is_never_allowed_but_behind_a_fence_that_holds() {
    let fences = [(false, false), (false, true), (true, false), (true, true)];
    for (yaml, fenced) in [
        ("safety: {mode: allow, allowlist: [cat]}", Decision::Ask),
        ("{profile: prod, safety: {mode: allow, allowlist: [cat]}}", Decision::Ask),
        ("{profile: balanced, safety: {mode: allow, allowlist: [cat]}}", Decision::Ask),
        ("{profile: dev, safety: {mode: allow, allowlist: [cat]}}", Decision::Allow),
        ("{profile: dev, safety: {effects: {unknown: deny}}}", Decision::Deny),
        ("{profile: dev, rules: [{name: n, action: allow, effects: [unknown]}]}", Decision::Allow),
    ] {
        for (holds_paths, holds_network) in fences {
            let mut asked = one("shell_exec", Category::Exec, "cat a", vec![Effect::Unknown("$x".into())]);
            asked.fence = Fence { name: "test", holds_paths, holds_network, lacks: None };
            let expected = if holds_paths && holds_network { fenced } else { fenced.max(Decision::Ask) };
            assert_eq!(rule(yaml, &asked).decision, expected, "{yaml} {:?}", asked.fence);
        }
    }
}
