//! Writes a list of steps ([`super::steps`]) with everything that the steps point to, as one block of bytes that can be
//! carried out in this process or handed to the launcher.

use std::borrow::Cow;
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

/// What a step is for.
pub(crate) type Label = Cow<'static, str>;

/// A list in the making.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    steps: Vec<(i64, [Arg; 6], u32, Tolerance)>,
    labels: Vec<Label>,
    data: Vec<u8>,
    /// Places among the data that hold places among the data.
    pointers: Vec<usize>,
    slots: u32,
    moved: Vec<(Data, Data)>,
}

/// A finished list.
#[derive(Debug)]
pub(crate) struct Image {
    /// Aligned for what is in it.
    words: Vec<u64>,
    /// What each step is for, for whoever must explain its failure.
    labels: Vec<Label>,
}

impl Builder {
    /// Puts bytes into the image, aligned to eight.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Data {
        while !self.data.len().is_multiple_of(8) {
            self.data.push(0);
        }
        let at = self.data.len();
        self.data.extend_from_slice(bytes);
        Data(at)
    }

    /// Puts a C string into the image. What follows a NUL is cut off by every reader, so it is cut here.
    pub(crate) fn text(&mut self, text: impl AsRef<OsStr>) -> Data {
        let mut bytes = text.as_ref().as_bytes().to_vec();
        bytes.truncate(bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len()));
        bytes.push(0);
        self.bytes(&bytes)
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
        let mut six = [Arg::Number(0); 6];
        for (place, argument) in six.iter_mut().zip(arguments) {
            *place = argument;
        }
        self.steps.push((number, six, keep, tolerance));
        self.labels.push(label);
    }

    /// The finished list; `None` if it uses more answers than there are slots.
    pub(crate) fn image(self) -> Option<Image> {
        if self.slots as usize >= SLOTS {
            return None;
        }
        let head_size = size_of::<Head>();
        let steps_size = self.steps.len() * size_of::<Step>();
        let data_at = head_size + steps_size;
        let mut builder = self;
        let mut pairs = Vec::new();
        for _ in &builder.moved {
            pairs.extend([0; 16]);
        }
        let moved_at = builder.bytes(&pairs);
        for (index, (from, to)) in std::mem::take(&mut builder.moved).into_iter().enumerate() {
            builder.point(Data(moved_at.0 + index * 16), from);
            builder.point(Data(moved_at.0 + index * 16 + 8), to);
        }
        let this = builder;
        let mut relocations: Vec<u64> = Vec::new();
        let mut bytes: Vec<u8> = Vec::with_capacity(data_at + this.data.len() + 64);
        bytes.resize(head_size, 0);
        for (number, arguments, keep, tolerance) in &this.steps {
            let mut slots: u32 = 0;
            bytes.extend_from_slice(&number.to_le_bytes());
            for (index, argument) in arguments.iter().enumerate() {
                let value = match argument {
                    Arg::Number(number) => *number,
                    Arg::Slot(Slot(slot)) => {
                        slots |= 1 << index;
                        u64::from(*slot)
                    }
                    Arg::Data(Data(at)) => {
                        relocations.push(bytes.len() as u64);
                        (data_at + at) as u64
                    }
                };
                bytes.extend_from_slice(&value.to_le_bytes());
            }
            let (tolerate, optional) = match tolerance {
                Tolerance::None => (0, 0),
                Tolerance::Errno(errno) => (errno.cast_unsigned(), 0),
                Tolerance::Any => (0, 1),
            };
            for word in [slots, *keep, tolerate, optional] {
                bytes.extend_from_slice(&word.to_le_bytes());
            }
        }
        let mut data = this.data;
        for at in this.pointers {
            relocations.push((data_at + at) as u64);
            if let Some(place) = data.get_mut(at..at + 8) {
                let mut value = [0; 8];
                value.copy_from_slice(place);
                place.copy_from_slice(&(u64::from_le_bytes(value) + data_at as u64).to_le_bytes());
            }
        }
        bytes.extend_from_slice(&data);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        let relocations_at = bytes.len();
        for place in &relocations {
            bytes.extend_from_slice(&place.to_le_bytes());
        }
        let head = [
            MAGIC,
            bytes.len() as u64,
            head_size as u64,
            this.steps.len() as u64,
            relocations_at as u64,
            relocations.len() as u64,
            (data_at + moved_at.0) as u64,
            (pairs.len() / 16) as u64,
        ];
        for (place, value) in bytes.chunks_exact_mut(8).zip(head) {
            place.copy_from_slice(&value.to_le_bytes());
        }
        let words = bytes
            .chunks_exact(8)
            .map(|chunk| {
                let mut word = [0; 8];
                word.copy_from_slice(chunk);
                u64::from_ne_bytes(word)
            })
            .collect();
        Some(Image { words, labels: this.labels })
    }
}

impl Image {
    /// Its bytes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    /// What a step is for.
    pub(crate) fn label(&self, step: usize) -> &str {
        self.labels.get(step).map_or("an unknown step", |label| label.as_ref())
    }

    /// A copy to be carried out in this process.
    pub(crate) fn words(&self) -> Vec<u64> {
        self.words.clone()
    }

    /// What the steps are for, by their order.
    pub(crate) fn into_labels(self) -> Vec<Label> {
        self.labels
    }
}
