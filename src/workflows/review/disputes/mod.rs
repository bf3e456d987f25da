//! Disputes of a review.
//!
//! `objection` collects both sides, and `references` and `evidence` check citations. `resolve` turns the judges'
//! answers into a ruling. `rulings` reads the rulings of earlier runs and of shared files.

pub(crate) mod evidence;
pub(crate) mod objection;
pub(crate) mod references;
pub(crate) mod resolve;
pub mod rulings;
