//! Processes: the one file that spawns them, the supervisor, the sandbox.

pub mod environment;
pub(crate) mod orphans;
pub mod own_process;
pub mod runner;
pub mod sandbox;
#[cfg(test)]
pub(crate) mod scripted;
pub mod stop;
pub mod supervisor;
