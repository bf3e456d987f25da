//! What a project's configuration loosens about its own review.

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A part of a project's configuration that loosens the review.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Loosened {
    /// The key of the configuration, such as `review.issues.mandatory`, or the path of a file.
    pub what: String,
    /// What the review lacks, such as `MUST is optional`.
    pub text: String,
    /// The commit that last changed the file. `since` is absent if the file differs from the last commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<LastChange>,
}

/// The last commit that changed a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LastChange {
    pub commit: String,
    /// The date of the commit, in UTC.
    #[schemars(with = "String")]
    pub on: Date,
}

impl Loosened {
    pub fn new(what: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            text: text.into(),
            since: None,
        }
    }

    /// Describes the part and its last change in a few words.
    pub fn sentence(&self) -> String {
        let Self { what, text, since } = self;
        match since {
            Some(LastChange { commit, on }) => {
                let short: String = commit.chars().take(12).collect();
                format!("{text} ({what}, since {short} of {on})")
            }
            None => format!("{text} ({what}, uncommitted)"),
        }
    }
}
