//! The results of looking up findings in vulnerability databases.

use serde::{Deserialize, Serialize};

/// The result of looking up a finding in a database of advisories.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "word", rename_all = "snake_case")]
pub enum AdvisoryStatus {
    /// The finding names no package or advisory, or no database is configured.
    #[default]
    Unasked,
    /// The database has no matching entry. A missing entry does not prove that the package is safe.
    Nothing,
    /// The advisory `id` affects the locked version of the package. `version` contains the package's name and
    /// its locked version.
    Confirmed { id: String, version: String },
    /// The locked version of the package contains the fix; `fixed` is the version that introduced the fix.
    Patched {
        id: String,
        version: String,
        fixed: String,
    },
}

impl AdvisoryStatus {
    /// The last words of the note about a fixed package.
    pub const LOWERED: &'static str = "one severity lower";

    pub fn note(&self) -> Option<String> {
        match self {
            Self::Unasked | Self::Nothing => None,
            Self::Confirmed { id, version } => {
                Some(format!("confirmed by {id}: {version} is affected"))
            }
            Self::Patched { id, version, fixed } => Some(format!(
                "{id} is patched since {fixed}, and {version} is locked: {}",
                Self::LOWERED
            )),
        }
    }

    /// Returns the strongest advisory status of several findings that describe the same problem.
    pub fn of<'a>(all: impl Iterator<Item = &'a Self>) -> Self {
        all.max_by_key(|status| match status {
            Self::Unasked => 0,
            Self::Nothing => 1,
            Self::Patched { .. } => 2,
            Self::Confirmed { .. } => 3,
        })
        .cloned()
        .unwrap_or_default()
    }
}
