//! Disputes of a review.
//!
//! `objection` collects both sides, `references` reads the places that a text cites, `evidence` checks them in the tree,
//! `resolve` makes a ruling of the judges' answers, `rulings` are those of earlier runs and of shared files.

pub(crate) mod evidence;
pub(crate) mod objection;
pub(crate) mod references;
pub(crate) mod resolve;
pub mod rulings;
