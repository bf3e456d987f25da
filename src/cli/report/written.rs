//! Records which reports of a run are in the reviewed tree. A resumed run must find the tree that it left, so the
//! reports are put aside for it and written again at its end.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::cli::report::Format;

/// The file in the folder of a run that names the reports.
const FILE: &str = "reports.json";

/// A report that Glee wrote into the reviewed tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WrittenReport {
    format: String,
    /// Relative to the root of the tree.
    pub(crate) path: String,
    /// A hash of the content. If the file has other content, somebody changed it, and it is no report any more.
    hash: String,
}

impl WrittenReport {
    /// `None` if the file is not in the tree, or its path is not UTF-8.
    pub(crate) fn of(format: Format, path: &Path, root: &Path, text: &str) -> Option<Self> {
        let path = path.strip_prefix(root).ok()?.to_str()?.to_owned();
        Some(Self { format: format.as_str().to_owned(), path, hash: hash(text.as_bytes()) })
    }

    pub(crate) fn is_unchanged(&self, root: &Path) -> bool {
        fs::read(root.join(&self.path)).is_ok_and(|bytes| hash(&bytes) == self.hash)
    }

    /// The format and the file of the report, to write it again.
    pub(crate) fn output(&self, root: &Path) -> Option<(Format, PathBuf)> {
        let (_, format, _) = Format::ALL.iter().find(|(name, ..)| *name == self.format)?;
        Some((*format, root.join(&self.path)))
    }

    /// Gives the file the content that it has in the tree of the run. `None` deletes the file.
    pub(crate) fn put_aside(&self, root: &Path, content: Option<&[u8]>) -> io::Result<()> {
        let path = root.join(&self.path);
        match content {
            Some(content) => fs::write(path, content),
            None => fs::remove_file(path),
        }
    }
}

fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// Adds reports to the record. `folder` is the folder of the run. A pruned run has no folder, and no record.
pub(crate) fn record(folder: &Path, reports: Vec<WrittenReport>) -> io::Result<()> {
    if reports.is_empty() || !folder.is_dir() {
        return Ok(());
    }
    let mut all = read(folder);
    all.retain(|earlier| !reports.iter().any(|report| report.path == earlier.path));
    all.extend(reports);
    fs::write(folder.join(FILE), serde_json::to_vec(&all)?)
}

pub(crate) fn read(folder: &Path) -> Vec<WrittenReport> {
    let text = fs::read(folder.join(FILE)).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}
