//! The repositories that the role sees, and the log of one of them.

use jiff::Timestamp;
use postgres::Row;

use super::{Server, apart};
use crate::history::shared_log::{FoundRepository, LoggedRepository, SharedLogError};

impl Server {
    /// Returns at most `most` repositories that the role sees, without the first `skipped` ones. The one with the newest run
    /// comes first. `part` is a part of the title, in any case.
    pub fn repositories(
        &self,
        part: &str,
        skipped: u32,
        most: u32,
    ) -> Result<Vec<LoggedRepository>, SharedLogError> {
        // Only the newest run of each repository is looked up, and only the rows of one page are counted.
        let sql = "SELECT p.id, p.title, (SELECT count(*) FROM glee.run r WHERE r.repository = p.id),
                (SELECT count(*) FROM glee.dispute d WHERE d.repository = p.id AND d.open),
                (extract(epoch FROM p.started) * 1000000)::bigint
            FROM (SELECT p.id, p.title, n.started FROM glee.repository p LEFT JOIN LATERAL
                    (SELECT r.started FROM glee.run r WHERE r.repository = p.id ORDER BY r.started DESC LIMIT 1) n ON true
                WHERE strpos(lower(p.title), lower($1)) > 0
                ORDER BY n.started DESC NULLS LAST, p.title, p.id OFFSET $2 LIMIT $3) p
            ORDER BY p.started DESC NULLS LAST, p.title, p.id";
        let rows = apart(|| {
            let mut client = self.connect()?;
            // To compile the statement takes longer than to run it.
            let rows = client
                .batch_execute("SET jit = off")
                .and_then(|()| client.query(sql, &[&part, &i64::from(skipped), &i64::from(most)]));
            rows.map_err(|error| self.failed(error))
        })?;
        Ok(rows.iter().filter_map(logged_repository).collect())
    }

    /// Finds a repository by its number. Returns `None` if there is none, or if the role does not see it.
    pub fn repository(&self, number: i32) -> Result<Option<FoundRepository>, SharedLogError> {
        apart(|| {
            let mut client = self.connect()?;
            let sql = "SELECT title, pg_has_role('glee_writer', 'MEMBER') FROM glee.repository WHERE id = $1";
            let row = client.query_opt(sql, &[&number]);
            let row = row.map_err(|error| self.failed(error))?;
            Ok(row.map(|row| FoundRepository {
                title: row.get(0),
                is_writer: row.get(1),
                log: self.log_of(client, number, None),
            }))
        })
    }
}

fn logged_repository(row: &Row) -> Option<LoggedRepository> {
    let count = |column: usize| row.try_get(column).map(i64::unsigned_abs).ok();
    let last: Option<i64> = row.try_get(4).ok()?;
    Some(LoggedRepository {
        number: row.try_get(0).ok()?,
        title: row.try_get(1).ok()?,
        runs: count(2)?,
        open_disputes: count(3)?,
        last_run: last.and_then(|micros| Timestamp::from_microsecond(micros).ok()),
    })
}
