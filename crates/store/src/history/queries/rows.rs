//! Filters of queries, and the rows that queries return.

use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use glee_model::domain::event::{Mode, Settlement};
use glee_model::domain::{
    Anchor, CitedCode, Disposition, Dispute, DisputeId, DisputeNumber, ExitReason, FindingId,
    Location, ProblemKey, Ruler, RulingRef, RulingWord, RunId, Tag, Untrusted, WorktreeState,
};

/// Selects the disputes that meet all conditions of the filter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DisputeFilter {
    /// If set, selects at most this number of disputes, beginning with the newest.
    pub recent: Option<u32>,
    pub open_only: bool,
    pub settled_only: bool,
    /// If set, selects only disputes whose number is below this number.
    pub before: Option<DisputeNumber>,
    pub ruling: Option<RulingFilter>,
    pub reviewer: Option<String>,
    pub since: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RulingFilter {
    Word(RulingWord),
    /// The name of the disposition in the history, such as `refuted` or `accepted_risk`.
    Disposition(&'static str),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DisputeRow {
    pub number: DisputeNumber,
    pub id: DisputeId,
    pub run: RunId,
    pub opened_at: Timestamp,
    pub settled_at: Option<Timestamp>,
    pub finding: FindingId,
    /// The finding's tag, or the reviewer's word for the severity if the finding has no tag.
    pub tag: String,
    pub title: Untrusted,
    pub location: Option<Location>,
    pub raised_by: Vec<String>,
    pub ruling: Option<RulingWord>,
    /// The person or agent that gave the last ruling or settlement.
    pub ruled_by: Option<Ruler>,
    /// `disposition` is `None` while the dispute is open.
    pub disposition: Option<Disposition>,
    /// The last day, in UTC, on which the ruling is in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Date>,
    /// The time at which the ruling ended. Absent unless the ruling ended because the code of the finding was
    /// removed.
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
    /// The time and the reason of the last reopening.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reopened: Option<Reopened>,
    /// The time at which the ruling ended. Absent unless the ruling ended because the code of the finding was
    /// removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reopened {
    pub at: Timestamp,
    pub reason: Untrusted,
}

/// The result of a dispute for one of its findings. Later runs apply the result to findings about the same code. A
/// ruling binds a finding only if it judged each place of the finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    pub dispute: RulingRef,
    pub run: RunId,
    pub finding: FindingId,
    pub anchor: Anchor,
    pub title: Untrusted,
    /// The finding's location at the time of the dispute.
    pub location: Option<Location>,
    /// The further places of the finding at the time of the dispute.
    pub also: Vec<(Location, Anchor)>,
    /// `disposition` is `None` while the dispute is open.
    pub disposition: Option<Disposition>,
    /// The new tag of the finding. Absent unless the ruling says that the finding is correct but not mandatory.
    pub new_tag: Option<Tag>,
    pub rationale: Untrusted,
    pub settled_at: Option<Timestamp>,
    /// The last day, in UTC, on which the ruling is in force.
    pub until: Option<Date>,
    /// The day, in UTC, on which the ruling was explicitly ended. The ruling can end earlier because of
    /// [`until`](Self::until) or the settings.
    pub ended: Option<Date>,
    /// Whether the binding can close a security finding. A shared ruling can close a security finding only if the
    /// ruling names a responsible person.
    pub is_vouched: bool,
    /// The key of the finding's problem, if a shared ruling states it.
    pub problem: Option<ProblemKey>,
    /// The code that the ruling cites. The ruling is in force as long as this code stands.
    pub cited: Vec<CitedCode>,
    /// The earlier dispute that this dispute reopens. The ruling on the earlier dispute is no longer in force.
    pub reopens: Option<DisputeNumber>,
}

impl Binding {
    /// All places with their anchors, the main place first.
    pub fn places(&self) -> impl Iterator<Item = (Option<&Location>, &Anchor)> {
        let further = self.also.iter();
        let further = further.map(|(location, anchor)| (Some(location), anchor));
        std::iter::once((self.location.as_ref(), &self.anchor)).chain(further)
    }

    /// The anchors of all places, the main place first.
    pub fn anchors(&self) -> impl Iterator<Item = &Anchor> {
        self.places().map(|(_, anchor)| anchor)
    }

    pub fn id(&self) -> DisputeId {
        DisputeId::of(&self.run, self.finding)
    }

    /// The number of the dispute in this history. Returns `None` if the dispute is only in a shared file.
    pub fn number(&self) -> Option<DisputeNumber> {
        self.dispute.number()
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunRow {
    pub run: RunId,
    pub started: Timestamp,
    /// The time at which the run ended. `ended` is `None` if the run is still active or was interrupted.
    pub ended: Option<Timestamp>,
    pub target: String,
    pub mode: Mode,
    /// Whether a process works on the run, which has not ended.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub works: bool,
    /// Whether findings were handed to the coder after the run had ended (`glee fix`).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fixed: bool,
    pub exit: Option<ExitReason>,
    /// Whether the run has the exit reason `agent_failed` only because no reviewer was able to read the files.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unread: bool,
    /// Whether no file was sent to a reviewer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_empty: bool,
    pub findings: u64,
    pub mandatory: u64,
    pub disputes: u64,
    pub open_disputes: u64,
    /// Whether changes of the coder were undone, or are only in the run's worktree.
    pub undone: bool,
    /// What became of the changes in the run's worktree; absent if the coder worked in the user's tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worktree: Option<WorktreeState>,
    /// The known cost of the calls in US dollars; `null` if no call has a known cost.
    pub usd: Option<f64>,
    /// The number of calls whose cost is unknown. `usd` does not include them.
    pub unpriced_calls: u64,
}

/// A stage, a checkpoint or an audit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherRunRow {
    pub run: RunId,
    pub started: Timestamp,
    /// The exit reason in the run's last end event. `None` if the run is still active or was interrupted.
    pub exit: Option<ExitReason>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StageRow {
    pub run: RunId,
    pub id: String,
    pub stage: String,
    pub started: Timestamp,
}
