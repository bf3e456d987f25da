//! Handles the pipes of a process: capture, monitoring, dialogue and deadlines.

pub mod capture;
pub(crate) mod deadlines;
pub mod dialogue;
pub(crate) mod long_running;
pub(crate) mod output_monitor;
