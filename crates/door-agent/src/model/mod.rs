//! Models: what they are sent, and what comes back, by either protocol.

mod address;
mod anthropic;
mod client;
mod http;
mod openai;
mod reply;
mod sse;

use gate::call::Secret;
use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::conversation::Message;

pub use address::Address;
pub use client::Client;
pub(crate) use client::{Heard, Told, Wrong};
pub(crate) use reply::{Reply, Stop};

pub(crate) use reply::Piece;

/// Which protocol a model speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    /// OpenAI's chat completions, which many servers speak.
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
}

impl Provider {
    /// The word in the configuration.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Provider::OpenAi => "openai",
            Provider::Anthropic => "anthropic",
        }
    }

    /// Reads the word.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Provider> {
        [Provider::OpenAi, Provider::Anthropic].into_iter().find(|provider| provider.name() == name)
    }

    /// Where the provider itself serves its models.
    #[must_use]
    pub const fn base_url(self) -> &'static str {
        match self {
            Provider::OpenAi => "https://api.openai.com/v1",
            Provider::Anthropic => "https://api.anthropic.com",
        }
    }

    /// The variable that usually holds the key.
    #[must_use]
    pub const fn key_env(self) -> &'static str {
        match self {
            Provider::OpenAi => "OPENAI_API_KEY",
            Provider::Anthropic => "ANTHROPIC_API_KEY",
        }
    }
}

/// A model, and how it is reached.
pub struct Model {
    /// Which protocol.
    pub provider: Provider,
    /// Where.
    pub address: Address,
    /// Its name.
    pub name: String,
    /// The key, where one is wanted.
    pub key: Option<Secret>,
}

/// One request to a model.
pub(crate) struct Request<'a> {
    pub(crate) system: &'a str,
    pub(crate) messages: &'a [Message],
    pub(crate) tools: &'a [Offer],
    /// The most that it may write now.
    pub(crate) most: u64,
}

/// A tool that the model is offered.
#[derive(Debug, Clone)]
pub(crate) struct Offer {
    /// Its name.
    pub(crate) name: String,
    /// What it is for.
    pub(crate) about: String,
    /// The JSON Schema of its arguments.
    pub(crate) schema: Value,
}

/// The arguments of a call, for a protocol that wants an object: what is none was refused, and the refusal quotes it.
struct Arguments<'a>(Option<&'a RawValue>);

impl<'a> Arguments<'a> {
    fn of(written: &'a str) -> Arguments<'a> {
        let read: Option<&RawValue> = serde_json::from_str(written).ok();
        Arguments(read.filter(|value| value.get().starts_with('{')))
    }

    fn text(&self) -> &'a str {
        self.0.map_or("{}", RawValue::get)
    }
}

impl Serialize for Arguments<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(object) => object.serialize(serializer),
            None => serializer.serialize_map(Some(0))?.end(),
        }
    }
}
