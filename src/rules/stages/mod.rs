//! Results of stages and checkpoints.

pub mod checkpoint;
pub mod stage;
