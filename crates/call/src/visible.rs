//! Text made safe to show: what a terminal or a browser would act on, hide or reorder is spelt out.
//!
//! `rm \u{202e}txt.sj` reads as another name on many screens, and an escape sequence can rewrite the line above it.
//! Whoever approves must see the characters that are there. Nothing is cut: a long text keeps its end. Characters that look like
//! others are in [`crate::look_alikes`].

use std::fmt::Write as _;

use crate::look_alikes::deceiving;

/// `text` with every character that could deceive written as `<U+XXXX>`, line ends and tabs too.
#[must_use]
pub fn visible(text: &str) -> String {
    spell_out(text, deceives)
}

/// Like [`visible`], but line feeds and tabs stay, for text that is shown as a block of its own.
#[must_use]
pub fn visible_lines(text: &str) -> String {
    spell_out(text, |character| !matches!(character, '\n' | '\t') && deceives(character))
}

fn spell_out(text: &str, hidden: impl Fn(char) -> bool) -> String {
    if text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        return text.to_owned();
    }
    let characters: Vec<char> = text.chars().collect();
    let gone: Vec<bool> = characters.iter().map(|character| hidden(*character)).collect();
    let marked = deceiving(&characters, &gone);
    let mut shown = String::with_capacity(text.len());
    for (character, mark) in characters.into_iter().zip(marked) {
        if mark {
            let _ = write!(shown, "<U+{:04X}>", u32::from(character));
        } else {
            shown.push(character);
        }
    }
    shown
}

/// Invisible, reordering, acted upon, or a look-alike of the space.
fn deceives(character: char) -> bool {
    if (' '..='~').contains(&character) {
        return false;
    }
    let code = u32::from(character);
    HIDDEN.iter().any(|&(first, last)| (first..=last).contains(&code))
}

/// Ranges of code points, with the reason.
const HIDDEN: &[(u32, u32)] = &[
    (0x0000, 0x001f), // control characters, the escape that starts terminal sequences among them
    (0x007f, 0x009f), // delete and the second control block
    (0x00a0, 0x00a0), // no-break space
    (0x00ad, 0x00ad), // soft hyphen
    (0x034f, 0x034f), // combining grapheme joiner
    (0x061c, 0x061c), // Arabic letter mark
    (0x115f, 0x1160), // Hangul fillers
    (0x1680, 0x1680), // Ogham space
    (0x17b4, 0x17b5), // Khmer inherent vowels
    (0x180b, 0x180f), // Mongolian selectors and vowel separator
    (0x2000, 0x200f), // spaces of many widths, zero-width characters, direction marks
    (0x2028, 0x202f), // line and paragraph separators, bidirectional embeddings and overrides, narrow space
    (0x205f, 0x206f), // mathematical space, invisible operators, bidirectional isolates
    (0x2800, 0x2800), // empty Braille cell
    (0x3000, 0x3000), // ideographic space
    (0x3164, 0x3164), // Hangul filler
    (0xfe00, 0xfe0f), // variation selectors
    (0xfeff, 0xfeff), // byte order mark
    (0xffa0, 0xffa0), // half-width Hangul filler
    (0xfff0, 0xfffb), // specials: annotations
    (0xfffe, 0xffff), // no characters
    (0x1_bca0, 0x1_bca3), // shorthand controls
    (0x1_d173, 0x1_d17a), // musical controls
    (0xe_0000, 0xe_0fff), // tags and more variation selectors
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_could_deceive_is_spelt_out() {
        let table = [
            ("ls -la", "ls -la"),
            ("größe 文件 😀", "größe 文件 😀"),
            ("a\u{202e}b", "a<U+202E>b"),
            ("a\u{200b}b", "a<U+200B>b"),
            ("\u{1b}[2J", "<U+001B>[2J"),
            ("\u{9b}2J", "<U+009B>2J"),
            ("a\rb\nc\td", "a<U+000D>b<U+000A>c<U+0009>d"),
            ("a\u{a0}b", "a<U+00A0>b"),
            ("\u{feff}x\u{e0041}", "<U+FEFF>x<U+E0041>"),
            ("\u{2066}x\u{2069}\u{61c}", "<U+2066>x<U+2069><U+061C>"),
            ("\0\u{7f}", "<U+0000><U+007F>"),
        ];
        for (text, expected) in table {
            assert_eq!(visible(text), expected);
        }
        assert_eq!(visible_lines("a\n\tb\r\u{1b}"), "a\n\tb<U+000D><U+001B>");
    }

    #[test]
    fn look_alikes_are_spelt_out_and_honest_words_stay() {
        let table = [
            // Letters of another script inside a word.
            ("p\u{430}ypal", "p<U+0430>ypal"),
            ("/usr/bin/\u{455}udo", "/usr/bin/<U+0455>udo"),
            ("g\u{3bf}\u{3bf}gle.com", "g<U+03BF><U+03BF>gle.com"),
            ("sud\u{585}", "sud<U+0585>"),
            ("d\u{131}r", "d<U+0131>r"),
            ("\u{13aa}o", "<U+13AA>o"),
            ("x\u{2071}", "x<U+2071>"),
            // Whole words of look-alikes, where nothing speaks for their script.
            ("\u{455}\u{455}\u{4bb} host", "<U+0455><U+0455><U+04BB> host"),
            ("bin/\u{441}\u{430}", "bin/<U+0441><U+0430>"),
            // ASCII in another dress.
            ("usr\u{2215}bin\u{2044}x\u{ff0f}y", "usr<U+2215>bin<U+2044>x<U+FF0F>y"),
            ("\u{ff52}\u{ff4d}", "<U+FF52><U+FF4D>"),
            ("\u{1d42b}m", "<U+1D42B>m"),
            ("a\u{37e} b", "a<U+037E> b"),
            ("rm \u{2013}rf", "rm <U+2013>rf"),
            ("a\u{2010}b", "a<U+2010>b"),
            ("echo \u{2018}x\u{2019}", "echo <U+2018>x<U+2019>"),
            ("a\u{338}b", "a<U+0338>b"),
            ("/\u{301}", "/<U+0301>"),
            // Honest text.
            ("файл.txt и папка", "файл.txt и папка"),
            ("git commit -m 'сор из избы'", "git commit -m 'сор из избы'"),
            ("λόγος και έργο", "λόγος και έργο"),
            ("10 µs – 3 kΩ", "10 µs – 3 kΩ"),
            ("don’t naïve café größe", "don’t naïve café größe"),
            ("e\u{301}te\u{301}", "e\u{301}te\u{301}"),
            ("ışık sınıfı çok", "ışık s<U+0131>n<U+0131>f<U+0131> çok"),
            ("日本語（テスト）ファイル.txt", "日本語（テスト）ファイル.txt"),
            ("שלום עולם", "שלום עולם"),
            ("مرحبا", "مرحبا"),
            ("한국어 文件 😀", "한국어 文件 😀"),
            ("Łódź Đà Nẵng tiếng Việt", "Łódź Đà Nẵng tiếng Việt"),
        ];
        for (text, expected) in table {
            assert_eq!(visible(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_was_spelt_out_stays_so(text in "[a-z \u{430}\u{441}\u{436}\u{3bf}\u{3bb}\u{131}\u{15f}\u{2013}\u{2019}\u{301}\u{338}\u{ff01}\u{65e5}\u{2215}\u{a0}<>U+0-9/\u{2071}\u{13aa}]{0,24}") {
            let shown = visible(&text);
            prop_assert_eq!(visible(&shown), shown);
        }

        #[test]
        fn nothing_that_deceives_is_left_and_the_end_is_kept(text in any::<String>()) {
            let shown = visible(&text);
            prop_assert!(!shown.chars().any(|c| c.is_control() || deceives(c)));
            prop_assert!(shown.chars().count() >= text.chars().count());
            prop_assert_eq!(visible(&shown), shown);
        }
    }
}
