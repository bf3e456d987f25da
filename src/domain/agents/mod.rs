//! Agents as data: names, roles, failures, usage.

pub(crate) mod agent;
pub(crate) mod failure;
pub(crate) mod reads;
pub(crate) mod usage;
