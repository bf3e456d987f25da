//! Commands that need no project: parsers, merging, votes, completions.

pub(crate) mod completions;
pub(crate) mod man;
pub(crate) mod merge;
pub(crate) mod parse;
pub(crate) mod vote;
