//! The code under review.
//!
//! The module `sources` stores the code as it was at the start of each round. `coder_changes` records the coder's
//! changes, and `edits` parses the diffs of these changes. `scripts` detects changes to a file if the path of the
//! file occurs in an agent's command. `templates` finds the project's prompt templates, and `guidelines` its guidelines. `intent` states what
//! the change is for. `coverage` lists the files
//! that no reviewer could read.

pub mod coder_changes;
pub mod context;
pub mod coverage;
pub mod edits;
pub mod guidelines;
pub mod intent;
pub mod scripts;
pub mod sources;
pub mod templates;
