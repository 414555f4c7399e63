//! The screen without a terminal: what it shows, and what its keys do.

mod answering;
mod screens;
mod situations;
