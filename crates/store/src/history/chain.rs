//! Computes and verifies the hash chain over a history. Each record contains the hash of the previous record, so
//! an altered, removed or moved record breaks the chain. A program with write access to the file can replace the
//! whole chain. If a person stores a copy of [`Verification::head`], a comparison with this copy reveals a
//! replaced chain.

use std::fmt;

use rusqlite::Connection;
use rusqlite::types::Value;
use serde::Serialize;

use super::JournalError;
use crate::history::projections::{self, VIEWS};
use crate::history::{queries::query, recover, store::Journal};
use glee_model::domain::RunId;

/// Computes the BLAKE3 hash of a record from the hash of the previous record and the columns of the new record.
/// Each value is hashed together with its length.
pub(super) fn link(prev: &str, run: &str, seq: i64, at: &str, body: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in [
        prev.as_bytes(),
        run.as_bytes(),
        &seq.to_le_bytes(),
        at.as_bytes(),
        body.as_bytes(),
    ] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().to_hex().to_string()
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// The number of intact records before the first fault.
    pub records: u64,
    pub head: String,
    pub fault: Option<Fault>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The number of the faulty record, counted from 1. `record` is `None` if the fault does not concern a
    /// record.
    pub record: Option<u64>,
    /// The run that contains the faulty record, and the number of the record within the run. `None` if the run
    /// or the number is unreadable.
    pub place: Option<(RunId, u64)>,
    pub flaw: Corruption,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "flaw", rename_all = "snake_case")]
pub enum Corruption {
    /// The content of the record does not match the record's hash.
    Altered,
    /// The record does not contain the previous record's hash, because records were removed, added or moved.
    OutOfOrder,
    Removed,
    /// The id of the record is greater than the value of the column `events` in the table `chain`.
    Added,
    /// The recorded end of the history does not match the last record.
    End,
    Unreadable,
    /// A row of a view does not match the events. `row` names the table and the row's primary key.
    View {
        row: String,
    },
    Torn {
        error: String,
    },
}

impl Fault {
    fn new(record: Option<u64>, flaw: Corruption) -> Self {
        Self {
            record,
            place: None,
            flaw,
        }
    }
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
            Corruption::OutOfOrder => f.write_str(
                " does not follow the previous record: records were removed, added or moved",
            ),
            Corruption::Removed => f.write_str(" was removed"),
            Corruption::Added => f.write_str(" was added after the end of the history"),
            Corruption::End => {
                f.write_str(" does not match its recorded end: its last records were replaced")
            }
            Corruption::Unreadable => f.write_str(" is not an event"),
            Corruption::View { row } => write!(f, " was altered: {row} does not match the events"),
            Corruption::Torn { error } => write!(f, " is torn: {error}"),
        }
    }
}

/// The columns of a record are its number, its run, its number within the run, its time, its body, the hash of the
/// previous record, and the hash of the record.
type Record = (i64, String, i64, String, String, String, String);

impl Journal {
    /// Verifies all records and views. If the database file is damaged, the result contains a fault, and the
    /// function returns no error.
    pub fn verify(&self) -> Result<Verification, JournalError> {
        let mut check = Verification {
            records: 0,
            head: String::new(),
            fault: None,
        };
        check.fault = match self.walk(&mut check).map_err(|error| self.fault(error)) {
            Ok(fault) => fault,
            Err(JournalError::Damaged { source, .. }) => {
                let flaw = Corruption::Torn {
                    error: source.to_string(),
                };
                Some(Fault::new(Some(check.records + 1), flaw))
            }
            Err(error) => return Err(error),
        };
        Ok(check)
    }

    fn walk(&self, check: &mut Verification) -> rusqlite::Result<Option<Fault>> {
        // The transaction hides events that other processes append while the verification runs.
        let _snapshot = self.db.unchecked_transaction()?;
        let fresh = recover::empty()?;
        let building = fresh.unchecked_transaction()?;
        let mut statement = self
            .db
            .prepare("SELECT id, run, seq, at, body, prev, hash FROM event ORDER BY id")?;
        let mut rows = statement.query([])?;
        let (events, end): (i64, String) =
            self.db
                .query_row("SELECT events, hash FROM chain", [], |row| row.try_into())?;
        while let Some(row) = rows.next()? {
            let (id, run, seq, at, body, prev, hash): Record = row.try_into()?;
            let expected = check.records + 1;
            if id != expected.cast_signed() {
                return Ok(Some(Fault::new(Some(expected), Corruption::Removed)));
            }
            let flaw = if link(&prev, &run, seq, &at, &body) != hash {
                Corruption::Altered
            } else if prev != check.head {
                Corruption::OutOfOrder
            } else if id > events {
                Corruption::Added
            } else if let Ok(event) = query::event(row) {
                projections::apply(&building, &event)?;
                check.records += 1;
                check.head = hash;
                continue;
            } else {
                Corruption::Unreadable
            };
            return Ok(Some(Fault {
                place: Some((RunId(run), seq.unsigned_abs())),
                ..Fault::new(Some(expected), flaw)
            }));
        }
        if check.records.cast_signed() < events {
            return Ok(Some(Fault::new(
                Some(check.records + 1),
                Corruption::Removed,
            )));
        }
        if check.head != end {
            return Ok(Some(Fault::new(None, Corruption::End)));
        }
        for (table, key) in VIEWS {
            if let Some(row) = difference(&self.db, &building, table, key)? {
                let row = format!("{table} {row}");
                return Ok(Some(Fault::new(None, Corruption::View { row })));
            }
        }
        // SQLite's integrity check comes last, because the result of this check does not identify the damaged
        // record.
        let error: String = self
            .db
            .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
        let is_torn = error != "ok";
        Ok(is_torn.then(|| Fault::new(None, Corruption::Torn { error })))
    }
}

fn difference(
    here: &Connection,
    there: &Connection,
    table: &str,
    key: &str,
) -> rusqlite::Result<Option<String>> {
    let sql = format!("SELECT {key}, * FROM {table} ORDER BY {key}");
    let mut ours = here.prepare(&sql)?;
    let mut theirs = there.prepare(&sql)?;
    let columns = ours.column_count();
    let keys = key.split(',').count();
    let mut ours = ours.query([])?;
    let mut theirs = theirs.query([])?;
    loop {
        let [ours, theirs] = [ours.next()?, theirs.next()?].map(|row| {
            let values = row.map(|row| (0..columns).map(|column| row.get(column)).collect());
            values.transpose()
        });
        let ours: Option<Vec<Value>> = ours?;
        match (ours, theirs?) {
            (None, None) => return Ok(None),
            (a, b) if a == b => {}
            (a, b) => {
                let row = a
                    .iter()
                    .chain(&b)
                    .map(|row| row.iter().take(keys).map(plain).collect::<Vec<_>>());
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
