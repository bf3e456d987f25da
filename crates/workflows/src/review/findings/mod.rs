//! Turns answers into the findings of a round.
//!
//! The module `merge` combines the findings of several reviewers, `unsure` and `pairs` ask about the findings that
//! may be the same, `examinations` tells who examines
//! and defends what in a debate, and `debate` concludes it.
//! `convergence` tells whether rounds raise findings in the last fix again and again.
//! `numbered` gives the findings their numbers, `numbers` finds the problems that they continue, and `edited` those whose code was edited.
//! `places` finds the files and lines that findings mean.
//! `pairing` finds the anchors that describe the same problem. `recognition` and `relations` compare the findings with earlier disputes from `earlier_records`. `round`
//! defines the data that `recognition` and `relations` require. `replacement` checks the replacement lines that
//! reviewers propose. `separation` gives the members that a ruling leaves out a number of their own.

pub(crate) mod convergence;
pub mod debate;
pub(crate) mod earlier_records;
mod edited;
mod examinations;
pub mod merge;
pub mod numbered;
pub mod numbers;
pub mod pairing;
pub mod pairs;
mod places;
pub mod recognition;
pub(crate) mod relations;
mod replacement;
pub mod round;
pub(crate) mod separation;
pub mod unsure;
