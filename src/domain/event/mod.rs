//! Events: the contract between a run and its listeners.
//!
//! An event is written to the journal and synced before anything acts on it. The state of a run is a fold over its
//! events, so an event carries everything that a later reader needs; only raw agent output is kept outside the
//! journal, named by the call's id and its hash. Recorded forms never lose or rename a field.

mod call;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::civil::Date;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::domain::{
    Action, AdvisoryStatus, Agent, AgentEvent, AgentName, AskedFile, Ballot, CallMetadata, Coverage, DebateMessage,
    Decision, Disposition, Dispute, DisputeNumber, EarlierDispute, ExitReason, FileChange, FileReview, Finding,
    FindingId, RawFinding, Resolution, ReusedFrom, ReviewRequest, Role, Route, Ruler, RulingRecord, RulingRef,
    RunId, Settler, Skip, StagePlan, StageVerdict, Tag, Trigger, Untrusted, Usage, WatchPlan, WatchStatus,
};

pub use call::{CallAnswer, CallId, Part, Purpose, Transcript};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    pub run: RunId,
    /// Its place within the run, counted from 1 without gaps.
    pub seq: u64,
    pub at: Timestamp,
    #[serde(flatten)]
    pub kind: EventKind,
}

/// The decisions that were made before the first call; enough to resume the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The absolute root of the work tree.
    pub root: String,
    /// A description of the target.
    pub target: String,
    pub commit: Option<String>,
    /// The id of the reviewed content: a git tree id, or `blake3:...` outside git.
    pub tree: String,
    pub mode: Mode,
    /// All agents that take part, by role: all reviewers, at most one coder, at most one judge.
    pub agents: Vec<Agent>,
    /// Agents that answer in place of those that name them as their backup.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub backups: Vec<Agent>,
    /// The shards: for each, the files that one call of a reviewer covers.
    pub shards: Vec<Vec<Coverage>>,
    pub skipped: Vec<Skip>,
    /// The settings in force, as `glee config list` prints them (dotted key to value).
    pub settings: BTreeMap<String, Value>,
    /// The commit whose `.glee` applies, if the change under review edits it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steered_by: Option<String>,
    /// Findings of Glee itself about the change; they are merged with those of the reviewers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own: Vec<RawFinding>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub staged: Option<Staged>,
    /// The route that was named on the command line for every dispute (`--on-dispute`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_dispute: Option<Route>,
    /// The commit whose `.glee/rulings` bind in the run; absent outside git and before the first commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rulings_at: Option<String>,
}

/// How the index is treated in a review of staged changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Staged {
    /// It is left unchanged; the run reports which files it holds without the coder's edits.
    Left,
    /// The files that the coder changed are staged (`--restage`).
    Restaged,
}

/// How far a run may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Only review: no file changes.
    Review,
    /// Hand the findings to the coder (`--fix`); disputes stay open.
    Fix,
    /// Also settle disputes (`--arbitrate`).
    Arbitrate,
}

/// How a dispute is settled without or after a judge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settlement {
    pub disposition: Disposition,
    pub by: Ruler,
    pub reason: Untrusted,
    /// The last day, in UTC, on which the ruling binds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Date>,
}

/// An event by the workflow it belongs to. Its recorded form is that of the group: an object with the name in `event`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum EventKind {
    Run(RunEvent),
    Review(ReviewEvent),
    Dispute(DisputeEvent),
    Consensus(ConsensusEvent),
    Watch(WatchEvent),
}

/// Events of every run: calls of agents, notices, the end, and what is done to a run afterwards.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum RunEvent {
    /// A run is resumed after an interruption, or after a person settled a dispute.
    RunResumed,
    /// An agent is asked; its answer has to repeat the nonce.
    CallStarted {
        call: CallId,
        role: Role,
        prompt_bytes: u64,
        nonce: String,
    },
    /// An agent has answered, or its process has failed.
    CallFinished {
        call: CallId,
        #[serde(flatten)]
        answer: CallAnswer,
        /// Absent if the process could not be started.
        transcript: Option<Transcript>,
        /// Wall time.
        millis: u64,
        /// Tokens and cost, if known, of all attempts.
        usage: Box<Usage>,
        #[serde(default, skip_serializing_if = "CallMetadata::is_empty")]
        told: Box<CallMetadata>,
    },
    /// Something changed while an unsandboxed read-only agent ran. Its answer is discarded.
    ReadOnlyViolated {
        call: CallId,
        changes: Vec<String>,
    },
    /// A message for the user, in one line.
    Notice {
        text: String,
    },
    RunEnded {
        exit: ExitReason,
        millis: u64,
    },
    /// `glee runs undo` reverted the coder's changes.
    RunUndone {
        files: u64,
    },
    /// `glee runs undo --redo` restored the reverted changes.
    RunRedone {
        files: u64,
    },
    /// `glee runs prune` deleted the trees, the code and the raw answers of the run.
    RunPruned {
        bytes: u64,
    },
}

/// Events of a review.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum ReviewEvent {
    RunStarted {
        plan: Box<Plan>,
    },
    /// A later round (from 2) begins on the changed files.
    RoundStarted {
        round: u32,
        shards: Vec<Vec<Coverage>>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        skipped: Vec<Skip>,
    },
    /// Earlier answers of a reviewer replace a part of a call, or all of it; then it is not called.
    AnswersReused {
        call: CallId,
        from: Vec<ReusedFrom>,
        /// The findings of the earlier answers, at the current lines.
        findings: Vec<RawFinding>,
        /// The files that are still asked about; none if all are answered.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        asked: Vec<AskedFile>,
        /// Earlier findings at changed code, which the reviewer reads again.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        superseded: Vec<RawFinding>,
    },
    /// The findings of a complete review by file, for reuse in later reviews of the same content.
    FilesReviewed {
        call: CallId,
        /// The BLAKE3 hash (hex) of the reviewer and how it was asked: agent, program, prompt template, focus,
        /// rules.
        asker: String,
        /// The key of the hashes of lines, random for each record.
        salt: String,
        files: Vec<FileReview>,
        /// Findings outside the files: they are reused only while all files are unchanged.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        others: Vec<RawFinding>,
    },
    /// Advisories about findings that name a package or an advisory (phase 6), by where the finding was read: the
    /// call and the number in its answer.
    AdvisoriesAsked {
        answers: BTreeMap<String, AdvisoryStatus>,
    },
    /// The findings of a round are merged and numbered.
    FindingsMerged {
        round: u32,
        findings: Vec<Finding>,
    },
    /// A round of the debate (`debate_round`, 2 or 3) is complete.
    DebateRound {
        round: u32,
        debate_round: u32,
        message: DebateMessage,
    },
    /// The debate about a round's findings has ended. `findings` are those of the round now, and those that were
    /// observed in the debate; `silent` were asked and did not answer.
    DebateConcluded {
        round: u32,
        findings: Vec<Finding>,
        silent: Vec<AgentName>,
        report: DebateMessage,
    },
    /// The debate was shut down.
    DebateShutdown {
        messages: Vec<DebateMessage>,
    },
    /// A finding is covered by a ruling or disposition of an earlier dispute.
    AlreadyRuled {
        finding: FindingId,
        dispute: RulingRef,
        disposition: Disposition,
        /// The tag of the ruling, if it is optional in this run: the finding is open under it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        new_tag: Option<Tag>,
        /// Whether the reviewer was shown the ruling, names it, and has no new evidence.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        insisted: bool,
    },
    /// A finding relates to an earlier dispute that does not bind it.
    RelatedDispute {
        finding: FindingId,
        #[serde(flatten)]
        earlier: Box<EarlierDispute>,
    },
    /// A finding repeats one whose dispute still waits for a person; no second dispute is opened.
    StillDisputed {
        finding: FindingId,
        dispute: DisputeNumber,
    },
    /// The tree is kept as it was before the coder's first edit.
    BeforeImage {
        /// The path of its note below the state folder. In older runs a git ref, or the absolute path of the note.
        kept_as: String,
        tree: String,
    },
    /// The changes by a call of the coder: `tree` is the id of the content after it, `touched` are the findings at
    /// whose anchor the code changed.
    TreeChanged {
        call: CallId,
        tree: String,
        changes: Vec<FileChange>,
        touched: Vec<FindingId>,
    },
    /// A command of `review.verify` has run on the coder's edits; `tail` is the end of its output.
    Verified {
        round: u32,
        command: String,
        passed: bool,
        tail: String,
    },
}

/// Events of disputes, which a review and a watch open, and which commands settle between runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum DisputeEvent {
    /// A disagreement on a mandatory finding.
    DisputeOpened { dispute: Box<Dispute> },
    /// Disputes that stayed open are reopened.
    DisputesReopened {
        disputes: Vec<DisputeNumber>,
        /// Judges that were not in the run's plan.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        judges: Vec<Agent>,
    },
    /// A finding repeats one whose dispute stayed open in the run `from`: the dispute continues here under its
    /// number, and its end is recorded there as well.
    DisputeCarriedOn { dispute: Box<Dispute>, from: RunId },
    /// A person chose the route of a dispute, or the configured default was taken.
    RouteChosen { dispute: DisputeNumber, route: Route, by_person: bool },
    /// A ruling, by a judge or a person.
    RulingGiven { dispute: DisputeNumber, ruling: RulingRecord },
    DisputeSettled {
        dispute: DisputeNumber,
        #[serde(flatten)]
        settlement: Settlement,
    },
    /// A person revoked the ruling of a settled dispute (`glee disputes reopen`): the dispute is open again.
    RulingRevoked {
        dispute: DisputeNumber,
        #[serde(default, skip_serializing_if = "Untrusted::is_empty")]
        reason: Untrusted,
    },
    /// The ruling of a dispute no longer binds because its code was removed (`glee disputes prune`); the dispute
    /// stays settled.
    RulingEnded { dispute: DisputeNumber },
}

/// Events of a stage or a checkpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum ConsensusEvent {
    /// A stage or a checkpoint begins.
    StageStarted { plan: Box<StagePlan> },
    /// All agents have answered a stage or failed, and so has the aggregator.
    StageJudged { verdict: StageVerdict },
    /// Only a person can decide a stage's conflicts.
    StageDeadlocked { reason: String },
    /// A stage's conflicts are decided.
    StageDecided { decision: Decision, by: Settler },
    /// A question of a checkpoint is answered.
    QuestionResolved { resolution: Resolution },
}

/// Events of a watch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum WatchEvent {
    /// A watch begins, or is started again.
    WatchStarted { plan: Box<WatchPlan> },
    /// A watch received an event from an agent or a person.
    EventReceived {
        #[serde(flatten)]
        said: AgentEvent,
    },
    /// A review cycle of a watch begins; the first is 1.
    CycleStarted { cycle: u32, triggers: BTreeSet<Trigger> },
    /// The reviewers of a cycle are about to be asked. `tree` is absent where the content could not be recorded.
    ReviewRequested { cycle: u32, requests: Vec<ReviewRequest>, tree: Option<String> },
    /// A review cycle has ended; `status` stays paused where a person or a blocker paused the work.
    CycleDecided { cycle: u32, action: Action, status: WatchStatus, ballots: Vec<Ballot> },
    /// The agents concerned are asked for a clarification.
    ClarificationAsked { cycle: u32, agents: Vec<AgentName>, prompt: Untrusted },
    /// A person paused the work of a watch; the reason may be empty.
    WatchPaused { by: Untrusted, reason: Untrusted },
    /// A person resumed the work of a watch; the reason may be empty.
    WatchResumed { by: Untrusted, reason: Untrusted },
    /// A person closed an issue of a watch; the reason may be empty.
    IssueClosed { issue: u32, by: Untrusted, reason: Untrusted },
}

impl EventKind {
    pub fn notice(text: impl Into<String>) -> Self {
        Self::Run(RunEvent::Notice { text: text.into() })
    }
}

macro_rules! groups {
    ($($group:ident($event:ident)),*) => {
        $(impl From<$event> for EventKind {
            fn from(event: $event) -> Self {
                Self::$group(event)
            }
        })*

        /// How each group is read.
        const GROUPS: &[fn(&Value) -> serde_json::Result<EventKind>] =
            &[$(|value| $event::deserialize(value).map(EventKind::$group)),*];
    };
}

groups!(Run(RunEvent), Review(ReviewEvent), Dispute(DisputeEvent), Consensus(ConsensusEvent), Watch(WatchEvent));

impl<'de> Deserialize<'de> for EventKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let mut read = GROUPS.iter().map(|group| group(&value).map_err(D::Error::custom));
        // An event of another group has a name that this one does not know.
        let is_foreign = |error: &D::Error| error.to_string().starts_with("unknown variant");
        read.find(|read| !read.as_ref().is_err_and(is_foreign))
            .unwrap_or_else(|| Err(D::Error::custom(format!("unknown event `{}`", value["event"]))))
    }
}
