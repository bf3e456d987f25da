//! Runs agents as processes, under a supervisor and in a sandbox. Only `runner` spawns agents.

pub mod environment;
pub(crate) mod orphans;
pub mod own_process;
pub mod runner;
pub mod sandbox;
#[cfg(test)]
pub(crate) mod scripted;
pub mod stop;
pub mod supervisor;
