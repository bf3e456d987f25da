//! Parsers of agents' answers, one file per kind.

pub(crate) mod by_finding;
pub mod compare;
pub mod debate;
pub mod peer_review;
pub mod recheck;
pub(crate) mod reply;
pub mod response;
pub mod review;
pub mod ruling;
pub mod stage;
#[cfg(test)]
pub(crate) mod unsigned;
