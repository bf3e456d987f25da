use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::domain::RunId;
use crate::system::private;
use crate::workspace::guard::tree_identity::TreeIdentity;
use crate::workspace::snapshot::backup_repo;
use crate::workspace::snapshot::manifest::TreeId;
use crate::workspace::{Result, WorkspaceError};

/// What stands before the root of the work tree in the message of a commit that an older Glee kept.
pub(crate) const ROOT: &str = "Root: ";

/// One call of the coder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CallSpan {
    pub(crate) before: TreeId,
    /// The tree after it; `None` while the coder is at work, and where Glee was killed meanwhile.
    pub(crate) after: Option<TreeId>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SnapshotNote {
    pub(crate) form: u32,
    pub(crate) history: String,
    /// The work tree, as it was at the beginning and after each call.
    pub(crate) places: Vec<TreeIdentity>,
    pub(crate) spans: Vec<CallSpan>,
}

impl SnapshotNote {
    /// Reads the note of a run; `None` for runs of an older Glee, and those without a coder.
    pub(crate) fn read(run: &RunId, state_dir: &Path) -> Option<Self> {
        Self::read_in(&backup_repo::folder(run, state_dir))
    }

    pub(crate) fn read_in(folder: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(folder.join("before")).ok()?).ok()
    }

    pub(crate) fn trees(self) -> Vec<TreeId> {
        self.spans.into_iter().flat_map(|span| [Some(span.before), span.after]).flatten().collect()
    }

    pub(crate) fn write(&self, run: &RunId, state_dir: &Path) -> Result<()> {
        let path = backup_repo::folder(run, state_dir).join("before");
        let bytes = serde_json::to_vec(self).map_err(std::io::Error::other);
        let written = bytes.and_then(|bytes| private::write(&path, &bytes));
        written.map_err(|source| WorkspaceError::State { path, source })
    }
}
