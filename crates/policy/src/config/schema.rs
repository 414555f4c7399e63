//! The JSON Schema of a configuration file, for editors. It is made from the table of keys, so it cannot say anything else.

use effects::Class;
use serde_json::{Map, Value, json};

use super::approval::APPROVAL_RULE_KEYS;
use super::keys::{KEYS, Kind};
use crate::obligation::Obligation;
use crate::rule::RULE_KEYS;

/// The schema.
#[must_use]
pub fn schema() -> Value {
    let mut root = object();
    for key in KEYS {
        insert(&mut root, key.path, of_kind(key.kind, key.about));
    }
    if let Value::Object(map) = &mut root {
        let mut titled = Map::new();
        titled.insert("$schema".into(), "https://json-schema.org/draft/2020-12/schema".into());
        titled.insert("title".into(), "Bailiwick configuration".into());
        titled.append(map);
        return Value::Object(titled);
    }
    root
}

/// Puts a key's schema at its dotted path, one section below the other.
fn insert(section: &mut Value, path: &str, schema: Value) {
    let Some(properties) = section.get_mut("properties").and_then(Value::as_object_mut) else { return };
    match path.split_once('.') {
        None => drop(properties.insert(path.into(), schema)),
        Some((head, rest)) => insert(properties.entry(head).or_insert_with(object), rest, schema),
    }
}

fn object() -> Value {
    json!({"type": "object", "additionalProperties": false, "properties": {}})
}

fn of_kind(kind: Kind, about: &str) -> Value {
    let mut value = match kind {
        Kind::Bool => json!({"type": "boolean"}),
        Kind::Whole(minimum) => json!({"type": "integer", "minimum": minimum}),
        Kind::Seconds => json!({"type": "number", "exclusiveMinimum": 0}),
        Kind::Text => json!({"type": ["string", "number"]}),
        Kind::Word(words) => json!({"enum": words}),
        Kind::Texts => json!({"type": "array", "items": {"type": ["string", "number"]}}),
        Kind::Effects => {
            let stance = json!({"enum": ["allow", "fenced", "ask", "deny"]});
            let mut properties = Map::new();
            for class in Class::ALL {
                let mut described = stance.clone();
                if let Value::Object(map) = &mut described {
                    map.insert("description".into(), format!("Would {}.", class.about()).into());
                }
                properties.insert(class.key().into(), described);
            }
            json!({"type": "object", "additionalProperties": false, "properties": properties})
        }
        Kind::PathRules => list_of(
            json!({
                "pattern": {"type": "string"}, "allow_read": {"type": "boolean"}, "allow_write": {"type": "boolean"}
            }),
            &["pattern"],
        ),
        Kind::CommandRules => list_of(
            json!({
                "pattern": {"type": "string"}, "decision": {"enum": ["allow", "ask", "deny"]}, "is_regex": {"type": "boolean"}
            }),
            &["pattern", "decision"],
        ),
        Kind::Rules => list_of(rule_properties(), &["name", "action"]),
        Kind::ApprovalRules => list_of(approval_rule_properties(), &["decision"]),
        Kind::Places => json!({"type": "object", "additionalProperties": {"type": "string"}}),
        Kind::Servers => json!({
            "type": "object", "propertyNames": {"pattern": "^[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*$", "maxLength": 64},
            "additionalProperties": {"type": "object", "additionalProperties": false, "required": ["command"], "properties": {
                "command": {"type": "array", "items": {"type": ["string", "number"]}, "minItems": 1},
                "env": {"type": "object", "additionalProperties": {"type": ["string", "number"]}},
                "cwd": {"type": "string"},
                "network": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
            }}
        }),
        Kind::Cases => list_of(
            json!({
                "command": {"type": "string"}, "tool": {"type": "string"}, "args": {"type": "object"},
                "expect": {"enum": ["allow", "ask", "deny"]}
            }),
            &["expect"],
        ),
    };
    if let Value::Object(map) = &mut value {
        map.insert("description".into(), about.into());
    }
    value
}

fn list_of(properties: Value, required: &[&str]) -> Value {
    json!({"type": "array", "items": {
        "type": "object", "additionalProperties": false, "properties": properties, "required": required
    }})
}

fn approval_rule_properties() -> Value {
    let texts = json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]});
    let mut properties = Map::new();
    for (key, about) in APPROVAL_RULE_KEYS {
        let mut value = match *key {
            "reason" => json!({"type": "string"}),
            "decision" => json!({"enum": ["approved", "approved_for_session", "denied", "abort"]}),
            "risk" => json!({"enum": ["low", "medium", "high", "critical"]}),
            _ => texts.clone(),
        };
        if let Value::Object(map) = &mut value {
            map.insert("description".into(), (*about).into());
        }
        properties.insert((*key).into(), value);
    }
    Value::Object(properties)
}

fn rule_properties() -> Value {
    let texts = json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]});
    let mut properties = Map::new();
    for (key, about) in RULE_KEYS {
        let mut value = match *key {
            "name" | "tool" | "reason" | "description" => json!({"type": "string"}),
            "action" => json!({"enum": ["allow", "ask", "require_approval", "deny"]}),
            "outside_workspace" | "unfenced" | "more_operands" => json!({"type": "boolean"}),
            "over_wall_ms" | "over_memory_mb" => json!({"type": "integer", "minimum": 0}),
            "risk_level" => json!({"enum": ["low", "medium", "high", "critical"]}),
            "obligations" => {
                json!({"type": "array", "items": {"enum": Obligation::ALL.map(Obligation::name)}})
            }
            "args" => json!({"type": "object", "additionalProperties": texts}),
            "examples" => json!({"type": "object", "additionalProperties": false,
                "properties": {"match": texts, "not_match": texts}}),
            _ => texts.clone(),
        };
        if let Value::Object(map) = &mut value {
            map.insert("description".into(), (*about).into());
        }
        properties.insert((*key).into(), value);
    }
    Value::Object(properties)
}
