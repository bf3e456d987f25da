//! Agents: the adapter trait with one match over the adapters, and the one file that spawns processes.
//!
//! An agent is added as one file in `adapters/programs` and one arm in [`adapters::registry`].

pub mod adapters;
pub mod builtin;
pub mod calls;
pub(crate) mod error;
pub mod failure;
pub mod probe;
pub mod process;
pub mod schema;

#[cfg(test)]
pub(crate) mod samples;
pub mod streams;

pub use crate::agents::adapters::invocation::AnswerText;
pub use crate::agents::adapters::registry::AdapterKind;
pub use crate::agents::calls::agents::Agents;
pub use crate::agents::calls::agents::Cooldown;
pub use crate::agents::calls::ask::{Ask, CallResult, Session};
pub use crate::agents::calls::project_commands::CommandInput;
pub use crate::agents::process::runner::TranscriptFiles;
pub use crate::agents::process::runner::{Execute, ProcessRunner};
pub use crate::agents::process::stop::{Stop, StopHandle};
