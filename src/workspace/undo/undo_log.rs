//! What undos of a run replaced, so that it can be brought back: kept before a file is touched, in the run's own folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::domain::RunId;
use crate::system::private;
use crate::workspace::git::path_bytes;
use crate::workspace::git::plumbing::GitObject;
use crate::workspace::snapshot::{backup_repo, content_store};
use crate::workspace::undo::three_way::FileContent;
use crate::workspace::{Result, WorkspaceError};

/// A file or link whose bytes are kept as a copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub(crate) enum Copied {
    File { id: String, permissions: u32 },
    Link { id: String },
}

/// What was done to one path; `None` is no file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct UndoEntry {
    pub(crate) found: Option<Copied>,
    pub(crate) put: Option<Copied>,
}

/// The paths that are undone at the moment.
#[derive(Debug)]
pub(crate) struct UndoLog {
    folder: PathBuf,
    pub(crate) undone: BTreeMap<Vec<u8>, UndoEntry>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    path: String,
    #[serde(flatten)]
    deed: UndoEntry,
}

impl UndoLog {
    pub(crate) fn read(run: &RunId, state_dir: &Path) -> Result<Self> {
        let folder = backup_repo::folder(run, state_dir);
        let path = folder.join("undone.json");
        let lines: Vec<Line> = match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map_err(|error| WorkspaceError::State { path: path.clone(), source: error.into() })?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(source) => return Err(WorkspaceError::State { path, source }),
        };
        let undone =
            lines.into_iter().filter_map(|line| Some((path_bytes::unquoted(line.path.as_bytes())?, line.deed)));
        Ok(Self { undone: undone.collect(), folder })
    }

    pub(crate) fn write(&self) -> Result<()> {
        let line = |(path, deed): (&Vec<u8>, &UndoEntry)| Line {
            path: String::from_utf8_lossy(&path_bytes::quoted(path)).into_owned(),
            deed: deed.clone(),
        };
        let lines: Vec<Line> = self.undone.iter().map(line).collect();
        let path = self.folder.join("undone.json");
        let bytes = serde_json::to_vec(&lines).map_err(std::io::Error::other);
        let written = bytes.and_then(|bytes| private::write(&path, &bytes));
        written.map_err(|source| WorkspaceError::State { path, source })
    }

    pub(crate) fn keep(&self, content: &FileContent) -> Result<Option<Copied>> {
        let bytes = match content {
            FileContent::Nothing => return Ok(None),
            FileContent::File { bytes, .. } | FileContent::Link(bytes) => bytes,
        };
        content_store::store(&self.folder, &mut bytes.as_slice())
            .map_err(|source| WorkspaceError::State { path: self.folder.clone(), source })?;
        Ok(Copied::of(content))
    }

    pub(crate) fn content(&self, copied: Option<&Copied>) -> Result<FileContent> {
        let Some(copied) = copied else { return Ok(FileContent::Nothing) };
        let (Copied::File { id, .. } | Copied::Link { id }) = copied;
        let GitObject::Bytes(bytes) = content_store::read(&self.folder, id, u64::MAX) else {
            return Err(WorkspaceError::Gone(id.clone()));
        };
        Ok(match copied {
            Copied::File { permissions, .. } => FileContent::File { bytes, permissions: *permissions },
            Copied::Link { .. } => FileContent::Link(bytes),
        })
    }
}

impl Copied {
    /// What some content would be kept as.
    pub(crate) fn of(content: &FileContent) -> Option<Self> {
        let id = |bytes: &[u8]| blake3::hash(bytes).to_hex().to_string();
        match content {
            FileContent::Nothing => None,
            FileContent::File { bytes, permissions } => {
                Some(Self::File { id: id(bytes), permissions: *permissions })
            }
            FileContent::Link(target) => Some(Self::Link { id: id(target) }),
        }
    }
}
