//! Parsers for the answers of agents, with one module for each kind of answer.

pub(crate) mod answer_lines;
pub mod by_finding;
pub mod close;
pub mod closing;
pub mod compare;
pub mod coverage_report;
pub mod debate;
pub mod demonstrate;
pub mod peer_review;
pub mod recheck;
pub mod reply;
pub mod response;
pub mod review;
pub mod ruling;
pub mod stage;
pub mod test_report;
#[cfg(test)]
pub mod unsigned;
