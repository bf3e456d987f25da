//! Calls of agents: what for, which attempt, what was read in the answer and what the process left behind.

use serde::{Deserialize, Serialize};

use crate::domain::{
    AgentName, AnswerStatus, Comparison, Defended, DisputeNumber, Examined, FailureKind, PeerReview, RawFinding,
    Recheck, Response, Ruling, Said, Untrusted,
};

/// What a call of an agent is for; together with the agent it identifies the call within a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "purpose", rename_all = "snake_case")]
pub enum Purpose {
    /// A reviewer reads one shard; rounds count from 1, shards from 0.
    Review { round: u32, shard: u32 },
    /// A reviewer examines what others raised (round 2 of a debate).
    Examine { round: u32 },
    /// A reviewer defends its challenged findings (round 3 of a debate).
    Defend { round: u32 },
    /// The coder answers the findings of a round.
    Respond { round: u32 },
    /// The coder is called again with binding rulings.
    Enforce { round: u32 },
    /// The coder is called again because commands of `review.verify` fail on its edits.
    Repair { round: u32 },
    /// A judge rules on a dispute.
    Judge { dispute: DisputeNumber },
    /// A reviewer looks at the changes made for its findings.
    Recheck { round: u32 },
    /// A judge compares findings that may repeat earlier disputes.
    Compare { round: u32 },
    /// A part in a stage or at a checkpoint.
    Stage { part: Part },
    /// An agent does what a person asked it to when a watch began.
    Work,
    /// A reviewer is sent the review request of a watch's cycle.
    Peer { cycle: u32 },
}

/// What an agent is asked for in a stage or at a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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
    Validate { question: String },
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
            | Self::Repair { round }
            | Self::Recheck { round }
            | Self::Compare { round } => Some(*round),
            Self::Judge { .. } | Self::Stage { .. } | Self::Work | Self::Peer { .. } => None,
        }
    }

    /// Whether it is the coder that is asked, who may edit the tree.
    pub fn is_coder(&self) -> bool {
        matches!(self, Self::Respond { .. } | Self::Enforce { .. } | Self::Repair { .. } | Self::Work)
    }
}

/// One call: an agent, what it is asked for, and which attempt this is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CallId {
    pub agent: AgentName,
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
            Purpose::Repair { round } => format!("repair-{round}"),
            Purpose::Judge { dispute } => format!("judge-{dispute}"),
            Purpose::Recheck { round } => format!("recheck-{round}"),
            Purpose::Compare { round } => format!("compare-{round}"),
            Purpose::Stage { part } => match part {
                Part::Position => "position".to_owned(),
                Part::Aggregate => "aggregate".to_owned(),
                Part::Arbitrate => "arbitrate".to_owned(),
                Part::Questions => "questions".to_owned(),
                Part::Validate { question } => format!("validate-{}", plain(question)),
            },
            Purpose::Work => "work".to_owned(),
            Purpose::Peer { cycle } => format!("peer-{cycle}"),
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transcript {
    /// All bytes written to stdout, also those beyond the cap.
    pub stdout_bytes: u64,
    /// The BLAKE3 hash (hex) of all of them.
    pub stdout_hash: String,
    /// All bytes written to stderr.
    pub stderr_bytes: u64,
    pub exit_code: Option<i32>,
    pub signal: Option<i32>,
    /// Whether the sandbox held it back from writing.
    #[serde(default)]
    pub held: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum CallAnswer {
    Review {
        status: AnswerStatus,
        findings: Vec<RawFinding>,
        /// Text that belongs to no finding.
        notes: String,
        /// Why it cannot be relied on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        problem: Option<String>,
    },
    /// A reviewer's words on the findings of others, a missing one is no agreement; and what nobody had raised.
    Examine {
        examinations: Vec<Examined>,
        observations: Vec<RawFinding>,
    },
    /// A reviewer's words on its own challenged findings; a missing one is no concession.
    Defend {
        defences: Vec<Defended>,
    },
    /// A coder's answers; findings that are missing here were not answered. `complete`: the signature was right.
    Respond {
        responses: Vec<Response>,
        complete: bool,
    },
    Judge {
        ruling: Ruling,
    },
    /// A reviewer's words on changes; findings that are missing here were not checked.
    Recheck {
        checks: Vec<Recheck>,
    },
    /// A judge's words on findings that may repeat earlier disputes; a missing one means another problem.
    Compare {
        comparisons: Vec<Comparison>,
    },
    /// What an agent says in a stage or at a checkpoint.
    Stage {
        said: Box<Said>,
    },
    /// What an agent says of the work that it was asked for, cut where it is long.
    Work {
        said: Untrusted,
    },
    /// A reviewer's `review_result` in a cycle of a watch.
    Peer {
        review: Box<PeerReview>,
    },
    /// The process ended well, but its answer is not one.
    Invalid {
        error: String,
    },
    /// The process did not end well.
    Failed {
        error: String,
        hint: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<FailureKind>,
    },
}
