//! Opening a history: folders, file, the form of the database.
//!
//! Two processes may open a new database in the same moment; the form is looked at again under the write lock.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use rusqlite::{Connection, Error, ErrorCode, OpenFlags, TransactionBehavior};

use super::JournalError;
use crate::domain::RunId;
use crate::history::store::Journal;
use crate::system::private;

/// The forms of the database: step `n` turns form `n` into form `n + 1`. A step that was released never changes.
pub(crate) const STEPS: [&str; 4] = [
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
];
const KNOWN: i64 = STEPS.len() as i64;

/// The mark in the file's header that says whose database it is: `glee`.
const APPLICATION: i64 = 0x676c_6565;

/// How long to wait for another process that writes.
const PATIENCE: Duration = Duration::from_secs(10);

impl Journal {
    /// Opens the history at `path` for writing; makes folders (mode 0700) and file (0600) as needed and brings an
    /// older form up to date. Fails when the place cannot be written, or holds something else, something newer or
    /// something damaged. Nothing that was there is overwritten then.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let path = create(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        let mut journal = Self { db: connect(&path, flags)?, path };
        journal.migrate()?;
        Ok(journal)
    }

    /// Opens the history at `path` for reading; `None` where no history has begun. Creates nothing. Fails when the
    /// file is there but is not a history this program can read.
    pub fn open_read(path: &Path) -> Result<Option<Self>, JournalError> {
        let Some(path) = existing(path)? else { return Ok(None) };
        let opened = Self { db: connect(&path, OpenFlags::SQLITE_OPEN_READ_ONLY)?, path: path.clone() };
        let (journal, form) = match opened.form() {
            // A read-only folder has no room for the shared memory that WAL wants; without a log none is needed.
            Err(JournalError::Access { .. }) if !has_log(&path) => {
                let journal = Self { db: connect_immutable(&path)?, path };
                let form = journal.form()?;
                (journal, form)
            }
            form => (opened, form?),
        };
        match form {
            0 => Ok(None),
            KNOWN => Ok(Some(journal)),
            // The questions are put to the newest form only.
            _ => Self::open(&journal.path).map(Some),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder (mode 0700) beside the database for what the agents of a run were sent and answered; made if needed.
    pub fn transcripts(&self, run: &RunId) -> Result<PathBuf, JournalError> {
        let folder = self.folder_of(run);
        private::folder(&folder).map_err(|source| JournalError::Open { path: folder.clone(), source })?;
        Ok(folder)
    }

    /// Where the raw answers of a run are kept, whether there are any or not.
    pub fn folder_of(&self, run: &RunId) -> PathBuf {
        let name: String = run.0.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        self.path.with_file_name("runs").join(name)
    }

    pub(crate) fn fault(&self, source: rusqlite::Error) -> JournalError {
        fault(&self.path, source)
    }

    /// The form of the database: 0 while it is empty, else the number of steps done.
    fn form(&self) -> Result<i64, JournalError> {
        let fault = |source| self.fault(source);
        // One look: another process may be making the database at this moment.
        let _snapshot = self.db.unchecked_transaction().map_err(fault)?;
        let pragma = |name| self.db.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).map_err(fault);
        let (application, form) = (pragma("application_id")?, pragma("user_version")?);
        let tables: i64 =
            self.db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(fault)?;
        match form {
            0 if application == 0 && tables == 0 => Ok(0),
            _ if application != APPLICATION => Err(JournalError::Foreign { path: self.path.clone() }),
            found if found > KNOWN => Err(JournalError::Newer { path: self.path.clone(), found, known: KNOWN }),
            form => Ok(form),
        }
    }

    fn migrate(&mut self) -> Result<(), JournalError> {
        let form = self.form()?;
        self.write_ahead()?;
        self.db.pragma_update(None, "synchronous", "FULL").map_err(|source| self.fault(source))?;
        if form == KNOWN {
            return Ok(());
        }
        let path = self.path.clone();
        let fault = |source| fault(&path, source);
        let tx = self.db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fault)?;
        let form: i64 = tx.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(fault)?;
        let done = usize::try_from(form).unwrap_or(0);
        for (step, sql) in STEPS.iter().enumerate().skip(done) {
            tx.execute_batch(sql).map_err(fault)?;
            tx.pragma_update(None, "user_version", step as i64 + 1).map_err(fault)?;
        }
        tx.pragma_update(None, "application_id", APPLICATION).map_err(fault)?;
        tx.commit().map_err(fault)
    }

    /// Turns the write-ahead log on. SQLite does not wait for others here as it does elsewhere.
    fn write_ahead(&self) -> Result<(), JournalError> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.db.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0)) {
                Ok(_) => return Ok(()),
                Err(error) if is_busy(&error) && Instant::now() < deadline => {
                    thread::sleep(Duration::from_millis(5));
                }
                Err(error) => return Err(self.fault(error)),
            }
        }
    }
}

/// Opens the file for reading or writing, as `access` says, and never makes one.
pub(crate) fn connect(path: &Path, access: OpenFlags) -> Result<Connection, JournalError> {
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let configured = || {
        let db = Connection::open_with_flags(path, flags)?;
        db.busy_timeout(PATIENCE)?;
        db.pragma_update(None, "trusted_schema", false)?;
        Ok(db)
    };
    configured().map_err(|source| fault(path, source))
}

fn connect_immutable(path: &Path) -> Result<Connection, JournalError> {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => uri.push(char::from(*byte)),
            other => uri.push_str(&format!("%{other:02x}")),
        }
    }
    uri.push_str("?immutable=1");
    connect(Path::new(&uri), OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI)
}

/// The path with its folder resolved (so that only the file itself may not be a link), made if it is not there.
fn create(path: &Path) -> Result<PathBuf, JournalError> {
    let made = || {
        private::folder(folder_of(path))?;
        let resolved = resolve(path)?;
        match private::options().append(true).create_new(true).open(&resolved) {
            Ok(_) => sync_folder(&resolved)?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        Ok(resolved)
    };
    let resolved = made().map_err(|source| JournalError::Open { path: path.to_owned(), source })?;
    existing(&resolved)?.ok_or_else(|| JournalError::NotAFile { path: resolved })
}

/// The resolved path of a regular file; `None` if nothing is there.
fn existing(path: &Path) -> Result<Option<PathBuf>, JournalError> {
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => Ok(None),
        _ => Err(JournalError::Open { path: path.to_owned(), source }),
    };
    let resolved = match resolve(path) {
        Ok(resolved) => resolved,
        Err(source) => return failed(source),
    };
    match fs::symlink_metadata(&resolved) {
        Ok(found) if found.is_file() => Ok(Some(resolved)),
        Ok(_) => Err(JournalError::NotAFile { path: resolved }),
        Err(source) => failed(source),
    }
}

fn resolve(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidFilename))?;
    Ok(fs::canonicalize(folder_of(path))?.join(name))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
        None => path,
    }
}

/// Makes a new file's name as lasting as its content will be.
fn sync_folder(file: &Path) -> io::Result<()> {
    fs::File::open(folder_of(file))?.sync_all()
}

fn has_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    fs::metadata(log).is_ok_and(|log| log.len() > 0)
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Classifies what SQLite says of a database.
pub(crate) fn fault(path: &Path, source: rusqlite::Error) -> JournalError {
    let path = path.to_owned();
    match (&source, source.sqlite_error_code()) {
        (_, Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
        | (Error::FromSqlConversionFailure(..) | Error::InvalidColumnType(..), _) => {
            JournalError::Damaged { path, source }
        }
        _ => JournalError::Access { path, source },
    }
}
