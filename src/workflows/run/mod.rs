//! The runner that all workflows share.
//!
//! `workflow` is the trait of a kind of run and the loop of its steps; `runner` has the resources and records
//! events; `call` makes a call and `answers` parses its output; `attempts` and `budget` limit calls; `write_guard`
//! detects changes by read-only agents; `redaction` removes secrets; `ports` are the interfaces that a caller
//! implements.

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
