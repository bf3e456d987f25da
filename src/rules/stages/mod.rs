//! What the answers to a stage or a checkpoint come to.

pub mod checkpoint;
pub mod stage;
