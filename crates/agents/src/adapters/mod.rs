//! Adapters turn a request into a command, and the output of the command into an answer. The module `programs` has
//! one file per program.

mod command;
pub mod interface;
pub mod invocation;
mod parsed_output;
#[cfg(test)]
mod placeholders;
pub mod profile;
pub mod programs;
#[cfg(test)]
mod recorded;
pub mod registry;
#[cfg(test)]
mod roles;
mod tools;

pub use command::{assemble, list, whole};
pub use interface::{Adapter, ProgressEvent};
pub use invocation::{Invocation, Output};
pub use parsed_output::ParsedOutput;
pub use parsed_output::{ReportedError, number, owned, string, text, tokens, usd};
