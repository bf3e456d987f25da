//! The rules for the results of stages and checkpoints.

pub mod checkpoint;
pub mod stage;
