//! What was asked?

mod intent;

pub use intent::{Intent, Shell};
