//! The runner that all workflows share.
//!
//! The module `workflow` defines the trait of a workflow, and the module `runner` contains the loop that runs the
//! steps of a workflow. The module `resources` owns the journal, agents and work tree of a run, and records
//! events. The module `call` makes a call, and the module `answers` parses the output. The modules `attempts` and
//! `budget` limit the number of calls. The module `write_guard` detects changes by read-only agents, and the
//! module `redaction` removes secrets. The module `ports` defines the interfaces that callers implement.

pub mod attempts;
mod blocking;
pub mod budget;
pub mod call;
pub mod error;
mod memory;
pub mod ports;
pub mod redaction;
pub mod resources;
pub mod runner;
pub mod workflow;
pub(crate) mod write_guard;
