//! What can an agent do?
//!
//! The built-in tools, a file for each. A tool gets arguments that were read and checked ([`call`]), after the gate said
//! yes, and a [`Setting`]: what is open to the call. It answers with an [`Outcome`]. It decides nothing; it only cannot
//! reach further than its setting.

pub mod apply_patch;
pub mod failure;
pub mod file_read;
pub mod file_write;
pub mod grep_files;
mod hunk;
mod ignore_rules;
mod image;
mod indentation;
pub mod list_dir;
pub mod outcome;
pub mod path_form;
pub mod read_file;
pub mod setting;
mod text;
pub mod view_image;
mod walk;

pub use failure::Failure;
pub use outcome::Outcome;
pub use setting::Setting;
