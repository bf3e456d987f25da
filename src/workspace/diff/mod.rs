//! Diffs: parsed, computed, applied in memory, and compared with earlier reviews.

pub(crate) mod changed_files;
pub mod delta;
pub(crate) mod metadata_changes;
pub(crate) mod parse;
pub(crate) mod patch;
pub(crate) mod unified;
