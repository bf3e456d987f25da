//! Questions to the history. None of them writes.

pub(crate) mod query;
pub(crate) mod reviewed_files;
pub(crate) mod rows;
