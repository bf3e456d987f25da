//! The terminal: streams, live progress and dialogs. Nothing else in Glee writes to it.

pub mod ask;
pub mod board;
pub mod dispute;
pub mod jsonl;
mod menu;
mod narrate;
pub mod person;
pub mod progress;
pub mod screen;
pub mod stream;
pub mod terminal;

#[cfg(all(test, unix))]
mod pty_tests;
