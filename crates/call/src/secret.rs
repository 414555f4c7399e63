//! A value that must not come out: environment values, typed input, file contents, patch text.
//!
//! There is no way to print, serialize, compare or copy a [`Secret`] by accident; the one way to its text is
//! [`Secret::expose`], so that one search lists every place where a secret is used.
//!
//! It cannot be shown:
//! ```compile_fail,E0277
//! let secret = call::Secret::new(String::from("hunter2"));
//! println!("{secret}");
//! ```
//! nor shown for debugging:
//! ```compile_fail,E0277
//! let secret = call::Secret::new(String::from("hunter2"));
//! println!("{secret:?}");
//! ```
//! nor hidden inside something that is:
//! ```compile_fail,E0277
//! #[derive(Debug)]
//! struct Holder { secret: call::Secret }
//! ```
//! nor serialized:
//! ```compile_fail,E0277
//! let secret = call::Secret::new(String::from("hunter2"));
//! let _ = serde_json::to_string(&secret);
//! ```
//! nor copied:
//! ```compile_fail,E0599
//! let secret = call::Secret::new(String::from("hunter2"));
//! let copy = secret.clone();
//! ```
//! nor compared, which would leak how much of it matches:
//! ```compile_fail,E0369
//! let secret = call::Secret::new(String::from("hunter2"));
//! assert!(secret == call::Secret::new(String::from("hunter2")));
//! ```
//! nor turned into a string without saying so:
//! ```compile_fail,E0599
//! let secret = call::Secret::new(String::from("hunter2"));
//! let text = secret.to_string();
//! ```
//! nor used where a text is wanted:
//! ```compile_fail,E0308
//! let secret = call::Secret::new(String::from("hunter2"));
//! let masked = call::mask(&secret);
//! ```

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer};

/// A text that must not come out.
#[derive(Default)]
pub struct Secret(String);

impl Secret {
    /// Keeps `text`.
    #[must_use]
    pub const fn new(text: String) -> Self {
        Secret(text)
    }

    /// The text itself. Every use must end in an execution or a digest, never in something that is shown or stored.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// How many bytes it has; this much may be known.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// There is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Secret)
    }
}

impl JsonSchema for Secret {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Secret".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}
