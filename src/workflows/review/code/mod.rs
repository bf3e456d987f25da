//! The code under review.
//!
//! `sources` stores the text of each round, `trees` the coder's changes, `edits` parses a diff, `scripts` detects
//! changes of agents' files, `templates` finds the project's prompts.

pub(crate) mod coder_changes;
pub(crate) mod edits;
pub(crate) mod scripts;
pub(crate) mod sources;
pub(crate) mod templates;
