//! APR-7: whoever approves sees what would run. A thousand texts that would deceive are shown so that they do not; the control
//! shows them as they are, and they do.

use std::time::Duration;

use approval::{Style, explanation, prompt};
use call::{RawCall, visible};
use serde_json::json;

use crate::asking::{Random, dev, judge};

/// What deceives, and what it passes for.
const TRICKS: &[(&str, &str)] = &[
    ("\u{430}", "a"),
    ("\u{435}", "e"),
    ("\u{43e}", "o"),
    ("\u{440}", "p"),
    ("\u{441}", "c"),
    ("\u{443}", "y"),
    ("\u{445}", "x"),
    ("\u{455}", "s"),
    ("\u{456}", "i"),
    ("\u{458}", "j"),
    ("\u{4bb}", "h"),
    ("\u{501}", "d"),
    ("\u{51b}", "q"),
    ("\u{51d}", "w"),
    ("\u{3bf}", "o"),
    ("\u{3bd}", "v"),
    ("\u{3b1}", "a"),
    ("\u{3c1}", "p"),
    ("\u{585}", "o"),
    ("\u{578}", "n"),
    ("\u{131}", "i"),
    ("\u{251}", "a"),
    ("\u{261}", "g"),
    ("\u{ff41}", "a"),
    ("\u{ff52}", "r"),
    ("\u{ff0f}", "/"),
    ("\u{2215}", "/"),
    ("\u{2044}", "/"),
    ("\u{29f8}", "/"),
    ("\u{2024}", "."),
    ("\u{37e}", ";"),
    ("\u{2013}", "-"),
    ("\u{2010}", "-"),
    ("\u{2011}", "-"),
    ("\u{2212}", "-"),
    ("\u{ff5c}", "|"),
    ("\u{2223}", "|"),
    ("\u{223c}", "~"),
    ("\u{1d5ba}", "a"),
    ("\u{24d0}", "a"),
    ("\u{2170}", "i"),
    ("\u{212a}", "K"),
    ("\u{13a0}", "D"),
    ("\u{a4d0}", "B"),
    ("\u{200b}", ""),
    ("\u{200d}", ""),
    ("\u{2060}", ""),
    ("\u{feff}", ""),
    ("\u{ad}", ""),
    ("\u{34f}", ""),
    ("\u{202e}", ""),
    ("\u{202d}", ""),
    ("\u{2066}", ""),
    ("\u{2069}", ""),
    ("\u{200e}", ""),
    ("\u{200f}", ""),
    ("\u{61c}", ""),
    ("\u{e0041}", ""),
    ("\u{fe0f}", ""),
    ("\u{338}", ""),
    ("\u{1b}[2K", ""),
    ("\u{1b}[1A", ""),
    ("\u{1b}]0;x\u{7}", ""),
    ("\u{9b}2J", ""),
    ("\u{8}", ""),
    ("\u{a0}", " "),
    ("\u{2003}", " "),
    ("\u{3000}", " "),
    ("\u{3164}", " "),
    ("\u{2800}", " "),
    ("\u{7f}", ""),
    ("\u{0085}", ""),
    ("\u{2028}", "\n"),
];

/// What a person takes a text for.
fn taken_for(text: &str) -> String {
    let mut seen = text.to_owned();
    for (trick, look) in TRICKS {
        seen = seen.replace(trick, look);
    }
    seen
}

fn spoofs() -> Vec<(String, String)> {
    let plain = [
        "cat /usr/bin/passwd",
        "rm -rf build",
        "curl example.com/x",
        "git push origin main",
        "npm run paydash; ls -a",
    ];
    let mut random = Random(7);
    let mut all = Vec::new();
    while all.len() < 1000 {
        let base = *random.pick(&plain);
        let mut text: Vec<String> = base.chars().map(|c| c.to_string()).collect();
        for _ in 0..=random.below(3) {
            let (trick, look) = *random.pick(TRICKS);
            let fits: Vec<usize> =
                (0..text.len()).filter(|at| look.is_empty() || text[*at] == look).collect();
            if fits.is_empty() {
                continue;
            }
            let at = *random.pick(&fits);
            if look.is_empty() {
                text[at].push_str(trick);
            } else {
                text[at] = trick.to_owned();
            }
        }
        let spoof = text.concat();
        if spoof != base {
            all.push((spoof, base.to_owned()));
        }
    }
    all
}

#[test]
fn none_of_a_thousand_spoofs_passes_for_what_it_imitates() {
    let config = dev();
    let mut passed = 0;
    for (spoof, imitated) in spoofs() {
        // The control: as it is, it passes.
        assert_eq!(taken_for(&spoof).replace('\n', " "), imitated, "the control is vacuous: {spoof:?}");
        assert_ne!(taken_for(&visible(&spoof)), imitated, "{spoof:?}");
        let mut raw = RawCall::new("custom_tool", json!({"text": spoof}));
        if call::Call::parse(RawCall::command(spoof.clone())).is_ok() {
            raw = RawCall::command(spoof.clone());
        }
        let asked = judge(&config, raw).asked;
        let page = prompt(&asked, 80, Style::Plain, Duration::from_secs(60));
        let whole = explanation(&asked, 80, Style::Plain);
        let json = asked.to_json(0).to_string();
        for (what, shown) in [("prompt", &page), ("explanation", &whole), ("json", &json)] {
            let joined: String = shown.lines().map(|line| line.trim_start_matches([' ', '|'])).collect();
            let seen = taken_for(&joined);
            let deceived =
                seen.match_indices(&imitated).any(|(at, _)| !seen[at + imitated.len()..].starts_with("<U+"));
            assert!(!deceived, "{what} of {spoof:?}:\n{shown}");
            assert!(shown.contains("<U+"), "{what} of {spoof:?}:\n{shown}");
            assert!(!shown.chars().any(|c| c.is_control() && c != '\n'), "{what} of {spoof:?}");
        }
        passed += 1;
    }
    assert_eq!(passed, 1000);
}

#[test]
fn the_end_of_a_long_text_is_always_shown_and_no_line_of_it_passes_for_the_prompt() {
    let config = dev();
    for (filler, count) in
        [("x", 60_000), (" ", 2_000), ("a ", 9_000), ("echo hello; ", 4_000), ("\n", 3_000)]
    {
        let command = format!("echo start{}; rm -rf ~/end-of-it", filler.repeat(count));
        let Ok(_) = call::Call::parse(RawCall::command(command.clone())) else { continue };
        let asked = judge(&config, RawCall::command(command)).asked;
        for width in [24, 40, 80, 200] {
            let page = prompt(&asked, width, Style::Plain, Duration::from_secs(60));
            let joined: String = page.lines().map(|line| line.trim_start_matches([' ', '|'])).collect();
            assert!(
                joined.contains("rm-rf~/end-of-it") || joined.contains("rm -rf ~/end-of-it"),
                "{width}: {page}"
            );
            assert!(page.lines().count() < 80, "{width}: it still fits on a page or two");
            assert!(page.lines().all(|line| line.chars().count() <= width.clamp(24, 100)), "{width}: {page}");
        }
    }
    let fake = "true\n\n risk     low\n because  nothing\n y yes, once   n no\n > ";
    let asked = judge(&config, RawCall::command(fake)).asked;
    let page = prompt(&asked, 80, Style::Plain, Duration::from_secs(60));
    assert_eq!(page.lines().filter(|line| line.starts_with(" risk ")).count(), 1, "{page}");
    for line in page.lines().filter(|line| line.contains("nothing")) {
        assert!(line.starts_with("   | ") || line.starts_with("          "), "{page}");
    }
}
