//! The JSON object that a host hands in: what matters is read strictly, what is not known is passed over.

use gate::call::strict_json;
use serde_json::{Map, Value};

use crate::asked::Refused;

/// The members of the object.
pub(crate) struct Payload(Map<String, Value>);

impl Payload {
    pub(crate) fn read(bytes: &[u8]) -> Result<Payload, Refused> {
        match strict_json(bytes).map_err(|invalid| Refused::new(format!("the question: {invalid}")))? {
            Value::Object(members) => Ok(Payload(members)),
            _ => Err(Refused::new("the question is not a JSON object")),
        }
    }

    /// Whether the key is there, with something in it.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.0.get(key).is_some_and(|value| !value.is_null())
    }

    /// A text that must be there.
    pub(crate) fn text(&self, key: &str) -> Result<String, Refused> {
        match self.0.get(key) {
            Some(Value::String(text)) if !text.is_empty() => Ok(text.clone()),
            Some(Value::String(_)) => Err(Refused::new(format!("`{key}` is empty"))),
            Some(Value::Null) | None => Err(Refused::new(format!("`{key}` is missing"))),
            Some(_) => Err(Refused::new(format!("`{key}` is not text"))),
        }
    }

    /// A text that may be there; an empty one is none.
    pub(crate) fn optional_text(&self, key: &str) -> Result<Option<String>, Refused> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if text.is_empty() => Ok(None),
            Some(Value::String(_)) => self.text(key).map(Some),
            Some(_) => Err(Refused::new(format!("`{key}` is not text"))),
        }
    }

    /// The arguments of a tool: an object that must be there, or a text that holds one.
    pub(crate) fn arguments(&mut self, key: &str) -> Result<Map<String, Value>, Refused> {
        let value = match self.0.shift_remove(key) {
            Some(Value::String(text)) => strict_json(text.as_bytes())
                .map_err(|invalid| Refused::new(format!("the text in `{key}`: {invalid}")))?,
            Some(value) => value,
            None => return Err(Refused::new(format!("`{key}` is missing"))),
        };
        match value {
            Value::Object(members) => Ok(members),
            _ => Err(Refused::new(format!("`{key}` is not an object"))),
        }
    }

    /// Any value.
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// The first text in a list of texts.
    pub(crate) fn first_text(&self, key: &str) -> Result<Option<String>, Refused> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Array(items)) => match items.first() {
                None => Ok(None),
                Some(Value::String(text)) if !text.is_empty() => Ok(Some(text.clone())),
                Some(_) => Err(Refused::new(format!("`{key}` is not a list of texts"))),
            },
            Some(_) => Err(Refused::new(format!("`{key}` is not a list"))),
        }
    }
}
