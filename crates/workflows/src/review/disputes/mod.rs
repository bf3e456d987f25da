//! The disputes of a review: objections, evidence and rulings.
//!
//! The module `objection` collects the statements for and against a finding. `references` and `evidence` check
//! citations. The module `resolve` turns the judges' answers into a ruling. `rulings` reads rulings from the
//! history and from files of the project.

pub mod evidence;
pub mod objection;
pub mod references;
pub mod resolve;
pub mod rulings;
