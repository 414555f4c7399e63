//! Amounts as flags are written: memory and time, with units.

fn scaled(text: &str, units: &[(&str, u64, u64)]) -> Result<u64, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = text.strip_prefix(digits).unwrap_or_default();
    let number: u64 = digits.parse().map_err(|_| format!("`{text}` is no whole number"))?;
    let Some((_, times, by)) = units.iter().find(|row| row.0.eq_ignore_ascii_case(unit)) else {
        return Err(format!("`{unit}` is no unit here"));
    };
    match number.saturating_mul(*times) / by {
        0 => Err(format!("`{text}` is too little")),
        value => Ok(value),
    }
}

pub(super) fn mebibytes(text: &str) -> Result<u64, String> {
    scaled(
        text,
        &[
            ("", 1, 1),
            ("m", 1, 1),
            ("mb", 1, 1),
            ("g", 1024, 1),
            ("gb", 1024, 1),
            ("k", 1, 1024),
            ("kb", 1, 1024),
        ],
    )
}

pub(super) fn milliseconds(text: &str) -> Result<u64, String> {
    scaled(text, &[("", 1000, 1), ("s", 1000, 1), ("ms", 1, 1), ("m", 60_000, 1), ("h", 3_600_000, 1)])
}
