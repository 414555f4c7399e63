//! Characters that look like others: which of them deceive where they stand.
//!
//! `pаypal` with a Cyrillic `а`, `rm –rf` with a dash that is none, `usr∕bin` with a slash that separates nothing. A whole word
//! in one script is honest and stays readable; a letter of another script inside a word with Latin letters is not. Some
//! characters are nothing but ASCII in another dress (mathematical, full-width, circled letters) and are always spelt out.
//!
//! The decision is stable: what was spelt out counts as absent when the text is looked at again.

/// For each character, whether it is to be spelt out. `gone` says the same of those that are spelt out anyway.
pub(crate) fn deceiving(text: &[char], gone: &[bool]) -> Vec<bool> {
    let mut marked = gone.to_vec();
    // Those that deceive wherever they stand come first: the rest is judged as if they were not there.
    for (character, mark) in text.iter().zip(marked.iter_mut()) {
        *mark = *mark || is_dressed(*character);
    }
    // What is spelt out no longer stands between its neighbours, which may then deceive in turn.
    for _ in 0..ROUNDS {
        // What was spelt out before is as absent as what is spelt out now.
        let absent = absent(text, &marked);
        let left: Vec<usize> = (0..text.len()).filter(|index| absent.get(*index) != Some(&true)).collect();
        let seen: Vec<char> = left.iter().filter_map(|index| text.get(*index).copied()).collect();
        let deceives = in_context(&seen);
        if !deceives.contains(&true) {
            return marked;
        }
        for (index, deceiving) in left.iter().zip(deceives) {
            if let Some(mark) = marked.get_mut(*index) {
                *mark |= deceiving;
            }
        }
    }
    // FAIL-CLOSED: nobody writes like this honestly.
    for (character, mark) in text.iter().zip(marked.iter_mut()) {
        *mark = *mark || !character.is_ascii();
    }
    marked
}

/// How often a text is looked at.
const ROUNDS: usize = 6;

/// Marked characters, and whole `<U+XXXX>`.
fn absent(text: &[char], marked: &[bool]) -> Vec<bool> {
    let mut absent = marked.to_vec();
    let mut index = 0;
    while index < text.len() {
        let length = spelt_out(text.get(index..).unwrap_or_default());
        for place in absent.iter_mut().skip(index).take(length) {
            *place = true;
        }
        index += length.max(1);
    }
    absent
}

/// How long the `<U+XXXX>` is that stands here; 0 where none does.
fn spelt_out(text: &[char]) -> usize {
    let Some(digits) = text.strip_prefix(&['<', 'U', '+']) else { return 0 };
    let count = digits.iter().take(7).take_while(|c| matches!(c, '0'..='9' | 'A'..='F')).count();
    if (4..=6).contains(&count) && digits.get(count) == Some(&'>') { count + 4 } else { 0 }
}

fn in_context(text: &[char]) -> Vec<bool> {
    let mut marked = vec![false; text.len()];
    let honest = Honest::of(text);
    let mut start = 0;
    // Token by token: what stands between white space.
    while start < text.len() {
        let rest = text.get(start..).unwrap_or_default();
        let length = rest.iter().position(|c| c.is_whitespace()).unwrap_or(rest.len());
        let token = rest.get(..length).unwrap_or_default();
        letters(token, &honest, marked.get_mut(start..start + length).unwrap_or_default());
        start += length + 1;
    }
    signs(text, &mut marked);
    marked
}

/// Scripts of which the text has letters that look like no ASCII letter.
struct Honest {
    greek: bool,
    cyrillic: bool,
    armenian: bool,
}

impl Honest {
    fn of(text: &[char]) -> Self {
        let own = |script: Script| text.iter().any(|c| Script::of(*c) == script && !looks_latin(*c));
        Honest { greek: own(Script::Greek), cyrillic: own(Script::Cyrillic), armenian: own(Script::Armenian) }
    }

    fn has(&self, script: Script) -> bool {
        match script {
            Script::Greek => self.greek,
            Script::Cyrillic => self.cyrillic,
            Script::Armenian => self.armenian,
            Script::Ascii | Script::Latin | Script::Modifier | Script::Rare | Script::Other => false,
        }
    }
}

/// Letters of one token, word by word.
fn letters(token: &[char], honest: &Honest, marked: &mut [bool]) {
    let has_ascii = token.iter().any(char::is_ascii_alphanumeric);
    let in_word = |c: &char| c.is_alphanumeric() || is_mark(*c) || Script::of(*c) == Script::Modifier;
    let mut start = 0;
    while start < token.len() {
        let rest = token.get(start..).unwrap_or_default();
        let length = rest.iter().position(|c| !in_word(c)).unwrap_or(rest.len());
        let word = rest.get(..length).unwrap_or_default();
        let latin = word.iter().any(|c| matches!(Script::of(*c), Script::Ascii | Script::Latin));
        let ascii = word.iter().any(char::is_ascii_alphanumeric);
        let turkish = word.iter().any(|c| "şŞğĞçÇöÖüÜİəƏ".contains(*c));
        // A word of nothing but look-alikes is a whole word of its script only among honest words of that script.
        let only_look_alikes = word.iter().all(|c| !c.is_alphabetic() || looks_latin(*c));
        for (offset, character) in word.iter().enumerate() {
            let script = Script::of(*character);
            let deceives = match script {
                Script::Greek | Script::Cyrillic | Script::Armenian => {
                    looks_latin(*character)
                        && (latin || (only_look_alikes && (has_ascii || !honest.has(script))))
                }
                // The dotless i is a letter of honest words; the others are letters of phonetics.
                Script::Latin => {
                    looks_latin(*character)
                        && !turkish
                        && (ascii || only_look_alikes || *character != '\u{131}')
                }
                Script::Modifier => ascii,
                Script::Rare => latin || has_ascii,
                Script::Other => ascii && character.is_numeric() && character.is_alphanumeric(),
                Script::Ascii => false,
            };
            if let Some(mark) = marked.get_mut(start + offset) {
                *mark |= deceives;
            }
        }
        start += length.max(1);
    }
}

/// Signs whose neighbours tell whether they deceive.
fn signs(text: &[char], marked: &mut [bool]) {
    let mut marks_in_a_row = 0;
    for (index, character) in text.iter().enumerate() {
        let neighbour = |at: Option<usize>| {
            let at = at?;
            let character = text.get(at).copied()?;
            Some((character, marked.get(at).copied().unwrap_or(true)))
        };
        let (before, after) = (neighbour(index.checked_sub(1)), neighbour(index.checked_add(1)));
        let blank = |side: Option<(char, bool)>| side.is_none_or(|(c, _)| c.is_whitespace());
        let letter = |side: Option<(char, bool)>| side.is_some_and(|(c, gone)| c.is_alphabetic() && !gone);
        let deceives = match *character {
            // A dash between spaces is punctuation; elsewhere it passes for a hyphen or for the start of an option.
            '\u{2010}'..='\u{2015}' | '\u{2043}' | '\u{2212}' | '\u{2796}' | '\u{06d4}' => {
                !(blank(before) && blank(after))
            }
            // Within a word it is an apostrophe; elsewhere it passes for a quote that the shell sees.
            '\u{2018}' | '\u{2019}' | '\u{201b}' | '\u{2032}' | '\u{00b4}' | '\u{02b9}' | '\u{02bc}' => {
                !(letter(before) && letter(after))
            }
            // Full-width punctuation belongs to its scripts.
            '\u{ff01}' | '\u{ff08}' | '\u{ff09}' | '\u{ff0c}' | '\u{ff1a}' | '\u{ff1b}' | '\u{ff1f}' => {
                let square = |side: Option<(char, bool)>| side.is_some_and(|(c, _)| is_square(c));
                !(square(before) || square(after))
            }
            // A mark without a letter, or on a heap of marks, hides what it stands on.
            c if is_mark(c) => {
                let on_letter = before.is_some_and(|(c, gone)| (c.is_alphanumeric() || is_mark(c)) && !gone);
                marks_in_a_row += 1;
                !on_letter || marks_in_a_row > 3
            }
            _ => false,
        };
        if !is_mark(*character) {
            marks_in_a_row = 0;
        }
        if let Some(mark) = marked.get_mut(index) {
            *mark |= deceives;
        }
    }
}

/// The scripts that matter here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    Ascii,
    Latin,
    Greek,
    Cyrillic,
    Armenian,
    /// Small raised or lowered letters.
    Modifier,
    /// Scripts whose letters look like capitals and that nobody mixes with Latin by accident.
    Rare,
    Other,
}

impl Script {
    fn of(character: char) -> Script {
        match u32::from(character) {
            0x30..=0x39 | 0x41..=0x5a | 0x61..=0x7a => Script::Ascii,
            0x02b0..=0x02ff
            | 0x1d2c..=0x1d6a
            | 0x1d78
            | 0x1d9b..=0x1dbf
            | 0x2070..=0x209c
            | 0xaa
            | 0xba
            | 0xb2
            | 0xb3
            | 0xb9 => Script::Modifier,
            0x00c0..=0x02af
            | 0x1d00..=0x1d2b
            | 0x1d6b..=0x1d9a
            | 0x1e00..=0x1eff
            | 0x2c60..=0x2c7f
            | 0xa720..=0xa7ff
            | 0xab30..=0xab6f => Script::Latin,
            0x0370..=0x03ff | 0x1f00..=0x1fff => Script::Greek,
            0x0400..=0x052f | 0x1c80..=0x1c8f | 0x2de0..=0x2dff | 0xa640..=0xa69f => Script::Cyrillic,
            0x0530..=0x058f => Script::Armenian,
            // Cherokee, Coptic, Lisu, and what is written no more: Lycian, Carian, Old Italic, Deseret, Osage and others.
            0x13a0..=0x13ff
            | 0x2c80..=0x2cff
            | 0xa4d0..=0xa4ff
            | 0xab70..=0xabbf
            | 0x1_0280..=0x1_05ff
            | 0x1_18a0..=0x1_18ff
            | 0x1_6e40..=0x1_6e9f => Script::Rare,
            _ => Script::Other,
        }
    }
}

/// Letters that are taken for an ASCII letter or digit.
fn looks_latin(character: char) -> bool {
    match Script::of(character) {
        Script::Ascii => true,
        Script::Cyrillic => "аьсԁеҽгһіјкӏмопԛрѕтуѵԝхүӽзвнАВСЕҮԌНІЈКМОРԚЅТՍѴԜХУЗЬҺӀЬԌҼҲӃԀ".contains(character),
        Script::Greek => "αβγεηικνορτυχωσϲϳϱϐϵϝΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹͿϜϺͲ".contains(character),
        Script::Armenian => "ոսօհցյզլգղքռաՕՍԼՏՑՀՈԱ".contains(character),
        Script::Latin => "ıȷɑɡɩɪʋʏɴʀʙʜʟɢƖƽƄꜱꞮǃǀꞁꝸɐᴀᴄᴅᴇᴊᴋᴍᴏᴘᴛᴜᴠᴡᴢ".contains(character),
        Script::Modifier | Script::Rare | Script::Other => false,
    }
}

/// Combining marks.
fn is_mark(character: char) -> bool {
    matches!(u32::from(character), 0x0300..=0x036f | 0x0483..=0x0489 | 0x1ab0..=0x1aff | 0x1dc0..=0x1dff | 0x20d0..=0x20ff | 0xfe20..=0xfe2f)
}

/// Writing in squares: Han, kana, hangul and their punctuation.
fn is_square(character: char) -> bool {
    matches!(u32::from(character), 0x1100..=0x11ff | 0x2e80..=0x2fff | 0x3001..=0x9fff | 0xa960..=0xa97f | 0xac00..=0xd7ff | 0xf900..=0xfaff | 0x2_0000..=0x3_ffff)
}

/// ASCII in another dress, signs that pass for ASCII signs, and marks that cross out.
fn is_dressed(character: char) -> bool {
    if character.is_ascii() {
        return false;
    }
    let code = u32::from(character);
    DRESSED.iter().any(|&(first, last)| (first..=last).contains(&code))
}

/// Ranges of code points, with what they pass for.
const DRESSED: &[(u32, u32)] = &[
    (0x01c0, 0x01c0), // |
    (0x01c3, 0x01c3), // !
    (0x02c2, 0x02c3), // < >
    (0x02c8, 0x02c8), // '
    (0x02cb, 0x02cb), // `
    (0x02d0, 0x02d0), // :
    (0x02d7, 0x02d7), // -
    (0x02dc, 0x02dc), // ~
    (0x02ba, 0x02ba), // "
    (0x0334, 0x0338), // marks that cross a character out
    (0x037e, 0x037e), // ;
    (0x0387, 0x0387), // .
    (0x0589, 0x0589), // :
    (0x05c3, 0x05c3), // :
    (0x066a, 0x066a), // %
    (0x066d, 0x066d), // *
    (0x06d4, 0x06d4), // -
    (0x1735, 0x1735), // /
    (0x1fbd, 0x1fbf), // '
    (0x1fef, 0x1fef), // `
    (0x201a, 0x201a), // ,
    (0x201c, 0x201d), // "
    (0x201f, 0x201f), // "
    (0x2024, 0x2024), // .
    (0x2033, 0x2033), // "
    (0x2035, 0x2036), // `
    (0x2039, 0x203a), // < >
    (0x2044, 0x2044), // /
    (0x204e, 0x204e), // *
    (0x2053, 0x2053), // ~
    (0x20d2, 0x20d3), // marks that cross out
    (0x20d8, 0x20da),
    (0x20e5, 0x20eb),
    (0x2102, 0x2102), // letters of mathematics
    (0x210a, 0x2115),
    (0x2118, 0x211d),
    (0x2124, 0x2124),
    (0x2128, 0x2128),
    (0x212a, 0x2134),
    (0x2139, 0x2139),
    (0x2145, 0x2149),
    (0x2160, 0x217f), // Roman numerals
    (0x2215, 0x2217), // / \ *
    (0x2223, 0x2223), // |
    (0x2236, 0x2236), // :
    (0x223c, 0x223c), // ~
    (0x2460, 0x24ff), // circled letters and digits
    (0x2571, 0x2573), // / \ X
    (0x2758, 0x2758), // |
    (0x275b, 0x275e), // quotes
    (0x276e, 0x276f), // < >
    (0x27cb, 0x27cb), // /
    (0x27cd, 0x27cd), // \
    (0x29f5, 0x29f5), // \
    (0x29f8, 0x29f9), // / \
    (0x3003, 0x3003), // "
    (0xa4f8, 0xa4fd), // . , : ;
    (0xa789, 0xa78a), // : =
    (0xfe50, 0xfe6f), // small forms
    (0xff02, 0xff07), // full-width forms, but for the punctuation that belongs to its scripts
    (0xff0a, 0xff0b),
    (0xff0d, 0xff19),
    (0xff1c, 0xff1e),
    (0xff20, 0xff5e),
    (0xffe8, 0xffe8),     // |
    (0x1_d400, 0x1_d7ff), // mathematical alphabets
    (0x1_f100, 0x1_f1ff), // letters in squares and circles
    (0x1_fbf0, 0x1_fbf9), // digits of displays
];
