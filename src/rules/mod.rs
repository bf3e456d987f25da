//! Decisions as pure functions over plain data; each is tested with the table of its specification.

pub mod advisories;
pub mod budget;
pub mod consensus;
pub(crate) mod parallel;
pub mod review;
pub mod stages;
pub mod votes;
pub mod watch;
