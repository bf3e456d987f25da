//! Reads the intact part of a damaged history. Copies the readable events to a temporary database, and builds the
//! views from the copied events.

use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, params_from_iter};

use super::JournalError;
use super::open::{self, SCHEMA};
use crate::history::{projections, queries::query, store::Journal};

/// Creates a temporary database with the tables of a history. SQLite keeps a small database in memory.
pub fn empty() -> rusqlite::Result<Connection> {
    let db = Connection::open("")?;
    open::keep_statements(&db)?;
    db.execute_batch(SCHEMA)?;
    Ok(db)
}

impl Journal {
    /// Opens a damaged history, and omits the unreadable events.
    pub fn open_damaged(path: &Path) -> Result<Self, JournalError> {
        open::existing(path)?;
        let damaged = open::connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let db = readable(&damaged).map_err(|error| open::fault(path, error))?;
        Ok(Self::of(db, path.to_owned()))
    }
}

fn readable(damaged: &Connection) -> rusqlite::Result<Connection> {
    // Without `writable_schema`, SQLite refuses to open a file that is shorter than the header of the file states.
    damaged.pragma_update(None, "writable_schema", true)?;
    let number = |sql| damaged.query_row(sql, [], |row| row.get::<_, i64>(0));
    let last = number("SELECT events FROM chain")
        .or_else(|_| number("SELECT coalesce(max(id), 0) FROM event"))?;
    let fresh = empty()?;
    {
        let building = fresh.unchecked_transaction()?;
        let mut copy = building.prepare(
            "INSERT INTO event (id, run, seq, at, body, prev, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?;
        let mut one = damaged
            .prepare("SELECT id, run, seq, at, body, prev, hash FROM event WHERE id = ?1")?;
        for id in 1..=last {
            let record = one.query_row([id], |row| {
                let columns = (0..7)
                    .map(|column| row.get(column))
                    .collect::<rusqlite::Result<Vec<Value>>>()?;
                Ok((query::event(row)?, columns))
            });
            let Ok((event, columns)) = record else {
                continue;
            };
            if copy.execute(params_from_iter(columns)).is_ok() {
                // An event that contradicts an earlier event is copied, but does not change the views.
                drop(projections::apply(&building, &event));
            }
        }
        drop(copy);
        building.commit()?;
    }
    Ok(fresh)
}
