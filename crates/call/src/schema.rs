//! Checks arguments against the JSON Schema of their tool: the schema that is printed is the schema that holds.
//!
//! Only the words that our own schemas use are known. The first fault is reported with its place.

use serde_json::{Map, Value};

use crate::invalid::{Invalid, counted, described, unknown_key};

/// Refuses a value that the schema does not describe.
pub(crate) fn check(schema: &Value, value: &Value) -> Result<(), Invalid> {
    let Value::Object(schema) = schema else {
        // `true`: anything.
        return Ok(());
    };
    if let Some(words) = constants(schema) {
        return if words.contains(&value) { Ok(()) } else { Err(expected_one_of(&words, value)) };
    }
    if let Some(Value::Array(alternatives)) = word(schema, "anyOf") {
        // Only optional objects are written so: the object, or null.
        let object = alternatives.iter().find(|one| !allows(one, "null"));
        return match (value, object) {
            (Value::Null, _) if alternatives.iter().any(|one| allows(one, "null")) => Ok(()),
            (_, Some(object)) => check(object, value),
            (_, None) => Ok(()),
        };
    }
    check_type(schema, value)?;
    match value {
        Value::Object(members) => check_object(schema, members),
        Value::Array(items) => check_array(schema, items),
        Value::String(text) => {
            let least = number(schema, "minLength");
            let enough = least.is_none_or(|least| text.chars().count() as u64 >= least);
            if enough { Ok(()) } else { Err(Invalid::new(expected(schema), described(value))) }
        }
        Value::Number(given) => {
            let enough = match (number(schema, "minimum"), given.as_u64()) {
                (Some(least), Some(given)) => given >= least,
                (Some(_), None) => false,
                (None, _) => true,
            };
            if enough { Ok(()) } else { Err(Invalid::new(expected(schema), described(value))) }
        }
        Value::Null | Value::Bool(_) => Ok(()),
    }
}

fn check_type(schema: &Map<String, Value>, value: &Value) -> Result<(), Invalid> {
    let types = match word(schema, "type") {
        Some(one @ Value::String(_)) => std::slice::from_ref(one),
        Some(Value::Array(several)) => several.as_slice(),
        _ => return Ok(()),
    };
    let fits = types.iter().filter_map(Value::as_str).any(|name| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    });
    if fits { Ok(()) } else { Err(Invalid::new(expected(schema), described(value))) }
}

fn check_object(schema: &Map<String, Value>, members: &Map<String, Value>) -> Result<(), Invalid> {
    let properties = word(schema, "properties").and_then(Value::as_object);
    let rest = word(schema, "additionalProperties");
    for (key, value) in members {
        match (properties.and_then(|properties| word(properties, key)), rest) {
            (Some(property), _) => check(property, value).map_err(|error| error.in_key(key))?,
            (None, Some(Value::Bool(false))) => {
                let known: Vec<&str> =
                    properties.map(|all| all.keys().map(String::as_str).collect()).unwrap_or_default();
                return Err(Invalid::new(expected(schema), unknown_key(key, &known)));
            }
            (None, Some(rest)) => check(rest, value).map_err(|error| error.in_key(key))?,
            (None, None) => {}
        }
    }
    let required = word(schema, "required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    for key in required.iter().filter_map(Value::as_str) {
        if !members.contains_key(key) {
            let property = properties.and_then(|properties| word(properties, key)).and_then(Value::as_object);
            let expected = property.map_or_else(|| "there".to_owned(), expected);
            return Err(Invalid::new(expected, "nothing").in_key(key));
        }
    }
    Ok(())
}

fn check_array(schema: &Map<String, Value>, items: &[Value]) -> Result<(), Invalid> {
    if number(schema, "minItems").is_some_and(|least| (items.len() as u64) < least) {
        return Err(Invalid::new(expected(schema), "an empty array"));
    }
    if let Some(item_schema) = word(schema, "items") {
        for (at, item) in items.iter().enumerate() {
            check(item_schema, item).map_err(|error| error.in_item(at))?;
        }
    }
    Ok(())
}

/// The words that a schema allows, where it allows only certain ones.
fn constants(schema: &Map<String, Value>) -> Option<Vec<&Value>> {
    if let Some(Value::Array(words)) = word(schema, "enum") {
        return Some(words.iter().collect());
    }
    let alternatives = word(schema, "oneOf")?.as_array()?;
    let mut words = Vec::new();
    for one in alternatives {
        let one = one.as_object()?;
        match word(one, "const") {
            Some(word) => words.push(word),
            None => words.extend(constants(one)?),
        }
    }
    Some(words)
}

fn expected_one_of(words: &[&Value], value: &Value) -> Invalid {
    let names: Vec<String> =
        words.iter().filter_map(|word| word.as_str()).map(|word| format!("`{word}`")).collect();
    let expected = match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => "nothing".into(),
    };
    Invalid::new(expected, described(value))
}

/// What a schema expects, in words.
fn expected(schema: &Map<String, Value>) -> String {
    if let Some(words) = constants(schema) {
        return expected_one_of(&words, &Value::Null).expected;
    }
    let name = match word(schema, "type") {
        Some(Value::String(name)) => name.as_str(),
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).find(|n| *n != "null").unwrap_or("")
        }
        _ => "",
    };
    match name {
        "string" if number(schema, "minLength") == Some(1) => "a string that is not empty".into(),
        "string" => "a string".into(),
        "boolean" => "`true` or `false`".into(),
        "integer" => match number(schema, "minimum") {
            Some(least) => format!("an integer of at least {least}"),
            None => "an integer".into(),
        },
        "array" => {
            let items =
                match word(schema, "items").and_then(|items| items.get("type")).and_then(Value::as_str) {
                    Some("string") => "string",
                    Some("object") => "object",
                    _ => "item",
                };
            match number(schema, "minItems") {
                Some(least) => {
                    format!("an array of at least {}", counted(usize::try_from(least).unwrap_or(1), items))
                }
                None => format!("an array of {items}s"),
            }
        }
        "object" => match word(schema, "properties").and_then(Value::as_object) {
            Some(properties) => {
                let known: Vec<String> = properties.keys().map(|key| format!("`{key}`")).collect();
                format!("an object of {}", known.join(", "))
            }
            None => "an object".into(),
        },
        _ => "there".into(),
    }
}

fn allows(schema: &Value, name: &str) -> bool {
    schema.get("type").and_then(Value::as_str) == Some(name)
}

/// What a schema says under a word. It has few, so that comparing them is sooner done than hashing.
fn word<'a>(schema: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    schema.iter().find(|(key, _)| *key == name).map(|(_, value)| value)
}

fn number(schema: &Map<String, Value>, name: &str) -> Option<u64> {
    word(schema, name).and_then(Value::as_u64)
}
