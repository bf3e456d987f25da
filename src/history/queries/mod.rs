pub(crate) mod query;
pub(crate) mod reviewed_files;
pub(crate) mod rows;
