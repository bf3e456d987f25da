//! The runner that all workflows share.
//!
//! `workflow` defines the trait of a workflow, and `runner` is the loop that runs the steps of a workflow.
//! `resources` owns the journal, agents and work tree of a run, and records events. `call` makes a call, and
//! `answers` parses the output. `attempts` and `budget` limit the number of calls. `write_guard` detects changes by
//! read-only agents, and `redaction` removes secrets. `ports` defines the interfaces that callers implement.

pub(crate) mod answers;
pub(crate) mod attempts;
pub(crate) mod budget;
pub(crate) mod call;
pub(crate) mod error;
pub mod ports;
pub(crate) mod redaction;
pub(crate) mod resources;
pub(crate) mod runner;
pub(crate) mod workflow;
pub(crate) mod write_guard;
