//! JSON read strictly: valid UTF-8, no key twice, bounded depth, nothing after the value.
//!
//! Readers disagree on which of two equal keys counts, so a text with both could be judged as one call and run as
//! another. Such a text is refused.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::bounds::{MAX_ARGUMENTS, MAX_DEPTH};
use crate::invalid::{Invalid, shown_key};

/// The most bytes of a line that holds a call: its arguments, each of their characters escaped at worst, and a rest.
const MAX_LINE: usize = 6 * MAX_ARGUMENTS + 64 * 1024;

/// Reads one JSON value.
///
/// # Errors
/// Text that is too long, nested too deep, not UTF-8, not JSON, or has a key twice.
pub fn read(bytes: &[u8]) -> Result<Value, Invalid> {
    if bytes.len() > MAX_LINE {
        return Err(Invalid::new("a call of bounded size", format!("{} bytes", bytes.len())));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        Invalid::new("UTF-8", format!("an invalid byte at offset {}", error.valid_up_to()))
    })?;
    let mut reader = serde_json::Deserializer::from_str(text);
    // What a string held is not repeated: of the library's own message only the place is kept.
    let place = |error: &serde_json::Error| {
        format!("something else at line {} column {}", error.line(), error.column())
    };
    let fault = std::cell::RefCell::new(None);
    let strict = Strict { depth: 0, fault: &fault };
    let read = strict.deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    read.map_err(|error| fault.take().unwrap_or_else(|| Invalid::new("JSON", place(&error))))
}

/// Builds a value and leaves the first fault of our own in `fault`.
struct Strict<'a> {
    depth: usize,
    fault: &'a std::cell::RefCell<Option<Invalid>>,
}

impl Strict<'_> {
    fn inner(&self) -> Self {
        Strict { depth: self.depth + 1, fault: self.fault }
    }

    fn refuse<T, E: serde::de::Error>(&self, fault: Invalid) -> Result<T, E> {
        *self.fault.borrow_mut() = Some(fault);
        Err(E::custom("refused"))
    }

    /// Adds the place to a fault that came from inside.
    fn placed<T, E>(&self, result: Result<T, E>, place: impl FnOnce(Invalid) -> Invalid) -> Result<T, E> {
        if result.is_err() {
            let mut fault = self.fault.borrow_mut();
            *fault = fault.take().map(place);
        }
        result
    }

    fn check_depth<E: serde::de::Error>(&self) -> Result<(), E> {
        // The line itself is one level more than the arguments in it.
        if self.depth > MAX_DEPTH {
            self.refuse(Invalid::new("nested at most 64 deep", "a deeper value"))
        } else {
            Ok(())
        }
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        self.check_depth()?;
        let mut array = Vec::new();
        while let Some(item) =
            self.placed(items.next_element_seed(self.inner()), |fault| fault.in_item(array.len()))?
        {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        self.check_depth()?;
        let mut object = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            let value = self.placed(members.next_value_seed(self.inner()), |fault| fault.in_key(&key))?;
            if object.contains_key(&key) {
                let shown = shown_key(&key).map_or_else(|| "one key".to_owned(), |key| format!("`{key}`"));
                return self.refuse(Invalid::new("an object with each key once", format!("{shown} twice")));
            }
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_plain_json_is_read() {
        let text = r#" {"a": [1, -2, 1.5, "x\u00e9", null, true, {}], "b": {"c": []}} "#;
        let expected = json!({"a": [1, -2, 1.5, "xé", null, true, {}], "b": {"c": []}});
        assert_eq!(read(text.as_bytes()).unwrap(), expected);
    }

    #[test]
    fn what_is_ambiguous_or_broken_is_refused_with_its_place() {
        let table: [(&[u8], &str); 9] = [
            (br#"{"a": 1, "a": 2}"#, "`$` must be an object with each key once, got `a` twice"),
            (
                br#"{"x": [{"a": 1, "\u0061": 2}]}"#,
                "`$.x[0]` must be an object with each key once, got `a` twice",
            ),
            (b"{\"a\": \"\xff\"}", "`$` must be UTF-8, got an invalid byte at offset 7"),
            (b"{\"a\": \"hunter2", "`$` must be JSON, got something else at line 1 column 14"),
            (b"{} {}", "`$` must be JSON, got something else at line 1 column 4"),
            (b"", "`$` must be JSON, got something else at line 1 column 0"),
            (b"{\"a\": hunter2}", "`$` must be JSON, got something else at line 1 column 7"),
            (b"{\"a\": 1e999}", "`$` must be JSON, got something else at line 1 column 11"),
            (b"{\"a\": \"\\ud800\"}", "`$` must be JSON, got something else at line 1 column 14"),
        ];
        for (text, expected) in table {
            assert_eq!(read(text).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read(nested(65).as_bytes()).is_ok());
        assert!(read(nested(66).as_bytes()).unwrap_err().expected.contains("64 deep"));
        assert!(read("[".repeat(100_000).as_bytes()).is_err());
    }
}
