//! Handles the pipes of a process: capture, monitoring, dialogue and deadlines.

pub(crate) mod capture;
pub(crate) mod deadlines;
pub mod dialogue;
pub(crate) mod long_running;
pub mod output_monitor;
