//! Events: the contract between a run and everybody who listens to it.
//!
//! An event is written to the journal and synced before anything acts on it. The state of a run is a fold over its
//! events, so an event carries everything that a later reader needs; only raw agent output lies beside the journal,
//! named by the call's id and its hash. Recorded forms never lose or rename a field.

mod call;

use std::collections::{BTreeMap, BTreeSet};

pub use call::{CallAnswer, CallId, Part, Purpose, Transcript};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::{
    Action, Advised, Agent, AgentEvent, AgentName, Ballot, Coverage, DebateMessage, Decision, Disposition, Dispute,
    DisputeNumber, ExitReason, FileChange, Finding, FindingId, RawFinding, Resolution, ReviewRequest, Role, Route,
    Ruler, RulingRecord, RunId, Settler, Skip, StagePlan, StageVerdict, Tag, Told, Trigger, Untrusted, Usage,
    WatchPlan, WatchStatus,
};

/// One thing that happened in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// The run it belongs to.
    pub run: RunId,
    /// Its place within the run, counted from 1 without gaps.
    pub seq: u64,
    /// When it was written.
    #[schemars(with = "String")]
    pub at: Timestamp,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// Everything that was decided before the first agent was asked; enough to carry the run on later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// The absolute root of the work tree.
    pub root: String,
    /// What is reviewed, in words.
    pub target: String,
    /// The commit under review, if there is one.
    pub commit: Option<String>,
    /// The id of the reviewed content: a git tree id, or `blake3:...` outside git.
    pub tree: String,
    /// What the run may do.
    pub mode: Mode,
    /// All agents that take part, by role: all reviewers, at most one coder, at most one judge.
    pub agents: Vec<Agent>,
    /// Agents that answer in the place of those that name them as their backup.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub backups: Vec<Agent>,
    /// The shards: for each, the files that one call of a reviewer covers.
    pub shards: Vec<Vec<Coverage>>,
    /// Files that are not reviewed.
    pub skipped: Vec<Skip>,
    /// The settings in force, as `glee config list` prints them (dotted key to value).
    pub settings: BTreeMap<String, serde_json::Value>,
    /// The commit whose `.glee` the run goes by, where the change under review edits it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steered_by: Option<String>,
    /// What Glee itself has to say of the change; it is merged with what the reviewers raise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own: Vec<RawFinding>,
    /// What is done about the index after the coder's edits, where what is staged is under review.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub staged: Option<Staged>,
    /// The route that was named on the command line for every dispute (`--on-dispute`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_dispute: Option<Route>,
}

/// What is done about the index where what is staged is under review.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Staged {
    /// It is left as it is; the run tells which files it holds without the coder's edits.
    Left,
    /// The files that the coder changed are staged (`--restage`).
    Restaged,
}

/// How far a run may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Settlement {
    /// What became of the finding.
    pub disposition: Disposition,
    /// Who decided.
    pub by: Ruler,
    /// Why.
    pub reason: Untrusted,
}

/// The kinds of events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum EventKind {
    /// A run begins.
    RunStarted {
        /// The plan.
        plan: Box<Plan>,
    },
    /// A run is carried on after an interruption or after a person settled a dispute.
    RunResumed,
    /// A later round begins on what changed.
    RoundStarted {
        /// The round, from 2.
        round: u32,
        /// The shards of this round.
        shards: Vec<Vec<Coverage>>,
        /// Files of this round that are not reviewed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        skipped: Vec<Skip>,
    },
    /// An agent is asked.
    CallStarted {
        /// The call.
        call: CallId,
        /// Its role.
        role: Role,
        /// The size of the prompt or request in bytes.
        prompt_bytes: u64,
        /// The nonce the answer has to repeat.
        nonce: String,
    },
    /// An agent has answered, or its process has ended otherwise.
    CallFinished {
        /// The call.
        call: CallId,
        /// What was read in its output.
        #[serde(flatten)]
        answer: CallAnswer,
        /// What its process left behind; absent if it could not be started.
        transcript: Option<Transcript>,
        /// Wall time in milliseconds.
        millis: u64,
        /// Tokens and money, where known; of all tries together.
        usage: Box<Usage>,
        /// What the program told of the call.
        #[serde(default, skip_serializing_if = "Told::is_empty")]
        told: Box<Told>,
    },
    /// While an agent worked that may only read and that nothing held to it, something changed. Its answer counts for
    /// nothing.
    ReadOnlyViolated {
        /// The call.
        call: CallId,
        /// What changed, one line each.
        changes: Vec<String>,
    },
    /// What databases of advisories say of findings that name a package or an advisory (phase 6).
    AdvisoriesAsked {
        /// The answers, by the place where the finding was read: the call and the number in its answer.
        answers: BTreeMap<String, Advised>,
    },
    /// The findings of a round are merged and numbered.
    FindingsMerged {
        /// The round.
        round: u32,
        /// The findings, in the order of their ids.
        findings: Vec<Finding>,
    },
    /// A round of the debate is complete.
    DebateRound {
        /// The round of the run.
        round: u32,
        /// The round of the debate: 2 or 3.
        debate_round: u32,
        /// What it brought.
        message: DebateMessage,
    },
    /// The debate about a round's findings is over.
    DebateConcluded {
        /// The round of the run.
        round: u32,
        /// The findings as they stand now, by id; new ones were observed in the debate.
        findings: Vec<Finding>,
        /// Who was asked and did not answer.
        silent: Vec<AgentName>,
        /// The final report.
        report: DebateMessage,
    },
    /// The debate was told to end, and answered.
    DebateShutdown {
        /// The request and the answer.
        messages: Vec<DebateMessage>,
    },
    /// A finding is covered by a ruling or disposition of an earlier dispute.
    AlreadyRuled {
        /// The finding.
        finding: FindingId,
        /// The earlier dispute.
        dispute: DisputeNumber,
        /// How it was settled.
        disposition: Disposition,
        /// The tag that the ruling gave it and that is optional in this run: the finding is open under it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        new_tag: Option<Tag>,
    },
    /// A finding repeats one whose dispute still waits for a person; no second dispute is opened.
    StillDisputed {
        /// The finding.
        finding: FindingId,
        /// The earlier dispute.
        dispute: DisputeNumber,
    },
    /// The tree is kept as it stood before the coder's first byte.
    BeforeImage {
        /// The place of its note below the state folder. Of older runs a git ref, or the path of the note.
        kept_as: String,
        /// The tree id.
        tree: String,
    },
    /// What a call of the coder changed in the tree.
    TreeChanged {
        /// The coder's call.
        call: CallId,
        /// The id of the tree's content after the call.
        tree: String,
        /// The changes of this call.
        changes: Vec<FileChange>,
        /// Findings at whose anchor the code changed.
        touched: Vec<FindingId>,
    },
    /// A disagreement on a mandatory finding.
    DisputeOpened {
        /// The dispute, as it stands at its beginning.
        dispute: Box<Dispute>,
    },
    /// Disputes that stayed open are brought again before whoever decides.
    DisputesReopened {
        /// The disputes.
        disputes: Vec<DisputeNumber>,
        /// Judges that were not a part of the run's plan.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        judges: Vec<Agent>,
    },
    /// A finding repeats one whose dispute stayed open in an earlier run: the dispute goes on here, under its number.
    DisputeCarriedOn {
        /// The dispute, about the finding of this run.
        dispute: Box<Dispute>,
        /// The run that it was opened in; how it ends is recorded there as well.
        from: RunId,
    },
    /// The way to settle a dispute is chosen.
    RouteChosen {
        /// The dispute.
        dispute: DisputeNumber,
        /// The way.
        route: Route,
        /// Whether a person chose it; otherwise the configured default was taken.
        by_person: bool,
    },
    /// A ruling, by a judge or a person.
    RulingGiven {
        /// The dispute.
        dispute: DisputeNumber,
        /// The ruling.
        ruling: RulingRecord,
    },
    /// A dispute has ended.
    DisputeSettled {
        /// The dispute.
        dispute: DisputeNumber,
        /// How.
        #[serde(flatten)]
        settlement: Settlement,
    },
    /// A command of `review.verify` has run on the coder's edits.
    Verified {
        /// The round.
        round: u32,
        /// The command line.
        command: String,
        /// Whether it passed.
        passed: bool,
        /// The end of what it printed.
        tail: String,
    },
    /// Something a reader has to know, in one line.
    Notice {
        /// The line.
        text: String,
    },
    /// A stage or a checkpoint begins.
    StageStarted {
        /// Everything that was decided before.
        plan: Box<StagePlan>,
    },
    /// Everybody has answered a stage or cannot, and the aggregator has spoken.
    StageJudged {
        /// What it comes to.
        verdict: StageVerdict,
    },
    /// A stage's conflicts cannot be decided without a person.
    StageDeadlocked {
        /// Why.
        reason: String,
    },
    /// A stage's conflicts are decided, bindingly.
    StageDecided {
        /// How.
        decision: Decision,
        /// By whom.
        by: Settler,
    },
    /// A question of a checkpoint has its answer.
    QuestionResolved {
        /// The answer.
        resolution: Resolution,
    },
    /// A watch begins, or is started again.
    WatchStarted {
        /// What it goes by from now on.
        plan: Box<WatchPlan>,
    },
    /// An agent, or a person, told a watch something.
    EventReceived {
        /// What.
        #[serde(flatten)]
        said: AgentEvent,
    },
    /// A review cycle of a watch begins.
    CycleStarted {
        /// Its number, from 1.
        cycle: u32,
        /// Why.
        triggers: BTreeSet<Trigger>,
    },
    /// The reviewers of a cycle are about to be asked.
    ReviewRequested {
        /// The cycle.
        cycle: u32,
        /// What each reviewer is sent.
        requests: Vec<ReviewRequest>,
        /// The id of the tree's content; absent where it could not be recorded.
        tree: Option<String>,
    },
    /// A review cycle has ended.
    CycleDecided {
        /// Its number.
        cycle: u32,
        /// What is done.
        action: Action,
        /// How the work stands now: what a person or a blocker stopped, no review lets go on.
        status: WatchStatus,
        /// What each reviewer brought.
        ballots: Vec<Ballot>,
    },
    /// The agents concerned are asked to clear up what reviewers do not agree with.
    ClarificationAsked {
        /// The cycle.
        cycle: u32,
        /// Who is asked.
        agents: Vec<AgentName>,
        /// What they are asked.
        prompt: Untrusted,
    },
    /// A person pauses the work of a watch.
    WatchPaused {
        /// Who.
        by: Untrusted,
        /// Why; may be empty.
        reason: Untrusted,
    },
    /// A person lets the work of a watch go on, whatever paused it.
    WatchResumed {
        /// Who.
        by: Untrusted,
        /// Why; may be empty.
        reason: Untrusted,
    },
    /// A person closes an issue of a watch.
    IssueClosed {
        /// Its number.
        issue: u32,
        /// Who.
        by: Untrusted,
        /// Why; may be empty.
        reason: Untrusted,
    },
    /// The run has ended.
    RunEnded {
        /// Why it ends so.
        exit: ExitReason,
        /// Wall time in milliseconds.
        millis: u64,
    },
    /// `glee runs undo` took back what the coder had done.
    RunUndone {
        /// How many files were written or removed.
        files: u64,
    },
    /// `glee runs undo --redo` brought back what an undo had replaced.
    RunRedone {
        /// How many files were written or removed.
        files: u64,
    },
    /// `glee runs prune` let go of the trees, the code and the raw answers of the run.
    RunPruned {
        /// The bytes that became free.
        bytes: u64,
    },
}
