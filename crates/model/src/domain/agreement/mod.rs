//! Agreement of several agents: consensus on findings, debates, stages and checkpoints.

pub mod consensus;
pub mod debate;
pub mod pair;
pub mod stage;
