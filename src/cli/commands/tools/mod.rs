//! Commands that work outside of a project: parsing, merging, voting, shell completions and manual pages.

pub(crate) mod completions;
pub(crate) mod help;
pub(crate) mod man;
#[cfg(feature = "mcp")]
pub(crate) mod mcp;
pub(crate) mod merge;
pub(crate) mod parse;
pub(crate) mod vote;
