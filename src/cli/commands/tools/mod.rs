//! Commands that need no project: they parse, merge, vote, or print completions and manual pages.

pub(crate) mod completions;
pub(crate) mod man;
pub(crate) mod merge;
pub(crate) mod parse;
pub(crate) mod vote;
