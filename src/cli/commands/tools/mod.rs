//! Commands that work outside of a project: parsing, merging, voting, shell completions and manual pages.

pub(crate) mod completions;
pub(crate) mod man;
pub(crate) mod merge;
pub(crate) mod parse;
pub(crate) mod vote;
