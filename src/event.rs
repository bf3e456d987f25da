//! Events: the contract between a run and everybody who listens to it.
//!
//! An event is written to the journal and synced before anything acts on it. The state of a run is a fold over its
//! events, so an event carries everything that a later reader needs; only raw agent output lies beside the journal,
//! named by the call's id and its hash. Recorded forms never lose or rename a field.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::{
    Advised, Agent, AgentName, AnswerStatus, Coverage, DebateMessage, Decision, Defended, Disposition, Dispute,
    DisputeNumber, Examined, ExitReason, FailureKind, FileChange, Finding, FindingId, RawFinding, Recheck,
    Resolution, Response, Role, Route, Ruler, Ruling, RulingRecord, RunId, Said, Settler, Skip, StagePlan,
    StageVerdict, Told, Untrusted, Usage,
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

/// What a call of an agent is for; together with the agent it identifies the call within a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "purpose", rename_all = "snake_case")]
pub enum Purpose {
    /// A reviewer reads one shard.
    Review {
        /// The round, counted from 1.
        round: u32,
        /// The shard's index, counted from 0.
        shard: u32,
    },
    /// A reviewer examines what others raised (round 2 of a debate).
    Examine {
        /// The round of the run.
        round: u32,
    },
    /// A reviewer defends its challenged findings (round 3 of a debate).
    Defend {
        /// The round of the run.
        round: u32,
    },
    /// The coder answers the findings of a round.
    Respond {
        /// The round.
        round: u32,
    },
    /// The coder is called again with binding rulings.
    Enforce {
        /// The round.
        round: u32,
    },
    /// A judge rules on a dispute.
    Judge {
        /// The dispute.
        dispute: DisputeNumber,
    },
    /// A reviewer looks at the changes made for its findings.
    Recheck {
        /// The round.
        round: u32,
    },
    /// A part in a stage or at a checkpoint.
    Stage {
        /// Which.
        part: Part,
    },
}

/// What an agent is asked for in a stage or at a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// An agent answers a stage.
    Position,
    /// The aggregator synthesises the answers to a stage.
    Aggregate,
    /// The arbiter decides a stage's conflicts.
    Arbitrate,
    /// An agent answers the questions of a checkpoint.
    Questions,
    /// A validator is asked whether a majority is right.
    Validate {
        /// The question's id.
        question: String,
    },
}

impl Purpose {
    /// The round it belongs to; a judge is asked per dispute.
    pub fn round(&self) -> Option<u32> {
        match self {
            Self::Review { round, .. }
            | Self::Examine { round }
            | Self::Defend { round }
            | Self::Respond { round }
            | Self::Enforce { round }
            | Self::Recheck { round } => Some(*round),
            Self::Judge { .. } | Self::Stage { .. } => None,
        }
    }

    /// Whether it is the coder that is asked, who may edit the tree.
    pub fn is_coder(&self) -> bool {
        matches!(self, Self::Respond { .. } | Self::Enforce { .. })
    }
}

/// One call: an agent, what it is asked for, and which attempt this is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct CallId {
    /// The agent.
    pub agent: AgentName,
    /// What for.
    #[serde(flatten)]
    pub purpose: Purpose,
    /// The attempt, counted from 1; in a review a call is repeated at most once, for a missing or invalid answer.
    pub attempt: u32,
}

impl CallId {
    /// A name for the call's files beside the journal: letters, digits, `-` and `.` only.
    pub fn file_stem(&self) -> String {
        let purpose = match &self.purpose {
            Purpose::Review { round, shard } => format!("review-{round}-{shard}"),
            Purpose::Examine { round } => format!("examine-{round}"),
            Purpose::Defend { round } => format!("defend-{round}"),
            Purpose::Respond { round } => format!("respond-{round}"),
            Purpose::Enforce { round } => format!("enforce-{round}"),
            Purpose::Judge { dispute } => format!("judge-{dispute}"),
            Purpose::Recheck { round } => format!("recheck-{round}"),
            Purpose::Stage { part } => match part {
                Part::Position => "position".to_owned(),
                Part::Aggregate => "aggregate".to_owned(),
                Part::Arbitrate => "arbitrate".to_owned(),
                Part::Questions => "questions".to_owned(),
                Part::Validate { question } => format!("validate-{}", plain(question)),
            },
        };
        let agent = plain(&self.agent.0);
        format!("{purpose}.{agent}.{}", self.attempt)
    }
}

/// A name as a part of a file's.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' }).collect()
}

/// What an agent's process left behind: sizes, hashes and the exit, never the bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Transcript {
    /// All bytes written to stdout, also those beyond the cap.
    pub stdout_bytes: u64,
    /// The BLAKE3 hash (hex) of all of them.
    pub stdout_hash: String,
    /// All bytes written to stderr.
    pub stderr_bytes: u64,
    /// The exit code, if the program ended by itself.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether the sandbox held it back from writing.
    #[serde(default)]
    pub held: bool,
}

/// What was read in the answer to a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum CallAnswer {
    /// A review.
    Review {
        /// Whether it can be relied on.
        status: AnswerStatus,
        /// What it raises.
        findings: Vec<RawFinding>,
        /// Text that belongs to no finding.
        notes: String,
    },
    /// A reviewer's words on the findings of others; a missing one is no agreement.
    Examine {
        /// The words.
        examinations: Vec<Examined>,
        /// What nobody had raised.
        observations: Vec<RawFinding>,
    },
    /// A reviewer's words on its own challenged findings; a missing one is no concession.
    Defend {
        /// The words.
        defences: Vec<Defended>,
    },
    /// A coder's answers; findings that are missing here were not answered.
    Respond {
        /// The answers.
        responses: Vec<Response>,
        /// Whether the closing line or the nonce was right.
        complete: bool,
    },
    /// A judge's ruling.
    Judge {
        /// The ruling.
        ruling: Ruling,
    },
    /// A reviewer's word on changes.
    Recheck {
        /// The words; findings that are missing here were not checked.
        checks: Vec<Recheck>,
    },
    /// What an agent says in a stage or at a checkpoint.
    Stage {
        /// The words.
        said: Box<Said>,
    },
    /// The process ended well, but its answer is not one.
    Invalid {
        /// What is wrong with it, in one line.
        error: String,
    },
    /// The process did not end well.
    Failed {
        /// What happened, in one line.
        error: String,
        /// What to do about it.
        hint: Option<String>,
        /// The kind of failure.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<FailureKind>,
    },
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
        /// The git ref, or the folder outside git.
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
    /// The run has ended.
    RunEnded {
        /// Why it ends so.
        exit: ExitReason,
        /// Wall time in milliseconds.
        millis: u64,
    },
    /// `glee runs undo` brought the tree back to the before-image.
    RunUndone {
        /// How many files were restored or removed.
        files: u64,
    },
    /// `glee runs prune` let go of the trees, the code and the raw answers of the run.
    RunPruned {
        /// The bytes that became free.
        bytes: u64,
    },
}
