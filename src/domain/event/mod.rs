//! Events: the contract between a run and everybody who listens to it.
//!
//! An event is written to the journal and synced before anything acts on it. The state of a run is a fold over its
//! events, so an event carries everything that a later reader needs; only raw agent output lies beside the journal,
//! named by the call's id and its hash. Recorded forms never lose or rename a field.

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

/// Everything that was decided before the first agent was asked; enough to carry the run on later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The absolute root of the work tree.
    pub root: String,
    /// What is reviewed, in words.
    pub target: String,
    pub commit: Option<String>,
    /// The id of the reviewed content: a git tree id, or `blake3:...` outside git.
    pub tree: String,
    pub mode: Mode,
    /// All agents that take part, by role: all reviewers, at most one coder, at most one judge.
    pub agents: Vec<Agent>,
    /// Agents that answer in the place of those that name them as their backup.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub backups: Vec<Agent>,
    /// The shards: for each, the files that one call of a reviewer covers.
    pub shards: Vec<Vec<Coverage>>,
    pub skipped: Vec<Skip>,
    /// The settings in force, as `glee config list` prints them (dotted key to value).
    pub settings: BTreeMap<String, Value>,
    /// The commit whose `.glee` the run goes by, where the change under review edits it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steered_by: Option<String>,
    /// What Glee itself has to say of the change; it is merged with what the reviewers raise.
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

/// What is done about the index where what is staged is under review.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Staged {
    /// It is left as it is; the run tells which files it holds without the coder's edits.
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
    /// That, and settle disputes (`--arbitrate`).
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
    /// A run is carried on after an interruption or after a person settled a dispute.
    RunResumed,
    /// An agent is asked; its answer has to repeat the nonce.
    CallStarted {
        call: CallId,
        role: Role,
        prompt_bytes: u64,
        nonce: String,
    },
    /// An agent has answered, or its process has ended otherwise.
    CallFinished {
        call: CallId,
        #[serde(flatten)]
        answer: CallAnswer,
        /// Absent if the process could not be started.
        transcript: Option<Transcript>,
        /// Wall time.
        millis: u64,
        /// Tokens and money, where known; of all tries together.
        usage: Box<Usage>,
        #[serde(default, skip_serializing_if = "CallMetadata::is_empty")]
        told: Box<CallMetadata>,
    },
    /// While an agent worked that may only read and that nothing held to it, something changed. Its answer counts for
    /// nothing.
    ReadOnlyViolated {
        call: CallId,
        changes: Vec<String>,
    },
    /// Something a reader has to know, in one line.
    Notice {
        text: String,
    },
    RunEnded {
        exit: ExitReason,
        millis: u64,
    },
    /// `glee runs undo` took back what the coder had done.
    RunUndone {
        files: u64,
    },
    /// `glee runs undo --redo` brought back what an undo had replaced.
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
    /// A later round (from 2) begins on what changed.
    RoundStarted {
        round: u32,
        shards: Vec<Vec<Coverage>>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        skipped: Vec<Skip>,
    },
    /// A reviewer's earlier answers stand for a part of a call, or for all of it: then nobody is asked.
    AnswersReused {
        call: CallId,
        from: Vec<ReusedFrom>,
        /// What the earlier answers raise, at the lines of the code as it is now.
        findings: Vec<RawFinding>,
        /// What is still asked; nothing where all of it is known.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        asked: Vec<AskedFile>,
        /// Earlier findings at code that has changed since: the reviewer reads it again.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        superseded: Vec<RawFinding>,
    },
    /// What a complete answer of a reviewer says of each file, for later reviews of the same content.
    FilesReviewed {
        call: CallId,
        /// The BLAKE3 hash (hex) of who was asked and how: agent, program, prompt template, focus, rules.
        asker: String,
        /// The key of the hashes of lines, random for each record.
        salt: String,
        files: Vec<FileReview>,
        /// Findings that belong to none of the files: they are reused only while all files are the same.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        others: Vec<RawFinding>,
    },
    /// What databases of advisories say of findings that name a package or an advisory (phase 6), by where the finding
    /// was read: the call and the number in its answer.
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
    /// The debate about a round's findings is over. `findings` are those of the round as they are now, and what was
    /// observed in the debate; `silent` were asked and did not answer.
    DebateConcluded {
        round: u32,
        findings: Vec<Finding>,
        silent: Vec<AgentName>,
        report: DebateMessage,
    },
    /// The debate was told to end, and answered.
    DebateShutdown {
        messages: Vec<DebateMessage>,
    },
    /// A finding is covered by a ruling or disposition of an earlier dispute.
    AlreadyRuled {
        finding: FindingId,
        dispute: RulingRef,
        disposition: Disposition,
        /// The tag that the ruling gave it and that is optional in this run: the finding is open under it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        new_tag: Option<Tag>,
        /// Whether the reviewer was told of the ruling, names it, and has no evidence that it did not have.
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
    /// The tree is kept as it stood before the coder's first byte.
    BeforeImage {
        /// The place of its note below the state folder. Of older runs a git ref, or the path of the note.
        kept_as: String,
        tree: String,
    },
    /// What a call of the coder changed: `tree` is the id of the content after it, `touched` are the findings at whose
    /// anchor the code changed.
    TreeChanged {
        call: CallId,
        tree: String,
        changes: Vec<FileChange>,
        touched: Vec<FindingId>,
    },
    /// A command of `review.verify` has run on the coder's edits; `tail` is the end of what it printed.
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
    /// Disputes that stayed open are brought again before whoever decides.
    DisputesReopened {
        disputes: Vec<DisputeNumber>,
        /// Judges that were not a part of the run's plan.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        judges: Vec<Agent>,
    },
    /// A finding repeats one whose dispute stayed open in the run `from`: the dispute goes on here, under its number, and
    /// how it ends is recorded there as well.
    DisputeCarriedOn { dispute: Box<Dispute>, from: RunId },
    /// A person chose how to settle a dispute, or the configured default was taken.
    RouteChosen { dispute: DisputeNumber, route: Route, by_person: bool },
    /// A ruling, by a judge or a person.
    RulingGiven { dispute: DisputeNumber, ruling: RulingRecord },
    DisputeSettled {
        dispute: DisputeNumber,
        #[serde(flatten)]
        settlement: Settlement,
    },
    /// A person revoked the ruling of a settled dispute (`glee disputes reopen`): the dispute waits again.
    RulingRevoked {
        dispute: DisputeNumber,
        #[serde(default, skip_serializing_if = "Untrusted::is_empty")]
        reason: Untrusted,
    },
    /// The ruling of a dispute binds no longer because its code is gone (`glee disputes prune`); the dispute stays settled.
    RulingEnded { dispute: DisputeNumber },
}

/// Events of a stage or a checkpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum ConsensusEvent {
    /// A stage or a checkpoint begins.
    StageStarted { plan: Box<StagePlan> },
    /// Everybody has answered a stage or cannot, and the aggregator has spoken.
    StageJudged { verdict: StageVerdict },
    /// A stage's conflicts cannot be decided without a person.
    StageDeadlocked { reason: String },
    /// A stage's conflicts are decided, bindingly.
    StageDecided { decision: Decision, by: Settler },
    /// A question of a checkpoint has its answer.
    QuestionResolved { resolution: Resolution },
}

/// Events of a watch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum WatchEvent {
    /// A watch begins, or is started again.
    WatchStarted { plan: Box<WatchPlan> },
    /// An agent, or a person, told a watch something.
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
    /// The agents concerned are asked to clear up what reviewers do not agree with.
    ClarificationAsked { cycle: u32, agents: Vec<AgentName>, prompt: Untrusted },
    /// A person pauses the work of a watch; the reason may be empty.
    WatchPaused { by: Untrusted, reason: Untrusted },
    /// A person lets the work of a watch go on, whatever paused it; the reason may be empty.
    WatchResumed { by: Untrusted, reason: Untrusted },
    /// A person closes an issue of a watch; the reason may be empty.
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
