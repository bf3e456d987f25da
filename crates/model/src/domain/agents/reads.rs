//! What an agent read during a call, as the trace of its program names it.

use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

/// One read that a program's trace names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TracedRead {
    /// The path inside the tree (`.` is the tree itself), or an absolute path outside the tree.
    pub path: String,
    #[serde(flatten)]
    pub extent: ReadExtent,
    /// Whether the program refused the read, so that the agent saw nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub denied: bool,
}

/// How much of a path an agent read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "extent", rename_all = "snake_case")]
pub enum ReadExtent {
    /// The content of a file, or the names of the entries of a folder.
    Content,
    /// The names of the files below a folder that match a glob; all names if `glob` is absent.
    Names {
        #[serde(skip_serializing_if = "Option::is_none")]
        glob: Option<String>,
    },
    /// The files below a folder that have a match of a regular expression; all files if `pattern` is absent.
    Matches {
        #[serde(skip_serializing_if = "Option::is_none")]
        pattern: Option<String>,
    },
}

/// What one answer rests on beside what was sent. The answer is reused only while all hashes stay equal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadSet {
    /// The files that were sent with the request. A search does not count its matches in these files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sent: Vec<String>,
    pub reads: Vec<HashedRead>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HashedRead {
    #[serde(flatten)]
    pub read: TracedRead,
    /// A BLAKE3 hash (hex) of what the read returned, or a word that says why it returned nothing.
    pub hash: String,
}

impl TracedRead {
    pub fn new(path: impl Into<String>, extent: ReadExtent) -> Self {
        Self {
            path: path.into(),
            extent,
            denied: false,
        }
    }

    /// A read of every file of the tree. It stands for a tool of which only the call is known.
    pub fn whole_tree() -> Self {
        Self::new(".", ReadExtent::Matches { pattern: None })
    }

    pub fn is_whole_tree(&self) -> bool {
        let whole = Self::whole_tree();
        (&self.path, &self.extent) == (&whole.path, &whole.extent)
    }

    /// Replaces a path below `root` by its path inside the tree.
    #[must_use]
    pub fn inside(self, root: &Path) -> Self {
        let absolute = plain(&root.join(&self.path));
        let path = match absolute.strip_prefix(root) {
            Ok(inside) if inside.as_os_str().is_empty() => ".".to_owned(),
            Ok(inside) => inside.to_string_lossy().into_owned(),
            Err(_) => absolute.to_string_lossy().into_owned(),
        };
        Self { path, ..self }
    }
}

/// Removes `.` and `..` without a look at the disk, because the file can be missing.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
    }
    plain
}
