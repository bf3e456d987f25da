use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::domain::event::{Mode, Settlement};
use crate::domain::{
    Anchor, Disposition, Dispute, DisputeId, DisputeNumber, ExitReason, FindingId, Location, Ruler, RulingRef,
    RulingWord, RunId, Tag, Untrusted,
};

/// Which disputes to list; all conditions must match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DisputeFilter {
    /// At most this many, the newest.
    pub recent: Option<u32>,
    pub open_only: bool,
    pub ruling: Option<RulingFilter>,
    /// The reviewer that raised the finding.
    pub reviewer: Option<String>,
    pub since: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RulingFilter {
    /// The last ruling.
    Word(RulingWord),
    /// The recorded word of the disposition (`refuted`, `accepted_risk`, ...).
    Disposition(&'static str),
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DisputeRow {
    pub number: DisputeNumber,
    pub id: DisputeId,
    pub run: RunId,
    /// When the coder objected.
    pub opened_at: Timestamp,
    pub settled_at: Option<Timestamp>,
    pub finding: FindingId,
    /// The finding's tag, or the unknown word in its place.
    pub tag: String,
    pub title: Untrusted,
    pub location: Option<Location>,
    pub raised_by: Vec<String>,
    pub ruling: Option<RulingWord>,
    /// Who ruled or settled last.
    pub ruled_by: Option<Ruler>,
    /// Absent while the dispute is open.
    pub disposition: Option<Disposition>,
    /// The last day, in UTC, on which the ruling binds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Date>,
    /// When the ruling was ended because its code was gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DisputeRecord {
    pub run: RunId,
    pub opened_at: Timestamp,
    pub settled_at: Option<Timestamp>,
    pub dispute: Dispute,
    pub settlement: Option<Settlement>,
    /// When its last ruling was revoked, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reopened: Option<Reopened>,
    /// When the ruling was ended because its code was gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reopened {
    pub at: Timestamp,
    pub reason: Untrusted,
}

/// The result of a dispute for its place in the code, as later runs apply it.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    pub dispute: RulingRef,
    pub run: RunId,
    pub finding: FindingId,
    pub anchor: Anchor,
    pub title: Untrusted,
    /// The finding's location at that time.
    pub location: Option<Location>,
    /// `None` while the dispute is open.
    pub disposition: Option<Disposition>,
    /// The tag that the ruling gave the finding, if it is right but not mandatory.
    pub new_tag: Option<Tag>,
    pub rationale: Untrusted,
    pub settled_at: Option<Timestamp>,
    /// The last day, in UTC, on which it binds.
    pub until: Option<Date>,
    /// The day, in UTC, on which it was ended; [`until`](Self::until) and the settings may end it too.
    pub ended: Option<Date>,
    /// Whether it may close a security finding: every ruling of this history, and a shared one with a responsible person.
    pub is_vouched: bool,
    /// The dispute that it reopens, whose ruling no longer binds.
    pub reopens: Option<DisputeNumber>,
}

impl Binding {
    /// The id of the dispute in all histories.
    pub fn id(&self) -> DisputeId {
        DisputeId::of(&self.run, self.finding)
    }

    /// The number of the dispute in this history; `None` if it is only in a shared file.
    pub fn number(&self) -> Option<DisputeNumber> {
        self.dispute.number()
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRow {
    pub run: RunId,
    pub started: Timestamp,
    /// `None` while it runs, and after an interruption.
    pub ended: Option<Timestamp>,
    /// The review target, as text.
    pub target: String,
    pub mode: Mode,
    pub exit: Option<ExitReason>,
    pub findings: u64,
    pub mandatory: u64,
    pub disputes: u64,
    pub open_disputes: u64,
    /// Whether the tree was restored to its state before the run.
    pub undone: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StageRow {
    pub run: RunId,
    /// The id of the work.
    pub id: String,
    /// The stage or the checkpoint.
    pub stage: String,
    pub started: Timestamp,
}
