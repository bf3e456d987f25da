//! The terminal: streams, live progress and dialogs. Nothing else in Glee writes to it.

pub mod ask;
pub mod stream;
