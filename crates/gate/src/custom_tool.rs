//! Tools of whoever builds an agent, beside the built-in ones: each with a type for its arguments, from which both its schema and
//! its validation come, and a descriptor that says what a call would touch. They pass the same gate and are written down alike;
//! what they do themselves runs in this process, without a fence.

use std::sync::Arc;

use call::{Descriptor, ErrorKind, Taken};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tools::{Cancel, Outcome};

use crate::Gate;

type Run = Arc<dyn Fn(&Value, &Cancel) -> Outcome + Send + Sync>;

/// A tool of somebody else's.
#[derive(Clone)]
pub struct CustomTool {
    about: &'static str,
    schema: Value,
    run: Run,
}

impl CustomTool {
    /// A tool whose arguments are an `A`. A call whose arguments are none is a `validation` error and does not reach `run`.
    ///
    /// Give `A` `#[serde(deny_unknown_fields)]`: an argument that nobody reads is one that nobody judged.
    pub fn new<A: DeserializeOwned + JsonSchema>(
        about: &'static str,
        run: impl Fn(A, &Cancel) -> Outcome + Send + Sync + 'static,
    ) -> CustomTool {
        let schema = serde_json::to_value(schemars::schema_for!(A)).unwrap_or_default();
        let checked = move |arguments: &Value, cancel: &Cancel| match A::deserialize(arguments) {
            Ok(arguments) => run(arguments, cancel),
            // The values may be secret; what serde says of them is masked.
            Err(error) => Outcome::error(ErrorKind::Validation, call::mask(&error.to_string()).into_owned()),
        };
        CustomTool { about, schema, run: Arc::new(checked) }
    }

    /// What it is for.
    #[must_use]
    pub const fn about(&self) -> &'static str {
        self.about
    }

    /// The JSON Schema of its arguments.
    #[must_use]
    pub const fn schema(&self) -> &Value {
        &self.schema
    }

    pub(crate) fn run(&self, arguments: &Value, cancel: &Cancel) -> Outcome {
        (self.run)(arguments, cancel)
    }
}

impl Gate {
    /// Adds a tool. Without a descriptor nothing is known about its calls, and each is asked about.
    ///
    /// # Errors
    /// There is a tool of this name already.
    pub fn with_tool(
        mut self,
        name: &str,
        tool: CustomTool,
        descriptor: Option<Box<dyn Descriptor>>,
    ) -> Result<Gate, Taken> {
        if call::tool(name).is_some() || self.custom.contains_key(name) {
            return Err(Taken { name: name.to_owned() });
        }
        if let Some(descriptor) = descriptor {
            self.descriptors.register(name, descriptor)?;
        }
        self.custom.insert(name.to_owned(), tool);
        Ok(self)
    }

    /// The tools that were added.
    pub fn custom_tools(&self) -> impl Iterator<Item = (&str, &CustomTool)> {
        self.custom.iter().map(|(name, tool)| (name.as_str(), tool))
    }
}
