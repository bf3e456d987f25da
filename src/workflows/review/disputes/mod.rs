//! The disputes of a review: objections, evidence and rulings.
//!
//! `objection` collects the statements of both sides. `references` and `evidence` check citations. `resolve` turns
//! the judges' answers into a ruling. `rulings` reads rulings from the history and from files of the project.

pub(crate) mod evidence;
pub(crate) mod objection;
pub(crate) mod references;
pub(crate) mod resolve;
pub mod rulings;
