//! Adapters: request to command, output to answer; one file a program in `programs`.

pub(crate) mod effort;
pub mod interface;
pub mod invocation;
pub(crate) mod json_events;
pub(crate) mod parsed_output;
pub mod programs;
#[cfg(test)]
pub(crate) mod recorded;
pub mod registry;
#[cfg(test)]
pub(crate) mod roles;
