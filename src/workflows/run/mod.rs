//! The runner that all workflows share.
//!
//! `workflow` is the trait of a kind of run and the loop that runs its steps; `runner` holds the run's resources and records
//! events; `call` makes one call of an agent and `answers` parses its output; `attempts` and `budget` decide whether a call may be
//! made; `write_guard` detects changes by read-only agents; `redaction` removes secrets; `ports` are the listeners and persons
//! that a caller supplies.

pub(crate) mod answers;
pub(crate) mod attempts;
pub(crate) mod budget;
pub(crate) mod call;
pub(crate) mod error;
pub mod ports;
pub(crate) mod redaction;
pub(crate) mod runner;
pub(crate) mod workflow;
pub(crate) mod write_guard;
