use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::domain::event::{Mode, Settlement};
use crate::domain::{
    Anchor, Disposition, Dispute, DisputeId, DisputeNumber, ExitReason, FindingId, Location, Ruler, RulingRef,
    RulingWord, RunId, Tag, Untrusted,
};

/// Which disputes to list; everything that is set must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DisputeFilter {
    /// At most so many, the newest.
    pub recent: Option<u32>,
    pub open_only: bool,
    pub ruling: Option<RulingFilter>,
    /// Only those on a finding that this reviewer raised.
    pub reviewer: Option<String>,
    pub since: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RulingFilter {
    /// The last ruling is this one.
    Word(RulingWord),
    /// The disposition is of the kind that is recorded under this word (`refuted`, `accepted_risk`, ...).
    Disposition(&'static str),
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DisputeRow {
    pub number: DisputeNumber,
    pub id: DisputeId,
    pub run: RunId,
    /// When the coder objected.
    pub opened_at: Timestamp,
    /// When it ended; absent while it is open.
    pub settled_at: Option<Timestamp>,
    pub finding: FindingId,
    /// The finding's tag, or the unknown word it was written with.
    pub tag: String,
    pub title: Untrusted,
    pub location: Option<Location>,
    pub raised_by: Vec<String>,
    pub ruling: Option<RulingWord>,
    /// Who ruled or settled last.
    pub ruled_by: Option<Ruler>,
    /// What became of the finding; absent while the dispute is open.
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

/// What a dispute says about a place in the code, for later runs that come to the same place.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    pub dispute: RulingRef,
    pub run: RunId,
    pub finding: FindingId,
    pub anchor: Anchor,
    pub title: Untrusted,
    /// The finding's location at that time.
    pub location: Option<Location>,
    /// How the dispute ended; absent while it is open.
    pub disposition: Option<Disposition>,
    /// The tag that the ruling gave the finding, where it was right but not mandatory.
    pub new_tag: Option<Tag>,
    pub rationale: Untrusted,
    /// When the dispute was settled.
    pub settled_at: Option<Timestamp>,
    /// The last day, in UTC, on which it binds.
    pub until: Option<Date>,
    /// The day, in UTC, on which it was ended; [`until`](Self::until) and the settings may end it as well.
    pub ended: Option<Date>,
    /// Whether a security finding may be closed by it: every ruling of this history, and a shared one that a person
    /// answers for.
    pub is_vouched: bool,
    /// The dispute that it reopens: what was decided there does not bind any more.
    pub reopens: Option<DisputeNumber>,
}

impl Binding {
    /// The id of the dispute in all histories.
    pub fn id(&self) -> DisputeId {
        DisputeId::of(&self.run, self.finding)
    }

    /// The number of the dispute in this history; `None` where it is known from a file alone.
    pub fn number(&self) -> Option<DisputeNumber> {
        self.dispute.number()
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRow {
    pub run: RunId,
    pub started: Timestamp,
    /// When it ended; absent while it is at work, and after an interruption.
    pub ended: Option<Timestamp>,
    /// What was reviewed, in words.
    pub target: String,
    pub mode: Mode,
    pub exit: Option<ExitReason>,
    pub findings: u64,
    pub mandatory: u64,
    pub disputes: u64,
    pub open_disputes: u64,
    /// Whether the tree was brought back to where it stood before the run.
    pub undone: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StageRow {
    pub run: RunId,
    /// What the work is called.
    pub id: String,
    /// The stage or the checkpoint.
    pub stage: String,
    pub started: Timestamp,
}
