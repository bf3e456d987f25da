//! The severity tags of findings. A reviewer's word that is not a known tag is kept as written.
//! `rules::mandatory` decides which tags are mandatory, and maps words of other scales, such as `P1`, to tags.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A severity tag of the specification. The variants are sorted, the most severe tag first. `MUST` marks a
/// required change, `SHOULD` marks a recommended change, and the other tags state how severe a problem is.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "UPPERCASE")]
pub enum Tag {
    /// An issue at least as severe as `HIGH`.
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
    pub const ALL: [Self; 6] = [
        Self::Critical,
        Self::Must,
        Self::High,
        Self::Should,
        Self::Medium,
        Self::Low,
    ];
}

/// The severity of a finding: the word that the reviewer wrote, and the corresponding tag.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Severity {
    /// The normalised tag; `None` for an unknown word. A finding with an unknown word is mandatory.
    pub tag: Option<Tag>,
    /// The reviewer's word for the severity, without brackets.
    #[serde(rename = "tag_raw")]
    pub raw: String,
}

impl Severity {
    pub fn known(tag: Tag) -> Self {
        Self {
            tag: Some(tag),
            raw: tag.as_str().to_owned(),
        }
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
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
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
