//! Calls agents with retries and backups, and records the calls, their prices and their failures.

pub mod agents;
pub mod ask;
pub(crate) mod base_run;
pub mod call;
pub mod checkouts;
pub mod cooldown;
pub mod demonstration;
pub(crate) mod error_classifier;
pub(crate) mod instead;
pub(crate) mod outage;
pub mod permits;
mod permitted;
pub mod price;
pub mod project_commands;
pub(crate) mod rate_limit_reset;
pub mod record;
pub mod retry;
pub(crate) mod state_cache;
mod v8_coverage;
