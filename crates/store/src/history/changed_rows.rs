//! The rows of the views that a write changes in a replica, for the views of all repositories that a server has. Triggers
//! of the connection note the keys of the rows, whatever statement changes them.

use rusqlite::{Connection, Row};

use crate::history::columns::{from_json, json};
use crate::history::projections::OPEN;
use crate::history::queries::measures::COUNTS;
use crate::history::queries::query::dispute_row;
use crate::history::shared_log::{SharedDisputeRow, SharedRun, SharedTally, SharedViews};

/// The tables, with the columns `kind`, `one`, `other` and `day` of a row's key.
const KEYS: [(&str, &str); 5] = [
    ("run", "'', NEW.id, '', ''"),
    ("dispute", "'', NEW.number, '', ''"),
    ("tally", "NEW.kind, NEW.name, '', NEW.day"),
    ("pair", "NEW.kind, NEW.one, NEW.other, NEW.day"),
    // The key is that of a sum over rows.
    ("call", "'', NEW.agent, NEW.role, NEW.day"),
];

/// Begins to note the keys of changed rows.
pub(super) fn note(db: &Connection) -> rusqlite::Result<()> {
    // In a trigger of an upsert, SQLite disregards `OR IGNORE`.
    db.execute_batch(
        "CREATE TEMP TABLE changed (view, kind, one, other, day, PRIMARY KEY (view, kind, one, other, day)) WITHOUT ROWID;
         CREATE TEMP TRIGGER call_replaced BEFORE INSERT ON main.call BEGIN
             INSERT INTO changed SELECT 'call', '', agent, role, day FROM call
                 WHERE run = NEW.run AND call = NEW.call ON CONFLICT DO NOTHING;
         END;
         CREATE TEMP TRIGGER call_given BEFORE UPDATE ON main.call BEGIN
             INSERT INTO changed VALUES ('call', '', OLD.agent, OLD.role, OLD.day) ON CONFLICT DO NOTHING;
         END;",
    )?;
    KEYS.iter().try_for_each(|(table, key)| {
        ["INSERT", "UPDATE"].iter().try_for_each(|change| {
            db.execute_batch(&format!(
                "CREATE TEMP TRIGGER {table}_{change} AFTER {change} ON main.{table} BEGIN
                     INSERT INTO changed VALUES ('{table}', {key}) ON CONFLICT DO NOTHING;
                 END"
            ))
        })
    })
}

pub(super) fn forget(db: &Connection) -> rusqlite::Result<()> {
    db.execute("DELETE FROM changed", []).map(drop)
}

/// Returns the rows that changed since [`forget`], or all rows.
pub(super) fn views(db: &Connection, all: bool) -> rusqlite::Result<SharedViews> {
    if all {
        for (table, key) in KEYS {
            let key = key.replace("NEW.", "");
            let sql = format!("INSERT OR IGNORE INTO changed SELECT '{table}', {key} FROM {table}");
            db.execute(&sql, [])?;
        }
    }
    let counts = COUNTS.join(", ");
    let mut tallies = tallies(
        db,
        1,
        &format!(
            "SELECT kind, name, '', day, {counts} FROM changed JOIN tally USING (kind, day)
             WHERE view = 'tally' AND name = changed.one ORDER BY 1, 2, 4"
        ),
    )?;
    tallies.extend(self::tallies(
        db,
        2,
        "SELECT kind, one, other, day, compared, agreed FROM changed JOIN pair USING (kind, one, other, day)
         WHERE view = 'pair' ORDER BY 1, 2, 3, 4",
    )?);
    tallies.extend(self::tallies(
        db,
        2,
        "SELECT 'call', one, other, changed.day, count(call), sum(call IS NOT NULL AND micros IS NULL), sum(millis),
             sum(input), sum(output), sum(micros)
         FROM changed LEFT JOIN call ON call.day = changed.day AND agent = one AND role = other
         WHERE view = 'call' GROUP BY 2, 3, 4 ORDER BY 2, 3, 4",
    )?);
    let sums = COUNTS.map(|count| format!("sum({count})")).join(", ");
    let mut months = self::tallies(db, 1, &of_months("tally", "name", "''", &sums))?;
    let sums = "sum(compared), sum(agreed)";
    months.extend(self::tallies(
        db,
        2,
        &of_months("pair", "one", "other", sums),
    )?);
    Ok(SharedViews {
        all,
        months,
        runs: rows(
            db,
            "SELECT id, started, ended, exit, target FROM run WHERE id IN (SELECT one FROM changed WHERE view = 'run')",
            |row| {
                Ok(SharedRun {
                    id: row.get(0)?,
                    started: row.get(1)?,
                    ended: row.get(2)?,
                    exit: row.get(3)?,
                    target: text(row, 4)?,
                })
            },
        )?,
        disputes: rows(
            db,
            &format!(
                "SELECT *, {OPEN} AS open, disposition ->> '$.as' AS word,
                     (SELECT json_group_array(reviewer) FROM raiser WHERE raiser.dispute = number) AS raisers
                 FROM dispute WHERE number IN (SELECT one FROM changed WHERE view = 'dispute')"
            ),
            |row| {
                Ok(SharedDisputeRow {
                    number: row.get("number")?,
                    opened: row.get("opened")?,
                    open: row.get("open")?,
                    ruling: row.get("ruling")?,
                    disposition: row.get("word")?,
                    raisers: from_json(row, "raisers")?,
                    body: json(&dispute_row(row)?),
                })
            },
        )?,
        tallies,
    })
}

/// The sums of the months in which a row of a table of sums changed.
fn of_months(table: &str, one: &str, other: &str, sums: &str) -> String {
    format!(
        "SELECT kind, {one}, {other}, month || '-01', {sums}
         FROM (SELECT DISTINCT kind AS of, one AS first, other AS second, substr(day, 1, 7) AS month FROM changed
             WHERE view = '{table}')
         JOIN {table} ON kind = of AND {one} = first AND {other} = second
             AND day BETWEEN month || '-01' AND month || '-31'
         GROUP BY 1, 2, 3, 4"
    )
}

/// Reads rows of a kind, two names, a day, and counts. Only the first `names` of the names count.
fn tallies(db: &Connection, names: usize, sql: &str) -> rusqlite::Result<Vec<SharedTally>> {
    rows(db, sql, |row| {
        let counts = 4..row.as_ref().column_count();
        Ok(SharedTally {
            kind: row.get(0)?,
            name: (1..=names)
                .map(|column| text(row, column))
                .collect::<rusqlite::Result<_>>()?,
            day: row.get(3)?,
            counts: counts
                .map(|column| row.get(column))
                .collect::<rusqlite::Result<_>>()?,
        })
    })
}

fn rows<T>(
    db: &Connection,
    sql: &str,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    db.prepare_cached(sql)?.query_map([], read)?.collect()
}

/// A text that an agent may have chosen, for PostgreSQL, whose texts have no character 0.
fn text(row: &Row<'_>, column: usize) -> rusqlite::Result<String> {
    let text: String = row.get(column)?;
    Ok(text.replace('\0', "\u{fffd}"))
}
