//! Queries the daily sums from which Glee computes the measures of `glee stats`.

use jiff::Timestamp;
use jiff::civil::Date;
use rusqlite::params;

use crate::history::projections::{from_json, from_time};
use crate::history::{JournalError, store::Journal};
use glee_model::domain::{
    AgreementCount, Disposition, DisputeNumber, FindingTally, RunId, TallyKind,
};

/// A dispute in which a judge or a panel dismissed the finding. Revoked and ended dismissals are excluded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dismissal {
    pub dispute: DisputeNumber,
    pub run: RunId,
    /// The names of the judges that ruled on the dispute.
    pub judges: Vec<String>,
    pub disposition: Option<Disposition>,
    pub settled_at: Option<Timestamp>,
    /// The last day on which the ruling applies.
    pub until: Option<Date>,
}

impl Journal {
    /// Returns the counts for all names that belong to the kind `kind`, sorted by name. Findings that were first
    /// raised before the day `since` (UTC) are excluded. Calls that ended before this day are also excluded.
    pub fn tallies(
        &self,
        kind: TallyKind,
        since: Option<Date>,
    ) -> Result<Vec<(String, FindingTally)>, JournalError> {
        const COUNTS: [&str; 19] = [
            "raised",
            "shared",
            "alone",
            "disputed",
            "upheld",
            "dismissed",
            "judged",
            "checked",
            "overturned",
            "fixed",
            "reverted",
            "audited",
            "confirmed",
            "calls",
            "unpriced",
            "millis",
            "input",
            "output",
            "micros",
        ];
        let sums = COUNTS.map(|count| format!("sum({count})")).join(", ");
        let all = COUNTS.join(" + ");
        let sql = format!(
            "SELECT name, {sums} FROM tally WHERE kind = ?1 AND day >= ?2 GROUP BY name HAVING sum({all}) > 0
             ORDER BY name"
        );
        self.rows(&sql, params![kind.as_str(), first_day(since)], |row| {
            let sum = |index: usize| row.get(index + 1).map(i64::unsigned_abs);
            let tally = FindingTally {
                raised: sum(0)?,
                shared: sum(1)?,
                alone: sum(2)?,
                disputed: sum(3)?,
                upheld: sum(4)?,
                dismissed: sum(5)?,
                judged: sum(6)?,
                checked: sum(7)?,
                overturned: sum(8)?,
                fixed: sum(9)?,
                reverted: sum(10)?,
                audited: sum(11)?,
                confirmed: sum(12)?,
                calls: sum(13)?,
                unpriced: sum(14)?,
                millis: sum(15)?,
                input_tokens: sum(16)?,
                output_tokens: sum(17)?,
                micros: sum(18)?,
            };
            Ok((row.get(0)?, tally))
        })
    }

    /// For each pair of reviewers or pair of judges, returns how often the two agreed. `kind` is
    /// [`TallyKind::Reviewer`] or [`TallyKind::Judge`], because the history records agreement only between two
    /// reviewers or two judges.
    pub fn agreements(
        &self,
        kind: TallyKind,
        since: Option<Date>,
    ) -> Result<Vec<AgreementCount>, JournalError> {
        let sql =
            "SELECT one, other, sum(compared), sum(agreed) FROM pair WHERE kind = ?1 AND day >= ?2
             GROUP BY one, other HAVING sum(compared) > 0 ORDER BY one, other";
        self.rows(sql, params![kind.as_str(), first_day(since)], |row| {
            let count = |index: usize| row.get(index).map(i64::unsigned_abs);
            Ok(AgreementCount {
                between: [row.get(0)?, row.get(1)?],
                compared: count(2)?,
                agreed: count(3)?,
            })
        })
    }

    /// Returns the judges' dismissals that were neither revoked nor ended, sorted by the number of the dispute.
    pub fn dismissals(&self, since: Option<Date>) -> Result<Vec<Dismissal>, JournalError> {
        let sql = "SELECT m.dispute, m.run, d.disposition, d.settled, d.until,
                 (SELECT json_group_array(judge) FROM judgement j WHERE j.dispute = m.dispute) AS judges
             FROM measured m JOIN dispute d ON d.number = m.dispute
                 JOIN counted ON counted.number = m.problem
             WHERE m.side = 'dismissed' AND m.judged = 'dismissed' AND m.person IS NULL AND counted.day >= ?1
                 AND d.ended IS NULL
             ORDER BY m.dispute";
        self.rows(sql, [first_day(since)], |row| {
            Ok(Dismissal {
                dispute: DisputeNumber(row.get::<_, i64>(0)?.unsigned_abs()),
                run: RunId(row.get(1)?),
                judges: from_json(row, "judges")?,
                disposition: from_json(row, "disposition")?,
                settled_at: from_time(row, "settled")?,
                until: from_json(row, "until")?,
            })
        })
    }
}

/// Days are stored as text. The empty text means that the period is unlimited. The empty text sorts before every
/// day.
fn first_day(since: Option<Date>) -> String {
    since.map(|day| day.to_string()).unwrap_or_default()
}
