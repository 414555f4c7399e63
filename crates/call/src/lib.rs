//! What was asked?
//!
//! A door hands in a [`RawCall`]; [`Call::parse`] makes a [`Call`] of it or says what is wrong ([`Invalid`]). A tool's
//! [`Descriptor`] then says what the call is about ([`Intent`]) and how approvals, events and the journal may hold it
//! ([`Request`]), secrets masked or digested, with the [`ApprovalKey`] that a yes is bound to.
//!
//! This crate touches neither disk nor clock nor environment. Arguments are bounded ([`bounds`]).

pub mod bounds;
mod call;
mod canonical;
mod custom;
mod descriptor;
mod digest;
mod error_kind;
mod form;
mod intent;
mod invalid;
mod look_alikes;
mod mask;
mod patch;
mod raw;
mod request;
mod same_tool;
mod schema;
mod secret;
mod shown;
mod strict_json;
mod tools;
mod visible;

pub use call::Call;
pub use canonical::{MAX_SAFE_INTEGER, canonical};
pub use custom::CustomArguments;
pub use descriptor::{Category, Descriptor, Descriptors, Passthrough, Seen, Taken};
pub use digest::{DigestKey, sha256, sha256_hex};
pub use error_kind::ErrorKind;
pub use form::{Form, Purpose};
pub use intent::{Intent, Shell};
pub use invalid::Invalid;
pub use mask::{MASKED, mask, mask_argv, mask_json};
pub use patch::{Hunk, HunkLine, Patch, PatchFile, PatchOperation, PatchText};
pub use raw::{Principal, RawCall};
pub use request::{ApprovalKey, Request};
pub use same_tool::{could_be_tool, mcp_server, same_tool};
pub use secret::Secret;
pub use shown::{LONGEST_SHOWN, Shown};
pub use strict_json::read as strict_json;
pub use tools::*;
pub use visible::{visible, visible_lines};
