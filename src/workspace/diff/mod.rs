//! Diffs: read, written, laid over a tree, and compared with what was reviewed earlier.

pub(crate) mod changed_files;
pub mod delta;
pub(crate) mod metadata_changes;
pub(crate) mod parse;
pub(crate) mod patch;
pub(crate) mod unified;
