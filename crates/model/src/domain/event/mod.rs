//! The events of a run, which the history stores and listeners receive. The state of a run is a fold over its
//! events. The history contains everything that a later reader needs, except the raw output of agents. Events
//! refer to the raw output by call id and hash. A later version of Glee must not remove or rename a recorded
//! field.

mod call;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::civil::Date;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::domain::{
    Action, AdvisoryStatus, Agent, AgentEvent, AgentName, AnsweredObjection, AuditPlan, Ballot,
    CallMetadata, Comparison, Coverage, DebateMessage, Decision, DemonstrationRun, Disposition,
    Dispute, DisputeNumber, EarlierDispute, ExitReason, FileChange, Finding, FindingId, Intent,
    KeyedAnswer, Location, Loosened, Person, PostedProblem, RaisedIn, RawFinding, Resolution,
    Response, RestatedFinding, Reuse, ReviewRequest, ReviewedFiles, Role, Route, Ruler,
    RulingAudit, RulingRecord, RulingRef, RunId, Settler, SharedRuling, Skip, StagePlan,
    StageVerdict, Tag, Trigger, UnsurePair, Untrusted, Usage, WatchPlan, WatchStatus,
};

pub use call::{CallAnswer, CallId, DisputeAnswer, Part, Purpose, Transcript};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    pub run: RunId,
    /// The number of the event within the run, counted from 1 without gaps.
    pub seq: u64,
    pub at: Timestamp,
    #[serde(flatten)]
    pub kind: EventKind,
}

/// The decisions that were made before the first call. A plan is sufficient to resume the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub root: String,
    pub target: String,
    pub commit: Option<String>,
    /// The id of the reviewed content: a git tree id, or `blake3:...` outside git.
    pub tree: String,
    pub mode: Mode,
    /// All reviewers, at most one coder, and the judges.
    pub agents: Vec<Agent>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub backups: Vec<Agent>,
    /// The agents that are asked only whether findings are the same: the aggregator, and a judge if `agents` has none.
    /// A run does not depend on them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comparers: Vec<Agent>,
    /// The shards. A shard lists the files that one call covers.
    pub shards: Vec<Vec<Coverage>>,
    pub skipped: Vec<Skip>,
    /// The settings by dotted key, in the format of `glee config list`.
    pub settings: BTreeMap<String, Value>,
    /// The commit from which the run takes the project's `.glee` folder. `steered_by` is present if the change
    /// under review edits `.glee`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steered_by: Option<String>,
    /// The agents whose commands run in a checkout of the base of the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_base: Option<AtBase>,
    /// What the project's configuration loosens about this review. See the field of the outcome.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loosened: Vec<Loosened>,
    /// Glee's own findings about the change. Glee later merges its own findings with the findings of the reviewers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own: Vec<RawFinding>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub staged: Option<Staged>,
    /// The route of every dispute, as given with the option `--on-dispute`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_dispute: Option<Route>,
    /// The commit whose rulings in `.glee/rulings` are in force, and whose guidelines are sent; absent outside git and before the first commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rulings_at: Option<String>,
    /// What the change is for; empty if the target is not made of commits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub intent: Vec<Intent>,
    /// What the person who asked for the review wants of it (`--instructions`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Arguments for `glee review` that select the same target again. Paths are relative to the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_args: Option<Vec<String>>,
    /// `pull_request` is present if the target is a pull request (`glee review --pr`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<PullRequestPlan>,
    /// The path of the worktree in which the run works instead of the user's tree (`--worktree`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
}

/// The agents whose commands run in a checkout of a commit, because the project gives the commands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AtBase {
    pub commit: String,
    pub agents: Vec<AgentName>,
}

/// The pull request that a run reviews.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PullRequestPlan {
    pub number: u64,
    /// The URL of the pull request's web page.
    pub link: String,
    /// The commit at the tip of the base branch. Glee reads the configuration and the shared rulings from this
    /// commit.
    pub base: String,
    /// The merge base of the base commit and the head commit.
    pub from: String,
    pub head: String,
    /// The rulings that people gave in the conversation of the pull request. These rulings apply like the shared
    /// rulings in `.glee/rulings`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rulings: Vec<SharedRuling>,
    /// The problems of the comments that Glee posted to the pull request before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub posted: Vec<PostedProblem>,
}

/// The way in which a review of staged changes treats the git index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Staged {
    /// The index remains unchanged. The run reports the files whose version in the index lacks the coder's edits.
    Left,
    /// Glee stages the files that the coder changed (`--restage`).
    Restaged,
}

/// A finding with several places of which the coder has changed only some.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartlyChanged {
    pub finding: FindingId,
    pub unchanged: Vec<Location>,
}

/// The changes of a coder's call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TreeChange {
    pub call: CallId,
    pub tree: String,
    pub changes: Vec<FileChange>,
    /// The files that no finding names, and that were put back to what they were before the call (`review.fix.scope`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub put_back: Vec<String>,
    pub touched: BTreeSet<FindingId>,
    /// The findings of which only some places changed so far.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partly: Vec<PartlyChanged>,
}

impl TreeChange {
    /// The unchanged places of a finding of which only some places changed so far.
    pub fn unchanged_of(&self, finding: FindingId) -> Option<&[Location]> {
        let mut partly = self.partly.iter();
        let partly = partly.find(|partly| partly.finding == finding)?;
        Some(&partly.unchanged)
    }
}

/// The result of a command of `review.verify`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verified {
    pub round: u32,
    pub command: String,
    pub passed: bool,
    pub tail: String,
}

/// Findings that a person handed to the coder after the run had ended (`glee fix`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FixRequest {
    pub findings: Vec<FindingId>,
    /// All coders of the run, in the order of choice. Empty if the request adds no coder to the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub coders: Vec<Agent>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub backups: Vec<Agent>,
}

impl FixRequest {
    /// Adds the coders of the request and their backups to the plan of the run.
    pub fn add_agents(&self, plan: &mut Plan) {
        if !self.coders.is_empty() {
            plan.agents.retain(|agent| agent.role != Role::Coder);
        }
        plan.agents.extend(self.coders.iter().cloned());
        plan.backups.extend(self.backups.iter().cloned());
    }
}

/// Which parts of the review workflow a run includes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The code is reviewed, and no file is changed.
    #[default]
    Review,
    /// The coder receives the findings, and disputes remain open (`--fix`).
    Fix,
    /// The coder receives the findings, and disputes are settled (`--arbitrate`).
    Arbitrate,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settlement {
    pub disposition: Disposition,
    pub by: Ruler,
    pub reason: Untrusted,
    /// The last day, in UTC, on which the ruling binds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Date>,
}

impl Settlement {
    /// Whether the settlement holds after its run. A discard by the configured route closes the finding in its run
    /// only: nobody ruled, so the dispute stays open.
    pub fn binds(&self) -> bool {
        self.by != Ruler::Policy
    }
}

/// The kind of an event. An event is recorded as an object whose field `event` contains the event's name.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum EventKind {
    Run(RunEvent),
    Review(ReviewEvent),
    Dispute(DisputeEvent),
    Consensus(ConsensusEvent),
    Watch(WatchEvent),
}

/// The events that a run of any workflow can record: calls, notices, the end of the run, and later actions on the
/// run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum RunEvent {
    /// `glee runs resume` continues the run.
    RunResumed,
    /// A call begins. The answer has to repeat the nonce.
    CallStarted {
        call: CallId,
        role: Role,
        prompt_bytes: u64,
        nonce: String,
    },
    /// A call ended. `answer` is the parsed answer, or the reason why the answer is missing.
    CallFinished {
        call: CallId,
        #[serde(flatten)]
        answer: CallAnswer,
        /// `transcript` is absent if the process could not be started.
        transcript: Option<Transcript>,
        millis: u64,
        usage: Box<Usage>,
        #[serde(default, skip_serializing_if = "crate::domain::is_default")]
        told: Box<CallMetadata>,
    },
    /// Files changed during the call of an agent that is not allowed to change files. The agent ran without a
    /// sandbox. Glee discards the agent's answer.
    ReadOnlyViolated { call: CallId, changes: Vec<String> },
    /// A message for the user. The report repeats the message.
    Notice { text: String },
    /// The run ended. `exit` is the reason why the run ended. The exit code of the command depends on `exit`.
    RunEnded { exit: ExitReason, millis: u64 },
    /// `glee runs undo` reverted the coder's edits in these files. `left` is the number of files that still have edits of
    /// the coder, because the undo was about others.
    RunUndone { files: Vec<String>, left: u64 },
    /// `glee runs undo --redo` applied the coder's edits to these files again.
    RunRedone { files: Vec<String> },
    /// `glee runs apply` brought the coder's edits of this number of files from the run's worktree into the user's tree.
    /// `left` is the number of files whose edits are still only in the worktree.
    RunApplied { files: u64, left: u64 },
    /// `glee runs drop` removed the run's worktree and forgot the edits that were only there.
    RunDropped,
    /// `glee runs prune` deleted the run's trees, code and raw answers.
    RunPruned { bytes: u64 },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum ReviewEvent {
    /// A review begins. The plan contains the target, the agents and the settings.
    RunStarted { plan: Box<Plan> },
    /// A round after round 1 begins. The reviewers review only the changed files.
    RoundStarted {
        round: u32,
        shards: Vec<Vec<Coverage>>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        skipped: Vec<Skip>,
    },
    /// Glee reuses a reviewer's earlier answers instead of calling the reviewer, or calls the reviewer only
    /// about the remaining files.
    AnswersReused {
        call: CallId,
        #[serde(flatten)]
        reuse: Box<Reuse>,
    },
    /// The findings of a complete review, by file. Later reviews of the same content reuse the findings.
    FilesReviewed {
        call: CallId,
        #[serde(flatten)]
        review: Box<ReviewedFiles>,
    },
    /// The results of looking up findings in databases of advisories. A key of `answers` identifies a finding by
    /// the reviewer's call and by the finding's index in the answer to the call.
    AdvisoriesAsked {
        answers: BTreeMap<String, AdvisoryStatus>,
    },
    /// The pairs of findings of a round that may name the same defect, before the findings are merged. The pairs with
    /// findings that were raised in the debate follow before the debate is concluded.
    PairsUnsure {
        round: u32,
        #[serde(default, skip_serializing_if = "crate::domain::is_default")]
        raised_in: RaisedIn,
        pairs: Vec<UnsurePair>,
    },
    /// The answers of a call about findings that may be the same. Later runs reuse the answers.
    FindingsCompared {
        call: CallId,
        answers: Vec<KeyedAnswer>,
    },
    /// Answers of earlier runs about the findings of a round that may repeat an earlier dispute.
    ComparisonsReused {
        round: u32,
        comparisons: Vec<Comparison>,
    },
    /// The findings of all reviewers in a round, after findings about the same problem were merged.
    FindingsMerged {
        round: u32,
        findings: Vec<Finding>,
        /// What reviewers said again about open findings of earlier rounds.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        restated: Vec<RestatedFinding>,
    },
    /// Two numbers turned out to be one problem. The problem keeps the number `older`, and `newer` becomes its alias.
    ProblemsJoined { newer: FindingId, older: FindingId },
    /// A ruling named only some members of a group. The other members are another defect, and have a new number.
    MembersSeparated {
        dispute: DisputeNumber,
        /// The members that left the group, each with its former id in `was`, and then the members that stayed.
        findings: Vec<Finding>,
        /// For later runs: the members that left are not the same as those that stayed.
        answers: Vec<KeyedAnswer>,
    },
    /// A round of the debate (2 or 3) is complete.
    DebateRound {
        round: u32,
        debate_round: u32,
        message: DebateMessage,
    },
    /// The debate of a round has ended, or was not needed because nobody had a finding to examine. `findings` contains the findings of the round after the debate, including
    /// findings that reviewers added during the debate. `silent` lists the reviewers that did not answer.
    DebateConcluded {
        round: u32,
        findings: Vec<Finding>,
        silent: Vec<AgentName>,
        report: DebateMessage,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        restated: Vec<RestatedFinding>,
    },
    /// The debate of a round ends. `messages` contains a `ShutdownRequest` and the `ShutdownResponse`. If the run
    /// was stopped during the debate, `approve` is false in the `ShutdownResponse`.
    DebateShutdown { messages: Vec<DebateMessage> },
    /// The outcome of an earlier dispute applies to a finding of this run.
    AlreadyRuled {
        finding: FindingId,
        dispute: RulingRef,
        disposition: Disposition,
        /// The new tag of the finding; absent if the ruling set no tag. A finding with a new tag remains open, and
        /// is optional in this run.
        #[serde(skip_serializing_if = "Option::is_none")]
        new_tag: Option<Tag>,
        /// Whether the reviewer referred to the ruling, but cited no new evidence.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        insisted: bool,
    },
    /// A finding relates to an earlier dispute whose outcome does not bind the finding.
    RelatedDispute {
        finding: FindingId,
        #[serde(flatten)]
        earlier: Box<EarlierDispute>,
    },
    /// A finding repeats an earlier finding, and the dispute about the earlier finding waits for a person. Glee
    /// opens no second dispute about the problem.
    StillDisputed {
        finding: FindingId,
        dispute: DisputeNumber,
    },
    /// A snapshot of the tree before the coder's first edit.
    BeforeImage {
        /// The file that describes the snapshot, as a path relative to the state folder.
        kept_as: String,
        tree: String,
    },
    /// The coder changed files. `tree` is the id of the content after the coder's call. `touched` lists the
    /// findings whose anchored code changed. If such a finding has several places, the coder has changed all these
    /// places since the coder first received the finding.
    TreeChanged(TreeChange),
    /// A run continues after its end: the coders receive only the findings of the fix request.
    FixRequested {
        #[serde(flatten)]
        request: FixRequest,
    },
    /// A command of `review.verify` checked the coder's edits; `tail` is the end of the command's output.
    Verified(Verified),
    /// Glee ran the demonstration of a finding or of the coder's answer on one tree, or refused to run it.
    DemonstrationRan(DemonstrationRun),
    /// These mandatory findings do not block, because `review.demonstrations` is `required` and no test shows them.
    Undemonstrated { findings: Vec<FindingId> },
}

/// Events of disputes. A review or a watch can open a dispute. While no run is active, commands such as `glee
/// disputes resolve` can settle a dispute.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum DisputeEvent {
    /// A dispute about a mandatory finding begins.
    DisputeOpened { dispute: Box<Dispute> },
    /// Open disputes are judged again.
    DisputesReopened {
        disputes: Vec<DisputeNumber>,
        /// Judges that are not in the run's plan.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        judges: Vec<Agent>,
    },
    /// A finding repeats a disputed finding of an earlier run; `from` is the id of the earlier run. The dispute is
    /// still open and continues in this run. Both runs record how the dispute ends.
    DisputeCarriedOn { dispute: Box<Dispute>, from: RunId },
    /// A person, or the configured default, chose the route of a dispute.
    RouteChosen {
        dispute: DisputeNumber,
        route: Route,
        /// The person who chose the route; absent if the route comes from the configuration.
        #[serde(skip_serializing_if = "Option::is_none")]
        person: Option<Person>,
    },
    /// A person answered the coder's objection instead of ruling on it. The coder is asked again.
    ObjectionAnswered {
        dispute: DisputeNumber,
        #[serde(flatten)]
        answered: Box<AnsweredObjection>,
    },
    /// The coder replied to the answer of a person. A reply IMPLEMENTED ends the dispute.
    CoderReplied {
        dispute: DisputeNumber,
        response: Response,
    },
    /// A judge or a person ruled.
    RulingGiven {
        dispute: DisputeNumber,
        ruling: RulingRecord,
    },
    /// A dispute ended. `by` names the judge, person or route that settled the dispute, and `disposition` is the
    /// result. A discard by the configured route closes the finding in this run only; the dispute stays open.
    DisputeSettled {
        dispute: DisputeNumber,
        #[serde(flatten)]
        settlement: Settlement,
    },
    /// A person revoked the ruling and reopened the dispute (`glee disputes reopen`).
    RulingRevoked {
        dispute: DisputeNumber,
        #[serde(default, skip_serializing_if = "Untrusted::is_empty")]
        reason: Untrusted,
    },
    /// The ruling no longer binds because the code of the finding was removed (`glee disputes prune`).
    RulingEnded { dispute: DisputeNumber },
    /// Another judge is asked about a sample of dismissed findings (`glee stats audit`).
    AuditStarted { plan: Box<AuditPlan> },
    /// The judge of an audit gave a ruling, or failed to give a ruling. In both cases, the audited ruling
    /// remains in force.
    RulingAudited {
        #[serde(flatten)]
        audit: Box<RulingAudit>,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum ConsensusEvent {
    /// A stage or a checkpoint begins. The plan contains the question and the agents.
    StageStarted { plan: Box<StagePlan> },
    /// The answers of all agents to the stage were compared. `verdict` lists agreements and conflicts.
    StageJudged { verdict: StageVerdict },
    /// The agents do not agree, and a person has to decide.
    StageDeadlocked { reason: String },
    /// An arbiter or a person decided the conflicts of a stage.
    StageDecided { decision: Decision, by: Settler },
    /// A question of a checkpoint received a binding answer.
    QuestionResolved { resolution: Resolution },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum WatchEvent {
    /// A watch starts or restarts.
    WatchStarted { plan: Box<WatchPlan> },
    /// A worker of a watch reported an agent event, such as a milestone or a blocker.
    EventReceived {
        #[serde(flatten)]
        said: AgentEvent,
    },
    /// A cycle of a watch begins. Cycles are counted from 1.
    CycleStarted {
        cycle: u32,
        triggers: BTreeSet<Trigger>,
    },
    /// The reviewers of a watch are asked to review the work. `tree` is absent if the content could not be recorded.
    ReviewRequested {
        cycle: u32,
        requests: Vec<ReviewRequest>,
        tree: Option<String>,
    },
    /// The issues of a cycle that may be the same as each other or as earlier issues, before the cycle is decided. `one`
    /// consists of the reviewer and the index of an issue, counted from 0, and `other` can be the number of an issue.
    IssuesUnsure { cycle: u32, pairs: Vec<UnsurePair> },
    /// A cycle ends with an action, which results from the verdicts. `status` remains paused if a person or a
    /// blocker paused the work.
    CycleDecided {
        cycle: u32,
        action: Action,
        status: WatchStatus,
        ballots: Vec<Ballot>,
    },
    /// Agents are asked for a clarification.
    ClarificationAsked {
        cycle: u32,
        agents: Vec<AgentName>,
        prompt: Untrusted,
    },
    /// A person paused the work; `reason` can be empty.
    WatchPaused { by: Untrusted, reason: Untrusted },
    /// A person resumed the work; `reason` can be empty.
    WatchResumed { by: Untrusted, reason: Untrusted },
    /// A person closed an issue; `reason` can be empty.
    IssueClosed {
        issue: u32,
        by: Untrusted,
        reason: Untrusted,
    },
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

        const GROUPS: &[fn(&Value) -> serde_json::Result<EventKind>] =
            &[$(|value| $event::deserialize(value).map(EventKind::$group)),*];
    };
}

groups!(
    Run(RunEvent),
    Review(ReviewEvent),
    Dispute(DisputeEvent),
    Consensus(ConsensusEvent),
    Watch(WatchEvent)
);

impl<'de> Deserialize<'de> for EventKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let mut read = GROUPS
            .iter()
            .map(|group| group(&value).map_err(D::Error::custom));
        // Serde reports `unknown variant` if the event belongs to another group.
        read.find(|read| {
            !read
                .as_ref()
                .is_err_and(|error| error.to_string().starts_with("unknown variant"))
        })
        .unwrap_or_else(|| {
            Err(D::Error::custom(format!(
                "unknown event `{}`",
                value["event"]
            )))
        })
    }
}
