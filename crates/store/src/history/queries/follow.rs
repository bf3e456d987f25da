//! Reads the newest events while other processes append events.

use jiff::Timestamp;
use rusqlite::Params;

use crate::history::columns::from_time;
use crate::history::queries::query::event;
use crate::history::{JournalError, store::Journal};
use glee_model::domain::RunId;
use glee_model::domain::event::Event;

impl Journal {
    /// Returns the number of events in the history, which is also the id of the newest event.
    pub fn newest(&self) -> Result<u64, JournalError> {
        let newest = self.rows("SELECT events FROM chain", [], |row| row.get::<_, i64>(0))?;
        Ok(newest.first().copied().unwrap_or_default().unsigned_abs())
    }

    /// Calls `take` for each event whose id is greater than `after`, in the order of the ids.
    pub fn each_since(&self, after: u64, take: impl FnMut(&Event)) -> Result<(), JournalError> {
        let sql = "SELECT run, seq, at, body FROM event WHERE id > ?1 ORDER BY id";
        self.stream(sql, [after.cast_signed()], take)
    }

    /// Calls `take` for each event of a run after the event with the number `after`, in the order of the numbers.
    /// Stops after `most` events.
    pub fn each_of(
        &self,
        run: &RunId,
        after: u64,
        most: u32,
        take: impl FnMut(&Event),
    ) -> Result<(), JournalError> {
        let sql = "SELECT run, seq, at, body FROM event WHERE run = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
        self.stream(sql, (&run.0, after.cast_signed(), most), take)
    }

    pub fn length(&self, run: &RunId) -> Result<u64, JournalError> {
        let sql = "SELECT coalesce(max(seq), 0) FROM event WHERE run = ?1";
        let length = self.rows(sql, [&run.0], |row| row.get::<_, i64>(0))?;
        Ok(length.first().copied().unwrap_or_default().unsigned_abs())
    }

    pub fn last_at(&self, run: &RunId) -> Result<Option<Timestamp>, JournalError> {
        let sql = "SELECT at FROM event WHERE run = ?1 ORDER BY seq DESC LIMIT 1";
        Ok(self
            .rows(sql, [&run.0], |row| from_time(row, "at"))?
            .pop()
            .flatten())
    }

    /// Reads the rows one by one. The function keeps only one event in memory at a time.
    pub(crate) fn stream(
        &self,
        sql: &str,
        params: impl Params,
        mut take: impl FnMut(&Event),
    ) -> Result<(), JournalError> {
        self.db
            .prepare_cached(sql)
            .and_then(|mut statement| {
                let mut rows = statement.query(params)?;
                while let Some(row) = rows.next()? {
                    take(&event(row)?);
                }
                Ok(())
            })
            .map_err(|error| self.fault(error))
    }
}
