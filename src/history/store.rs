use std::path::{Path, PathBuf};

use rusqlite::Connection;

#[derive(Debug)]
pub struct Journal {
    pub(crate) db: Connection,
    pub(crate) path: PathBuf,
}

/// The name of the database in the folder of a history.
pub const DATABASE: &str = "history.db";

/// The database of a repository below the state folder; `key` is one path component that names the repository.
pub fn path_for(state_dir: &Path, key: &str) -> PathBuf {
    state_dir.join("repos").join(key).join(DATABASE)
}
