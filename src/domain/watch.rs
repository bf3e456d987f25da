//! Event-driven peer review: what agents tell while they work, the reviews that follow, and what these come to.
//!
//! The words are those of the review system's specification (seed 004): milestone, review request, review result,
//! verdict, STOP & ESCALATE.

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
    /// Its user asks for a review.
    UserManual,
    /// Something worth knowing; it triggers nothing.
    Note,
    /// The agent has ended its work; it triggers nothing.
    Done,
}

impl EventType {
    /// All types, in the order of the specification.
    pub const ALL: [Self; 6] =
        [Self::Milestone, Self::Blocker, Self::RequestReview, Self::UserManual, Self::Note, Self::Done];
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentEvent {
    #[serde(rename = "type")]
    pub kind: EventType,
    /// Who tells; absent where a person does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Untrusted>,
    /// The files it is about, as paths inside the tree.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<Untrusted>,
    /// The cycle whose clarification it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clarifies: Option<u32>,
}

/// Why a cycle begins: the five of the specification, and the review after a clarification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Trigger {
    Milestone,
    Blocker,
    RequestReview,
    UserManual,
    /// Nothing was heard from any agent for a long time.
    TimeoutFallback,
    /// The agents concerned have answered a clarification.
    Clarified,
}

/// What a reviewer is sent, exactly as the specification has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewRequest {
    /// Always `review_request`.
    #[serde(rename = "type")]
    pub form: String,
    /// Who is asked.
    pub reviewer: AgentName,
    /// Whose work is reviewed; never the reviewer itself.
    pub targets: Vec<AgentName>,
    /// For each target `<name>_summary`: what it told since the last cycle.
    pub context: BTreeMap<String, Untrusted>,
    /// What to look at.
    pub focus_areas: Vec<String>,
    /// How long the summary may be, in words.
    pub max_words: u32,
    /// What reviewers raised in earlier cycles and nobody closed: what the targets' answers are answers to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_concerns: Vec<OpenConcern>,
}

/// A concern of an earlier cycle that is still open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpenConcern {
    /// The number of the issue.
    pub number: u32,
    /// Who raised it.
    pub raised_by: AgentName,
    /// What it is.
    #[serde(flatten)]
    pub issue: PeerIssue,
}

impl ReviewRequest {
    pub const FORM: &str = "review_request";
}

/// What a reviewer concludes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Nothing stands against the work.
    Approved,
    /// Something should be looked at.
    Concerns,
    /// The work must not go on like this.
    Blocker,
}

/// One issue of a review.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PeerIssue {
    /// How bad it is, in the reviewer's word.
    pub severity: Untrusted,
    /// What it is.
    pub description: Untrusted,
    /// Where, as a path inside the tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<Untrusted>,
}

/// The payload of a `review_result`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerReview {
    pub verdict: Verdict,
    pub summary: Untrusted,
    /// The issues; there is one at least unless the verdict is `approved`.
    pub issues: Vec<PeerIssue>,
    /// When the reviewer says it was made, or when Glee got it.
    pub timestamp: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ballot {
    pub reviewer: AgentName,
    /// The verdict; without one the reviewer is *absent*, which is never `approved`.
    pub verdict: Option<Verdict>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absent: Option<Untrusted>,
}

/// What is done about the verdicts of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Rule 1.
    StopAndEscalate,
    /// Rule 2.
    PauseAndClarify,
    /// Rule 3, and rule 4 where somebody is absent.
    LogAndContinue,
    /// Rule 4.
    Continue,
    /// Nobody gave a usable verdict.
    NotReviewed,
}

impl Action {
    /// The words of the specification.
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
        match self {
            Self::StopAndEscalate | Self::PauseAndClarify | Self::NotReviewed => true,
            Self::LogAndContinue | Self::Continue => false,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum WatchStatus {
    /// Agents work.
    #[default]
    Running,
    /// Agents wait.
    Paused,
}

/// What an agent is asked to do, in the words of a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    pub agent: AgentName,
    pub task: String,
}

/// Everything that a watch goes by; recorded when it begins and each time it is started again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WatchPlan {
    /// The absolute root of the work tree.
    pub root: String,
    /// Agents that Glee starts and reads events from.
    pub agents: Vec<Agent>,
    /// What those of them are asked to do whose program answers a prompt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<Job>,
    pub reviewers: Vec<Agent>,
    /// Who rules on what a clarification did not settle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<Agent>,
    /// Agents that answer in the place of those that name them as their backup.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub backups: Vec<Agent>,
    pub focus_areas: Vec<String>,
    /// How long a summary may be, in words.
    pub max_words: u32,
    /// The id of the tree's content at this time; absent where it could not be recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
}
