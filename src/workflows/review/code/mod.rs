//! The code under review.
//!
//! `sources` stores the text of each round, `trees` the coder's changes, `edits` parses the lines of a change, `scripts`
//! are the files that agents are started with, `templates` the project's own prompts.

pub(crate) mod coder_changes;
pub(crate) mod edits;
pub(crate) mod scripts;
pub(crate) mod sources;
pub(crate) mod templates;
