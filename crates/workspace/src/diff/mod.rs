//! Parses and computes diffs, applies diffs in memory, and compares files with the records of earlier reviews.

pub mod blocks;
pub(crate) mod both_sides;
pub(crate) mod changed_files;
pub mod delta;
pub(crate) mod metadata_changes;
pub mod parse;
pub mod patch;
pub mod unified;
