//! The parts of a review: findings, severities, locations, answers and the outcome.

pub mod advisory;
pub mod code_context;
pub mod coverage;
pub mod cwe;
pub mod demonstration;
pub mod exact_fix;
pub mod exit_reason;
pub mod finding;
pub mod ground;
pub mod intent;
pub mod location;
pub mod loosened;
pub mod measures;
pub mod outcome;
pub mod response;
pub mod reuse;
pub mod run_worktree;
pub mod severity;
