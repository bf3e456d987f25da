//! Records which versions of a coder that worked in a worktree were brought into the user's tree.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::git::path_bytes;
use crate::snapshot::manifest::{read_json, write_json};
use crate::snapshot::run_folder;
use crate::undo::undo_log::Copied;
use glee_model::domain::RunId;

/// The versions of the coder that were brought over, by path.
pub(crate) type AppliedVersions = BTreeMap<Vec<u8>, AppliedVersion>;

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct AppliedVersion {
    /// `None` for a removed file.
    pub version: Option<Copied>,
    /// Whether the user's tree had this version already, so that an undo takes nothing back.
    pub was_there: bool,
}

#[derive(Serialize, Deserialize)]
struct Line {
    path: String,
    #[serde(flatten)]
    applied: AppliedVersion,
}

pub(crate) fn read(run: &RunId, state_dir: &Path) -> Result<AppliedVersions> {
    let path = run_folder(run, state_dir).join("applied.json");
    let lines: Option<Vec<Line>> = read_json(&path)?;
    let applied = lines
        .into_iter()
        .flatten()
        .filter_map(|line| Some((path_bytes::unquoted(line.path.as_bytes())?, line.applied)));
    Ok(applied.collect())
}

pub(crate) fn write(run: &RunId, applied: &AppliedVersions, state_dir: &Path) -> Result<()> {
    let lines: Vec<Line> = applied
        .iter()
        .map(|(path, applied)| Line {
            path: path_bytes::shown(&path_bytes::quoted(path)),
            applied: applied.clone(),
        })
        .collect();
    write_json(&run_folder(run, state_dir).join("applied.json"), &lines)
}
