//! Finds earlier reviews of a file and earlier answers about pairs of findings, and checks whether the records of a run
//! are intact.

use rusqlite::{Row, params};

use super::query;
use crate::history::{JournalError, chain::link, store::Journal};
use glee_model::domain::{AgentName, PairAnswer, RunId, event::Event};

/// The maximum number of rows that each query for earlier reviews returns.
const RECENT: u32 = 4;

/// The number of earlier answers about a file that are searched. A large file has one answer a part.
const OF_FILE: u32 = 64;

impl Journal {
    /// Finds earlier reviews of a file by the same reviewer (`asker`). Reviews in the run `now` are excluded.
    /// Returns the run and the event number of each review. Reviews of the same file content (`key`) come first in
    /// the result, and reviews of other contents come last.
    pub fn reviewed(
        &self,
        (asker, file, key): (&str, &str, &str),
        now: Option<&RunId>,
    ) -> Result<Vec<(RunId, u64)>, JournalError> {
        let now = now.map_or("", |run| run.0.as_str());
        let place = |row: &Row<'_>| Ok((RunId(row.get(0)?), row.get::<_, i64>(1)?.unsigned_abs()));
        let same = "SELECT run, seq FROM reviewed WHERE asker = ?1 AND key = ?2 AND run <> ?3
            ORDER BY number DESC LIMIT ?4";
        let mut found = self.rows(same, params![asker, key, now, RECENT], place)?;
        let recent = "SELECT run, seq FROM reviewed WHERE asker = ?1 AND file = ?2 AND run <> ?3
            ORDER BY number DESC LIMIT ?4";
        for place in self.rows(recent, params![asker, file, now, OF_FILE], place)? {
            if !found.contains(&place) {
                found.push(place);
            }
        }
        Ok(found)
    }

    /// The last answer of an earlier run with this key to the question whether two findings are the same.
    pub fn pair_answer(&self, key: &str, now: &RunId) -> Result<Option<PairAnswer>, JournalError> {
        let sql = "SELECT run, by, same, reason FROM compared
            WHERE key = ?1 AND run <> ?2 ORDER BY number DESC LIMIT ?3";
        let answers = self.rows(sql, params![key, now.0, RECENT], |row| {
            let answer = PairAnswer {
                by: AgentName(row.get("by")?),
                same: row.get("same")?,
                reason: row.get::<_, String>("reason")?.into(),
            };
            Ok((RunId(row.get("run")?), answer))
        })?;
        for (run, answer) in answers {
            if self.is_sound(&run)? {
                return Ok(Some(answer));
            }
        }
        Ok(None)
    }

    pub fn event(&self, run: &RunId, seq: u64) -> Result<Option<Event>, JournalError> {
        let sql = "SELECT id, run, seq, at, body FROM event WHERE run = ?1 AND seq = ?2";
        Ok(self
            .rows(sql, params![run.0, seq.cast_signed()], query::event)?
            .pop())
    }

    /// Whether all records of a run are intact and linked in the hash chain. The result is false if a read-only
    /// agent modified files during the run.
    pub fn is_sound(&self, run: &RunId) -> Result<bool, JournalError> {
        let sql = "SELECT seq, at, body, prev, hash, kind,
                coalesce((SELECT hash FROM event AS other WHERE other.id = event.id - 1), '') AS before,
                coalesce((SELECT prev FROM event AS other WHERE other.id = event.id + 1),
                    (SELECT hash FROM chain)) AS after
            FROM event WHERE run = ?1 ORDER BY seq";
        let mut expected = 0;
        let records = self.rows(sql, [&run.0], |row| {
            expected += 1;
            let text = |column: &str| row.get::<_, String>(column);
            let seq = row.get("seq")?;
            let hash = text("hash")?;
            let prev = text("prev")?;
            let is_whole =
                seq == expected && link(&prev, &run.0, seq, &text("at")?, &text("body")?) == hash;
            Ok(is_whole
                && prev == text("before")?
                && hash == text("after")?
                && text("kind")? != "read_only_violated")
        })?;
        Ok(!records.is_empty() && records.into_iter().all(|is_whole| is_whole))
    }
}
