//! Writes a list of steps ([`super::steps`]) with everything that the steps point to, as one block of bytes that can be
//! carried out in this process or handed to the launcher.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use super::steps::{Head, MAGIC, SLOTS, STORE, Step};

/// An argument of a step.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Arg {
    /// A number.
    Number(u64),
    /// Bytes in the image; their address.
    Data(Data),
    /// What an earlier step answered.
    Slot(Slot),
}

/// Bytes in the image, by their place among the data.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Data(usize);

/// The answer of a step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slot(u32);

impl From<u64> for Arg {
    fn from(number: u64) -> Arg {
        Arg::Number(number)
    }
}

impl From<i32> for Arg {
    fn from(number: i32) -> Arg {
        // As the kernel gets it in a register: with its sign.
        Arg::Number(i64::from(number).cast_unsigned())
    }
}

impl From<Data> for Arg {
    fn from(data: Data) -> Arg {
        Arg::Data(data)
    }
}

impl From<Slot> for Arg {
    fn from(slot: Slot) -> Arg {
        Arg::Slot(slot)
    }
}

/// What may go wrong at a step without the list being given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tolerance {
    /// Nothing.
    None,
    /// This error number.
    Errno(i32),
    /// Anything.
    Any,
}

/// What a step is for: words, or words around a text of the image. It is put together only for whoever must explain a
/// failure.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Label {
    /// Words alone.
    Plain(&'static str),
    /// Words, a C string, words.
    Of(&'static str, Data, &'static str),
}

impl From<&'static str> for Label {
    fn from(words: &'static str) -> Label {
        Label::Plain(words)
    }
}

impl From<(&'static str, Data)> for Label {
    fn from((words, text): (&'static str, Data)) -> Label {
        Label::Of(words, text, "")
    }
}

impl From<(&'static str, Data, &'static str)> for Label {
    fn from((before, text, after): (&'static str, Data, &'static str)) -> Label {
        Label::Of(before, text, after)
    }
}

/// A step as the launcher reads it, in words of eight bytes.
type Words = [u64; size_of::<Step>() / 8];

/// A list in the making.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    /// Addresses in them are places among the data until the list is finished.
    steps: Vec<Words>,
    labels: Vec<Label>,
    data: Vec<u8>,
    /// Arguments that are addresses, by step and place.
    addresses: Vec<(usize, usize)>,
    /// Places among the data that hold places among the data.
    pointers: Vec<usize>,
    /// Bytes that several steps use, by their place and length.
    shared: Vec<(usize, usize)>,
    slots: u32,
    moved: Vec<(Data, Data)>,
}

/// A finished list.
#[derive(Debug)]
pub(crate) struct Image {
    bytes: Vec<u8>,
    /// Where the data start.
    data_at: usize,
    /// What each step is for, for whoever must explain its failure.
    labels: Vec<Label>,
}

impl Builder {
    /// A list that goes on after one that kept so many answers, and uses them.
    pub(crate) fn after(kept: u32) -> Builder {
        Builder { slots: kept, ..Builder::default() }
    }

    /// How many answers have been kept.
    pub(crate) fn kept(&self) -> u32 {
        self.slots
    }

    /// Puts bytes into the image, aligned to eight.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Data {
        let at = self.aligned();
        self.data.extend_from_slice(bytes);
        Data(at)
    }

    fn aligned(&mut self) -> usize {
        let at = self.data.len().next_multiple_of(8);
        self.data.resize(at, 0);
        at
    }

    /// Bytes that nobody writes to, or that are written anew before each use: they are in the image once.
    pub(crate) fn shared(&mut self, bytes: &[u8]) -> Data {
        let there = |row: &&(usize, usize)| self.data.get(row.0..row.0 + row.1) == Some(bytes);
        if let Some((at, _)) = self.shared.iter().find(there) {
            return Data(*at);
        }
        let made = self.bytes(bytes);
        self.shared.push((made.0, bytes.len()));
        made
    }

    /// Puts a C string into the image. What follows a NUL is cut off by every reader, so it is cut here.
    pub(crate) fn text(&mut self, text: impl AsRef<OsStr>) -> Data {
        let bytes = text.as_ref().as_bytes();
        let length = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        let made = self.bytes(bytes.get(..length).unwrap_or_default());
        self.data.push(0);
        made
    }

    /// Puts an array of pointers to C strings into the image, with a null pointer at its end.
    pub(crate) fn texts<S: AsRef<OsStr>>(&mut self, texts: impl IntoIterator<Item = S>) -> Data {
        let places: Vec<Data> = texts.into_iter().map(|text| self.text(text)).collect();
        let array = self.bytes(&vec![0; (places.len() + 1) * 8]);
        for (index, Data(place)) in places.into_iter().enumerate() {
            self.point(Data(array.0 + index * 8), Data(place));
        }
        array
    }

    /// Makes eight bytes of the image the address of others.
    pub(crate) fn point(&mut self, Data(from): Data, Data(to): Data) {
        if let Some(place) = self.data.get_mut(from..from + 8) {
            place.copy_from_slice(&(to as u64).to_le_bytes());
            self.pointers.push(from);
        }
    }

    /// The bytes some way into others.
    pub(crate) fn within(&self, Data(at): Data, offset: usize) -> Data {
        Data(at + offset)
    }

    /// Has a path moved to another when the supervisor has gone. The second ends in a digit, which is counted up while
    /// something is there.
    pub(crate) fn move_away(&mut self, from: &OsStr, to: &OsStr) {
        let pair = (self.text(from), self.text(to));
        self.moved.push(pair);
    }

    /// Adds a step.
    pub(crate) fn step<const N: usize>(&mut self, label: impl Into<Label>, number: i64, arguments: [Arg; N]) {
        self.add(label.into(), number, arguments, 0, Tolerance::None);
    }

    /// Adds a step that may fail in a way.
    pub(crate) fn try_step<const N: usize>(
        &mut self,
        label: impl Into<Label>,
        number: i64,
        arguments: [Arg; N],
        tolerance: Tolerance,
    ) {
        self.add(label.into(), number, arguments, 0, tolerance);
    }

    /// Adds a step whose answer later steps use.
    pub(crate) fn keep<const N: usize>(
        &mut self,
        label: impl Into<Label>,
        number: i64,
        arguments: [Arg; N],
    ) -> Slot {
        let slot = Slot(self.slots);
        self.slots += 1;
        self.add(label.into(), number, arguments, self.slots, Tolerance::None);
        slot
    }

    /// Adds a step that writes an earlier answer into the image.
    pub(crate) fn store(&mut self, slot: Slot, into: Data) {
        self.add("store a descriptor".into(), STORE, [slot.into(), into.into()], 0, Tolerance::None);
    }

    fn add<const N: usize>(
        &mut self,
        label: Label,
        number: i64,
        arguments: [Arg; N],
        keep: u32,
        tolerance: Tolerance,
    ) {
        let mut slots: u32 = 0;
        let mut words: Words = [0; size_of::<Step>() / 8];
        let [first, rest @ .., choices, tolerated] = &mut words;
        *first = number.cast_unsigned();
        for (index, (place, argument)) in rest.iter_mut().zip(arguments).enumerate() {
            *place = match argument {
                Arg::Number(number) => number,
                Arg::Slot(Slot(slot)) => {
                    slots |= 1 << index;
                    u64::from(slot)
                }
                Arg::Data(Data(at)) => {
                    self.addresses.push((self.steps.len(), 1 + index));
                    at as u64
                }
            };
        }
        // Both machines are little-endian: the first of two halves is the lower one.
        *choices = u64::from(slots) | u64::from(keep) << 32;
        *tolerated = match tolerance {
            Tolerance::None => 0,
            Tolerance::Errno(errno) => u64::from(errno.cast_unsigned()),
            Tolerance::Any => 1 << 32,
        };
        self.steps.push(words);
        self.labels.push(label);
    }

    /// The finished list; `None` if it uses more answers than there are slots.
    pub(crate) fn image(mut self) -> Option<Image> {
        if self.slots as usize >= SLOTS {
            return None;
        }
        let steps_at = size_of::<Head>();
        let data_at = steps_at + self.steps.len() * size_of::<Step>();
        let moved = std::mem::take(&mut self.moved);
        let moved_at = self.bytes(&vec![0; moved.len() * 16]);
        for (index, (from, to)) in moved.iter().enumerate() {
            self.point(Data(moved_at.0 + index * 16), *from);
            self.point(Data(moved_at.0 + index * 16 + 8), *to);
        }
        let relocations_at = data_at + self.aligned();
        let relocation_count = self.addresses.len() + self.pointers.len();
        let length = relocations_at + relocation_count * 8;
        let mut bytes: Vec<u8> = Vec::with_capacity(length);
        let head = [
            MAGIC,
            length as u64,
            steps_at as u64,
            self.steps.len() as u64,
            relocations_at as u64,
            relocation_count as u64,
            (data_at + moved_at.0) as u64,
            moved.len() as u64,
        ];
        for word in head {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        for (step, place) in &self.addresses {
            if let Some(word) = self.steps.get_mut(*step).and_then(|words| words.get_mut(*place)) {
                *word += data_at as u64;
            }
        }
        for word in self.steps.iter().flatten() {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        for at in &self.pointers {
            if let Some(place) = self.data.get_mut(*at..*at + 8) {
                let mut value = [0; 8];
                value.copy_from_slice(place);
                place.copy_from_slice(&(u64::from_le_bytes(value) + data_at as u64).to_le_bytes());
            }
        }
        bytes.extend_from_slice(&self.data);
        for (step, place) in &self.addresses {
            let at = steps_at + step * size_of::<Step>() + place * 8;
            bytes.extend_from_slice(&(at as u64).to_le_bytes());
        }
        for at in &self.pointers {
            bytes.extend_from_slice(&((data_at + at) as u64).to_le_bytes());
        }
        Some(Image { bytes, data_at, labels: self.labels })
    }
}

impl Image {
    /// Its bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What a step is for.
    pub(crate) fn label(&self, step: usize) -> String {
        match self.labels.get(step) {
            None => "do an unknown step".into(),
            Some(Label::Plain(words)) => (*words).into(),
            Some(Label::Of(before, Data(at), after)) => {
                let text = self.bytes.get(self.data_at + at..).unwrap_or_default();
                let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
                format!("{before}{}{after}", String::from_utf8_lossy(text))
            }
        }
    }

    /// A copy to be carried out in this process, aligned for what is in it.
    pub(crate) fn words(&self) -> Vec<u64> {
        let words = self.bytes.chunks_exact(8).map(|chunk| {
            let mut word = [0; 8];
            word.copy_from_slice(chunk);
            u64::from_ne_bytes(word)
        });
        words.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_the_words_around_a_text_of_the_image() {
        let mut steps = Builder::default();
        let name = steps.text("/etc/passwd\0cut");
        steps.step("close", libc::SYS_close, []);
        steps.step(("find ", name), libc::SYS_openat, [name.into()]);
        steps.step(("open ", steps.within(name, 1), " for Landlock"), libc::SYS_openat, [name.into()]);
        let image = steps.image().unwrap();
        let labels: Vec<String> = (0..4).map(|step| image.label(step)).collect();
        let expected = ["close", "find /etc/passwd", "open etc/passwd for Landlock", "do an unknown step"];
        assert_eq!(labels, expected);
    }

    #[test]
    fn every_address_of_an_image_is_listed_and_leads_to_its_bytes() {
        let mut steps = Builder::after(3);
        let (one, same) = (steps.shared(b"shared\0"), steps.shared(b"shared\0"));
        let array = steps.texts(["first", "second"]);
        steps.step("use", 7, [one.into(), 5.into(), array.into(), same.into()]);
        steps.move_away(OsStr::new("/from"), OsStr::new("/to.refused-0"));
        assert_eq!(steps.kept(), 3);
        let words = steps.image().unwrap().words();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let text = |at: u64| bytes[at as usize..].split(|byte| *byte == 0).next().unwrap().to_vec();
        let word = |at: u64| words[at as usize / 8];
        let [magic, length, steps_at, count, relocations, relocation_count, moved, moved_count] = words[..8]
        else {
            panic!("no head");
        };
        assert_eq!((magic, length, count, moved_count), (MAGIC, bytes.len() as u64, 1, 1));
        assert_eq!(word(steps_at + 8), word(steps_at + 8 + 3 * 8), "what is shared is there once");
        assert_eq!(text(word(steps_at + 8)), b"shared");
        assert_eq!(word(steps_at + 8 + 8), 5);
        let array = word(steps_at + 8 + 2 * 8);
        assert_eq!((text(word(array)), text(word(array + 8))), (b"first".to_vec(), b"second".to_vec()));
        assert_eq!(word(array + 16), 0);
        assert_eq!(
            (text(word(moved)), text(word(moved + 8))),
            (b"/from".to_vec(), b"/to.refused-0".to_vec())
        );
        let listed: std::collections::BTreeSet<u64> =
            (0..relocation_count).map(|index| word(relocations + index * 8)).collect();
        let used = [steps_at + 8, steps_at + 24, steps_at + 32, array, array + 8, moved, moved + 8];
        assert_eq!(listed, used.into_iter().collect());
    }
}
