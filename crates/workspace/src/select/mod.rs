//! Selects the files of a review, applies filters and ignore rules, and splits the files into shards.

pub mod attributes;
mod by_rule;
pub mod changed_since;
pub mod filter;
pub mod guidelines;
pub mod ignores;
pub(crate) mod notebook;
pub mod read_hashes;
pub(crate) mod recorded_rules;
pub mod selection;
pub mod shards;
pub mod target;
pub mod walk;

pub use attributes::Attributes;
pub use changed_since::Since;
pub use guidelines::{GuidelineFile, GuidelineNames, is_guideline};
pub use ignores::{Ignores, RecordedIgnores};
pub use recorded_rules::SelectionRules;
pub use selection::{FilePart, SelectOptions, Target, TargetSpec};
