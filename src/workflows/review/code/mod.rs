//! The code under review.
//!
//! `sources` stores the code as it was at the start of each round. `coder_changes` records the coder's changes, and
//! `edits` parses their diffs. `scripts` detects changes of the files that agents are started with. `templates`
//! finds the project's prompts.

pub(crate) mod coder_changes;
pub(crate) mod edits;
pub(crate) mod scripts;
pub(crate) mod sources;
pub(crate) mod templates;
