//! The lists and sums over all repositories that the role sees.

use jiff::Timestamp;
use jiff::civil::Date;
use postgres::Row;
use postgres::types::ToSql;

use super::queue::{STATE, state};
use super::{Server, apart};
use crate::history::queries::measures::{COUNTS, Sums, tally};
use crate::history::queries::rows::{DisputeFilter, RulingFilter};
use crate::history::shared_log::{LoggedDispute, LoggedRun, SharedLogError};
use glee_model::domain::{AgreementCount, CallGroup, ExitReason, FindingTally, RunId, TallyKind};
use glee_model::rules::measures::{CallSums, dollars};

impl Server {
    /// Returns the newest runs of all repositories that the role sees, newest first.
    pub fn runs(&self, recent: u32) -> Result<Vec<LoggedRun>, SharedLogError> {
        let columns = format!(
            "SELECT p.title, coalesce(r.id, s.run), (extract(epoch FROM coalesce(r.started, s.submitted)) * 1000000)::bigint,
                (extract(epoch FROM r.ended) * 1000000)::bigint, r.exit, coalesce(r.target, array_to_string(s.args, ' ')),
                coalesce(s.by, r.by)::text, r.ended IS NULL AND glee.works(r.repository, r.id), s.run IS NOT NULL, {STATE}"
        );
        // What has begun, and what waits to begin.
        let sql = format!(
            "{columns} FROM (SELECT * FROM glee.run ORDER BY started DESC LIMIT $1) r
                JOIN glee.repository p ON p.id = r.repository
                LEFT JOIN glee.submission s ON s.run = r.id AND s.repository = r.repository
            UNION ALL {columns} FROM (SELECT * FROM glee.submission w WHERE NOT EXISTS
                (SELECT 1 FROM glee.run b WHERE b.id = w.run AND b.repository = w.repository)
                    ORDER BY submitted DESC LIMIT $1) s
                JOIN glee.repository p ON p.id = s.repository LEFT JOIN glee.run r ON false
            ORDER BY 3 DESC LIMIT $1"
        );
        let rows = self.query(&sql, &[&i64::from(recent)])?;
        Ok(rows.iter().filter_map(logged_run).collect())
    }

    /// Returns the disputes of all repositories that the role sees, newest first.
    pub fn disputes(&self, filter: &DisputeFilter) -> Result<Vec<LoggedDispute>, SharedLogError> {
        let DisputeFilter {
            recent,
            open_only,
            ruling,
            reviewer,
            since,
            // Numbers and settled disputes are asked for in one repository only.
            settled_only: _,
            before: _,
        } = filter;
        let mut conditions = String::new();
        let mut values: Vec<Box<dyn ToSql + Sync + Send>> = Vec::new();
        let mut add = |condition: &str, value: Box<dyn ToSql + Sync + Send>| {
            values.push(value);
            let number = format!("${}", values.len());
            conditions += &format!(" AND {}", condition.replace('?', &number));
        };
        match ruling {
            Some(RulingFilter::Word(word)) => add("d.ruling = ?", Box::new(word.as_str())),
            Some(RulingFilter::Disposition(kind)) => add("d.disposition = ?", Box::new(*kind)),
            None => {}
        }
        if let Some(reviewer) = reviewer {
            add("d.raisers @> ?", Box::new(vec![reviewer.clone()]));
        }
        if let Some(since) = since {
            add(
                "d.opened >= ?::text::timestamptz",
                Box::new(since.to_string()),
            );
        }
        if *open_only {
            conditions += " AND d.open";
        }
        let limit = recent.map_or_else(String::new, |recent| format!("LIMIT {recent}"));
        let newest = format!("ORDER BY d.opened DESC, d.number DESC, d.repository {limit}");
        let sql = format!(
            "SELECT p.title, d.body FROM (
                 SELECT d.* FROM (SELECT DISTINCT tenant FROM glee.repository) t CROSS JOIN LATERAL (
                     SELECT * FROM glee.dispute d WHERE d.tenant = t.tenant{conditions} {newest}) d
                 {newest}) d
             JOIN glee.repository p ON p.id = d.repository {newest}"
        );
        let values: Vec<&(dyn ToSql + Sync)> =
            values.iter().map(|value| value.as_ref() as _).collect();
        let rows = self.query(&sql, &values)?;
        Ok(rows.iter().filter_map(logged_dispute).collect())
    }

    /// Returns the sums of all repositories that the role sees, since the day `since` (UTC). `group` is by what calls are
    /// added up.
    pub fn sums(
        &self,
        group: Option<CallGroup>,
        since: Option<Date>,
    ) -> Result<Sums, SharedLogError> {
        // Whole months, and the days before them.
        let since = since.filter(|day| day.year() > 0);
        let months = since.map(|day| match day.day() {
            1 => day,
            _ => day.last_of_month().tomorrow().unwrap_or(day),
        });
        let text =
            |day: Option<Date>| day.map_or_else(|| "-infinity".to_owned(), |day| day.to_string());
        let (since, months) = (text(since), text(months));
        // Sums of sums, because PostgreSQL would sort the rows of two tables on the disk.
        let inner = (1..=COUNTS.len()).map(|count| format!("sum(counts[{count}]) AS c{count}"));
        let inner = Vec::from_iter(inner).join(", ");
        let sql = format!(
            "SELECT kind, name, {} FROM (
                 SELECT kind, name, {inner} FROM glee.month WHERE day >= $2::text::date GROUP BY kind, name
                 UNION ALL SELECT kind, name, {inner} FROM glee.tally
                 WHERE kind <> 'call' AND day >= $1::text::date AND day < $2::text::date GROUP BY kind, name) counted
             GROUP BY kind, name",
            sums(COUNTS.len(), |count| format!("c{count}"))
        );
        let rows = self.query(&sql, &[&since, &months])?;
        let mut tallies = TallyKind::ALL.map(|kind| (kind, Vec::new()));
        let mut agreements = [TallyKind::Reviewer, TallyKind::Judge].map(|kind| (kind, Vec::new()));
        for row in &rows {
            let (kind, names): (&str, Vec<String>) = (row.get(0), row.get(1));
            let count = |index| number(row, 2 + index).unwrap_or(0);
            let is = |of: TallyKind| of.as_str() == kind;
            match <[String; 1]>::try_from(names) {
                Ok([name]) => {
                    let tally = tally(std::array::from_fn(count));
                    let list = tallies.iter_mut().find(|(kind, _)| is(*kind));
                    if let Some((_, list)) = list.filter(|_| tally != FindingTally::default()) {
                        list.push((name, tally));
                    }
                }
                Err(names) => {
                    let list = agreements.iter_mut().find(|(kind, _)| is(*kind));
                    if let (Some((_, list)), Ok(between), 1..) =
                        (list, <[String; 2]>::try_from(names), count(0))
                    {
                        list.push(AgreementCount {
                            between,
                            compared: count(0),
                            agreed: count(1),
                        });
                    }
                }
            }
        }
        for (_, list) in &mut tallies {
            list.sort_by(|(one, _), (other, _)| one.cmp(other));
        }
        for (_, list) in &mut agreements {
            list.sort_by(|one, other| one.between.cmp(&other.between));
        }
        Ok(Sums {
            tallies: tallies.into(),
            agreements: agreements.into(),
            calls: group.map(|group| self.calls(group, &since)).transpose()?,
        })
    }

    fn calls(&self, group: CallGroup, since: &str) -> Result<Vec<CallSums>, SharedLogError> {
        let name = match group {
            CallGroup::Day => "day::text",
            CallGroup::Week => "to_char(day, 'IYYY-\"W\"IW')",
            CallGroup::Month => "to_char(day, 'YYYY-MM')",
            CallGroup::Agent => "name[1]",
            CallGroup::Role => "name[2]",
        };
        let sql = format!(
            "SELECT {name}, {} FROM glee.tally WHERE kind = 'call' AND day >= $1::text::date
             GROUP BY 1 HAVING sum(counts[1]) > 0",
            sums(6, |count| format!("counts[{count}]"))
        );
        let rows = self.query(&sql, &[&since])?;
        let mut sums: Vec<CallSums> = Vec::from_iter(rows.iter().map(|row| CallSums {
            name: row.get(0),
            calls: number(row, 1).unwrap_or(0),
            unpriced_calls: number(row, 2).unwrap_or(0),
            millis: number(row, 3).unwrap_or(0),
            input_tokens: number(row, 4),
            output_tokens: number(row, 5),
            usd: number(row, 6).map(dollars),
        }));
        sums.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(sums)
    }

    pub(super) fn query(
        &self,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, SharedLogError> {
        apart(|| {
            let rows = self.connect()?.query(sql, values);
            rows.map_err(|error| self.failed(error))
        })
    }
}

/// Returns `None` for a row that a newer version of Glee wrote in another form.
fn logged_run(row: &Row) -> Option<LoggedRun> {
    let time = |column| {
        let micros: Option<i64> = row.try_get(column).ok()?;
        micros.and_then(|micros| Timestamp::from_microsecond(micros).ok())
    };
    let exit: Option<String> = row.try_get(4).ok()?;
    Some(LoggedRun {
        repository: row.try_get(0).ok()?,
        run: RunId(row.try_get(1).ok()?),
        started: time(2)?,
        ended: time(3),
        exit: exit.and_then(|exit| serde_json::from_str::<ExitReason>(&exit).ok()),
        target: row.try_get(5).ok()?,
        by: row.try_get(6).ok()?,
        works: row.try_get::<_, Option<bool>>(7).ok()? == Some(true),
        submission: match row.try_get(8).ok()? {
            true => Some(state(row, 9).ok()?),
            false => None,
        },
    })
}

/// Returns `None` for a row that a newer version of Glee wrote in another form.
fn logged_dispute(row: &Row) -> Option<LoggedDispute> {
    Some(LoggedDispute {
        repository: row.try_get(0).ok()?,
        row: serde_json::from_str(row.try_get(1).ok()?).ok()?,
    })
}

/// The columns with the sums of the first counts. A sum that a column cannot hold is cut.
fn sums(counts: usize, column: impl Fn(usize) -> String) -> String {
    let sums = (1..=counts).map(|count| {
        // `least` disregards NULL, which stands for a number that is unknown.
        format!(
            "nullif(least(coalesce(sum({}), -1), {}), -1)::bigint",
            column(count),
            i64::MAX
        )
    });
    sums.collect::<Vec<_>>().join(", ")
}

fn number(row: &Row, column: usize) -> Option<u64> {
    let number: Option<i64> = row.get(column);
    number.map(|number| number.max(0).unsigned_abs())
}
