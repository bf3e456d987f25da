//! Agents that a watch starts: `worker` runs agents that print events, `follower` reads the output of agents that
//! answer a prompt.

pub(crate) mod follower;
pub(crate) mod worker;
