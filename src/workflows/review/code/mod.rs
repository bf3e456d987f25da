//! The code under review.
//!
//! `sources` is the text that was shown in each round, `trees` the recorded trees and their changes, `edits` the lines
//! of a change, `scripts` the files that agents are started with, `templates` the project's own prompts.

pub(crate) mod edits;
pub(crate) mod scripts;
pub(crate) mod sources;
pub(crate) mod templates;
pub(crate) mod trees;
