//! A small seeded generator: the same numbers on every run.

pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap()
    }

    pub(crate) fn pick(&mut self, from: &[&'static str]) -> &'static str {
        from[self.below(from.len())]
    }

    /// Changes a text in a few places, with characters that mean something to a shell.
    pub(crate) fn mutate(&mut self, text: &str) -> String {
        const MEANINGFUL: &[&str] = &[
            "'", "\"", "\\", "$", "`", "{", "}", "(", ")", "[", "]", "*", "?", "~", "=", ":", ";", "&", "|",
            "<", ">", " ", "\n", "\t", "#", "!", "-", "a", "b", "x", "1", ",", ".", "..", "$(", "${", "))",
            "((", "\\\n", "<<", "&&", "||", "$'", "$\"", "<(", ">&", "@", "+", "%", "/", "^", "é",
        ];
        let mut chars: Vec<String> = text.chars().map(String::from).collect();
        for _ in 0..=self.below(3) {
            let at = self.below(chars.len() + 1);
            match self.below(4) {
                0 if at < chars.len() => {
                    chars.remove(at);
                }
                1 if at < chars.len() => chars[at] = self.pick(MEANINGFUL).to_owned(),
                2 if at + 1 < chars.len() => chars.swap(at, at + 1),
                _ => chars.insert(at, self.pick(MEANINGFUL).to_owned()),
            }
        }
        chars.concat()
    }
}
