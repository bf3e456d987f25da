//! The workflows of Glee, and what they share.
//!
//! - [`run`]: the runner: records, calls, redaction, write guard, errors
//! - [`review`]: reviewers, coder and judges over a target
//! - [`consensus`]: stages and checkpoints before there is code
//! - [`watch`]: event-driven review of running agents

pub mod consensus;
pub mod review;
pub mod run;
pub mod watch;
