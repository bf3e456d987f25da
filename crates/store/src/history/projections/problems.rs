//! The problems of a repository, by their numbers. The SQL view `addend` contains what each problem contributes to the
//! sums. Before a change of a finding, Glee subtracts the old contribution of the finding's problem from the sums. After
//! the change, Glee adds the problem's new contribution.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::history::projections::execute::execute;
use glee_model::domain::{DisputeNumber, FindingId, ProblemKey, RunId};

pub(crate) struct Problems<'a> {
    pub db: &'a Connection,
}

impl Problems<'_> {
    /// Stores the number of a problem when a finding of the problem is recorded for the first time. Returns the older
    /// number if `number` is an alias.
    pub(crate) fn keep(
        &self,
        number: i64,
        key: &ProblemKey,
        run: &RunId,
        finding: FindingId,
    ) -> rusqlite::Result<i64> {
        execute(
            self.db,
            "INSERT OR IGNORE INTO problem (number, key, run, finding) VALUES (?1, ?2, ?3, ?4)",
            params![number, key.0, run.0, finding.key()],
        )?;
        self.older(number)
    }

    fn older(&self, number: i64) -> rusqlite::Result<i64> {
        let sql = "SELECT ifnull(alias_of, number) FROM problem WHERE number = ?1";
        let older = self
            .db
            .prepare_cached(sql)?
            .query_row([number], |row| row.get(0));
        Ok(older.optional()?.unwrap_or(number))
    }

    /// The number under which a finding counts that only a dispute names.
    pub(crate) fn of_dispute(dispute: DisputeNumber) -> i64 {
        -dispute.0.cast_signed()
    }

    pub(crate) fn of(
        &self,
        run: &RunId,
        findings: &[FindingId],
    ) -> rusqlite::Result<BTreeSet<i64>> {
        let sql = "SELECT problem FROM measured WHERE run = ?1 AND finding = ?2";
        let mut number = self.db.prepare_cached(sql)?;
        let mut numbers = BTreeSet::new();
        for finding in findings {
            let found = number.query_row(params![run.0, finding.key()], |row| row.get::<_, i64>(0));
            numbers.extend(found.optional()?);
        }
        Ok(numbers)
    }

    pub(crate) fn of_run(&self, run: &RunId) -> rusqlite::Result<BTreeSet<i64>> {
        let sql = "SELECT problem FROM measured WHERE run = ?1";
        self.db
            .prepare_cached(sql)?
            .query_map([&run.0], |row| row.get(0))?
            .collect()
    }

    /// Adds the contributions of `problems` to the tables `tally` and `pair` if `sign` is 1, and subtracts the
    /// contributions if `sign` is -1.
    pub(crate) fn add(&self, problems: &BTreeSet<i64>, sign: i64) -> rusqlite::Result<()> {
        // The sums read a dozen tables, also for a new problem, which contributes nothing yet.
        let mut counted = self
            .db
            .prepare_cached("SELECT 1 FROM counted WHERE number = ?1")?;
        for number in problems {
            if counted.exists([number])? {
                for sum in [TALLY, PAIR] {
                    execute(self.db, sum, [number, &sign])?;
                }
            }
        }
        Ok(())
    }

    /// Makes the number `newer` an alias of the number `older`.
    pub(crate) fn join(&self, newer: i64, older: i64) -> rusqlite::Result<()> {
        let newer = self.older(newer)?;
        let older = self.older(older)?;
        if newer == older {
            return Ok(());
        }
        let both = BTreeSet::from([newer, older]);
        self.add(&both, -1)?;
        for sql in [
            "UPDATE problem SET alias_of = ?2 WHERE ?1 IN (number, alias_of)",
            "UPDATE measured SET problem = ?2 WHERE problem = ?1",
            &format!(
                "INSERT INTO opinion (problem, reviewer, model, said)
                 SELECT ?2, reviewer, model, said FROM opinion WHERE problem = ?1 {STRONGER}"
            ),
        ] {
            execute(self.db, sql, [newer, older])?;
        }
        self.forget_opinions(newer)?;
        self.add(&both, 1)
    }

    /// Gives a finding of a run the id `now`, which is an id of the problem `number`.
    pub(crate) fn rename(
        &self,
        run: &RunId,
        was: FindingId,
        now: FindingId,
        number: i64,
    ) -> rusqlite::Result<()> {
        let sql = "UPDATE OR REPLACE measured SET finding = ?3, problem = ?4 WHERE run = ?1 AND finding = ?2";
        execute(self.db, sql, params![run.0, was.key(), now.key(), number])?;
        let sql = "UPDATE problem SET finding = ifnull(
                (SELECT min(m.finding) FROM measured m WHERE m.run = ?1 AND m.problem = problem.number), finding)
             WHERE run = ?1 AND finding = ?2";
        execute(self.db, sql, params![run.0, was.key()])
    }

    pub(crate) fn count_of_findings(&self, number: i64) -> rusqlite::Result<usize> {
        let sql = "SELECT count(*) FROM measured WHERE problem = ?1";
        let count = self
            .db
            .prepare_cached(sql)?
            .query_row([number], |row| row.get::<_, i64>(0))?;
        Ok(usize::try_from(count).unwrap_or(usize::MAX))
    }

    pub(crate) fn forget_opinions(&self, number: i64) -> rusqlite::Result<()> {
        execute(self.db, "DELETE FROM opinion WHERE problem = ?1", [number])
    }
}

/// The end of an SQL statement that inserts a reviewer's opinion about a problem. If the reviewer already has an
/// opinion about this problem, the stronger opinion is stored. `raised` is the strongest opinion, and `silent`
/// is the weakest. If both opinions are equally strong, the first opinion is stored.
pub(crate) const STRONGER: &str = "ON CONFLICT DO UPDATE SET model = excluded.model, said = excluded.said
     WHERE (excluded.said <> 'raised', excluded.said = 'silent') < (said <> 'raised', said = 'silent')";

pub(crate) const TALLY: &str = "
    INSERT INTO tally (kind, name, day, raised, shared, alone, disputed, upheld, dismissed, judged, checked, overturned,
        fixed, reverted, audited, confirmed, demonstrated, proven, outruled)
    SELECT kind, name, day, ?2 * sum(raised), ?2 * sum(shared), ?2 * sum(alone), ?2 * sum(disputed), ?2 * sum(upheld),
        ?2 * sum(dismissed), ?2 * sum(judged), ?2 * sum(checked), ?2 * sum(overturned), ?2 * sum(fixed),
        ?2 * sum(reverted), ?2 * sum(audited), ?2 * sum(confirmed), ?2 * sum(demonstrated), ?2 * sum(proven),
        ?2 * sum(outruled)
    FROM addend WHERE number = ?1 GROUP BY kind, name, day
    ON CONFLICT DO UPDATE SET raised = raised + excluded.raised, shared = shared + excluded.shared,
        alone = alone + excluded.alone, disputed = disputed + excluded.disputed, upheld = upheld + excluded.upheld,
        dismissed = dismissed + excluded.dismissed, judged = judged + excluded.judged,
        checked = checked + excluded.checked, overturned = overturned + excluded.overturned,
        fixed = fixed + excluded.fixed, reverted = reverted + excluded.reverted, audited = audited + excluded.audited,
        confirmed = confirmed + excluded.confirmed, demonstrated = demonstrated + excluded.demonstrated,
        proven = proven + excluded.proven, outruled = outruled + excluded.outruled";

pub(crate) const PAIR: &str = "
    INSERT INTO pair (kind, one, other, day, compared, agreed)
    SELECT kind, one, other, day, ?2 * sum(compared), ?2 * sum(agreed)
    FROM comparison WHERE number = ?1 GROUP BY kind, one, other, day
    ON CONFLICT DO UPDATE SET compared = compared + excluded.compared, agreed = agreed + excluded.agreed";
