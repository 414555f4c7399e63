//! How does a person work with an agent?
//!
//! A screen for one run: what is said and done, live output, and panels for what must be answered. [`Screen`] is pure: events
//! and time go in ([`Screen::update`]), actions come out, and [`Screen::draw`] puts it on cells. Only what is in sight is laid out.
//! What the model and the tools wrote is made visible before it becomes part of the state.

mod approval_panel;
mod body;
mod draw;
mod entry;
mod from_run;
mod guard;
mod happening;
mod human_panel;
mod input;
mod keys;
mod question;
mod screen;
mod scroll;
mod sitting;
mod terminal;
mod theme;
mod transcript;
mod wrap;

pub use happening::{Action, Event, GrantLine, Happening, PlanStep, StepStatus};
pub use question::Question;
pub use screen::Screen;
pub use sitting::Sitting;
pub use theme::Theme;
