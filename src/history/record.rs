//! Records of a history as they are exchanged with other clones: the form, the checks on arrival, the store.
//!
//! A record is one JSON object that never changes; its name is the BLAKE3 hash (hex) of its bytes. What came from
//! elsewhere is listed and shown; it binds no run, is no part of the hash chain and never gets a number of this history.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use rusqlite::{TransactionBehavior, params};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::JournalError;
use super::open::fault;
use crate::domain::{Disposition, DisputeId, DisputeNumber, ExitReason, Finding, FindingId, Relation, RunId};
use crate::history::projections::{json, time};
use crate::history::queries::rows::{DisputeFilter, DisputeRecord, RulingFilter, RunRow};
use crate::history::store::Journal;
use crate::protocol::secrets;

/// The largest record, in bytes.
pub const MAX_RECORD: usize = 256 << 10;

/// The longest name, e-mail address or id in a record, in bytes.
const MAX_WORD: usize = 256;

/// The version of the form.
const FORM: u32 = 1;

/// How far the clock of another machine may be ahead.
const AHEAD: SignedDuration = SignedDuration::from_hours(24);

/// Who made a record, as git names the author of a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Author {
    pub name: String,
    pub email: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HistoryRecord {
    glee: u32,
    pub author: Author,
    /// When what it says came to be, not when it was sent.
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

/// How a run ended, with every finding as it was last recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunFindings {
    pub run: RunId,
    pub exit: ExitReason,
    pub findings: Vec<Finding>,
}

/// Why a record from elsewhere is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("it is larger than {} KiB", MAX_RECORD >> 10)]
    TooLarge,
    #[error("its content does not have the hash that names it")]
    WrongHash,
    #[error("it is not JSON")]
    NotJson,
    #[error("its kind is not known")]
    UnknownKind,
    #[error("its form is not known: {0}")]
    Form(String),
    #[error("its author is not the author of the commit that added it")]
    ForgedAuthor,
    #[error("it names a path outside the tree")]
    EscapingPath,
    #[error("its time lies in the future")]
    Future,
    #[error("it repeats another record")]
    Duplicate,
}

/// A dispute of another history.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SharedDispute {
    pub id: DisputeId,
    pub author: Author,
    /// The remote that it was fetched from, or the local history that it was merged from.
    pub source: String,
    #[serde(flatten)]
    pub record: DisputeRecord,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// The records, each with its hash and its bytes.
    pub records: Vec<(String, String)>,
    /// What is too large to be sent, in words.
    pub large: Vec<String>,
}

/// What a number, an id or the beginning of an id names.
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

    /// What it is about: the id of a run or of a dispute.
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
    /// Reads a record that came from elsewhere under the name `hash`. `authors` are the e-mail addresses of the authors of
    /// the commits that added it: the record has to claim one of them.
    pub fn read(hash: &str, bytes: &[u8], authors: &BTreeSet<String>) -> Result<Self, Refusal> {
        if bytes.len() > MAX_RECORD {
            return Err(Refusal::TooLarge);
        }
        if *blake3::hash(bytes).to_hex() != *hash {
            return Err(Refusal::WrongHash);
        }
        let value: Value = serde_json::from_slice(bytes).map_err(|_| Refusal::NotJson)?;
        if value["glee"] != FORM {
            return Err(Refusal::Form(format!("version 1 is expected, not {}", short(&value["glee"].to_string()))));
        }
        if !value["kind"].as_str().is_some_and(|kind| KINDS.contains(&kind)) {
            return Err(Refusal::UnknownKind);
        }
        let form = |error: serde_json::Error| Refusal::Form(short(&error.to_string()));
        let record: Self = serde_json::from_value(value.clone()).map_err(form)?;
        if serde_json::to_value(&record).map_err(form)? != value {
            return Err(Refusal::Form("it has fields that this version does not know".to_owned()));
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
            (1..=64).contains(&id.len()) && id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
        };
        let findings = self.content.findings();
        let mut names = findings.iter().flat_map(|finding| &finding.raised_by);
        if !is_word(&self.author.name) || !is_word(&self.author.email) || !names.all(|name| is_word(&name.0)) {
            return Err(Refusal::Form("a name is too long or holds control characters".to_owned()));
        }
        if !is_id(&self.content.run().0) {
            return Err(Refusal::Form("the id of a run is expected".to_owned()));
        }
        let files = findings.iter().filter_map(|finding| finding.raw.file.as_deref());
        let anchored = findings.iter().filter_map(|finding| Some(finding.anchor.as_ref()?.file.as_str()));
        if files.chain(anchored).any(escapes) {
            return Err(Refusal::EscapingPath);
        }
        match Timestamp::now().checked_add(AHEAD) {
            Ok(latest) if self.at > latest => Err(Refusal::Future),
            _ => Ok(()),
        }
    }
}

/// Whether a path is absolute, leads upwards or into a repository, or is none.
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
    /// Everything that this history sends, as named bytes: of each run that ended its row and its outcome, of each dispute
    /// its present state. What was sent before is sent again as it was; what is new, or has changed since, becomes a new
    /// record by `author`.
    pub fn outgoing(&mut self, author: &Author) -> Result<Outgoing, JournalError> {
        let mut contents = Vec::new();
        for row in self.runs(None)? {
            let (Some(at), Some(exit)) = (row.ended, row.exit) else { continue };
            let findings = self.findings(&row.run)?;
            contents.push((at, RecordContent::Outcome(RunFindings { run: row.run.clone(), exit, findings })));
            contents.push((at, RecordContent::Run(row)));
        }
        contents.extend(self.dispute_contents()?);
        let mut large = Vec::new();
        let mut fresh = Vec::new();
        for (at, content) in contents {
            let record =
                HistoryRecord { glee: FORM, author: author.clone(), at, content: secrets::redact_value(content) };
            let bytes = json(&record);
            if bytes.len() > MAX_RECORD {
                large.push(format!("the {} of run {}", record.content.kind(), record.content.run().short()));
            } else {
                fresh.push((record, bytes));
            }
        }
        let known: BTreeSet<(String, String, String)> = self
            .rows("SELECT kind, subject, at FROM record WHERE source = ''", [], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })?
            .into_iter()
            .collect();
        fresh.retain(|(record, _)| {
            !known.contains(&(record.content.kind().to_owned(), record.content.subject(), time(record.at)))
        });
        self.store("", &fresh)?;
        let sent = self.rows("SELECT hash, body FROM record WHERE source = '' ORDER BY hash", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
        Ok(Outgoing { records: sent, large })
    }

    /// The disputes of this history, each with the time of the last word on it.
    fn dispute_contents(&self) -> Result<Vec<(Timestamp, RecordContent)>, JournalError> {
        let numbers = self.rows("SELECT number FROM dispute ORDER BY number", [], |row| row.get::<_, i64>(0))?;
        let mut found = Vec::new();
        for number in numbers {
            if let Some((mut record, at)) = self.dispute_at(DisputeNumber(number.unsigned_abs()))? {
                // Code stays here.
                for earlier in &mut record.dispute.earlier {
                    if let Relation::CodeChanged { diff } = &mut earlier.relation {
                        *diff = None;
                    }
                }
                found.push((at, RecordContent::Dispute(Box::new(record))));
            }
        }
        Ok(found)
    }

    /// Takes the disputes of another history of this machine in as records from elsewhere. What is there already is
    /// passed over.
    pub fn merge_disputes(&mut self, other: &Self, source: &str) -> Result<(), JournalError> {
        let own = self.own_ids()?;
        let mut records = Vec::new();
        for (at, content) in other.dispute_contents()? {
            if !own.contains(&content.subject()) {
                let record = HistoryRecord { glee: FORM, author: Author::default(), at, content };
                records.push((record.clone(), json(&record)));
            }
        }
        let shared = other.rows("SELECT body FROM record WHERE source <> ''", [], |row| row.get::<_, String>(0))?;
        for body in shared {
            if let Ok(record) = serde_json::from_str::<HistoryRecord>(&body) {
                records.push((record, body));
            }
        }
        self.store(source, &records)
    }

    /// Whether a record of this name is stored.
    pub fn has_record(&self, hash: &str) -> Result<bool, JournalError> {
        let found = self.rows("SELECT 1 FROM record WHERE hash = ?1", [hash], |row| row.get::<_, i64>(0))?;
        Ok(!found.is_empty())
    }

    /// Stores records that were read from a remote, each with its bytes; those that repeat another record of the same
    /// author about the same thing at the same time are returned by their place in the list.
    pub fn take_in(
        &mut self,
        source: &str,
        records: &[(HistoryRecord, String)],
    ) -> Result<Vec<usize>, JournalError> {
        let mut taken: BTreeSet<(String, String, String, String)> = self
            .rows("SELECT kind, subject, author, at FROM record", [], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })?
            .into_iter()
            .collect();
        let mut repeated = Vec::new();
        let mut fresh = Vec::new();
        for (index, (record, bytes)) in records.iter().enumerate() {
            let HistoryRecord { author, at, content, .. } = record;
            if taken.insert((content.kind().to_owned(), content.subject(), author.email.clone(), time(*at))) {
                fresh.push((record.clone(), bytes.clone()));
            } else {
                repeated.push(index);
            }
        }
        self.store(source, &fresh)?;
        Ok(repeated)
    }

    fn store(&mut self, source: &str, records: &[(HistoryRecord, String)]) -> Result<(), JournalError> {
        let mut all = || -> rusqlite::Result<()> {
            let tx = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
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
            Ok(DisputeId::of(&RunId(row.get(0)?), FindingId(row.get(1)?)).0)
        })?;
        Ok(ids.into_iter().collect())
    }

    /// The disputes from elsewhere that pass `filter`, the newest first: of each author the latest word on each dispute.
    /// Those that are this history's own are left out.
    pub fn shared_disputes(&self, filter: &DisputeFilter) -> Result<Vec<SharedDispute>, JournalError> {
        let own = self.own_ids()?;
        let sql = "SELECT source, body FROM record WHERE kind = 'dispute' AND source <> '' ORDER BY at DESC, hash";
        let rows = self.rows(sql, [], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        for (source, body) in rows {
            // What another version of Glee took in and this one cannot read is not shown.
            let Ok(HistoryRecord { author, content: RecordContent::Dispute(record), .. }) =
                serde_json::from_str(&body)
            else {
                continue;
            };
            let id = DisputeId::of(&record.run, record.dispute.finding.id);
            if !own.contains(&id.0) && seen.insert((id.clone(), author.email.clone())) && passes(&record, filter) {
                found.push(SharedDispute { id, author, source, record: *record });
            }
        }
        found.sort_by(|one, other| other.record.opened_at.cmp(&one.record.opened_at).then(one.id.cmp(&other.id)));
        found.truncate(filter.recent.map_or(usize::MAX, |recent| recent as usize));
        Ok(found)
    }

    /// The dispute that `text` names: its number, its id, or the beginning of its id, at least four digits. Fails when it
    /// names none or several, or the history cannot be read.
    pub fn find_dispute(&self, text: &str) -> Result<FoundDispute, JournalError> {
        let wanted = text.trim().to_ascii_lowercase();
        let number = wanted.parse().ok().map(DisputeNumber);
        if let Some(record) = number.map(|number| self.dispute(number)).transpose()?.flatten() {
            return Ok(FoundDispute::Own(Box::new(record)));
        }
        let unknown = || match number {
            Some(number) => JournalError::UnknownDispute(number),
            None => JournalError::UnknownDisputeId(text.to_owned()),
        };
        if !(4..=16).contains(&wanted.len()) || !wanted.chars().all(|c| c.is_ascii_hexdigit()) {
            return Err(unknown());
        }
        let own: Vec<String> = self.own_ids()?.into_iter().filter(|id| id.starts_with(&wanted)).collect();
        let mut shared = self.shared_disputes(&DisputeFilter::default())?;
        shared.retain(|dispute| dispute.id.0.starts_with(&wanted));
        let ids: BTreeSet<&String> = own.iter().chain(shared.iter().map(|dispute| &dispute.id.0)).collect();
        match ids.len() {
            0 => Err(unknown()),
            1 if own.is_empty() => Ok(FoundDispute::Shared(Box::new(shared.swap_remove(0)))),
            1 => {
                let rows = self.disputes(&DisputeFilter::default())?;
                let row = rows.into_iter().find(|row| row.id.0 == own[0]).ok_or_else(unknown)?;
                self.dispute(row.number)?.map(|record| FoundDispute::Own(Box::new(record))).ok_or_else(unknown)
            }
            _ => {
                let candidates = ids.into_iter().take(6).cloned().collect();
                Err(JournalError::AmbiguousDispute { text: text.to_owned(), candidates })
            }
        }
    }
}

fn passes(record: &DisputeRecord, filter: &DisputeFilter) -> bool {
    let DisputeRecord { dispute, opened_at, .. } = record;
    let is_ruled = match filter.ruling {
        None => true,
        Some(RulingFilter::Word(word)) => dispute.rulings.last().is_some_and(|last| last.ruling.ruling == word),
        Some(RulingFilter::Disposition(kind)) => {
            dispute.disposition.as_ref().is_some_and(|ended| word(ended) == kind)
        }
    };
    let by = |name: &String| dispute.finding.raised_by.iter().any(|by| by.0 == *name);
    is_ruled
        && (!filter.open_only || dispute.is_open())
        && filter.reviewer.as_ref().is_none_or(by)
        && filter.since.is_none_or(|since| *opened_at >= since)
}

/// The word under which a disposition is recorded.
fn word(disposition: &Disposition) -> String {
    serde_json::to_value(disposition)
        .ok()
        .and_then(|value| Some(value["as"].as_str()?.to_owned()))
        .unwrap_or_default()
}
