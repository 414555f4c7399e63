//! The tool that searches the web.

use schemars::JsonSchema;
use serde::Deserialize;

use super::Kind;
use crate::descriptor::Category;
use crate::form::Form;
use crate::intent::Intent;

const fn ten() -> u64 {
    10
}

/// Arguments of `web_search`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WebSearch {
    /// What to search for.
    #[schemars(length(min = 1))]
    pub q: String,
    /// Not older than so many days.
    pub recency: Option<u64>,
    /// How many answers.
    #[serde(default = "ten")]
    #[schemars(range(min = 1))]
    pub limit: u64,
    /// The host that the configured provider is at; nobody who asks can say it.
    #[serde(skip)]
    pub(crate) host: Option<String>,
}

impl Kind for WebSearch {
    const NAME: &'static str = "web_search";
    const CATEGORY: Category = Category::Connect;
    const ABOUT: &'static str = "Searches the web.";

    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Connect { host: self.host.clone(), what: "a web search".into() }]
    }

    fn fill(&self, form: &mut Form<'_>) {
        form.text("q", &self.q);
        if let Some(recency) = self.recency {
            form.shown("recency", recency);
        }
        form.shown("limit", self.limit);
        if let Some(host) = &self.host {
            form.text("host", host);
        }
    }
}
