//! The places of a tool's arguments, found by walking its JSON Schema.

use serde_json::{Map, Value, json};

/// A place, as a function from a text to whole arguments.
pub(crate) struct Place {
    pub(crate) name: String,
    base: Value,
    path: Vec<Step>,
}

#[derive(Clone)]
enum Step {
    Key(String),
    Item(usize),
    /// The text becomes a key, not a value.
    NewKey,
}

impl Place {
    /// The arguments with `text` in this place.
    pub(crate) fn filled(&self, text: &str) -> Value {
        let mut whole = self.base.clone();
        let mut at = &mut whole;
        for step in &self.path {
            at = match step {
                Step::Key(key) => {
                    if !at.is_object() {
                        *at = json!({});
                    }
                    at.as_object_mut().expect("an object").entry(key.clone()).or_insert(Value::Null)
                }
                Step::Item(index) => {
                    if !at.is_array() {
                        *at = json!([]);
                    }
                    let items = at.as_array_mut().expect("an array");
                    while items.len() <= *index {
                        items.push(json!("x"));
                    }
                    &mut items[*index]
                }
                Step::NewKey => {
                    if !at.is_object() {
                        *at = json!({});
                    }
                    at.as_object_mut().expect("an object").insert(text.to_owned(), json!("value"));
                    return whole;
                }
            };
        }
        *at = json!(text);
        whole
    }
}

/// Every place of a tool: each string of its schema; strings where it wants something else; keys and values that it does
/// not have; and all of them at a depth.
pub(crate) fn places(schema: &Value) -> Vec<Place> {
    let base = filled(schema);
    let mut paths = Vec::new();
    walk(schema, &mut Vec::new(), &mut paths);
    let key = |name: &str| Step::Key(name.to_owned());
    paths.extend([
        vec![key("extra")],
        vec![key("password")],
        vec![Step::NewKey],
        vec![key("extra"), Step::Item(0)],
        vec![key("extra"), key("deep"), key("deeper"), key("token")],
        vec![key("extra"), key("deep"), key("deeper"), Step::NewKey],
        vec![key("env"), key("TOKEN")],
        vec![key("env"), Step::NewKey],
        // The whole of the arguments is a text, or a list of texts.
        vec![],
        vec![Step::Item(0)],
    ]);
    paths.into_iter().map(|path| Place { name: written(&path), base: base.clone(), path }).collect()
}

fn written(path: &[Step]) -> String {
    let step = |step: &Step| match step {
        Step::Key(key) => format!(".{key}"),
        Step::Item(index) => format!("[{index}]"),
        Step::NewKey => ".{new}".to_owned(),
    };
    format!("${}", path.iter().map(step).collect::<String>())
}

fn is(schema: &Value, wanted: &str) -> bool {
    let kind = &schema["type"];
    kind == wanted || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == wanted))
}

/// Valid arguments: every required member, with something harmless.
fn filled(schema: &Value) -> Value {
    if let Some(choice) = schema["oneOf"].get(0) {
        return choice["const"].clone();
    }
    if is(schema, "array") {
        return json!([filled(&schema["items"])]);
    }
    if is(schema, "object") {
        let mut members = Map::new();
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            members.insert(name.to_owned(), filled(&schema["properties"][name]));
        }
        return Value::Object(members);
    }
    if is(schema, "integer") {
        return json!(1);
    }
    if is(schema, "boolean") {
        return json!(true);
    }
    json!("ls")
}

/// The schemas here are shallow; the recursion is as deep as they are.
fn walk(schema: &Value, path: &mut Vec<Step>, found: &mut Vec<Vec<Step>>) {
    if !path.is_empty() {
        // A text: right where one is wanted, a wrong type anywhere else.
        found.push(path.clone());
    }
    if is(schema, "array") {
        for index in [0, 2] {
            path.push(Step::Item(index));
            walk(&schema["items"], path, found);
            path.pop();
        }
    }
    if is(schema, "object") {
        for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
            path.push(Step::Key(name.clone()));
            walk(inner, path, found);
            path.pop();
        }
        if !path.is_empty() {
            path.push(Step::Key("TOKEN".into()));
            found.push(path.clone());
            path.pop();
            path.push(Step::NewKey);
            found.push(path.clone());
            path.pop();
        }
    }
}
