//! The console's own files, compiled in. They hold nothing secret; everything on the page comes by requests with the token.

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};

use crate::refusal::Refusal;

/// One file of the page.
pub(crate) struct File {
    /// Where it is asked for.
    pub(crate) path: &'static str,
    kind: &'static str,
    bytes: &'static [u8],
}

macro_rules! files {
    ($($path:literal, $kind:literal, $file:literal;)*) => {
        /// Every file of the page.
        pub(crate) const FILES: &[File] = &[$(File {
            path: $path,
            kind: $kind,
            bytes: include_bytes!(concat!("../console/", $file)),
        }),*];
    };
}

files! {
    "/", "text/html; charset=utf-8", "index.html";
    "/console.css", "text/css; charset=utf-8", "console.css";
    "/icon.svg", "image/svg+xml", "icon.svg";
    "/icon-alert.svg", "image/svg+xml", "icon-alert.svg";
    "/console/api.js", "text/javascript; charset=utf-8", "console/api.js";
    "/console/card.js", "text/javascript; charset=utf-8", "console/card.js";
    "/console/charts.js", "text/javascript; charset=utf-8", "console/charts.js";
    "/console/dialogs.js", "text/javascript; charset=utf-8", "console/dialogs.js";
    "/console/dom.js", "text/javascript; charset=utf-8", "console/dom.js";
    "/console/grants.js", "text/javascript; charset=utf-8", "console/grants.js";
    "/console/guard.js", "text/javascript; charset=utf-8", "console/guard.js";
    "/console/icons.js", "text/javascript; charset=utf-8", "console/icons.js";
    "/console/inquiry.js", "text/javascript; charset=utf-8", "console/inquiry.js";
    "/console/journal.js", "text/javascript; charset=utf-8", "console/journal.js";
    "/console/keys.js", "text/javascript; charset=utf-8", "console/keys.js";
    "/console/main.js", "text/javascript; charset=utf-8", "console/main.js";
    "/console/overview.js", "text/javascript; charset=utf-8", "console/overview.js";
    "/console/pending.js", "text/javascript; charset=utf-8", "console/pending.js";
    "/console/pieces.js", "text/javascript; charset=utf-8", "console/pieces.js";
    "/console/policy.js", "text/javascript; charset=utf-8", "console/policy.js";
    "/console/records.js", "text/javascript; charset=utf-8", "console/records.js";
    "/console/signin.js", "text/javascript; charset=utf-8", "console/signin.js";
    "/console/store.js", "text/javascript; charset=utf-8", "console/store.js";
    "/console/story.js", "text/javascript; charset=utf-8", "console/story.js";
    "/console/stream.js", "text/javascript; charset=utf-8", "console/stream.js";
    "/console/table.js", "text/javascript; charset=utf-8", "console/table.js";
    "/console/theme.js", "text/javascript; charset=utf-8", "console/theme.js";
    "/console/timeline.js", "text/javascript; charset=utf-8", "console/timeline.js";
    "/console/times.js", "text/javascript; charset=utf-8", "console/times.js";
    "/console/visible.js", "text/javascript; charset=utf-8", "console/visible.js";
}

const HEADERS: [(HeaderName, &str); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::CACHE_CONTROL, "no-store"),
];

/// A file of the page.
pub(crate) async fn file(uri: Uri) -> Response {
    let Some(file) = FILES.iter().find(|file| file.path == uri.path()) else {
        return Refusal::not_found("there is no such file").into_response();
    };
    let mut response = Response::new(Body::from(file.bytes));
    *response.status_mut() = StatusCode::OK;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(file.kind));
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    //! SRV-5: the page is made of files that hold no inline code and no way to turn text into markup. What it does with hostile
    //! text is tried in a browser by `console-tests/run.py`.

    use super::*;

    #[test]
    fn every_file_of_the_console_is_served() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/console");
        for directory in ["", "/console"] {
            for entry in std::fs::read_dir(format!("{root}{directory}")).unwrap() {
                let entry = entry.unwrap();
                if entry.file_type().unwrap().is_dir() {
                    continue;
                }
                let name = entry.file_name().into_string().unwrap();
                let path = if name == "index.html" { "/".to_owned() } else { format!("{directory}/{name}") };
                assert!(FILES.iter().any(|file| file.path == path), "{path} is not served");
            }
        }
    }

    #[test]
    fn no_file_of_the_console_makes_markup_from_text() {
        let ways = [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
            "DOMParser",
            "srcdoc",
        ];
        for file in FILES {
            let text = std::str::from_utf8(file.bytes).unwrap();
            for way in ways {
                assert!(!text.contains(way), "{} has {way}", file.path);
            }
            if file.path == "/" {
                assert_eq!(text.matches("<script").count(), 1);
                assert!(text.contains(r#"<script type="module" src="/console/main.js"></script>"#));
                assert!(!text.contains("<style") && !text.contains("style="));
            }
        }
    }
}
