//! Agreement of several agents: consensus on findings, debates, stages and checkpoints.

pub(crate) mod consensus;
pub(crate) mod debate;
pub(crate) mod pair;
pub(crate) mod stage;
