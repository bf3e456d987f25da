//! Agents as data: names, roles, failures, usage.

pub mod agent;
pub mod failure;
pub mod profile;
pub mod reads;
pub mod role;
pub mod usage;
