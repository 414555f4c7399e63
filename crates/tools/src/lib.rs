//! What can an agent do?
//!
//! The built-in tools, a file for each. A tool gets arguments that were read and checked ([`call`]), after the gate said
//! yes, and what is open to the call: a [`Setting`] for files, a [`Job`] for programs. It answers with an [`Outcome`]. It
//! decides nothing; it only cannot reach further than what it was given.

pub mod apply_patch;
pub mod ask_human;
pub mod cancel;
mod clock;
mod drain;
pub mod ended;
pub mod exec;
pub mod failure;
pub mod file_read;
pub mod file_write;
pub mod grep_files;
pub mod human;
pub mod human_callback;
pub mod human_terminal;
mod hunk;
mod ignore_rules;
mod image;
mod indentation;
pub mod job;
mod kept;
pub mod list_dir;
pub mod outcome;
pub mod output;
pub mod path_form;
pub mod read_file;
pub mod readable;
pub mod request_user_input;
pub mod screen;
pub mod search_provider;
pub mod sessions;
pub mod setting;
pub mod skill_ref_read;
pub mod skills;
mod text;
mod turns;
pub mod update_plan;
pub mod view_image;
mod walk;
pub mod web_search;

pub use cancel::{Cancel, CancelOnDrop, Hooked};
pub use ended::{Ended, refused};
pub use exec::{Capture, Ran, run_captured};
pub use failure::Failure;
pub use human::{Given, Human, HumanAnswer, HumanQuestion, Item, Offered};
pub use human_callback::Callback;
pub use human_terminal::{Console, OpenConsole, TerminalHuman};
pub use job::{Job, Size};
pub use outcome::Outcome;
pub use output::{Bounds, Output, Stream};
pub use readable::Text;
pub use screen::Screen;
pub use search_provider::SearchProvider;
pub use sessions::{Ask, Said, SessionBounds, SessionError, Sessions, Start};
pub use setting::Setting;
pub use skills::{Mention, Resolved, Script, SkillSpaces, Summary};
pub use update_plan::{Plan, Plans};
