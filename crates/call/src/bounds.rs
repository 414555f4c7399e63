//! How large a call may be, checked once over all of its arguments before anything else looks at them.

use serde_json::Value;

use crate::canonical::MAX_SAFE_INTEGER;
use crate::invalid::{Invalid, described};

/// Arguments, serialized.
pub const MAX_ARGUMENTS: usize = 1024 * 1024;
/// The text of a command, or all words of one with their spaces.
pub const MAX_COMMAND: usize = 64 * 1024;
/// Arrays and objects within each other.
pub const MAX_DEPTH: usize = 64;
/// A path.
pub const MAX_PATH: usize = 4096;
/// The name of a tool.
pub const MAX_TOOL_NAME: usize = 128;
/// The name of a session, a principal, a group or a call.
pub const MAX_ID: usize = 256;

/// Refuses arguments that are too large, nested too deep, hold a NUL outside of the keys in `raw_keys`, or an integer
/// that JSON readers do not agree on.
pub(crate) fn check(arguments: &Value, raw_keys: &[&str]) -> Result<(), Invalid> {
    // At worst a string needs six bytes for each of its own; only where that is too much is the exact size worth it.
    let most = walk(arguments, raw_keys, false, 0)?;
    if most > MAX_ARGUMENTS && serialized_size(arguments) > MAX_ARGUMENTS {
        return Err(Invalid::new("at most 1 MiB of JSON", "more"));
    }
    Ok(())
}

/// Checks one value and gives the most bytes that it can take when it is serialized.
fn walk(value: &Value, raw_keys: &[&str], raw: bool, depth: usize) -> Result<usize, Invalid> {
    match value {
        Value::Null | Value::Bool(_) => Ok(6),
        Value::Number(number) => {
            let safe = match (number.as_u64(), number.as_i64()) {
                (Some(whole), _) => whole <= MAX_SAFE_INTEGER,
                (None, Some(whole)) => whole.unsigned_abs() <= MAX_SAFE_INTEGER,
                (None, None) => true,
            };
            if safe {
                Ok(26)
            } else {
                Err(Invalid::new("an integer of at most 9007199254740991 in size", described(value)))
            }
        }
        Value::String(text) => {
            if !raw && text.as_bytes().contains(&0) {
                return Err(Invalid::new("text without NUL characters", "one with"));
            }
            Ok(text.len().saturating_mul(6).saturating_add(3))
        }
        Value::Array(_) | Value::Object(_) if depth >= MAX_DEPTH => {
            Err(Invalid::new("nested at most 64 deep", "a deeper value"))
        }
        Value::Array(items) => {
            let mut most = 2_usize;
            for (at, item) in items.iter().enumerate() {
                let size = walk(item, raw_keys, raw, depth + 1).map_err(|error| error.in_item(at))?;
                most = most.saturating_add(size);
            }
            Ok(most)
        }
        Value::Object(members) => {
            let mut most = 2_usize;
            for (key, value) in members {
                if key.as_bytes().contains(&0) {
                    return Err(Invalid::new("an object whose keys have no NUL characters", "one with"));
                }
                let raw = raw_keys.contains(&key.as_str());
                let size = walk(value, raw_keys, raw, depth + 1).map_err(|error| error.in_key(key))?;
                most = most.saturating_add(size).saturating_add(key.len().saturating_mul(6) + 4);
            }
            Ok(most)
        }
    }
}

fn serialized_size(value: &Value) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.saturating_add(bytes.len());
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    match serde_json::to_writer(&mut count, value) {
        Ok(()) => count.0,
        // FAIL-CLOSED: what cannot be measured is too large.
        Err(_) => usize::MAX,
    }
}

/// Refuses an empty or overlong path.
pub(crate) fn check_path(path: &str) -> Result<(), Invalid> {
    if path.is_empty() {
        return Err(Invalid::new("a path", "an empty string"));
    }
    if path.len() > MAX_PATH {
        return Err(Invalid::new("a path of at most 4096 bytes", crate::invalid::described_text(path)));
    }
    if path.as_bytes().contains(&0) {
        return Err(Invalid::new("a path without NUL characters", "one with"));
    }
    Ok(())
}

/// Refuses an empty or overlong command text.
pub(crate) fn check_command(text: &str) -> Result<(), Invalid> {
    if text.len() > MAX_COMMAND {
        return Err(Invalid::new("a command of at most 64 KiB", crate::invalid::described_text(text)));
    }
    if text.trim().is_empty() {
        return Err(Invalid::new("a command", "an empty one"));
    }
    Ok(())
}

/// Refuses words that are none, whose first is empty, or that are too long together.
pub(crate) fn check_words(words: &[String]) -> Result<(), Invalid> {
    match words.first() {
        None => return Err(Invalid::new("an array of at least 1 string", "an empty array")),
        Some(program) if program.is_empty() => {
            return Err(Invalid::new("the name of a program", "an empty string").in_item(0));
        }
        Some(_) => {}
    }
    let size = words.iter().fold(0_usize, |sum, word| sum.saturating_add(word.len()).saturating_add(1));
    if size > MAX_COMMAND {
        return Err(Invalid::new("a command of at most 64 KiB", format!("{size} bytes")));
    }
    Ok(())
}

/// Refuses the name of a session, a call or a principal that is empty, too long or not plain text.
pub(crate) fn check_id(name: &str) -> Result<(), Invalid> {
    let plain = !name.is_empty() && name.len() <= MAX_ID && !name.chars().any(char::is_control);
    if plain {
        Ok(())
    } else {
        Err(Invalid::new("1 to 256 bytes without control characters", crate::invalid::described_text(name)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn nested(depth: usize) -> Value {
        (1..depth).fold(json!([]), |inner, _| json!([inner]))
    }

    #[test]
    fn bounds_hold_exactly_at_their_edges() {
        assert!(check(&nested(64), &[]).is_ok());
        assert!(check(&nested(65), &[]).unwrap_err().path.ends_with("[0]"));
        let filled = |size: usize| json!({"k": "x".repeat(size - 8)});
        assert_eq!(serialized_size(&filled(MAX_ARGUMENTS)), MAX_ARGUMENTS);
        assert!(check(&filled(MAX_ARGUMENTS), &[]).is_ok());
        assert!(check(&filled(MAX_ARGUMENTS + 1), &[]).is_err());
        assert!(check_command(&"x".repeat(MAX_COMMAND)).is_ok());
        assert!(check_command(&"x".repeat(MAX_COMMAND + 1)).is_err());
        assert!(check_words(&["x".repeat(MAX_COMMAND - 1)]).is_ok());
        assert!(check_words(&["x".repeat(MAX_COMMAND)]).is_err());
        assert!(check_path(&"x".repeat(MAX_PATH)).is_ok());
        assert!(check_path(&"x".repeat(MAX_PATH + 1)).is_err());
    }

    #[test]
    fn nul_and_unsafe_integers_are_refused_where_they_are() {
        let table = [
            (json!({"a": ["x", "y\0"]}), "$.a[1]"),
            (json!({"a": {"b\0": 1}}), "$.a"),
            (json!({"n": 9_007_199_254_740_992_u64}), "$.n"),
            (json!({"n": -9_007_199_254_740_992_i64}), "$.n"),
            (json!({"env": {"content": "fine\0", "other": "\0"}}), "$.env.other"),
        ];
        for (value, path) in table {
            assert_eq!(check(&value, &["content"]).unwrap_err().path, path);
        }
        assert!(check(&json!({"n": 9_007_199_254_740_991_u64, "m": 1e300}), &[]).is_ok());
    }
}
