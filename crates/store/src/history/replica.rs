//! The database that follows the log of a server. It has the same records, with the same numbers and the same hash
//! chain, and its views are derived from them as those of a history without a server are.
//!
//! A write allocates numbers and decides on what the replica has, and the log takes its records only if they follow the
//! newest one. If they do not, the next attempt holds the log, so that no other machine appends meanwhile, and brings the
//! replica up to date first. Therefore numbers never clash, and a write decides on all that was recorded before it.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::mem;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, TransactionBehavior, params};

use super::append::{Tail, write_in};
use super::open::fault;
use super::{JournalError, chain, changed_rows};
use crate::history::columns::json;
use crate::history::projections::{self, VIEWS};
use crate::history::redacted;
use crate::history::shared_log::{Head, Log, LogRecord, SharedLogError};
use crate::history::store::{Journal, REPLICA};
use glee_model::domain::RunId;
use glee_model::domain::event::{Event, EventKind, RunEvent};
use glee_system::private;

/// How long a run waits for a server that went away, such as one that is restarted.
const PATIENCE: Duration = Duration::from_secs(30);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The number of records that are fetched at once.
const PAGE: u32 = 500;

/// The file in the folder of a run with the answers that the server could not take.
const UNSENT: &str = "unsent.jsonl";

/// The path of the replica of a repository's log, beside the history that this machine keeps without a server.
pub fn replica_of(history: &Path) -> PathBuf {
    history.with_file_name(REPLICA)
}

/// What an attempt recorded whose commit the server did not confirm.
struct Unconfirmed<T> {
    result: T,
    /// The hash of its last record.
    hash: String,
}

impl Journal {
    /// Opens the replica of a log, and brings it up to date. A replica that cannot be read is made again.
    pub fn following(path: &Path, log: Box<dyn Log>) -> Result<Self, JournalError> {
        let opened = match Self::open(path) {
            Err(JournalError::Damaged { .. } | JournalError::OtherBuild { .. }) => {
                for end in ["", "-wal", "-shm"] {
                    let mut file = path.as_os_str().to_owned();
                    file.push(end);
                    drop(fs::remove_file(file));
                }
                Self::open(path)
            }
            opened => opened,
        };
        let mut journal = Self {
            log: Some(log),
            ..opened?
        };
        // What a crash of the machine takes from the replica is fetched again.
        journal
            .db
            .pragma_update(None, "synchronous", "NORMAL")
            .map_err(|error| journal.fault(error))?;
        changed_rows::note(&journal.db).map_err(|error| journal.fault(error))?;
        journal.catch_up()?;
        Ok(journal)
    }

    /// Fetches what other machines recorded. Does nothing without a server.
    pub fn catch_up(&mut self) -> Result<(), JournalError> {
        let Some(log) = &self.log else {
            return Ok(());
        };
        follow(&mut self.db, log.as_ref(), &self.path).map(drop)
    }

    /// Whether the run was made on another machine.
    pub fn is_elsewhere(&self, run: &RunId) -> Result<bool, JournalError> {
        let may_be_elsewhere = self
            .log
            .as_ref()
            .is_some_and(|log| !log.carries(run) && !self.folder_of(run).is_dir());
        Ok(may_be_elsewhere && self.length(run)? > 0)
    }

    /// Fails if the run was made on another machine.
    pub fn require_here(&self, run: &RunId) -> Result<(), JournalError> {
        match self.is_elsewhere(run)? {
            true => Err(JournalError::Elsewhere(run.clone())),
            false => Ok(()),
        }
    }

    /// Appends to the log of the server. While the server is away, tries again for [`PATIENCE`], once in the life of
    /// this value.
    pub(super) fn write_to_log<T>(
        &mut self,
        run: &RunId,
        mut work: impl FnMut(&mut Tail<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, JournalError> {
        let mut unconfirmed = None;
        let begun = Instant::now();
        let mut pause = Duration::from_millis(50);
        loop {
            match self.attempt(run, &mut work, &mut unconfirmed) {
                Err(JournalError::Log(error)) if error.is_passing() => {
                    if self.is_given_up || begun.elapsed() >= PATIENCE {
                        self.is_given_up = true;
                        return Err(error.into());
                    }
                    thread::sleep(pause);
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
                Ok(None) => {}
                Ok(Some(result)) => {
                    self.is_given_up = false;
                    return Ok(result);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Does the work on the replica, and appends what it records to the log. The log is not held, unless others append, too,
    /// because it refuses what does not follow its newest record. Returns `None` if it did: the next attempt holds it.
    fn attempt<T>(
        &mut self,
        run: &RunId,
        work: &mut impl FnMut(&mut Tail<'_>) -> rusqlite::Result<T>,
        unconfirmed: &mut Option<Unconfirmed<T>>,
    ) -> Result<Option<T>, JournalError> {
        let Self {
            log: Some(log),
            db,
            path,
            redacts,
            holds_log,
            ..
        } = self
        else {
            unreachable!("only a journal with a log writes to it");
        };
        let log = log.as_ref();
        let fault = |error| fault(path, error);
        let is_held = mem::replace(holds_log, true);
        let mut wants_all = false;
        let mut held = None;
        let mut was_behind = false;
        if is_held {
            wants_all = log.begin()?;
            // From here on, an early return releases the log.
            held = Some(Held(log));
            was_behind = follow(db, log, path)?;
        }
        let tx = db
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(fault)?;
        if let Some(Unconfirmed { result, hash }) = unconfirmed.take()
            && tx
                .prepare("SELECT 1 FROM event WHERE hash = ?1")
                .and_then(|mut found| found.exists([&hash]))
                .map_err(fault)?
        {
            return Ok(Some(result));
        }
        let newest = newest(&tx).map_err(fault)?;
        changed_rows::forget(&tx).map_err(fault)?;
        let (result, _) = write_in(&tx, run, *redacts, work).map_err(fault)?;
        let records = records_after(&tx, newest.events).map_err(fault)?;
        let Some(last) = records.last() else {
            // What was decided holds if the replica was up to date.
            return Ok(is_held.then_some(result));
        };
        let views = changed_rows::views(&tx, wants_all).map_err(fault)?;
        let appended = log.append(&newest, &records, &views);
        let committed = match (&appended, held) {
            (Ok(true), Some(held)) => {
                mem::forget(held);
                log.commit()
            }
            _ => Ok(()),
        };
        match appended.and_then(|is_appended| committed.map(|()| is_appended)) {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(error) => {
                let hash = last.hash.clone();
                *unconfirmed = Some(Unconfirmed { result, hash });
                return Err(error.into());
            }
        }
        // Without this commit, the records are fetched again.
        tx.commit().map_err(fault)?;
        *holds_log = was_behind;
        Ok(Some(result))
    }

    /// Keeps the answers among the events that the server could not take, beside the transcripts of the run.
    pub(super) fn keep_unsent(&self, run: &RunId, kinds: &[EventKind]) -> Result<(), JournalError> {
        let answers = kinds
            .iter()
            .filter(|kind| matches!(kind, EventKind::Run(RunEvent::CallFinished { .. })));
        let mut lines = String::new();
        for answer in answers {
            let answer = answer.clone();
            lines += &json(&if self.redacts {
                redacted::event(answer)
            } else {
                answer
            });
            lines.push('\n');
        }
        if lines.is_empty() {
            return Ok(());
        }
        let path = self.transcripts(run)?.join(UNSENT);
        let written = private::options()
            .create(true)
            .append(true)
            .open(&path)
            .and_then(|mut file| {
                file.write_all(lines.as_bytes())?;
                file.sync_all()
            });
        written.map_err(JournalError::unopened(&path))
    }

    /// Records the answers that an earlier process of the run kept because the server was away.
    pub fn send_unsent(&mut self, run: &RunId) -> Result<(), JournalError> {
        let path = self.folder_of(run).join(UNSENT);
        let failed = JournalError::unopened(&path);
        let file = match fs::File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            opened => opened.map_err(failed)?,
        };
        let mut kept = Vec::new();
        for line in BufReader::new(file).lines() {
            // The last line is incomplete if the process was killed.
            kept.extend(serde_json::from_str::<EventKind>(&line.map_err(failed)?));
        }
        self.write(run, |tail| {
            for kind in &kept {
                if let EventKind::Run(RunEvent::CallFinished { call, .. }) = kind
                    && !tail.has_finished(call)?
                {
                    tail.push(kind.clone())?;
                }
            }
            Ok(())
        })?;
        fs::remove_file(&path).map_err(failed)
    }
}

/// A log that is released when this value is dropped.
struct Held<'a>(&'a dyn Log);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.release();
    }
}

/// Brings a replica up to date, and returns whether it was not. If the log does not have the replica's newest record, the
/// replica is made again.
fn follow(db: &mut Connection, log: &dyn Log, path: &Path) -> Result<bool, JournalError> {
    let fault = |error| fault(path, error);
    let mut was_behind = false;
    loop {
        let known = newest(db).map_err(fault)?;
        let Head { events, hash } = &known;
        // The record at the cursor comes along, because its hash shows that both are the same log.
        let mut page = log.records((*events).max(1), PAGE)?;
        let is_same = *events == 0 || page.first().is_some_and(|record| record.hash == *hash);
        if is_same {
            page.retain(|record| record.id > *events);
            if page.is_empty() {
                return Ok(was_behind);
            }
        }
        was_behind = true;
        let tx = db
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(fault)?;
        if newest(&tx).map_err(fault)? != known {
            // Another process of this machine was faster.
            continue;
        }
        match is_same {
            true => page
                .iter()
                .try_for_each(|record| fold(&tx, record, fault))?,
            false => empty(&tx).map_err(fault)?,
        }
        tx.commit().map_err(fault)?;
    }
}

fn newest(db: &Connection) -> rusqlite::Result<Head> {
    db.prepare_cached("SELECT events, hash FROM chain")?
        .query_row([], |row| {
            Ok(Head {
                events: row.get(0)?,
                hash: row.get(1)?,
            })
        })
}

fn fold(
    tx: &Connection,
    record: &LogRecord,
    fault: impl Fn(rusqlite::Error) -> JournalError,
) -> Result<(), JournalError> {
    let LogRecord {
        id,
        run,
        seq,
        at,
        body,
        prev,
        hash,
    } = record;
    let last = newest(tx).map_err(&fault)?;
    if *id != last.events + 1
        || *prev != last.hash
        || chain::link(prev, run, *seq, at, body) != *hash
    {
        return Err(SharedLogError::Altered(*id).into());
    }
    let unknown = |_| SharedLogError::Unknown(*id);
    let event = Event {
        run: RunId(run.clone()),
        seq: seq.unsigned_abs(),
        at: at.parse().map_err(|_| SharedLogError::Altered(*id))?,
        kind: serde_json::from_str(body).map_err(unknown)?,
    };
    let insert = "INSERT INTO event (id, run, seq, at, body, prev, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    tx.prepare_cached(insert)
        .and_then(|mut insert| insert.execute(params![id, run, seq, at, body, prev, hash]))
        .and_then(|_| {
            tx.prepare_cached("UPDATE chain SET events = ?1, hash = ?2")?
                .execute(params![id, hash])
        })
        .and_then(|_| projections::apply(tx, &event))
        .map_err(fault)
}

fn empty(tx: &Connection) -> rusqlite::Result<()> {
    for (table, _) in VIEWS {
        tx.execute(&format!("DELETE FROM {table}"), [])?;
    }
    tx.execute_batch("DELETE FROM event; UPDATE chain SET events = 0, hash = ''")
}

fn records_after(tx: &Connection, id: i64) -> rusqlite::Result<Vec<LogRecord>> {
    tx.prepare_cached(
        "SELECT id, run, seq, at, body, prev, hash FROM event WHERE id > ?1 ORDER BY id",
    )?
    .query_map([id], |row| {
        Ok(LogRecord {
            id: row.get(0)?,
            run: row.get(1)?,
            seq: row.get(2)?,
            at: row.get(3)?,
            body: row.get(4)?,
            prev: row.get(5)?,
            hash: row.get(6)?,
        })
    })?
    .collect()
}
