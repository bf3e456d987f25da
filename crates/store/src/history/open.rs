//! Opens a history, and creates its folders, its file and its tables if they are missing. Several processes can
//! create a database concurrently, so the schema version is read again under the write lock.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, Error, ErrorCode, OpenFlags, TransactionBehavior, ffi};

use super::JournalError;
use crate::history::store::{DATABASE, Journal, backup_of};
use glee_model::domain::RunId;
use glee_system::{private, uri};

/// The tables of the current schema. There is a single schema, because no version of Glee has been released.
pub(super) const SCHEMA: &str = include_str!("schema/1.sql");

const VERSION: i64 = 1;

/// The application id in the header of the database file: `glee` in ASCII.
const APPLICATION: i64 = 0x676c_6565;

/// The maximum number of prepared statements that a connection keeps. To append one event, Glee executes up to
/// 20 statements.
const STATEMENTS: usize = 64;

/// The maximum time to wait for a lock that another process holds.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

impl Journal {
    /// Opens a history for writing. Creates missing folders (mode 0700) and a missing file (mode 0600). A damaged file, a file of another program, and a newer schema cause an error. The
    /// file remains unchanged.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let path = create(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        let mut journal = Self::of(connect(&path, flags)?, path);
        journal.create_tables()?;
        Ok(journal)
    }

    /// Opens a history for reading, and creates no file. Returns `None` if the file does not exist or is empty.
    pub fn open_read(path: &Path) -> Result<Option<Self>, JournalError> {
        let Some(path) = existing(path)? else {
            return Ok(None);
        };
        let db = connect(&path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let opened = Self::of(db, path.clone());
        let (journal, version) = match opened.schema_version() {
            // In a read-only folder, SQLite cannot create the shared memory for a write-ahead log. Without a
            // write-ahead log, Glee can open the file as immutable. SQLite needs no shared memory for an immutable
            // file.
            Err(JournalError::Access { .. }) if !has_log(&path) => {
                let journal = Self::of(connect_immutable(&path)?, path);
                let version = journal.schema_version()?;
                (journal, version)
            }
            version => (opened, version?),
        };
        match version {
            0 => Ok(None),
            VERSION => Ok(Some(journal)),
            _ => Self::open(&journal.path).map(Some),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Creates the folder for the transcripts of a run. The folder is next to the database and has mode 0700.
    pub fn transcripts(&self, run: &RunId) -> Result<PathBuf, JournalError> {
        let folder = self.folder_of(run);
        private::folder(&folder).map_err(JournalError::unopened(&folder))?;
        Ok(folder)
    }

    /// The path of a run's folder. The folder need not exist.
    pub fn folder_of(&self, run: &RunId) -> PathBuf {
        let name: String = run
            .0
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        self.path.with_file_name("runs").join(name)
    }

    pub fn fault(&self, source: rusqlite::Error) -> JournalError {
        fault(&self.path, source)
    }

    /// The version of the schema; 0 for an empty database.
    fn schema_version(&self) -> Result<i64, JournalError> {
        let fault = |source| self.fault(source);
        // Another process can create the database at the same time, so all values are read from one snapshot.
        let _snapshot = self.db.unchecked_transaction().map_err(fault)?;
        let sql = "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
            FROM pragma_application_id, pragma_user_version";
        let row = self.db.query_row(sql, [], |row| row.try_into());
        let (application, version, tables): (i64, i64, i64) = row.map_err(fault)?;
        match version {
            0 if application == 0 && tables == 0 => Ok(0),
            _ if application != APPLICATION => Err(JournalError::Foreign {
                path: self.path.clone(),
            }),
            ..=0 => Err(damaged(&self.path, "its schema has no version")),
            found if found > VERSION => Err(JournalError::Newer {
                path: self.path.clone(),
                found,
                known: VERSION,
            }),
            version => Ok(version),
        }
    }

    fn create_tables(&mut self) -> Result<(), JournalError> {
        let version = self.schema_version()?;
        self.enable_wal()?;
        self.db
            .pragma_update(None, "synchronous", "FULL")
            .map_err(|source| self.fault(source))?;
        if version == VERSION {
            return Ok(());
        }
        let path = self.path.clone();
        let fault = |source| fault(&path, source);
        let tx = self
            .db
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(fault)?;
        let version: i64 = tx
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .map_err(fault)?;
        if version == 0 {
            tx.execute_batch(SCHEMA).map_err(fault)?;
            tx.pragma_update(None, "user_version", VERSION)
                .map_err(fault)?;
        }
        tx.pragma_update(None, "application_id", APPLICATION)
            .map_err(fault)?;
        tx.commit().map_err(fault)
    }

    /// Retries while the database is locked, because SQLite's busy timeout does not apply to `PRAGMA journal_mode`.
    fn enable_wal(&self) -> Result<(), JournalError> {
        let deadline = Instant::now() + BUSY_TIMEOUT;
        loop {
            match self
                .db
                .pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0))
            {
                Ok(_) => return Ok(()),
                Err(error) if is_busy(&error) && Instant::now() < deadline => {
                    thread::sleep(Duration::from_millis(5));
                }
                Err(error) => return Err(self.fault(error)),
            }
        }
    }
}

/// Lets a connection keep its prepared statements.
pub(crate) fn keep_statements(db: &Connection) -> rusqlite::Result<()> {
    db.set_prepared_statement_cache_capacity(STATEMENTS);
    // Without this option, SQLite prepares a statement again for each new value of a parameter if a partial index
    // depends on the parameter. Without the option, 1,000 disputes took 7.1 s instead of 0.6 s (`cargo bench --bench
    // review`).
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
        .map(drop)
}

pub(super) fn connect(path: &Path, access: OpenFlags) -> Result<Connection, JournalError> {
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    configured(path, flags).map_err(|source| fault(path, source))
}

fn configured(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(BUSY_TIMEOUT)?;
    db.pragma_update(None, "trusted_schema", false)?;
    keep_statements(&db)?;
    Ok(db)
}

fn connect_immutable(path: &Path) -> Result<Connection, JournalError> {
    let uri = format!("file:{}?immutable=1", uri::path(path));
    connect(
        Path::new(&uri),
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI,
    )
}

/// Creates the file if it is missing. The path of the folder can contain symbolic links, but the file must not be a
/// symbolic link.
fn create(path: &Path) -> Result<PathBuf, JournalError> {
    let resolved = made(path).map_err(JournalError::unopened(path))?;
    existing(&resolved)?.ok_or_else(|| JournalError::NotAFile { path: resolved })
}

fn made(path: &Path) -> io::Result<PathBuf> {
    private::folder(folder_of(path))?;
    let resolved = resolve(path)?;
    if existing(&resolved).is_err() {
        return Ok(resolved);
    }
    match private::options()
        .append(true)
        .create_new(true)
        .open(&resolved)
    {
        // Syncing the folder makes the name of the new file durable.
        Ok(_) => fs::File::open(folder_of(&resolved))?.sync_all()?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    Ok(resolved)
}

/// Returns `None` if the file does not exist. A file that is missing or empty beside what was recorded with it is
/// damaged. This is checked before SQLite opens the file, because SQLite deletes the log of an empty file.
pub(super) fn existing(path: &Path) -> Result<Option<PathBuf>, JournalError> {
    match resolve(path).and_then(|resolved| Ok((fs::symlink_metadata(&resolved)?, resolved))) {
        Ok((found, resolved)) if found.is_file() && found.len() == 0 && lost(&resolved) => Err(
            damaged(&resolved, "it is empty, but runs were recorded in it"),
        ),
        Ok((found, resolved)) if found.is_file() => Ok(Some(resolved)),
        Ok((_, path)) => Err(JournalError::NotAFile { path }),
        Err(source) if source.kind() == io::ErrorKind::NotFound => match lost(path) {
            true => Err(damaged(path, "it is missing, but runs were recorded in it")),
            false => Ok(None),
        },
        Err(source) => Err(JournalError::unopened(path)(source)),
    }
}

fn lost(path: &Path) -> bool {
    backup_of(path).exists() || has_runs(path)
}

fn has_runs(path: &Path) -> bool {
    let runs = path.with_file_name("runs");
    path.ends_with(DATABASE) && fs::read_dir(runs).is_ok_and(|mut runs| runs.next().is_some())
}

fn resolve(path: &Path) -> io::Result<PathBuf> {
    let name = path
        .file_name()
        .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidFilename))?;
    Ok(fs::canonicalize(folder_of(path))?.join(name))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
        None => path,
    }
}

fn has_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    fs::metadata(log).is_ok_and(|log| log.len() > 0)
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
}

fn damaged(path: &Path, why: &str) -> JournalError {
    let source = ffi::Error::new(ffi::SQLITE_CORRUPT);
    fault(path, Error::SqliteFailure(source, Some(why.to_owned())))
}

/// Whether a table or a column of a statement is missing. Damaged JSON in a row has the same code of SQLite's.
fn is_of_other_tables(error: &Error) -> bool {
    let text = error.to_string();
    ["no such table", "no such column", "has no column named"]
        .iter()
        .any(|missing| text.contains(missing))
}

pub(super) fn fault(path: &Path, source: rusqlite::Error) -> JournalError {
    let path = path.to_owned();
    match (&source, source.sqlite_error_code()) {
        (_, Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
        | (Error::FromSqlConversionFailure(..) | Error::InvalidColumnType(..), _) => {
            JournalError::Damaged { path, source }
        }
        _ if is_of_other_tables(&source) => JournalError::OtherBuild { path, source },
        _ => JournalError::Access { path, source },
    }
}
