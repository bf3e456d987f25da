//! Disputes of a review.
//!
//! `objection` collects both sides, `references` and `evidence` check citations, `resolve` turns the judges'
//! answers into a ruling, `rulings` reads those of earlier runs and of shared files.

pub(crate) mod evidence;
pub(crate) mod objection;
pub(crate) mod references;
pub(crate) mod resolve;
pub mod rulings;
