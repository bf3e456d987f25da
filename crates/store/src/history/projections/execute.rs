//! Runs the statements of the projections.

use rusqlite::{Connection, Params};

/// Runs a statement that changes rows.
pub(super) fn execute(db: &Connection, sql: &str, params: impl Params) -> rusqlite::Result<()> {
    db.prepare_cached(sql)?.execute(params).map(drop)
}
