//! From answers to the findings of a round.
//!
//! `merge` makes one list of what reviewers raised, `debate` concludes their cross-examination, `recognition` and
//! `relations` compare with earlier disputes (`past`), `round` is what both are given.

pub(crate) mod debate;
pub(crate) mod merge;
pub(crate) mod past;
pub(crate) mod recognition;
pub(crate) mod relations;
pub(crate) mod round;
