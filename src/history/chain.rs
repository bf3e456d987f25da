//! The hash chain over the whole history, and the check that nothing in it was altered.
//!
//! Every record carries the hash of the one before it, so one altered, removed or moved record breaks the chain at
//! its place. Whoever can write the file can also compute a whole new chain: to hold against that, keep the hash that
//! [`Verification::head`] shows somewhere else.

use std::fmt;

use rusqlite::types::Value;
use rusqlite::{Connection, Row};
use serde::Serialize;

use super::JournalError;
use crate::domain::RunId;
use crate::history::projections::{self, VIEWS};
use crate::history::queries::query;
use crate::history::recover;
use crate::history::store::Journal;

/// The hash of a record: BLAKE3 over the hash before it and its own columns, each preceded by its length.
pub(crate) fn link(prev: &str, run: &str, seq: i64, at: &str, body: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in [prev.as_bytes(), run.as_bytes(), &seq.to_le_bytes(), at.as_bytes(), body.as_bytes()] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().to_hex().to_string()
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// How many records are in order, from the first on.
    pub records: u64,
    /// The hash at the end of those; it names this history as it stands.
    pub head: String,
    pub fault: Option<Fault>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The record concerned, counted from 1; absent where it is none of the events.
    pub record: Option<u64>,
    /// The run it belongs to and its number within it, where the record can be read.
    pub place: Option<(RunId, u64)>,
    pub flaw: Corruption,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "flaw", rename_all = "snake_case")]
pub enum Corruption {
    /// Its content is not what its hash was made of.
    Altered,
    /// It is no successor of the record before it: something between them was removed, added or moved.
    OutOfOrder,
    Removed,
    /// It stands behind the recorded end of the history.
    Added,
    /// The recorded end of the history is not the end of the records.
    End,
    Unreadable,
    /// A row that commands read says something else than the events.
    View {
        /// The table and the row's key.
        row: String,
    },
    Torn {
        error: String,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.record {
            Some(record) => write!(f, "record {record}")?,
            None => f.write_str("the history")?,
        }
        if let Some((run, seq)) = &self.place {
            write!(f, " (event {seq} of run {run})")?;
        }
        match &self.flaw {
            Corruption::Altered => f.write_str(" was altered"),
            Corruption::OutOfOrder => {
                f.write_str(" does not follow the one before it: records were removed, added or moved")
            }
            Corruption::Removed => f.write_str(" was removed"),
            Corruption::Added => f.write_str(" was added behind the end of the history"),
            Corruption::End => f.write_str(" does not end where it says: its last records were replaced"),
            Corruption::Unreadable => f.write_str(" is no event"),
            Corruption::View { row } => {
                write!(f, " was altered: {row} is not what the events say")
            }
            Corruption::Torn { error } => write!(f, " is torn: {error}"),
        }
    }
}

/// The columns of a record: its number, run, number within the run, time, body, the hash before it and its own.
type Record = (i64, String, i64, String, String, String, String);

impl Journal {
    /// Walks the whole history: is every record as it was written, in its place, and do the views say the same? Fails
    /// when the history cannot be read at all. A torn file is a finding of the check, not an error.
    pub fn verify(&self) -> Result<Verification, JournalError> {
        let mut check = Verification { records: 0, head: String::new(), fault: None };
        match self.walk(&mut check) {
            Ok(fault) => check.fault = fault,
            Err(error) => match self.fault(error) {
                JournalError::Damaged { source, .. } => {
                    let record = Some(check.records + 1);
                    let flaw = Corruption::Torn { error: source.to_string() };
                    check.fault = Some(Fault { record, place: None, flaw });
                }
                other => return Err(other),
            },
        }
        Ok(check)
    }

    fn walk(&self, check: &mut Verification) -> rusqlite::Result<Option<Fault>> {
        // One transaction: what others append meanwhile is not part of this check.
        let _snapshot = self.db.unchecked_transaction()?;
        let fresh = recover::empty()?;
        let building = fresh.unchecked_transaction()?;
        let mut statement = self.db.prepare("SELECT id, run, seq, at, body, prev, hash FROM event ORDER BY id")?;
        let mut rows = statement.query([])?;
        let (events, end): (i64, String) =
            self.db.query_row("SELECT events, hash FROM chain", [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        while let Some(row) = rows.next()? {
            let (id, run, seq, at, body, prev, hash): Record = row.try_into()?;
            let fault = |flaw| {
                let place = Some((RunId(run.clone()), seq.unsigned_abs()));
                Ok(Some(Fault { record: Some(id.unsigned_abs()), place, flaw }))
            };
            let expected = check.records.cast_signed() + 1;
            if id != expected {
                return Ok(Some(missing(expected)));
            }
            if link(&prev, &run, seq, &at, &body) != hash {
                return fault(Corruption::Altered);
            }
            if prev != check.head {
                return fault(Corruption::OutOfOrder);
            }
            if id > events {
                return fault(Corruption::Added);
            }
            match query::event(row) {
                Ok(event) => projections::apply(&building, &event)?,
                Err(_) => return fault(Corruption::Unreadable),
            }
            check.records += 1;
            check.head = hash;
        }
        if check.records.cast_signed() < events {
            return Ok(Some(missing(check.records.cast_signed() + 1)));
        }
        if check.head != end {
            return Ok(Some(Fault { record: None, place: None, flaw: Corruption::End }));
        }
        for (table, key) in VIEWS {
            if let Some(row) = difference(&self.db, &building, table, key)? {
                let flaw = Corruption::View { row: format!("{table} {row}") };
                return Ok(Some(Fault { record: None, place: None, flaw }));
            }
        }
        self.pages()
    }

    /// SQLite's own check of pages and indexes, last because its words name no record.
    fn pages(&self) -> rusqlite::Result<Option<Fault>> {
        let said: String = self.db.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
        let flaw = Corruption::Torn { error: said.clone() };
        Ok((said != "ok").then_some(Fault { record: None, place: None, flaw }))
    }
}

fn missing(record: i64) -> Fault {
    Fault { record: Some(record.unsigned_abs()), place: None, flaw: Corruption::Removed }
}

/// The key of the first row that is not the same in both databases.
fn difference(here: &Connection, there: &Connection, table: &str, key: &str) -> rusqlite::Result<Option<String>> {
    let sql = format!("SELECT {key}, * FROM {table} ORDER BY {key}");
    let (mut ours, mut theirs) = (here.prepare(&sql)?, there.prepare(&sql)?);
    let (columns, keys) = (ours.column_count(), key.split(',').count());
    let (mut ours, mut theirs) = (ours.query([])?, theirs.query([])?);
    loop {
        let values = |row: Option<&Row<'_>>| -> rusqlite::Result<Option<Vec<Value>>> {
            row.map(|row| (0..columns).map(|column| row.get(column)).collect()).transpose()
        };
        match (values(ours.next()?)?, values(theirs.next()?)?) {
            (None, None) => return Ok(None),
            (a, b) if a == b => {}
            (a, b) => {
                let row = a.iter().chain(&b).map(|row| row.iter().take(keys).map(plain).collect::<Vec<_>>());
                return Ok(row.min().map(|key| key.join(" ")));
            }
        }
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => text.clone(),
        Value::Blob(_) => "?".to_owned(),
    }
}
