//! The gates that requests are judged by: one for the directory of the server, further ones for other directories and for what
//! single requests tighten. All of them share one office, so that questions, grants and the journal are the same.
//!
//! A configuration file that changes counts within a second or two. While it does not hold together, every call is refused.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use gate::Gate;
use gate::call::ErrorKind;
use serde_json::Value;

use crate::refusal::Refusal;

/// So many gates beside the main one are kept.
const MOST: usize = 64;

/// Why there is no gate.
#[derive(Debug)]
pub enum Unfit {
    /// The configuration is wrong.
    Configuration(String),
    /// What the request brings is wrong, or would loosen something.
    Request(String),
}

/// Makes gates from the configuration as it is now.
pub trait Loader: Send + Sync {
    /// A gate for calls in this directory (by default the server's), with configuration of one request, in YAML or JSON, on
    /// top. It needs no office.
    ///
    /// # Errors
    /// There is none, and why.
    fn gate(&self, directory: Option<&str>, request: Option<&str>) -> Result<Gate, Unfit>;

    /// What the files that were read look like from outside: another value means that one has changed.
    fn stamp(&self) -> String;
}

/// A directory, and what a request says.
type Key = (Option<String>, Option<String>);

/// The gates.
pub(crate) struct Gates {
    loader: Box<dyn Loader>,
    /// Where questions, grants and the journal are; also a gate, the first one.
    office: Arc<Gate>,
    /// The one for the directory of the server, or what is wrong with its configuration.
    main: RwLock<(String, Result<Arc<Gate>, String>)>,
    others: RwLock<HashMap<Key, Arc<Gate>>>,
}

impl Gates {
    pub(crate) fn new(first: Arc<Gate>, loader: Box<dyn Loader>) -> Gates {
        let stamp = loader.stamp();
        Gates {
            loader,
            office: Arc::clone(&first),
            main: RwLock::new((stamp, Ok(first))),
            others: RwLock::default(),
        }
    }

    /// The gate that has the office.
    pub(crate) fn first(&self) -> &Arc<Gate> {
        &self.office
    }

    /// The gate of the server's own directory.
    pub(crate) fn main(&self) -> Result<Arc<Gate>, Refusal> {
        match &self.main.read().unwrap_or_else(PoisonError::into_inner).1 {
            Ok(gate) => Ok(Arc::clone(gate)),
            // FAIL-CLOSED: nobody knows what the user wants to hold now.
            Err(why) => Err(Refusal::new(ErrorKind::ConfigError, why.clone())),
        }
    }

    /// The gate for a directory and what a request says.
    pub(crate) fn of(&self, directory: Option<&str>, safety: Option<&Value>) -> Result<Arc<Gate>, Refusal> {
        if directory.is_none() && safety.is_none() {
            return self.main();
        }
        // While the server's own configuration is broken, nothing that builds on it holds.
        self.main()?;
        let request = safety.map(|safety| serde_json::json!({ "safety": safety }).to_string());
        let key = (directory.map(str::to_owned), request);
        if let Some(gate) = self.others.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(Arc::clone(gate));
        }
        let made = self.loader.gate(key.0.as_deref(), key.1.as_deref()).map_err(|unfit| match unfit {
            Unfit::Configuration(why) => Refusal::new(ErrorKind::ConfigError, why),
            Unfit::Request(why) => Refusal::unfit(why.replace("a workspace file", "a request")),
        })?;
        let made = Arc::new(made.with_office_of(&self.office));
        let mut others = self.others.write().unwrap_or_else(PoisonError::into_inner);
        if others.len() >= MOST {
            others.clear();
        }
        others.insert(key, Arc::clone(&made));
        Ok(made)
    }

    /// Looks whether the configuration has changed. Others than the main gate are simply made anew when they are next wanted.
    pub(crate) fn refresh(&self) {
        self.others.write().unwrap_or_else(PoisonError::into_inner).clear();
        let stamp = self.loader.stamp();
        if self.main.read().unwrap_or_else(PoisonError::into_inner).0 == stamp {
            return;
        }
        let made = match self.loader.gate(None, None) {
            Ok(gate) => Ok(Arc::new(gate.with_office_of(&self.office))),
            Err(Unfit::Configuration(why) | Unfit::Request(why)) => Err(why),
        };
        *self.main.write().unwrap_or_else(PoisonError::into_inner) = (stamp, made);
    }
}
