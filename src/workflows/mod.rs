//! The workflows of Glee, and what they share.
//!
//! - [`run`]: the runner: records, calls, redaction, write guard, errors

pub mod consensus;
pub mod review;
pub mod run;
pub mod watch;
