//! Turns answers into the findings of a round.
//!
//! `merge` combines the reviewers' findings, `debate` concludes their cross-examination, `recognition` and
//! `relations` compare them with earlier disputes (`past`); `round` is the input of both.

pub(crate) mod debate;
pub(crate) mod earlier_records;
pub(crate) mod merge;
pub(crate) mod recognition;
pub(crate) mod relations;
pub(crate) mod round;
