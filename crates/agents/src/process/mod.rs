//! Runs agents as processes, under a supervisor and in a sandbox. Only `runner` spawns agents.

pub mod environment;
pub mod memory;
pub mod orphans;
pub mod own_process;
pub mod runner;
pub mod sandbox;
#[cfg(any(test, feature = "testing"))]
pub mod scripted;
pub mod stop;
pub mod supervisor;
pub mod transcript_files;
