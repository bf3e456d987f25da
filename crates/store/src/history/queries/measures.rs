//! Queries the daily sums from which Glee computes the measures of `glee stats`.

use std::fs;
use std::path::Path;

use jiff::Timestamp;
use jiff::civil::Date;
use rusqlite::{Row, params};
use tracing::warn;

use crate::history::JournalError;
use crate::history::columns::{from_json, from_time};
use crate::history::store::{DATABASE, HISTORIES, Journal, REPLICA};
use glee_model::domain::{
    AgentName, AgreementCount, CallGroup, Disposition, DisputeNumber, FindingTally, Role, RunId,
    TallyKind,
};
use glee_model::rules::measures::{CallSums, dollars};

macro_rules! counts {
    ($($column:literal => $field:ident,)*) => {
        /// The columns with the counts of the table `tally`.
        pub(crate) const COUNTS: [&str; [$($column),*].len()] = [$($column),*];

        /// `counts` has the values of [`COUNTS`].
        pub(crate) fn tally(counts: [u64; COUNTS.len()]) -> FindingTally {
            let [$($field),*] = counts;
            FindingTally { $($field),* }
        }
    };
}

counts! {
    "raised" => raised,
    "shared" => shared,
    "alone" => alone,
    "disputed" => disputed,
    "upheld" => upheld,
    "dismissed" => dismissed,
    "judged" => judged,
    "checked" => checked,
    "overturned" => overturned,
    "fixed" => fixed,
    "reverted" => reverted,
    "audited" => audited,
    "confirmed" => confirmed,
    "demonstrated" => demonstrated,
    "proven" => proven,
    "outruled" => outruled,
    "calls" => calls,
    "unpriced" => unpriced,
    "millis" => millis,
    "input" => input_tokens,
    "output" => output_tokens,
    "micros" => micros,
}

/// The sums from which `glee stats` computes its measures, of one repository or of all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sums {
    /// For each kind, the counts of its names, sorted by name.
    pub tallies: Vec<(TallyKind, Vec<(String, FindingTally)>)>,
    /// Of reviewers and of judges.
    pub agreements: Vec<(TallyKind, Vec<AgreementCount>)>,
    /// Absent unless calls are added up.
    pub calls: Option<Vec<CallSums>>,
}

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
    /// Returns the sums since the day `since` (UTC). `group` is by what calls are added up.
    pub fn sums(
        &self,
        group: Option<CallGroup>,
        since: Option<Date>,
    ) -> Result<Sums, JournalError> {
        let tallies = TallyKind::ALL.map(|kind| Ok((kind, self.tallies(kind, since)?)));
        let agreements = [TallyKind::Reviewer, TallyKind::Judge]
            .map(|kind| Ok((kind, self.agreements(kind, since)?)));
        Ok(Sums {
            tallies: tallies.into_iter().collect::<Result<_, JournalError>>()?,
            agreements: agreements
                .into_iter()
                .collect::<Result<_, JournalError>>()?,
            calls: group.map(|group| self.calls(group, since)).transpose()?,
        })
    }

    /// Returns the counts for all names that belong to the kind `kind`, sorted by name. Findings that were first
    /// raised before the day `since` (UTC) are excluded. Calls that ended before this day are also excluded.
    pub fn tallies(
        &self,
        kind: TallyKind,
        since: Option<Date>,
    ) -> Result<Vec<(String, FindingTally)>, JournalError> {
        let sums = COUNTS.map(|count| format!("sum({count})")).join(", ");
        let all = COUNTS.join(" + ");
        let sql = format!(
            "SELECT name, {sums} FROM tally WHERE kind = ?1 AND day >= ?2 GROUP BY name HAVING sum({all}) > 0
             ORDER BY name"
        );
        self.rows(&sql, params![kind.as_str(), first_day(since)], |row| {
            let mut counts = [0; COUNTS.len()];
            for (index, count) in counts.iter_mut().enumerate() {
                *count = row.get::<_, i64>(index + 1)?.unsigned_abs();
            }
            Ok((row.get(0)?, tally(counts)))
        })
    }

    /// Adds up the calls that started on the day `since` (UTC) or later, of runs of every kind. Sorted by name.
    pub fn calls(
        &self,
        group: CallGroup,
        since: Option<Date>,
    ) -> Result<Vec<CallSums>, JournalError> {
        let name = match group {
            CallGroup::Day => "day",
            CallGroup::Week => "strftime('%G-W%V', day)",
            CallGroup::Month => "substr(day, 1, 7)",
            CallGroup::Agent => "agent",
            CallGroup::Role => "role",
        };
        let sql = format!(
            "SELECT {name}, count(*), sum(micros IS NULL), sum(millis), sum(input), sum(output), sum(micros)
             FROM call WHERE day >= ?1 GROUP BY 1 ORDER BY 1"
        );
        self.rows(&sql, [first_day(since)], |row| {
            Ok(CallSums {
                name: row.get(0)?,
                calls: known(row, 1)?.unwrap_or(0),
                unpriced_calls: known(row, 2)?.unwrap_or(0),
                millis: known(row, 3)?.unwrap_or(0),
                input_tokens: known(row, 4)?,
                output_tokens: known(row, 5)?,
                usd: known(row, 6)?.map(dollars),
            })
        })
    }

    /// The known cost in US dollars of the calls that started on the day `since` (UTC) or later.
    pub fn spent_since(&self, since: Date) -> Result<f64, JournalError> {
        self.sum(
            "SELECT sum(micros) FROM call WHERE day >= ?1",
            &since.to_string(),
        )
    }

    /// The known cost in US dollars of all runs that review the same pull request as the given run. 0 if that run reviews no
    /// pull request.
    pub fn spent_on_request_of(&self, run: &RunId) -> Result<f64, JournalError> {
        self.sum(
            "SELECT sum(micros) FROM call
             WHERE run IN (SELECT id FROM run WHERE request = (SELECT request FROM run WHERE id = ?1))",
            &run.0,
        )
    }

    /// The known cost in US dollars of the calls in all histories of the state folder, and in this history, that started on
    /// the day `since` (UTC) or later. Also returns the number of histories that cannot be read.
    pub fn spent_in_all(&self, state_dir: &Path, since: Date) -> Result<(f64, u64), JournalError> {
        let mut usd = self.spent_since(since)?;
        let mut unread = 0;
        let entries = fs::read_dir(state_dir.join(HISTORIES));
        let entries = entries.into_iter().flatten().flatten();
        // A file beside the folders is the lock of their names.
        let folders = entries
            .map(|entry| entry.path())
            .filter(|path| path.is_dir());
        for path in folders.flat_map(|folder| [DATABASE, REPLICA].map(|name| folder.join(name))) {
            if path.canonicalize().is_ok_and(|path| path == self.path) {
                continue;
            }
            let spent = Self::open_read(&path).and_then(|journal| {
                journal
                    .map(|journal| journal.spent_since(since))
                    .transpose()
            });
            match spent {
                Ok(spent) => usd += spent.unwrap_or(0.0),
                Err(error) => {
                    warn!(path = %path.display(), %error, "a history is no part of the month's cost");
                    unread += 1;
                }
            }
        }
        Ok((usd, unread))
    }

    /// What a call of this agent in this role costs on average in US dollars, and the number of calls whose cost is known.
    /// `None` if no cost is known.
    pub fn usual_cost(
        &self,
        agent: &AgentName,
        role: Role,
    ) -> Result<Option<(f64, u64)>, JournalError> {
        let sql = "SELECT sum(micros), count(micros) FROM call WHERE agent = ?1 AND role = ?2";
        let role = role.to_string();
        let sums = self.rows(sql, params![agent.0, role], |row| {
            Ok((known(row, 0)?, known(row, 1)?.unwrap_or(0)))
        })?;
        let (micros, calls) = sums.first().copied().unwrap_or_default();
        #[expect(
            clippy::cast_precision_loss,
            reason = "counts of calls are far below 2^52"
        )]
        Ok(micros.map(|micros| (dollars(micros) / calls as f64, calls)))
    }

    fn sum(&self, sql: &str, of: &str) -> Result<f64, JournalError> {
        let sums = self.rows(sql, [of], |row| known(row, 0))?;
        Ok(sums.into_iter().flatten().map(dollars).sum())
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

pub(super) fn known(row: &Row<'_>, index: usize) -> rusqlite::Result<Option<u64>> {
    let number: Option<i64> = row.get(index)?;
    Ok(number.map(i64::unsigned_abs))
}

/// Days are stored as text. The empty text means that the period is unlimited. The empty text sorts before every
/// day.
fn first_day(since: Option<Date>) -> String {
    since.map(|day| day.to_string()).unwrap_or_default()
}
