//! Creates, validates and stores records of runs and disputes. The clones of a repository send their records to
//! each other. A record is an immutable JSON object. The name of a record is the hexadecimal BLAKE3 hash of its
//! bytes. Records of other clones do not affect runs, and are not in the hash chain. Disputes of other clones
//! get no number.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use rusqlite::{TransactionBehavior, params};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::JournalError;
use super::open::fault;
use crate::history::projections::{self, time};
use crate::history::queries::rows::{DisputeFilter, DisputeRecord, RulingFilter, RunRow};
use crate::history::store::Journal;
use crate::history::stored_id::StoredId;
use glee_model::domain::{DisputeId, DisputeNumber, ExitReason, Finding, Person, Relation, RunId};
use glee_protocol::secrets;

/// The size of the largest accepted record, in bytes.
pub const MAX_RECORD: usize = 256 << 10;

/// The maximum length of a name or an e-mail address, in bytes.
const MAX_WORD: usize = 256;

const FORM: u32 = 1;

/// The maximum time by which the clock of another machine can be ahead of this machine's clock.
const AHEAD: SignedDuration = SignedDuration::from_hours(24);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HistoryRecord {
    glee: u32,
    pub author: Person,
    /// The time of the last change of `content`. The time remains unchanged when the record is sent to a remote.
    pub at: Timestamp,
    #[serde(flatten)]
    pub content: RecordContent,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "body", rename_all = "snake_case")]
pub enum RecordContent {
    Run(RunRow),
    Outcome(RunFindings),
    Dispute(Box<DisputeRecord>),
}

const KINDS: [&str; 3] = ["run", "outcome", "dispute"];

/// The exit reason of a run, and the findings of the run in their latest version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunFindings {
    pub run: RunId,
    pub exit: ExitReason,
    pub findings: Vec<Finding>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("the record is larger than {} KiB", MAX_RECORD >> 10)]
    TooLarge,
    #[error("the content of the record does not match its hash")]
    WrongHash,
    #[error("the record is not JSON")]
    NotJson,
    #[error("unknown kind of record")]
    UnknownKind,
    #[error("unsupported format of the record: {0}")]
    Form(String),
    #[error("the author of the record is not the author of the commit that added it")]
    ForgedAuthor,
    #[error("the record refers to a path outside the tree")]
    EscapingPath,
    #[error("the time of the record is in the future")]
    Future,
    #[error("the record is a copy of another record")]
    Duplicate,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SharedDispute {
    pub id: DisputeId,
    pub author: Person,
    /// The origin of the record: a remote, or another history on this machine.
    pub source: String,
    #[serde(flatten)]
    pub record: DisputeRecord,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// The hash and the content of each record.
    pub records: Vec<(String, String)>,
    /// A description of each record that is too large to send.
    pub large: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum FoundDispute {
    Own(Box<DisputeRecord>),
    Shared(Box<SharedDispute>),
}

impl RecordContent {
    fn kind(&self) -> &'static str {
        match self {
            Self::Run(_) => KINDS[0],
            Self::Outcome(_) => KINDS[1],
            Self::Dispute(_) => KINDS[2],
        }
    }

    fn run(&self) -> &RunId {
        match self {
            Self::Run(row) => &row.run,
            Self::Outcome(outcome) => &outcome.run,
            Self::Dispute(record) => &record.run,
        }
    }

    fn subject(&self) -> String {
        match self {
            Self::Run(_) | Self::Outcome(_) => self.run().0.clone(),
            Self::Dispute(record) => DisputeId::of(&record.run, record.dispute.finding.id).0,
        }
    }

    fn findings(&self) -> &[Finding] {
        match self {
            Self::Run(_) => &[],
            Self::Outcome(outcome) => &outcome.findings,
            Self::Dispute(record) => std::slice::from_ref(&record.dispute.finding),
        }
    }
}

impl HistoryRecord {
    /// Parses and validates a record of another clone. `authors` contains the e-mail addresses of the authors whose
    /// commits added the record. The record's author must be one of `authors`.
    pub fn read(hash: &str, bytes: &[u8], authors: &BTreeSet<String>) -> Result<Self, Refusal> {
        if bytes.len() > MAX_RECORD {
            return Err(Refusal::TooLarge);
        }
        if *blake3::hash(bytes).to_hex() != *hash {
            return Err(Refusal::WrongHash);
        }
        let value: Value = serde_json::from_slice(bytes).map_err(|_| Refusal::NotJson)?;
        if value["glee"] != FORM {
            return Err(Refusal::Form(format!(
                "version 1 is expected, not {}",
                short(&value["glee"].to_string())
            )));
        }
        if !value["kind"]
            .as_str()
            .is_some_and(|kind| KINDS.contains(&kind))
        {
            return Err(Refusal::UnknownKind);
        }
        let form = |error: serde_json::Error| Refusal::Form(short(&error.to_string()));
        let record: Self = serde_json::from_value(value.clone()).map_err(form)?;
        if serde_json::to_value(&record).map_err(form)? != value {
            return Err(Refusal::Form("it has unknown fields".to_owned()));
        }
        record.check(authors)?;
        Ok(record)
    }

    fn check(&self, authors: &BTreeSet<String>) -> Result<(), Refusal> {
        if !authors.contains(&self.author.email) {
            return Err(Refusal::ForgedAuthor);
        }
        let is_word = |text: &str| text.len() <= MAX_WORD && !text.contains(char::is_control);
        let is_id = |id: &str| {
            (1..=64).contains(&id.len())
                && id
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
        };
        let findings = self.content.findings();
        let mut names = findings.iter().flat_map(|finding| &finding.raised_by);
        if !is_word(&self.author.name)
            || !is_word(&self.author.email)
            || !names.all(|name| is_word(&name.0))
        {
            return Err(Refusal::Form(
                "a name is too long or holds control characters".to_owned(),
            ));
        }
        if !is_id(&self.content.run().0) {
            return Err(Refusal::Form("the id of a run is expected".to_owned()));
        }
        let files = findings
            .iter()
            .filter_map(|finding| finding.raw.file.as_deref());
        let anchored = findings
            .iter()
            .filter_map(|finding| Some(finding.anchor.as_ref()?.file.as_str()));
        if files.chain(anchored).any(escapes) {
            return Err(Refusal::EscapingPath);
        }
        match Timestamp::now().checked_add(AHEAD) {
            Ok(latest) if self.at > latest => Err(Refusal::Future),
            _ => Ok(()),
        }
    }
}

/// Whether a path is absolute or invalid, leaves the tree, or enters `.git`.
fn escapes(path: &str) -> bool {
    let is_bad = |part: &str| part == ".." || part.eq_ignore_ascii_case(".git");
    let has_drive = matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    path.is_empty()
        || path.len() > 4096
        || path.starts_with(['/', '\\', '~'])
        || has_drive
        || path.contains('\0')
        || path.split(['/', '\\']).any(is_bad)
}

fn short(text: &str) -> String {
    text.chars().take(200).collect()
}

impl Journal {
    /// Returns all records to send to other clones. The records contain the summary and the findings of each ended
    /// run, and the present state of each dispute. For each summary, list of findings or dispute that has changed
    /// since its last record, the function adds a new record with the author `author`.
    pub fn outgoing(&mut self, author: &Person) -> Result<Outgoing, JournalError> {
        let mut contents = Vec::new();
        for row in self.runs(None)? {
            let (Some(at), Some(exit)) = (row.ended, row.exit) else {
                continue;
            };
            let findings = self.findings(&row.run)?;
            contents.push((
                at,
                RecordContent::Outcome(RunFindings {
                    run: row.run.clone(),
                    exit,
                    findings,
                }),
            ));
            contents.push((at, RecordContent::Run(row)));
        }
        contents.extend(self.dispute_contents()?);
        let mut large = Vec::new();
        let mut fresh = Vec::new();
        for (at, content) in contents {
            let record = HistoryRecord {
                glee: FORM,
                author: author.clone(),
                at,
                content: secrets::redact_value(content),
            };
            let bytes = projections::json(&record);
            if bytes.len() > MAX_RECORD {
                large.push(format!(
                    "the {} of run {}",
                    record.content.kind(),
                    record.content.run().short()
                ));
            } else {
                fresh.push((record, bytes));
            }
        }
        let sql = "SELECT kind, subject, at FROM record WHERE source = ''";
        let known: Vec<(String, String, String)> = self.rows(sql, [], |row| row.try_into())?;
        let known = BTreeSet::from_iter(known);
        fresh.retain(|(record, _)| {
            !known.contains(&(
                record.content.kind().to_owned(),
                record.content.subject(),
                time(record.at),
            ))
        });
        self.store("", &fresh)?;
        let sql = "SELECT hash, body FROM record WHERE source = '' ORDER BY hash";
        Ok(Outgoing {
            records: self.rows(sql, [], |row| row.try_into())?,
            large,
        })
    }

    fn dispute_contents(&self) -> Result<Vec<(Timestamp, RecordContent)>, JournalError> {
        let numbers = self.rows("SELECT number FROM dispute", [], |row| row.get::<_, i64>(0))?;
        let numbers: Vec<DisputeNumber> = numbers
            .into_iter()
            .map(|number| DisputeNumber(number.unsigned_abs()))
            .collect();
        let mut found = Vec::new();
        for (mut record, at) in self.dated_disputes(&numbers)?.into_values() {
            for earlier in &mut record.dispute.earlier {
                if let Relation::CodeChanged { diff } = &mut earlier.relation {
                    *diff = None;
                }
            }
            found.push((at, RecordContent::Dispute(Box::new(record))));
        }
        Ok(found)
    }

    /// Copies disputes from another history on this machine. Disputes of the other history that this history
    /// already contains are not copied. All records that the other history received from other histories are
    /// copied too. Each copied dispute is stored in the same way as a record that was fetched from another clone.
    pub fn merge_disputes(&mut self, other: &Self, source: &str) -> Result<(), JournalError> {
        let own = self.own_ids()?;
        let mut records = Vec::new();
        for (at, content) in other.dispute_contents()? {
            if !own.contains(&content.subject()) {
                let record = HistoryRecord {
                    glee: FORM,
                    author: Person::default(),
                    at,
                    content,
                };
                records.push((record.clone(), projections::json(&record)));
            }
        }
        let shared = other.rows("SELECT body FROM record WHERE source <> ''", [], |row| {
            row.get::<_, String>(0)
        })?;
        for body in shared {
            if let Ok(record) = serde_json::from_str::<HistoryRecord>(&body) {
                records.push((record, body));
            }
        }
        self.store(source, &records)
    }

    pub fn has_record(&self, hash: &str) -> Result<bool, JournalError> {
        let found = self.rows("SELECT 1 FROM record WHERE hash = ?1", [hash], |row| {
            row.get::<_, i64>(0)
        })?;
        Ok(!found.is_empty())
    }

    /// Stores records from a remote, and returns the indices of duplicates. A duplicate has the same kind, subject,
    /// author and time as a record that is already stored.
    pub fn import(
        &mut self,
        source: &str,
        records: &[(HistoryRecord, String)],
    ) -> Result<Vec<usize>, JournalError> {
        let sql = "SELECT kind, subject, author, at FROM record";
        let known: Vec<(String, String, String, String)> =
            self.rows(sql, [], |row| row.try_into())?;
        let mut known = BTreeSet::from_iter(known);
        let mut repeated = Vec::new();
        let mut fresh = Vec::new();
        for (index, (record, bytes)) in records.iter().enumerate() {
            let HistoryRecord {
                author,
                at,
                content,
                ..
            } = record;
            if known.insert((
                content.kind().to_owned(),
                content.subject(),
                author.email.clone(),
                time(*at),
            )) {
                fresh.push((record.clone(), bytes.clone()));
            } else {
                repeated.push(index);
            }
        }
        self.store(source, &fresh)?;
        Ok(repeated)
    }

    fn store(
        &mut self,
        source: &str,
        records: &[(HistoryRecord, String)],
    ) -> Result<(), JournalError> {
        let mut all = || -> rusqlite::Result<()> {
            let tx = self
                .db
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            for (record, bytes) in records {
                tx.prepare_cached(
                    "INSERT OR IGNORE INTO record (hash, kind, subject, author, at, source, body)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                )?
                .execute(params![
                    blake3::hash(bytes.as_bytes()).to_hex().as_str(),
                    record.content.kind(),
                    record.content.subject(),
                    record.author.email,
                    time(record.at),
                    source,
                    bytes
                ])?;
            }
            tx.commit()
        };
        all().map_err(|error| fault(&self.path, error))
    }

    fn own_ids(&self) -> Result<BTreeSet<String>, JournalError> {
        let ids = self.rows("SELECT run, finding FROM dispute", [], |row| {
            let StoredId(finding) = row.get(1)?;
            Ok(DisputeId::of(&RunId(row.get(0)?), finding).0)
        })?;
        Ok(ids.into_iter().collect())
    }

    /// Returns the disputes of other clones that match `filter`, newest first. For each dispute and author, the
    /// result contains only the latest record.
    pub fn shared_disputes(
        &self,
        filter: &DisputeFilter,
    ) -> Result<Vec<SharedDispute>, JournalError> {
        let own = self.own_ids()?;
        let sql = "SELECT source, body FROM record WHERE kind = 'dispute' AND source <> '' ORDER BY at DESC, hash";
        let rows: Vec<(String, String)> = self.rows(sql, [], |row| row.try_into())?;
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        for (source, body) in rows {
            // Skips a record from another version of Glee if this version cannot parse the record.
            let Ok(HistoryRecord {
                author,
                content: RecordContent::Dispute(record),
                ..
            }) = serde_json::from_str(&body)
            else {
                continue;
            };
            let id = DisputeId::of(&record.run, record.dispute.finding.id);
            if !own.contains(&id.0)
                && seen.insert((id.clone(), author.email.clone()))
                && passes(&record, filter)
            {
                found.push(SharedDispute {
                    id,
                    author,
                    source,
                    record: *record,
                });
            }
        }
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
        let unknown = || match number {
            Some(number) => JournalError::UnknownDispute(number),
            None => JournalError::UnknownDisputeId(text.to_owned()),
        };
        if !(4..=16).contains(&wanted.len()) || !wanted.chars().all(|c| c.is_ascii_hexdigit()) {
            return Err(unknown());
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
            (0, _) => Err(unknown()),
            (1, None) => Ok(FoundDispute::Shared(Box::new(shared.swap_remove(0)))),
            (1, Some(row)) => self
                .dispute(row.number)?
                .map(|record| FoundDispute::Own(Box::new(record)))
                .ok_or_else(unknown),
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
    let by = |name: &String| dispute.finding.raised_by.iter().any(|by| by.0 == *name);
    is_ruled
        && (!filter.open_only || dispute.is_open())
        && !(filter.settled_only && dispute.is_open())
        && filter.before.is_none_or(|before| dispute.number < before)
        && filter.reviewer.as_ref().is_none_or(by)
        && filter.since.is_none_or(|since| *opened_at >= since)
}
