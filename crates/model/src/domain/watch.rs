//! Event-driven peer review: the events that agents report, the reviews that follow from the events, and the
//! resulting actions. The terms are those of the review system's specification (seed 004): milestone, review
//! request, review result, verdict, STOP & ESCALATE.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Agent, AgentName, Untrusted};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventType {
    /// A major task is complete.
    Milestone,
    /// The agent is stuck or confused.
    Blocker,
    RequestReview,
    /// The user asks for a review.
    UserManual,
    /// Information that triggers no cycle.
    Note,
    /// The agent has finished its work. This event triggers no cycle.
    Done,
}

impl EventType {
    /// All kinds of events, in the order of the specification.
    pub const ALL: [Self; 6] = [
        Self::Milestone,
        Self::Blocker,
        Self::RequestReview,
        Self::UserManual,
        Self::Note,
        Self::Done,
    ];
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentEvent {
    #[serde(rename = "type")]
    pub kind: EventType,
    /// The agent that reported the event; absent if a person reported the event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<Untrusted>,
    /// Paths inside the tree.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<Untrusted>,
    /// The number of the cycle whose clarification request the event answers. Absent if the event answers no
    /// clarification request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clarifies: Option<u32>,
}

/// The cause of a cycle: one of the five triggers of the specification, or an answered clarification request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Trigger {
    Milestone,
    Blocker,
    RequestReview,
    UserManual,
    /// No agent has reported an event during the period in the setting `watch.idle_review`.
    TimeoutFallback,
    /// Agents have answered a clarification request.
    Clarified,
}

/// The request to a reviewer, in the format of the specification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewRequest {
    /// Always `review_request`.
    #[serde(rename = "type")]
    pub form: String,
    pub reviewer: AgentName,
    /// The agents whose work is reviewed. The reviewer itself is never one of these agents.
    pub targets: Vec<AgentName>,
    /// For each agent in `targets`, the value of `<name>_summary` lists the events that the agent reported after
    /// the last cycle.
    pub context: BTreeMap<String, Untrusted>,
    pub focus_areas: Vec<String>,
    pub max_words: u32,
    /// Open issues of earlier cycles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_concerns: Vec<OpenConcern>,
}

impl ReviewRequest {
    pub const FORM: &str = "review_request";
}

/// An open issue of an earlier cycle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpenConcern {
    pub number: u32,
    pub raised_by: AgentName,
    #[serde(flatten)]
    pub issue: PeerIssue,
}

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// No issue.
    Approved,
    /// There are issues to resolve.
    Concerns,
    /// The agents must stop their work.
    Blocker,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PeerIssue {
    /// The reviewer's word for the severity.
    pub severity: Untrusted,
    pub description: Untrusted,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<Untrusted>,
}

/// The payload of a `review_result`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerReview {
    pub verdict: Verdict,
    pub summary: Untrusted,
    /// The issues. The list is empty only if the verdict is `approved`.
    pub issues: Vec<PeerIssue>,
    /// The time in the reviewer's answer. If the answer contains no time, `timestamp` is the time at which the
    /// review arrived.
    pub timestamp: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ballot {
    pub reviewer: AgentName,
    /// `None` means that the reviewer is *absent*. An absent reviewer never counts as `approved`.
    pub verdict: Option<Verdict>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub absent: Option<Untrusted>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// At least one verdict is `blocker` (rule 1 in `rules::watch::verdicts`).
    StopAndEscalate,
    /// At least two verdicts are `concerns` (rule 2).
    PauseAndClarify,
    /// Exactly one verdict is `concerns` (rule 3), or a reviewer is absent and all given verdicts are `approved`
    /// (rule 4).
    LogAndContinue,
    /// All reviewers gave the verdict `approved` (rule 4).
    Continue,
    /// No reviewer gave a usable verdict.
    NotReviewed,
}

impl Action {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::StopAndEscalate => "STOP & ESCALATE",
            Self::PauseAndClarify => "PAUSE & CLARIFY",
            Self::LogAndContinue => "LOG & CONTINUE",
            Self::Continue => "CONTINUE",
            Self::NotReviewed => "NOT REVIEWED",
        }
    }

    pub fn pauses(self) -> bool {
        !matches!(self, Self::LogAndContinue | Self::Continue)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum WatchStatus {
    #[default]
    Running,
    Paused,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    pub agent: AgentName,
    pub task: String,
}

/// The configuration of a watch, recorded at each start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WatchPlan {
    pub root: String,
    /// The agents that the watch starts. The watch reads events from the output of these agents.
    pub agents: Vec<Agent>,
    /// The tasks that the watch sends to agents as prompts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<Job>,
    pub reviewers: Vec<Agent>,
    /// The judge for issues that remain open after a clarification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<Agent>,
    /// The agent that is asked which issues are the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aggregator: Option<Agent>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub backups: Vec<Agent>,
    pub focus_areas: Vec<String>,
    pub max_words: u32,
    /// The id of the tree's content at the first start of the watch. If the watch is started again, the event of
    /// the new start has no `tree`. `tree` is also absent if the content could not be recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
}
