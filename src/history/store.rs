//! The history database of a repository: its path, and the open journal.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

#[derive(Debug)]
pub struct Journal {
    pub(crate) db: Connection,
    pub(crate) path: PathBuf,
}

pub const DATABASE: &str = "history.db";

/// The path of a repository's history. `key` identifies the repository and must be a single path component.
pub fn path_for(state_dir: &Path, key: &str) -> PathBuf {
    state_dir.join("repos").join(key).join(DATABASE)
}
