//! What goes through a process's pipes: captured, watched, held as a conversation, under deadlines.

pub(crate) mod capture;
pub(crate) mod deadlines;
pub mod dialogue;
pub(crate) mod long_running;
pub mod output_monitor;
