//! Canonical JSON after RFC 8785: one value, one text, so that a hash of the text is a name for the value.
//!
//! Members are sorted by the UTF-16 code units of their names, numbers are written as ECMAScript writes them, and
//! strings escape only what they must. The RFC knows no integers beyond 2^53 - 1; it would round them, and two
//! different calls could get one key. Here they keep all their digits, and [`crate::Call::parse`] refuses them.

use std::fmt::Write as _;

use serde_json::{Map, Value};

/// The largest integer that every JSON reader keeps exactly: 2^53 - 1.
pub const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// The canonical text of `value`.
///
/// Recurses as deep as the value is nested, which its maker bounds ([`crate::bounds::MAX_DEPTH`] for a call).
#[must_use]
pub fn canonical(value: &Value) -> String {
    let mut text = String::with_capacity(128);
    write_value(&mut text, value);
    text
}

fn write_value(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => write_number(out, number),
        Value::String(text) => write_string(out, text),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_value(out, item);
            }
            out.push(']');
        }
        Value::Object(members) => write_object(out, members),
    }
}

fn write_object(out: &mut String, members: &Map<String, Value>) {
    let mut sorted: Vec<(&String, &Value)> = members.iter().collect();
    // Bytes and UTF-16 units order alike as long as nothing lies above the basic plane.
    sorted.sort_unstable_by(|(a, _), (b, _)| {
        if a.is_ascii() && b.is_ascii() { a.cmp(b) } else { a.encode_utf16().cmp(b.encode_utf16()) }
    });
    out.push('{');
    for (at, (name, value)) in sorted.into_iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write_string(out, name);
        out.push(':');
        write_value(out, value);
    }
    out.push('}');
}

fn write_number(out: &mut String, number: &serde_json::Number) {
    if let Some(whole) = number.as_u64() {
        let _ = write!(out, "{whole}");
    } else if let Some(whole) = number.as_i64() {
        let _ = write!(out, "{whole}");
    } else if let Some(float) = number.as_f64() {
        out.push_str(ryu_js::Buffer::new().format(float));
    } else {
        // INVARIANT: without arbitrary precision a number is one of the three above.
        let _ = write!(out, "{number}");
    }
}

fn write_string(out: &mut String, text: &str) {
    out.push('"');
    if !text.bytes().any(|byte| byte < b' ' || byte == b'"' || byte == b'\\') {
        out.push_str(text);
        out.push('"');
        return;
    }
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            control if control < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_written_the_one_way() {
        let table = [
            (json!({}), "{}"),
            (json!([]), "[]"),
            (json!({"b": 1, "a": [true, false, null]}), r#"{"a":[true,false,null],"b":1}"#),
            (json!({"a": {"z": 1, "y": {"k": 0, "B": 0}}}), r#"{"a":{"y":{"B":0,"k":0},"z":1}}"#),
            (json!("é€\u{1f600}"), "\"é€\u{1f600}\""),
            (
                json!("\u{0}\u{8}\t\n\u{b}\u{c}\r\u{1f}\u{7f}\"\\/"),
                "\"\\u0000\\b\\t\\n\\u000b\\f\\r\\u001f\u{7f}\\\"\\\\/\"",
            ),
            (json!("\u{2028}<>&'"), "\"\u{2028}<>&'\""),
        ];
        for (value, expected) in table {
            assert_eq!(canonical(&value), expected);
        }
    }

    #[test]
    fn members_are_sorted_by_utf_16_units() {
        // U+FB33 sorts before U+1F600 by scalar value, but after its surrogates. The second digit is a name.
        let value =
            json!({"\u{fb33}": 1, "\u{1f600}": 2, "\u{20ac}": 3, "\r": 4, "1": 5, "\u{80}": 6, "\u{f6}": 7});
        let order: Vec<char> = canonical(&value).chars().filter(char::is_ascii_digit).collect();
        assert_eq!(order, ['4', '1', '5', '6', '7', '3', '2', '1']);
    }

    #[test]
    fn numbers_are_written_as_ecmascript_writes_them() {
        let table = [
            ("0", "0"),
            ("-0.0", "0"),
            ("1.0", "1"),
            ("100", "100"),
            ("-12", "-12"),
            ("4.50", "4.5"),
            ("2e-3", "0.002"),
            ("1e21", "1e+21"),
            ("1E20", "100000000000000000000"),
            ("0.000001", "0.000001"),
            ("0.0000001", "1e-7"),
            ("333333333.33333329", "333333333.3333333"),
            ("5e-324", "5e-324"),
            ("1.7976931348623157e308", "1.7976931348623157e+308"),
            ("9007199254740991", "9007199254740991"),
            // Beyond what the RFC covers: all digits are kept, so that neighbours stay apart.
            ("9007199254740993", "9007199254740993"),
        ];
        for (written, expected) in table {
            let value: Value = serde_json::from_str(written).unwrap();
            assert_eq!(canonical(&value), expected, "{written}");
        }
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            (-1e300..1e300f64).prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec((any::<String>(), inner), 0..6)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    fn reversed(value: &Value) -> Value {
        match value {
            Value::Object(members) => Value::Object(
                members.iter().rev().map(|(name, value)| (name.clone(), reversed(value))).collect(),
            ),
            Value::Array(items) => items.iter().map(reversed).collect(),
            other => other.clone(),
        }
    }

    /// Whole floats and integers are one and the same number to JSON.
    fn same(a: &Value, b: &Value) -> bool {
        match (a, b) {
            (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
            (Value::Array(a), Value::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
            }
            (Value::Object(a), Value::Object(b)) => {
                a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same(a, b)))
            }
            (a, b) => a == b,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_canonical_text_means_the_same_value(value in any_value()) {
            let back: Value = serde_json::from_str(&canonical(&value)).unwrap();
            prop_assert!(same(&back, &value));
        }

        #[test]
        fn the_order_of_members_does_not_matter(value in any_value()) {
            prop_assert_eq!(canonical(&value), canonical(&reversed(&value)));
        }

        #[test]
        fn a_canonical_text_is_its_own_canonical_form(value in any_value()) {
            let text = canonical(&value);
            let back: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(canonical(&back), text);
        }
    }
}
