//! Turns answers into the findings of a round.
//!
//! `merge` combines the reviewers' findings, and `debate` concludes their cross-examination. `recognition` and
//! `relations` compare the findings with earlier disputes (`earlier_records`). `round` is the input of these
//! comparisons.

pub(crate) mod debate;
pub(crate) mod earlier_records;
pub(crate) mod merge;
pub(crate) mod recognition;
pub(crate) mod relations;
pub(crate) mod round;
