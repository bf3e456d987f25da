//! Undoes and redoes the changes of a run's coder, file by file.

pub(crate) mod applied_log;
pub mod apply;
pub(crate) mod put_back;
pub mod restore;
pub(crate) mod three_way;
pub(crate) mod undo_log;
pub mod write;

pub use apply::Applied;
pub use restore::{Forced, UndoConflict, UndoOptions, UndoPlan, Undone};
pub use three_way::{Clash, UndoEffect};
pub use write::Occupancy;
