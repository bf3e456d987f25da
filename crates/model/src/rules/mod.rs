//! The decision rules of Glee, as pure functions over plain data.

pub mod advisories;
pub mod budget;
pub mod consensus;
pub mod interval;
pub mod measures;
pub mod parallel;
pub mod review;
pub mod stages;
pub mod votes;
pub mod watch;
