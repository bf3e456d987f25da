//! Reviews, stages and checkpoints, watches, audits and pull requests.
//!
//! **One loop runs every workflow.** [`run`] starts the due steps concurrently, calls agents, detects forbidden changes
//! of the tree, enforces the budget and records the results. Plan, state, schedule, requests and outcome of a workflow
//! are pure functions; only a few methods of the trait reach the tree and the history.
//!
//! **Complete answers are reused.** A reviewer's answer for a file is recorded under a hash of everything that could
//! change it. A later review first records which answers it reuses, and then asks only about the remaining files
//! ([`review::recorded::reuse`]).

pub mod audit;
pub mod consensus;
pub mod hosts;
pub mod pull_request;
pub mod review;
pub mod run;
pub mod watch;
