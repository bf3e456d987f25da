//! What undos of a run replaced, so that it can be brought back: kept before a file is touched, in the run's own folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::domain::RunId;
use crate::private;

use super::git::Object;
use super::reverse::Content;
use super::{Result, WorkspaceError, copy, names, twin};

/// A file or link whose bytes are kept as a copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub(super) enum Copied {
    File { id: String, permissions: u32 },
    Link { id: String },
}

/// What was done to one path; `None` is no file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Deed {
    pub(super) found: Option<Copied>,
    pub(super) put: Option<Copied>,
}

/// The paths that are undone at the moment.
#[derive(Debug)]
pub(super) struct Deeds {
    folder: PathBuf,
    pub(super) undone: BTreeMap<Vec<u8>, Deed>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    path: String,
    #[serde(flatten)]
    deed: Deed,
}

impl Deeds {
    pub(super) fn read(run: &RunId, state_dir: &Path) -> Result<Self> {
        let folder = twin::folder(run, state_dir);
        let path = folder.join("undone.json");
        let lines: Vec<Line> = match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map_err(|error| WorkspaceError::State { path: path.clone(), source: error.into() })?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(source) => return Err(WorkspaceError::State { path, source }),
        };
        let undone = lines.into_iter().filter_map(|line| Some((names::unquoted(line.path.as_bytes())?, line.deed)));
        Ok(Self { undone: undone.collect(), folder })
    }

    pub(super) fn write(&self) -> Result<()> {
        let line = |(path, deed): (&Vec<u8>, &Deed)| Line {
            path: String::from_utf8_lossy(&names::quoted(path)).into_owned(),
            deed: deed.clone(),
        };
        let lines: Vec<Line> = self.undone.iter().map(line).collect();
        let path = self.folder.join("undone.json");
        let bytes = serde_json::to_vec(&lines).map_err(std::io::Error::other);
        let written = bytes.and_then(|bytes| private::write(&path, &bytes));
        written.map_err(|source| WorkspaceError::State { path, source })
    }

    pub(super) fn keep(&self, content: &Content) -> Result<Option<Copied>> {
        let bytes = match content {
            Content::Nothing => return Ok(None),
            Content::File { bytes, .. } | Content::Link(bytes) => bytes,
        };
        copy::store(&self.folder, &mut bytes.as_slice())
            .map_err(|source| WorkspaceError::State { path: self.folder.clone(), source })?;
        Ok(Copied::of(content))
    }

    pub(super) fn content(&self, copied: Option<&Copied>) -> Result<Content> {
        let Some(copied) = copied else { return Ok(Content::Nothing) };
        let (Copied::File { id, .. } | Copied::Link { id }) = copied;
        let Object::Bytes(bytes) = copy::read(&self.folder, id, u64::MAX) else {
            return Err(WorkspaceError::Gone(id.clone()));
        };
        Ok(match copied {
            Copied::File { permissions, .. } => Content::File { bytes, permissions: *permissions },
            Copied::Link { .. } => Content::Link(bytes),
        })
    }
}

impl Copied {
    /// What some content would be kept as.
    pub(super) fn of(content: &Content) -> Option<Self> {
        let id = |bytes: &[u8]| blake3::hash(bytes).to_hex().to_string();
        match content {
            Content::Nothing => None,
            Content::File { bytes, permissions } => Some(Self::File { id: id(bytes), permissions: *permissions }),
            Content::Link(target) => Some(Self::Link { id: id(target) }),
        }
    }
}
