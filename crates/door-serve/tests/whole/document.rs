//! What describes the interface is the interface, and the page is what the directory holds.

use std::path::Path;

use door_serve::{ROUTES, document};
use serde_json::Value;

use crate::server::Served;

#[tokio::test(flavor = "multi_thread")]
async fn the_document_names_every_route_and_resolves_every_reference() {
    let served = Served::new().await;
    let document_served = served.get("/openapi.json").await.json();
    assert_eq!(document_served, document());
    for route in ROUTES {
        let operation = &document_served["paths"][route.path][route.method.name().to_lowercase()];
        assert!(operation["summary"].as_str().is_some_and(|about| !about.is_empty()), "{}", route.path);
        assert!(operation["responses"]["200"].is_object(), "{}", route.path);
    }
    let mut open = vec![&document_served];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) => {
                if let Some(Value::String(reference)) = members.get("$ref") {
                    let path = reference.strip_prefix('#').expect("a reference within");
                    assert!(document_served.pointer(path).is_some(), "{reference}");
                }
                open.extend(members.values());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_file_of_the_page_is_served_with_strict_headers() {
    let served = Served::new().await;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("console");
    let mut directories = vec![root.clone()];
    let mut count = 0;
    while let Some(directory) = directories.pop() {
        for entry in directory.read_dir().expect("a directory").flatten() {
            let path = entry.path();
            if path.is_dir() {
                directories.push(path);
                continue;
            }
            let name = path.strip_prefix(&root).expect("beneath").display().to_string();
            let asked = if name == "index.html" { "/".to_owned() } else { format!("/{name}") };
            let reply = served.get(&asked).await;
            assert_eq!(reply.status, 200, "{asked} is not in the table of files");
            let policy = reply.header("content-security-policy").expect("a policy");
            assert!(
                policy.starts_with("default-src 'none'; script-src 'self'") && !policy.contains("unsafe"),
                "{policy}"
            );
            assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
            assert_eq!(reply.header("cache-control"), Some("no-store"));
            count += 1;
        }
    }
    assert!(count >= 4);
}
