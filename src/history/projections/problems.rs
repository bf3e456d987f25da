//! A problem is a finding, together with the findings of later runs that repeat the finding. The SQL view `addend`
//! contains the numbers that each problem contributes to the sums. Before a change of a finding, Glee subtracts
//! the old numbers of the finding's problem from the sums. After the change, Glee adds the problem's new numbers.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::domain::{FindingId, FindingOrigin};

/// The run and the number of a finding.
pub(crate) type Key = (String, FindingId);

pub(crate) struct Problems<'a> {
    pub(crate) db: &'a Connection,
}

impl Problems<'_> {
    /// Finds the problems of all `findings`, and returns the first finding of each problem. Skips unknown
    /// findings.
    pub(crate) fn of(&self, findings: &[Key]) -> rusqlite::Result<BTreeSet<Key>> {
        let sql = "SELECT origin_run, origin FROM measured WHERE run = ?1 AND number = ?2";
        let mut origin = self.db.prepare_cached(sql)?;
        let mut origins = BTreeSet::new();
        for (run, number) in findings {
            origins.extend(origin.query_row(params![run, number], key).optional()?);
        }
        Ok(origins)
    }

    pub(crate) fn of_run(&self, run: &str) -> rusqlite::Result<BTreeSet<Key>> {
        let sql = "SELECT origin_run, origin FROM measured WHERE run = ?1";
        self.db
            .prepare_cached(sql)?
            .query_map([run], key)?
            .collect()
    }

    /// Adds the numbers of `problems` to the tables `tally` and `pair` if `sign` is 1, and subtracts the numbers
    /// if `sign` is -1.
    pub(crate) fn add(&self, problems: &BTreeSet<Key>, sign: i64) -> rusqlite::Result<()> {
        for sum in [TALLY, PAIR] {
            let mut sum = self.db.prepare_cached(sum)?;
            for (run, number) in problems {
                sum.execute(params![run, number, sign])?;
            }
        }
        Ok(())
    }

    /// Joins the problem of `finding` with the problems of the findings in `repeated`. The earliest finding
    /// becomes the origin of the joined problem. Returns the origin.
    pub(crate) fn join(&self, finding: &Key, repeated: &[Key]) -> rusqlite::Result<Key> {
        let joined = self.of(&[std::slice::from_ref(finding), repeated].concat())?;
        let mut day = self
            .db
            .prepare_cached("SELECT day FROM measured WHERE run = ?1 AND number = ?2")?;
        let mut dated: BTreeSet<(String, &Key)> = BTreeSet::new();
        for origin in &joined {
            dated.insert((
                day.query_row(params![origin.0, origin.1], |row| row.get(0))?,
                origin,
            ));
        }
        let first = dated.first().map_or(finding, |(_, origin)| *origin);
        for origin in joined.iter().filter(|origin| *origin != first) {
            let keys = params![first.0, first.1, origin.0, origin.1];
            let findings = "UPDATE measured SET origin_run = ?1, origin = ?2 WHERE origin_run = ?3 AND origin = ?4";
            self.db.prepare_cached(findings)?.execute(keys)?;
            let opinions = format!(
                "INSERT INTO opinion (run, number, reviewer, model, said)
                 SELECT ?1, ?2, reviewer, model, said FROM opinion WHERE run = ?3 AND number = ?4 {STRONGER}"
            );
            self.db.prepare_cached(&opinions)?.execute(keys)?;
            self.forget_opinions(origin)?;
        }
        Ok(first.clone())
    }

    /// Whether several findings belong to the problem.
    pub(crate) fn is_repeated(&self, origin: &Key) -> rusqlite::Result<bool> {
        let sql = "SELECT 1 FROM measured WHERE origin_run = ?1 AND origin = ?2 LIMIT 1 OFFSET 1";
        self.db
            .prepare_cached(sql)?
            .exists(params![origin.0, origin.1])
    }

    pub(crate) fn forget_opinions(&self, origin: &Key) -> rusqlite::Result<()> {
        let sql = "DELETE FROM opinion WHERE run = ?1 AND number = ?2";
        self.db
            .prepare_cached(sql)?
            .execute(params![origin.0, origin.1])
            .map(drop)
    }
}

fn key(row: &Row<'_>) -> rusqlite::Result<Key> {
    Ok((row.get(0)?, row.get(1)?))
}

pub(crate) fn key_of(origin: &FindingOrigin) -> Key {
    (origin.run.0.clone(), origin.finding)
}

/// The end of an SQL statement that inserts a reviewer's opinion about a problem. If the reviewer already has an
/// opinion about this problem, the stronger opinion is stored. `raised` is the strongest opinion, and `silent`
/// is the weakest. If both opinions are equally strong, the first opinion is stored.
pub(crate) const STRONGER: &str = "ON CONFLICT DO UPDATE SET model = excluded.model, said = excluded.said
     WHERE (excluded.said <> 'raised', excluded.said = 'silent') < (said <> 'raised', said = 'silent')";

pub(crate) const TALLY: &str = "
    INSERT INTO tally (kind, name, day, raised, shared, alone, disputed, upheld, dismissed, judged, checked, overturned,
        fixed, reverted, audited, confirmed)
    SELECT kind, name, day, ?3 * sum(raised), ?3 * sum(shared), ?3 * sum(alone), ?3 * sum(disputed), ?3 * sum(upheld),
        ?3 * sum(dismissed), ?3 * sum(judged), ?3 * sum(checked), ?3 * sum(overturned), ?3 * sum(fixed),
        ?3 * sum(reverted), ?3 * sum(audited), ?3 * sum(confirmed)
    FROM addend WHERE run = ?1 AND number = ?2 GROUP BY kind, name, day
    ON CONFLICT DO UPDATE SET raised = raised + excluded.raised, shared = shared + excluded.shared,
        alone = alone + excluded.alone, disputed = disputed + excluded.disputed, upheld = upheld + excluded.upheld,
        dismissed = dismissed + excluded.dismissed, judged = judged + excluded.judged,
        checked = checked + excluded.checked, overturned = overturned + excluded.overturned,
        fixed = fixed + excluded.fixed, reverted = reverted + excluded.reverted, audited = audited + excluded.audited,
        confirmed = confirmed + excluded.confirmed";

pub(crate) const PAIR: &str = "
    INSERT INTO pair (kind, one, other, day, compared, agreed)
    SELECT kind, one, other, day, ?3 * sum(compared), ?3 * sum(agreed)
    FROM comparison WHERE run = ?1 AND number = ?2 GROUP BY kind, one, other, day
    ON CONFLICT DO UPDATE SET compared = compared + excluded.compared, agreed = agreed + excluded.agreed";
