//! Agents that a watch starts: `worker` runs those that print events, `follower` reads those that answer a prompt.

pub(crate) mod follower;
pub(crate) mod worker;
