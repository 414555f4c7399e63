//! What can it touch?

pub mod egress;
pub mod network;
