//! Queries over the history: the filters, the SQL statements and the rows that the queries return.

pub mod follow;
pub mod measures;
pub mod problems;
pub mod query;
pub(crate) mod reviewed_files;
pub mod rows;
