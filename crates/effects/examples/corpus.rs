//! Measures the analysis against labelled commands: `corpus FILE.jsonl > mismatches`; a summary goes to standard
//! error. The policy is a stand-in: the `dev` profile without a fence, so what is run or not known is asked about.

use std::collections::BTreeMap;
use std::path::Path;

use effects::{Class, NoFiles, Surroundings};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Ruling {
    Allow,
    Ask,
    Deny,
}

fn rule(class: Class) -> Ruling {
    match class {
        Class::ReadWorkspace
        | Class::ReadTemporary
        | Class::ReadSystem
        | Class::WriteWorkspace
        | Class::WriteTemporary
        | Class::Delete
        | Class::DeleteGenerated
        | Class::ConnectLocal
        | Class::ConnectService => Ruling::Allow,
        Class::ReadOutside
        | Class::WriteProtected
        | Class::WriteOutside
        | Class::DeleteRecursive
        | Class::Connect
        | Class::Run
        | Class::Code
        | Class::CodeUnresolved
        | Class::History
        | Class::Environment
        | Class::Unknown => Ruling::Ask,
        Class::Credentials
        | Class::WriteSystem
        | Class::Exfiltrate
        | Class::CodeNetwork
        | Class::Privilege
        | Class::System => Ruling::Deny,
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a tool for those who write knowledge: it reads the file it is given"
)]
fn main() {
    let Some(file) = std::env::args().nth(1) else {
        eprintln!("usage: corpus FILE.jsonl > mismatches, or corpus -c COMMAND");
        return;
    };
    let around = Surroundings {
        cwd: Path::new("/workspace/project"),
        home: Some(Path::new("/home/user")),
        user: Some("user"),
        workspace: Some(Path::new("/workspace/project")),
        files: &NoFiles,
    };
    let judge = |command: &str| {
        let intent = call::Intent::Shell {
            text: command.to_owned(),
            shell: call::Shell::Bash,
            cwd: None,
            env_names: Vec::new(),
        };
        let analysis = effects::analyse(&[intent], &around);
        let all = || analysis.parts.iter().flat_map(|part| &part.effects);
        let ruling = all().filter_map(|effect| effect.class()).map(rule).max().unwrap_or(Ruling::Allow);
        let shown: Vec<String> = all()
            .filter(|effect| {
                effect.class().is_some_and(|class| rule(class) == ruling && ruling != Ruling::Allow)
            })
            .map(ToString::to_string)
            .collect();
        (ruling, shown.join(" "), analysis)
    };
    if file == "-c" {
        let command = std::env::args().nth(2).unwrap_or_default();
        let (ruling, _, analysis) = judge(&command);
        println!("{ruling:?} {:?} complex: {:?}", analysis.risk, analysis.complex);
        for part in &analysis.parts {
            println!("  {:?} via {:?} {:?}", part.text, part.via, part.normal);
            for effect in &part.effects {
                println!("    {effect} {:?}", effect.class());
            }
        }
        return;
    }
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    let mut counts: BTreeMap<(String, Ruling), usize> = BTreeMap::new();
    for line in text.lines() {
        let (Some(command), Some(label)) = (field(line, "command"), field(line, "label")) else { continue };
        let (ruling, why, _) = judge(&command);
        let wanted = match label.as_str() {
            "safe" => ruling == Ruling::Allow,
            "ask" => ruling != Ruling::Allow,
            _ => ruling == Ruling::Deny,
        };
        if !wanted {
            println!("{label}\t{ruling:?}\t{}\t{why}", command.replace('\n', "\\n"));
        }
        *counts.entry((label, ruling)).or_default() += 1;
    }
    for ((label, ruling), count) in counts {
        eprintln!("{label:10} {ruling:?} {count}");
    }
}

/// A string of a flat JSON object, escapes undone.
fn field(line: &str, name: &str) -> Option<String> {
    let at = line.find(&format!("\"{name}\": \""))?;
    let rest = line.get(at + name.len() + 5..)?;
    let mut text = String::new();
    let mut letters = rest.chars();
    loop {
        match letters.next()? {
            '"' => return Some(text),
            '\\' => match letters.next()? {
                'n' => text.push('\n'),
                't' => text.push('\t'),
                'r' => text.push('\r'),
                'u' => {
                    let code: String = letters.by_ref().take(4).collect();
                    text.push(char::from_u32(u32::from_str_radix(&code, 16).ok()?).unwrap_or('\u{fffd}'));
                }
                other => text.push(other),
            },
            letter => text.push(letter),
        }
    }
}
