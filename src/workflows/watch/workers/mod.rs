//! Runs the agents that a watch starts, and reads the agents' events.

pub(crate) mod follower;
pub(crate) mod worker;
