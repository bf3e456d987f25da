//! Queries over the history: the filters, the SQL statements and the rows that the queries return.

pub(crate) mod follow;
pub(crate) mod measures;
pub(crate) mod problems;
pub(crate) mod query;
pub(crate) mod reviewed_files;
pub(crate) mod rows;
