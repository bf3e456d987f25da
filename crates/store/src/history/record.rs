//! The disputes of another history on this machine, copied when both turn out to be of one repository. A copied dispute
//! does not affect runs, is not in the hash chain, and gets no number.

use std::collections::BTreeSet;

use rusqlite::TransactionBehavior;
use serde::Serialize;
use serde_json::json;

use super::JournalError;
use super::open::fault;
use crate::history::columns;
use crate::history::queries::rows::{DisputeFilter, DisputeRecord, RulingFilter};
use crate::history::store::Journal;
use crate::history::stored_id::StoredId;
use glee_model::domain::{DisputeId, DisputeNumber, RunId};

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SharedDispute {
    pub id: DisputeId,
    /// The history from which the dispute was copied.
    pub source: String,
    #[serde(flatten)]
    pub record: DisputeRecord,
}

#[derive(Clone, Debug, PartialEq)]
pub enum FoundDispute {
    Own(Box<DisputeRecord>),
    Shared(Box<SharedDispute>),
}

impl Journal {
    /// Copies disputes from another history on this machine, and the disputes that the other history has copied
    /// itself. Disputes that this history already contains are not copied.
    pub fn merge_disputes(&mut self, other: &Self, source: &str) -> Result<(), JournalError> {
        let own = self.own_ids()?;
        let numbers = other.rows("SELECT number FROM dispute", [], |row| row.get::<_, i64>(0))?;
        let numbers: Vec<DisputeNumber> = numbers
            .into_iter()
            .map(|number| DisputeNumber(number.unsigned_abs()))
            .collect();
        let mut copied =
            other.rows("SELECT dispute, body FROM record", [], |row| row.try_into())?;
        for record in other.disputes_numbered(&numbers)?.into_values() {
            let id = DisputeId::of(&record.run, record.dispute.finding.id).0;
            copied.push((id, columns::json(&record)));
        }
        copied.retain(|(id, _)| !own.contains(id));
        self.db
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .and_then(|tx| {
                for (id, body) in copied {
                    tx.prepare_cached(
                        "INSERT OR IGNORE INTO record (dispute, source, body) VALUES (?1, ?2, ?3)",
                    )?
                    .execute([id.as_str(), source, body.as_str()])?;
                }
                tx.commit()
            })
            .map_err(|error| fault(&self.path, error))
    }

    fn own_ids(&self) -> Result<BTreeSet<String>, JournalError> {
        let ids = self.rows("SELECT run, finding FROM dispute", [], |row| {
            let StoredId(finding) = row.get(1)?;
            Ok(DisputeId::of(&RunId(row.get(0)?), finding).0)
        })?;
        Ok(ids.into_iter().collect())
    }

    /// Returns the disputes of other histories that match `filter`, newest first.
    pub fn shared_disputes(
        &self,
        filter: &DisputeFilter,
    ) -> Result<Vec<SharedDispute>, JournalError> {
        let own = self.own_ids()?;
        let sql = "SELECT dispute, source, body FROM record";
        let mut found = self.rows(sql, [], |row| {
            Ok(SharedDispute {
                id: DisputeId(row.get("dispute")?),
                source: row.get("source")?,
                record: columns::from_json(row, "body")?,
            })
        })?;
        found.retain(|shared| !own.contains(&shared.id.0) && passes(&shared.record, filter));
        found.sort_by(|one, other| {
            other
                .record
                .opened_at
                .cmp(&one.record.opened_at)
                .then(one.id.cmp(&other.id))
        });
        found.truncate(filter.recent.map_or(usize::MAX, |recent| recent as usize));
        Ok(found)
    }

    /// Finds a dispute by its number, its id, or at least four leading digits of its id. `text` must identify
    /// exactly one dispute.
    pub fn find_dispute(&self, text: &str) -> Result<FoundDispute, JournalError> {
        let wanted = text.trim().to_ascii_lowercase();
        let number = wanted.parse().ok().map(DisputeNumber);
        if let Some(record) = number
            .map(|number| self.dispute(number))
            .transpose()?
            .flatten()
        {
            return Ok(FoundDispute::Own(Box::new(record)));
        }
        let unknown = match number {
            Some(number) => JournalError::UnknownDispute(number),
            None => JournalError::UnknownDisputeId(text.to_owned()),
        };
        if !(4..=16).contains(&wanted.len()) || !wanted.chars().all(|c| c.is_ascii_hexdigit()) {
            return Err(unknown);
        }
        let mut own = self.disputes(&DisputeFilter::default())?;
        own.retain(|row| row.id.0.starts_with(&wanted));
        let mut shared = self.shared_disputes(&DisputeFilter::default())?;
        shared.retain(|dispute| dispute.id.0.starts_with(&wanted));
        let ids = own
            .iter()
            .map(|row| &row.id.0)
            .chain(shared.iter().map(|dispute| &dispute.id.0));
        let ids: BTreeSet<&String> = ids.collect();
        match (ids.len(), own.first()) {
            (0, _) => Err(unknown),
            (1, None) => Ok(FoundDispute::Shared(Box::new(shared.swap_remove(0)))),
            (1, Some(row)) => self
                .dispute(row.number)?
                .map(|record| FoundDispute::Own(Box::new(record)))
                .ok_or(unknown),
            _ => {
                let candidates = ids.into_iter().take(6).cloned().collect();
                Err(JournalError::AmbiguousDispute {
                    text: text.to_owned(),
                    candidates,
                })
            }
        }
    }
}

fn passes(record: &DisputeRecord, filter: &DisputeFilter) -> bool {
    let DisputeRecord {
        dispute, opened_at, ..
    } = record;
    let is_ruled = match filter.ruling {
        None => true,
        Some(RulingFilter::Word(word)) => dispute
            .rulings
            .last()
            .is_some_and(|last| last.ruling.ruling == word),
        Some(RulingFilter::Disposition(kind)) => json!(dispute.disposition)["as"] == kind,
    };
    is_ruled
        && (!filter.open_only || dispute.is_open())
        && !(filter.settled_only && dispute.is_open())
        && filter.before.is_none_or(|before| dispute.number < before)
        && filter
            .reviewer
            .as_ref()
            .is_none_or(|name| dispute.finding.raised_by.iter().any(|by| by.0 == *name))
        && filter.since.is_none_or(|since| *opened_at >= since)
}
