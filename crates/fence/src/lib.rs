//! What can it touch?

pub mod network;
