//! Updates the table of calls, from which Glee adds up what runs cost.

use jiff::tz::TimeZone;
use rusqlite::{Connection, params};

use crate::history::columns::json;
use crate::history::projections::execute::execute;
use glee_model::domain::Usage;
use glee_model::domain::event::{Event, EventKind, RunEvent};

/// The maximum for each number in the usage of a call. A larger number is replaced by this maximum, so that the
/// sums do not overflow.
const MOST: u64 = 1_000_000_000_000;

pub fn apply(db: &Connection, event: &Event) -> rusqlite::Result<()> {
    let Event { run, at, kind, .. } = event;
    match kind {
        // A resumed run makes an interrupted call again.
        EventKind::Run(RunEvent::CallStarted { call, role, .. }) => execute(
            db,
            "INSERT OR REPLACE INTO call (run, call, agent, role, day) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![
                run.0,
                json(call),
                call.agent.0,
                role.to_string(),
                at.to_zoned(TimeZone::UTC).date().to_string(),
            ],
        ),
        EventKind::Run(RunEvent::CallFinished {
            call,
            millis,
            usage,
            told,
            ..
        }) => {
            let by = told.by.as_ref().unwrap_or(&call.agent);
            let sql =
                "UPDATE call SET agent = ?3, millis = ?4, input = ?5, output = ?6, micros = ?7
                 WHERE run = ?1 AND call = ?2";
            execute(
                db,
                sql,
                params![
                    run.0,
                    json(call),
                    by.0,
                    bounded(*millis),
                    usage.input_tokens.map(bounded),
                    usage.output_tokens.map(bounded),
                    micros(usage),
                ],
            )
        }
        _ => Ok(()),
    }
}

pub(super) fn bounded(number: u64) -> i64 {
    number.min(MOST).cast_signed()
}

/// The cost in millionths of a dollar.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "the value is in range"
)]
pub(super) fn micros(usage: &Usage) -> Option<i64> {
    let micros = (usage.usd? * 1e6).round().clamp(0.0, MOST as f64);
    Some(bounded(micros as u64))
}
