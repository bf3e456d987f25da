//! Formats the outcome of a run as text or for other programs.

pub(crate) mod calls;
pub(crate) mod filter;
pub(crate) mod fix_command;
pub mod formats;
pub(crate) mod html;
#[cfg(test)]
mod kept;
pub(crate) mod options;
pub(crate) mod outputs;
pub(crate) mod paths;
pub mod stage;
pub mod text;
pub(crate) mod view;
pub(crate) mod written;

pub(crate) use formats::left_out;
pub use formats::{Format, render};

/// A format of the result of a stage or a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BasicFormat {
    Text,
    Json,
    Jsonl,
}
