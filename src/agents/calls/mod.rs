//! Calls agents with retries and backups, and records the calls, their prices and their failures.

pub(crate) mod agents;
pub mod ask;
pub mod base_run;
pub(crate) mod checkouts;
pub(crate) mod cooldown;
pub(crate) mod error_classifier;
pub mod price;
pub mod project_commands;
pub(crate) mod rate_limit_reset;
pub(crate) mod record;
pub(crate) mod retry;
pub(crate) mod state_cache;
