//! Decisions as pure functions over plain data, each with the table of its specification as its test.

pub mod advisories;
pub mod budget;
pub mod checkpoint;
pub mod consensus;
pub mod disputes;
pub mod gate;
pub mod mandatory;
pub mod panel;
pub mod peers;
pub mod reversal;
pub mod rulings;
pub mod selection;
pub(crate) mod side_by_side;
pub mod stages;
pub mod triggers;
pub mod vote;
