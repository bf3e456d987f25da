//! How values are stored in columns of the database: times as text that sorts, everything else as JSON.

use jiff::Timestamp;
use rusqlite::Row;
use rusqlite::types::Type;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Formats a time in UTC with six decimals, so that sorting the texts also sorts the times.
pub(crate) fn time(at: Timestamp) -> String {
    format!("{at:.6}")
}

pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("recorded types are plain data with text keys")
}

/// Reads a column that [`json`] wrote. `NULL` in SQL becomes `null` in JSON.
pub(crate) fn from_json<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> rusqlite::Result<T> {
    let text: Option<String> = row.get(column)?;
    serde_json::from_str(text.as_deref().unwrap_or("null"))
        .map_err(|error| unreadable(row, column, error))
}

pub(crate) fn from_time<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> rusqlite::Result<T> {
    let text: Option<String> = row.get(column)?;
    serde_json::from_value(text.into()).map_err(|error| unreadable(row, column, error))
}

fn unreadable(row: &Row<'_>, column: &str, error: serde_json::Error) -> rusqlite::Error {
    let index = row.as_ref().column_index(column).unwrap_or(0);
    rusqlite::Error::FromSqlConversionFailure(index, Type::Text, Box::new(error))
}
