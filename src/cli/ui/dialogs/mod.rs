//! Dialogs and prompts at the terminal.

pub mod dispute;
pub mod prompter;
pub mod questions;
