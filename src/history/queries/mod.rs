//! Queries over the history: filters and rows, and the SQL that answers them.

pub(crate) mod query;
pub(crate) mod reviewed_files;
pub(crate) mod rows;
