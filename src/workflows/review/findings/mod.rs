//! Turns answers into the findings of a round.
//!
//! `merge` makes one list of the reviewers' findings, `debate` concludes their cross-examination, `recognition` and
//! `relations` compare it with earlier disputes (`past`); `round` is the input of both.

pub(crate) mod debate;
pub(crate) mod earlier_records;
pub(crate) mod merge;
pub(crate) mod recognition;
pub(crate) mod relations;
pub(crate) mod round;
