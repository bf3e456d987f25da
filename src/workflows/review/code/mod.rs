//! The code under review.
//!
//! The module `sources` stores the code as it was at the start of each round. `coder_changes` records the coder's
//! changes, and `edits` parses the diffs of these changes. `scripts` detects changes to a file if the path of the
//! file occurs in an agent's command. `templates` finds the project's prompt templates. `coverage` lists the files
//! that no reviewer could read.

pub(crate) mod coder_changes;
pub(crate) mod coverage;
pub(crate) mod edits;
pub(crate) mod scripts;
pub(crate) mod sources;
pub(crate) mod templates;
