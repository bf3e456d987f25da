//! Runs the agents that a watch starts, and reads the agents' events.

pub mod follower;
pub mod worker;
