//! A finding's id in a column of the database.

use glee_model::domain::FindingId;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ValueRef};

/// An id read from a column that holds [`FindingId::key`].
pub(crate) struct StoredId(pub(crate) FindingId);

impl FromSql for StoredId {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let key = i64::column_result(value)?;
        FindingId::of_key(key)
            .map(Self)
            .ok_or(FromSqlError::OutOfRange(key))
    }
}
