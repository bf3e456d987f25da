//! What can still be read of a damaged history.
//!
//! The damaged file is only read; its readable events build new views in a database that vanishes when it is closed.

use rusqlite::{Connection, OptionalExtension as _};

use super::open::STEPS;
use super::{Journal, JournalError, query, view};

/// A private database of the newest form with nothing in it, on disk if it grows large.
pub(super) fn empty() -> rusqlite::Result<Connection> {
    let db = Connection::open("")?;
    STEPS.iter().try_for_each(|step| db.execute_batch(step))?;
    Ok(db)
}

impl Journal {
    /// A history for reading, built from those events of this one that can be read. Nothing says that it is complete.
    ///
    /// # Errors
    /// When no event can be read at all.
    pub fn salvage(&self) -> Result<Self, JournalError> {
        let db = self.readable().map_err(|error| self.fault(error))?;
        Ok(Self { db, path: self.path.clone() })
    }

    fn readable(&self) -> rusqlite::Result<Connection> {
        let fresh = empty()?;
        // Otherwise SQLite refuses a file that is shorter than its header says.
        self.db.pragma_update(None, "writable_schema", true)?;
        let building = fresh.unchecked_transaction()?;
        let mut copy = building.prepare(
            "INSERT INTO event (id, run, seq, at, body, prev, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?;
        let mut one = self.db.prepare("SELECT * FROM event WHERE id = ?1")?;
        let last: i64 = self.db.query_row("SELECT coalesce(max(id), 0) FROM event", [], |row| row.get(0))?;
        for id in 1..=last {
            let found = one.query_row([id], |row| {
                let columns = ["id", "run", "seq", "at", "body", "prev", "hash"];
                let values: Vec<rusqlite::types::Value> =
                    columns.iter().map(|column| row.get(*column)).collect::<Result<_, _>>()?;
                Ok((query::event(row)?, values))
            });
            let Ok(Some((event, values))) = found.optional() else { continue };
            if copy.execute(rusqlite::params_from_iter(values)).is_ok() {
                // A record that contradicts an earlier one adds nothing.
                drop(view::apply(&building, &event));
            }
        }
        drop(copy);
        building.commit()?;
        Ok(fresh)
    }
}
