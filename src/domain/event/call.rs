//! Calls of agents: their purpose, attempt, answer and process transcript.

use serde::{Deserialize, Serialize};

use crate::domain::{
    AgentName, AnswerStatus, Comparison, Defended, DisputeNumber, Examined, FailureKind, PeerReview, RawFinding,
    Recheck, Response, Ruling, Said, Untrusted,
};

/// The purpose of a call; together with the agent it identifies the call within a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "purpose", rename_all = "snake_case")]
pub enum Purpose {
    /// A reviewer reads one shard; rounds count from 1, shards from 0.
    Review {
        round: u32,
        shard: u32,
    },
    /// A reviewer examines what others raised (round 2 of a debate).
    Examine {
        round: u32,
    },
    /// A reviewer defends its challenged findings (round 3 of a debate).
    Defend {
        round: u32,
    },
    /// The coder answers the findings of a round.
    Respond {
        round: u32,
    },
    /// The coder is called again with binding rulings.
    Enforce {
        round: u32,
    },
    /// The coder is called again because commands of `review.verify` fail on its edits.
    Repair {
        round: u32,
    },
    /// A judge rules on a dispute.
    Judge {
        dispute: DisputeNumber,
    },
    /// A reviewer looks at the changes made for its findings.
    Recheck {
        round: u32,
    },
    /// A judge compares findings that may repeat earlier disputes.
    Compare {
        round: u32,
    },
    Stage {
        part: Part,
    },
    /// An agent works on the task that a person gave it when a watch began.
    Work,
    /// A reviewer is sent the review request of a watch's cycle.
    Peer {
        cycle: u32,
    },
}

/// What an agent is asked in a stage or a checkpoint.
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
    /// The round, if the purpose has one; a judge is asked about a dispute.
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

    /// Whether the agent is a coder, which may edit the tree.
    pub fn is_coder(&self) -> bool {
        matches!(self, Self::Respond { .. } | Self::Enforce { .. } | Self::Repair { .. } | Self::Work)
    }
}

/// A call: agent, purpose and attempt.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CallId {
    pub agent: AgentName,
    #[serde(flatten)]
    pub purpose: Purpose,
    /// The attempt, counted from 1; in a review a call is repeated at most once, after a missing or invalid answer.
    pub attempt: u32,
}

impl CallId {
    /// The stem of the names of the call's files: letters, digits, `-` and `.` only.
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

/// A name as a part of a file name.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' }).collect()
}

/// The sizes and hashes of an agent's output, and its exit; never the bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transcript {
    /// All bytes written to stdout, including those beyond the cap.
    pub stdout_bytes: u64,
    /// The BLAKE3 hash (hex) of all of them.
    pub stdout_hash: String,
    /// All bytes written to stderr.
    pub stderr_bytes: u64,
    pub exit_code: Option<i32>,
    pub signal: Option<i32>,
    /// Whether the process was sandboxed against writing.
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
        /// Why the answer is not reliable.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        problem: Option<String>,
    },
    /// A reviewer's examinations of the findings of others (a missing one is no agreement), and new findings.
    Examine {
        examinations: Vec<Examined>,
        observations: Vec<RawFinding>,
    },
    /// A reviewer's defences of its own challenged findings; a missing one is no concession.
    Defend {
        defences: Vec<Defended>,
    },
    /// A coder's answers; missing findings were not answered. `complete`: the closing line was valid.
    Respond {
        responses: Vec<Response>,
        complete: bool,
    },
    Judge {
        ruling: Ruling,
    },
    /// A reviewer's re-checks; missing findings were not checked.
    Recheck {
        checks: Vec<Recheck>,
    },
    /// A judge's comparisons of findings with earlier disputes; a missing one means another problem.
    Compare {
        comparisons: Vec<Comparison>,
    },
    /// An agent's answer in a stage or a checkpoint.
    Stage {
        said: Box<Said>,
    },
    /// An agent's answer to its task, truncated if long.
    Work {
        said: Untrusted,
    },
    /// A reviewer's `review_result` in a cycle of a watch.
    Peer {
        review: Box<PeerReview>,
    },
    /// The process succeeded, but its answer could not be parsed.
    Invalid {
        error: String,
    },
    /// The process failed.
    Failed {
        error: String,
        hint: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<FailureKind>,
    },
}
