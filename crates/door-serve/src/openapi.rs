//! `/openapi.json`: the interface described, from the table of routes and the types of what goes in and out.

use axum::response::Response;
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::refusal::{ErrorForm, json_answer};
use crate::routes::{Access, Gives, Method, ROUTES, Route};

/// Statuses that every route with a token can have.
const COMMON: &[u16] = &[401, 403];
/// Those that everything with a body can have.
const WITH_BODY: &[u16] = &[400, 408, 413, 415];

/// `GET /openapi.json`
pub(crate) async fn openapi() -> Response {
    json_answer(&document())
}

/// The whole document.
#[must_use]
pub fn document() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = "/components/schemas".into();
    settings.meta_schema = None;
    let mut generator = settings.into_generator();
    let error = generator.subschema_for::<ErrorForm>();
    let mut paths = Map::new();
    for route in ROUTES {
        let operation = operation(route, &mut generator, &error);
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        if let Value::Object(methods) = path {
            methods.insert(route.method.name().to_lowercase(), operation);
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Bailiwick",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Decisions about tool calls, tools that run behind a fence, and answers to open questions.",
            "license": {"name": "MIT OR Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": generator.take_definitions(true),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    })
}

fn operation(route: &Route, generator: &mut SchemaGenerator, error: &Schema) -> Value {
    let name = format!("{} {}", route.method.name().to_lowercase(), route.path);
    let id: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let mut operation = json!({"operationId": id, "summary": route.about});
    let Value::Object(members) = &mut operation else { return operation };
    let mut parameters = Vec::new();
    if route.path.contains('{') {
        let schema = json!({"type": "string", "minLength": 1});
        parameters.push(json!({"name": "id", "in": "path", "required": true, "schema": schema}));
    }
    if let Some(query) = route.query {
        // The members of a query stand in the operation one by one.
        let mut inner = SchemaSettings::draft2020_12();
        inner.inline_subschemas = true;
        let schema = query(&mut inner.into_generator()).to_value();
        for (name, schema) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            parameters
                .push(json!({"name": name, "in": "query", "required": false, "schema": present(schema)}));
        }
    }
    if !parameters.is_empty() {
        members.insert("parameters".into(), parameters.into());
    }
    if let Some(takes) = route.takes {
        let body = json!({"required": true, "content": {"application/json": {"schema": takes(generator)}}});
        members.insert("requestBody".into(), body);
    }
    let content = match route.gives {
        Gives::Json(form) => json!({"application/json": {"schema": form(generator)}}),
        Gives::Other(kind) => json!({kind: {}}),
    };
    let mut responses = Map::new();
    responses.insert("200".into(), json!({"description": "The answer", "content": content}));
    if route.access == Access::Open {
        members.insert("security".into(), json!([]));
    }
    let statuses = COMMON.iter().chain(route.statuses);
    let more: &[u16] = match route.method {
        Method::Post => WITH_BODY,
        Method::Get | Method::Delete => &[400],
    };
    for status in statuses.chain(more) {
        let response = match status {
            101 => json!({"description": "The two-way interface begins"}),
            _ => json!({"description": "A refusal", "content": {"application/json": {"schema": error}}}),
        };
        responses.insert(status.to_string(), response);
    }
    members.insert("responses".into(), responses.into());
    operation
}

/// A member of a query that is there: it is never `null`.
fn present(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(kinds) = schema.get_mut("type")
        && let Value::Array(several) = kinds
    {
        let kind = several.iter().find(|kind| *kind != "null").cloned().unwrap_or_default();
        *kinds = kind;
    }
    schema
}
