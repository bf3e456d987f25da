//! Lists the reports that a run writes into the reviewed tree. Glee resumes a run only if the tree has not changed
//! since the run stopped. Glee therefore removes the reports first, and restores the files that the reports
//! replaced. At the end of the resumed run, Glee writes the reports again.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::cli::report::Format;

/// The name of the file that lists the written reports. This file is in the folder of the run.
const FILE: &str = "reports.json";

/// A report that Glee wrote into the reviewed tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WrittenReport {
    format: String,
    /// The path of the report, relative to the root of the tree.
    pub(crate) path: String,
    /// The hash that the report had when Glee wrote the report. If the file now has another hash, a user or a
    /// program changed the file. In this case, Glee does not remove the file.
    hash: String,
}

impl WrittenReport {
    /// Returns `None` if the file is outside the tree, or if the path of the file is not UTF-8.
    pub(crate) fn of(format: Format, path: &Path, root: &Path, text: &str) -> Option<Self> {
        let path = path.strip_prefix(root).ok()?.to_str()?.to_owned();
        Some(Self {
            format: format.as_str().to_owned(),
            path,
            hash: hash(text.as_bytes()),
        })
    }

    pub(crate) fn is_unchanged(&self, root: &Path) -> bool {
        fs::read(root.join(&self.path)).is_ok_and(|bytes| hash(&bytes) == self.hash)
    }

    /// Returns the format and the path of the report, so that Glee can write the report again.
    pub(crate) fn output(&self, root: &Path) -> Option<(Format, PathBuf)> {
        let (_, format, _) = Format::ALL.iter().find(|(name, ..)| *name == self.format)?;
        Some((*format, root.join(&self.path)))
    }

    /// Replaces the report by `content`, or deletes the report if `content` is `None`.
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

/// Adds reports to the list in `folder`, which is the folder of the run. If the run was pruned, the folder does
/// not exist, and the function adds nothing.
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
