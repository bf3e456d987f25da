//! Combines three votes into one action, and the rulings of three judges into one ruling.

pub mod panel;
pub mod vote;
