//! Takes back what the coder of a run did, file by file.

pub(crate) mod restore;
pub(crate) mod three_way;
pub(crate) mod undo_log;
pub(crate) mod write;
