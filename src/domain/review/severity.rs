//! The severity tags of findings.
//!
//! An unknown word is kept as written. Which known tags are mandatory, and which words of other vendors mean which tag, is
//! decided in `rules::mandatory`.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A severity tag of the specification. `MUST` and `SHOULD` are opinions, the others issue priorities.
///
/// Ordered from the most to the least severe, so that a list of findings sorts naturally.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Tag {
    /// An issue that is at least as grave as `HIGH`.
    Critical,
    /// A required change.
    Must,
    /// A critical issue.
    High,
    /// A recommended change.
    Should,
    /// A moderate issue.
    Medium,
    /// A minor issue.
    Low,
}

impl Tag {
    /// All tags, most severe first.
    pub const ALL: [Self; 6] = [Self::Critical, Self::Must, Self::High, Self::Should, Self::Medium, Self::Low];
}

/// How severe a finding is: the tag, if the word could be read as one, and the word as the reviewer wrote it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Severity {
    /// The normalised tag; `None` for an unknown word (such a finding counts as mandatory).
    pub tag: Option<Tag>,
    /// The word as written, without brackets.
    #[serde(rename = "tag_raw")]
    pub raw: String,
}

impl Severity {
    /// A severity written with one of the six words.
    pub fn known(tag: Tag) -> Self {
        Self { tag: Some(tag), raw: tag.as_str().to_owned() }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.tag {
            Some(tag) => f.pad(tag.as_str()),
            None => f.pad(&self.raw),
        }
    }
}

/// A reviewer's confidence, 0 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Confidence(u8);

impl Confidence {
    pub fn clamped(value: i64) -> Self {
        Self(u8::try_from(value.clamp(0, 100)).unwrap_or(100))
    }

    pub fn get(self) -> u8 {
        self.0
    }
}
