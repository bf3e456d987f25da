//! The history database of a repository: its path, and the open journal.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::shared_log::Log;

#[derive(Debug)]
pub struct Journal {
    /// Whether secrets are replaced in events before they are recorded (`redaction.secrets`).
    pub redacts: bool,
    pub db: Connection,
    pub path: PathBuf,
    /// The log of a server, which the database follows.
    pub(super) log: Option<Box<dyn Log>>,
    /// Whether the next write holds the log before it works, because others append to it, too.
    pub(super) holds_log: bool,
    /// Whether the server stayed away for longer than a run waits.
    pub(super) is_given_up: bool,
}

impl Journal {
    /// A history in an open database, without a server.
    pub fn of(db: Connection, path: PathBuf) -> Self {
        Self {
            redacts: true,
            db,
            path,
            log: None,
            holds_log: false,
            is_given_up: false,
        }
    }
}

pub const DATABASE: &str = "history.db";

/// The name of the database that follows a server's log.
pub const REPLICA: &str = "server/replica.db";

/// The path of the copy of a history: its state at the end of the last run that ruled.
pub(crate) fn backup_of(path: &Path) -> PathBuf {
    let mut copy = path.as_os_str().to_owned();
    copy.push(".backup");
    copy.into()
}

/// The folder for histories, which every state folder has.
pub const HISTORIES: &str = "repos";

/// The path of a repository's history. `key` identifies the repository and must be a single path component.
pub fn path_for(state_dir: &Path, key: &str) -> PathBuf {
    state_dir.join(HISTORIES).join(key).join(DATABASE)
}
