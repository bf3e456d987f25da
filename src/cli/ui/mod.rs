//! The terminal: streams, live progress and dialogs. Glee writes to the terminal only through this module.

pub(crate) mod browser;
pub mod dialogs;
pub mod live;
pub(crate) mod notification;
pub(crate) mod notify;
pub(crate) mod pager;
pub mod screen;
pub mod stream;
pub mod terminal;

#[cfg(all(test, unix))]
mod pty_tests;
