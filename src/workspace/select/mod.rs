//! Selects the files of a review, applies filters and ignore rules, and splits the files into shards.

pub(crate) mod attributes;
pub(crate) mod changed_since;
pub(crate) mod filter;
pub(crate) mod ignores;
pub(crate) mod read_hashes;
pub(crate) mod recorded_rules;
pub(crate) mod selection;
pub(crate) mod shards;
pub(crate) mod target;
pub(crate) mod walk;

pub(crate) use attributes::Attributes;
pub use changed_since::Since;
pub(crate) use ignores::{Ignores, RecordedIgnores};
pub use recorded_rules::SelectionRules;
pub use selection::{FilePart, SelectOptions, Target, TargetSpec};
