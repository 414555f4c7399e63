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
    "/console/main.js", "text/javascript; charset=utf-8", "console/main.js";
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
