//! The terminal: streams, live progress and dialogs. Nothing else in Glee writes to it.

pub mod dialogs;
pub mod live;
pub mod screen;
pub mod stream;
pub mod terminal;

#[cfg(all(test, unix))]
mod pty_tests;
