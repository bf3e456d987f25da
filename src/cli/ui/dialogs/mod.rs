//! Dialogs and prompts at the terminal.

pub mod dispute;
pub(crate) mod menu;
pub mod prompter;
pub mod questions;
