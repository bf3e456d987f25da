//! Decides by the votes of three voters, and by the rulings of a panel of three judges.

pub mod panel;
pub mod vote;
