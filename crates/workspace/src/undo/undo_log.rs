//! Records the contents that an undo replaces, so that a redo can restore these contents. The record is written to
//! the run's folder before any file is changed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::git::{GitObject, path_bytes};
use crate::snapshot::manifest::{read_json, write_json};
use crate::snapshot::{content_store, run_folder};
use crate::undo::three_way::FileContent;
use crate::{Result, WorkspaceError};
use glee_model::domain::RunId;

/// A file or a link whose bytes are stored in the run's folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Copied {
    File { id: String, permissions: u32 },
    Link { id: String },
}

/// The content of a path before and after an undo. `None` means that the path has no file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoEntry {
    pub found: Option<Copied>,
    pub put: Option<Copied>,
}

/// The changes of the coder that are currently undone, by path.
#[derive(Debug)]
pub struct UndoLog {
    folder: PathBuf,
    pub undone: BTreeMap<Vec<u8>, UndoEntry>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    path: String,
    #[serde(flatten)]
    entry: UndoEntry,
}

impl UndoLog {
    pub fn read(run: &RunId, state_dir: &Path) -> Result<Self> {
        let folder = run_folder(run, state_dir);
        let lines: Option<Vec<Line>> = read_json(&folder.join("undone.json"))?;
        let undone = lines
            .into_iter()
            .flatten()
            .filter_map(|line| Some((path_bytes::unquoted(line.path.as_bytes())?, line.entry)));
        Ok(Self {
            undone: undone.collect(),
            folder,
        })
    }

    pub fn write(&self) -> Result<()> {
        let lines: Vec<Line> = self
            .undone
            .iter()
            .map(|(path, entry)| Line {
                path: String::from_utf8_lossy(&path_bytes::quoted(path)).into_owned(),
                entry: entry.clone(),
            })
            .collect();
        write_json(&self.folder.join("undone.json"), &lines)
    }

    pub fn aside(&self) -> PathBuf {
        self.folder.join("new")
    }

    pub fn keep(&self, content: &FileContent) -> Result<Option<Copied>> {
        let bytes = match content {
            FileContent::Nothing => return Ok(None),
            FileContent::File { bytes, .. } | FileContent::Link(bytes) => bytes,
        };
        content_store::store(&self.folder, &mut bytes.as_slice())
            .map_err(WorkspaceError::state(&self.folder))?;
        Ok(Copied::of(content))
    }

    pub fn content(&self, copied: Option<&Copied>) -> Result<FileContent> {
        let Some(copied) = copied else {
            return Ok(FileContent::Nothing);
        };
        let (Copied::File { id, .. } | Copied::Link { id }) = copied;
        let GitObject::Bytes(bytes) = content_store::read(&self.folder, id, u64::MAX) else {
            return Err(WorkspaceError::Gone(id.clone()));
        };
        Ok(match copied {
            Copied::File { permissions, .. } => FileContent::File {
                bytes,
                permissions: *permissions,
            },
            Copied::Link { .. } => FileContent::Link(bytes),
        })
    }
}

impl Copied {
    /// Describes a file or a link by the hash of its content. Returns `None` if there is no file.
    pub(crate) fn of(content: &FileContent) -> Option<Self> {
        let id = |bytes: &[u8]| blake3::hash(bytes).to_hex().to_string();
        match content {
            FileContent::Nothing => None,
            FileContent::File { bytes, permissions } => Some(Self::File {
                id: id(bytes),
                permissions: *permissions,
            }),
            FileContent::Link(target) => Some(Self::Link { id: id(target) }),
        }
    }
}
