//! Calls of agents: their purpose, attempt, answer and process transcript.

use serde::{Deserialize, Serialize};

use crate::domain::{
    AgentName, AnswerStatus, CodeRead, Comparison, Defended, Demonstration, DemonstrationRequest,
    DisputeNumber, Examined, FailureKind, GivenPlace, PairComparison, PeerReview, RaisedIn,
    RawFinding, Recheck, Response, Role, Ruling, Said, Untrusted,
};

/// The purpose of a call. Within a run, the purpose, the agent and the attempt identify a call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "purpose", rename_all = "snake_case")]
pub enum Purpose {
    /// A reviewer reads one shard. Rounds are counted from 1, and shards from 0.
    Review {
        round: u32,
        shard: u32,
    },
    /// A reviewer is asked about its own answer to the attempt `of` at a review, without the code: how many findings
    /// the answer reports, and whether the reviewer read all of the code.
    Close {
        round: u32,
        shard: u32,
        of: u32,
    },
    /// The aggregator states which pairs of findings name the same defect. After a debate, each pair has a finding that
    /// was raised in the debate.
    Same {
        round: u32,
        #[serde(default, skip_serializing_if = "crate::domain::is_default")]
        raised_in: RaisedIn,
    },
    /// Round 2 of a debate: a reviewer examines the findings of other reviewers.
    Examine {
        round: u32,
    },
    /// Round 3 of a debate: a reviewer defends its challenged findings.
    Defend {
        round: u32,
    },
    Respond {
        round: u32,
    },
    Enforce {
        round: u32,
    },
    /// A person answered the coder's objection. `answer` counts the answers to one dispute from 1.
    Reply {
        round: u32,
        dispute: DisputeNumber,
        answer: u32,
    },
    /// The coder repairs its edits, because commands of `review.verify` fail after the edits.
    Repair {
        round: u32,
    },
    Judge {
        dispute: DisputeNumber,
    },
    /// Rules on several disputes about one file. The answer on each counts as an answer to [`Judge`](Self::Judge).
    JudgeFile {
        disputes: Vec<DisputeNumber>,
    },
    /// One side of a dispute is asked for the demonstration that a judge asks for.
    Demonstrate {
        dispute: DisputeNumber,
    },
    /// A judge rules after one side was asked for a demonstration.
    JudgeAgain {
        dispute: DisputeNumber,
    },
    Recheck {
        round: u32,
    },
    /// A judge, or the aggregator if the run has no judge, compares findings with the earlier disputes that the
    /// findings possibly repeat.
    Compare {
        round: u32,
    },
    Stage {
        part: Part,
    },
    Work,
    Peer {
        cycle: u32,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    Position,
    Aggregate,
    Arbitrate,
    Questions,
    Validate { question: String },
}

impl Purpose {
    /// The round of the call, or `None` if the purpose has no round.
    pub fn round(&self) -> Option<u32> {
        match self {
            Self::Review { round, .. }
            | Self::Close { round, .. }
            | Self::Same { round, .. }
            | Self::Examine { round }
            | Self::Defend { round }
            | Self::Respond { round }
            | Self::Enforce { round }
            | Self::Reply { round, .. }
            | Self::Repair { round }
            | Self::Recheck { round }
            | Self::Compare { round } => Some(*round),
            Self::Judge { .. }
            | Self::JudgeFile { .. }
            | Self::Demonstrate { .. }
            | Self::JudgeAgain { .. }
            | Self::Stage { .. }
            | Self::Work
            | Self::Peer { .. } => None,
        }
    }

    /// The disputes that a judge is asked about in the call.
    pub fn judged(&self) -> &[DisputeNumber] {
        match self {
            Self::Judge { dispute } | Self::JudgeAgain { dispute } => std::slice::from_ref(dispute),
            Self::JudgeFile { disputes } => disputes,
            _ => &[],
        }
    }

    /// What the agent does in the call.
    pub fn activity(&self) -> String {
        let words = match self {
            Self::Judge { dispute } | Self::JudgeAgain { dispute } => {
                return format!("ruling on dispute {dispute}");
            }
            Self::JudgeFile { disputes } => {
                let disputes: Vec<String> = disputes.iter().map(ToString::to_string).collect();
                return format!("ruling on disputes {}", disputes.join(", "));
            }
            Self::Demonstrate { dispute } => {
                return format!("writing a test for dispute {dispute}");
            }
            Self::Reply { dispute, .. } => return format!("replying in dispute {dispute}"),
            Self::Peer { cycle } => return format!("reviewing cycle {cycle}"),
            Self::Stage {
                part: Part::Validate { question },
            } => return format!("validating question {question}"),
            Self::Stage {
                part: Part::Position,
            } => "answering",
            Self::Stage {
                part: Part::Aggregate,
            } => "synthesising the answers",
            Self::Stage {
                part: Part::Arbitrate,
            } => "deciding the conflicts",
            Self::Stage {
                part: Part::Questions,
            } => "answering the questions",
            Self::Review { .. } => "reviewing",
            Self::Close { .. } => "saying what its answer means",
            Self::Same { .. } => "comparing findings",
            Self::Examine { .. } => "examining the other reviewers' findings",
            Self::Defend { .. } => "defending its findings",
            Self::Respond { .. } => "responding to the findings",
            Self::Enforce { .. } => "implementing the rulings",
            Self::Repair { .. } => "repairing its edits",
            Self::Recheck { .. } => "checking the changes",
            Self::Compare { .. } => "comparing findings with earlier disputes",
            Self::Work => "working",
        };
        words.to_owned()
    }

    /// The role in which the agent is asked.
    pub fn role(&self) -> Role {
        match self {
            Self::Respond { .. }
            | Self::Enforce { .. }
            | Self::Reply { .. }
            | Self::Repair { .. }
            | Self::Work => Role::Coder,
            Self::Judge { .. }
            | Self::JudgeFile { .. }
            | Self::JudgeAgain { .. }
            | Self::Compare { .. }
            | Self::Stage {
                part: Part::Arbitrate | Part::Validate { .. },
            } => Role::Judge,
            Self::Same { .. }
            | Self::Stage {
                part: Part::Aggregate,
            } => Role::Aggregator,
            Self::Review { .. }
            | Self::Close { .. }
            | Self::Examine { .. }
            | Self::Defend { .. }
            | Self::Demonstrate { .. }
            | Self::Recheck { .. }
            | Self::Peer { .. }
            | Self::Stage {
                part: Part::Position | Part::Questions,
            } => Role::Reviewer,
        }
    }

    pub fn is_coder(&self) -> bool {
        self.role() == Role::Coder
    }

    /// Whether the call only asks whether findings are the same. Without an answer, the findings stay side by side.
    pub fn is_comparison(&self) -> bool {
        matches!(self, Self::Same { .. } | Self::Compare { .. })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CallId {
    pub agent: AgentName,
    #[serde(flatten)]
    pub purpose: Purpose,
    /// The number of the attempt, counted from 1. A review repeats a call at most once, after a missing or invalid
    /// answer.
    pub attempt: u32,
}

impl CallId {
    /// The call that asks a reviewer about its answer to this review; `None` if this call is no review.
    pub fn close(&self) -> Option<Self> {
        let Purpose::Review { round, shard } = self.purpose else {
            return None;
        };
        Some(Self {
            agent: self.agent.clone(),
            purpose: Purpose::Close {
                round,
                shard,
                of: self.attempt,
            },
            attempt: 1,
        })
    }

    /// The review that this call asks about; `None` if this call does not ask about an answer.
    pub fn asked_about(&self) -> Option<Self> {
        let Purpose::Close { round, shard, of } = self.purpose else {
            return None;
        };
        Some(Self {
            agent: self.agent.clone(),
            purpose: Purpose::Review { round, shard },
            attempt: of,
        })
    }

    /// Whether both calls ask the same agent the same question.
    pub fn overlaps(&self, other: &Self) -> bool {
        let judged = other.purpose.judged();
        self == other
            || self.agent == other.agent
                && self
                    .purpose
                    .judged()
                    .iter()
                    .any(|dispute| judged.contains(dispute))
    }

    /// The calls that this call counts as: one about each dispute of a file, or the call itself.
    pub fn each(&self) -> Vec<Self> {
        let Purpose::JudgeFile { disputes } = &self.purpose else {
            return vec![self.clone()];
        };
        let judged = disputes.iter().map(|dispute| Self {
            purpose: Purpose::Judge { dispute: *dispute },
            ..self.clone()
        });
        judged.collect()
    }

    /// Returns a file name without an extension. All files with output of the call have this name, with
    /// different extensions. The name consists of letters, digits, `-` and `.`.
    pub fn file_stem(&self) -> String {
        let purpose = match &self.purpose {
            Purpose::Review { round, shard } => format!("review-{round}-{shard}"),
            Purpose::Close { round, shard, of } => format!("close-{round}-{shard}-{of}"),
            Purpose::Same { round, raised_in } => match raised_in {
                RaisedIn::Review => format!("same-{round}"),
                RaisedIn::Debate => format!("same-{round}-debate"),
            },
            Purpose::Examine { round } => format!("examine-{round}"),
            Purpose::Defend { round } => format!("defend-{round}"),
            Purpose::Respond { round } => format!("respond-{round}"),
            Purpose::Enforce { round } => format!("enforce-{round}"),
            Purpose::Reply {
                dispute, answer, ..
            } => format!("reply-{dispute}-{answer}"),
            Purpose::Repair { round } => format!("repair-{round}"),
            Purpose::Judge { dispute } => format!("judge-{dispute}"),
            Purpose::JudgeFile { disputes } => {
                let numbers = disputes.iter().map(|dispute| format!("-{dispute}"));
                numbers.fold("judge".to_owned(), |stem, number| stem + &number)
            }
            Purpose::Demonstrate { dispute } => format!("demonstrate-{dispute}"),
            Purpose::JudgeAgain { dispute } => format!("judge-{dispute}-again"),
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

fn plain(name: &str) -> String {
    name.chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '-' {
                c
            } else {
                '-'
            }
        })
        .collect()
}

/// The size and the hash of an agent's output, and how the process ended. Glee stores the output itself in files
/// next to the history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transcript {
    /// The size of the whole output, including bytes beyond the cap.
    pub stdout_bytes: u64,
    /// The BLAKE3 hash (hex) of all bytes.
    pub stdout_hash: String,
    pub stderr_bytes: u64,
    pub exit_code: Option<i32>,
    pub signal: Option<i32>,
    /// Whether the process ran in a sandbox that restricts writing.
    #[serde(default)]
    pub held: bool,
    /// The largest memory of one process of the call, in bytes; absent if it was not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_memory: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum CallAnswer {
    Review {
        status: AnswerStatus,
        findings: Vec<RawFinding>,
        /// Text outside of findings.
        notes: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        problem: Option<String>,
        /// How much of the code the reviewer says it read.
        #[serde(skip_serializing_if = "Option::is_none")]
        read: Option<CodeRead>,
        /// Whether the reviewer is asked for the end of its answer alone (see `ReviewAnswer::is_doubtful`).
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_doubtful: bool,
    },
    /// What a reviewer says about its own answer.
    Close {
        findings: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        read: Option<CodeRead>,
        /// Where the findings are whose places do not exist.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        places: Vec<GivenPlace>,
    },
    /// The aggregator's answers about pairs of findings. A pair without an answer stays apart.
    Same {
        pairs: Vec<PairComparison>,
    },
    /// A reviewer's examinations of other reviewers' findings, and the examining reviewer's own new findings. A
    /// missing examination does not count as agreement.
    Examine {
        examinations: Vec<Examined>,
        observations: Vec<RawFinding>,
    },
    /// A reviewer's defences of its own findings. A missing defence does not count as a concession.
    Defend {
        defences: Vec<Defended>,
    },
    /// `complete` means that the answer had a valid closing line.
    Respond {
        responses: Vec<Response>,
        complete: bool,
    },
    Judge {
        ruling: Ruling,
    },
    /// A judge asks one side for a demonstration before it rules.
    Request {
        request: DemonstrationRequest,
    },
    /// The demonstration that a judge asked for; absent if the side gives none.
    Demonstrate {
        #[serde(skip_serializing_if = "Option::is_none")]
        demonstration: Option<Box<Demonstration>>,
        /// What the side says beside it.
        said: Untrusted,
    },
    /// What a judge answered to each dispute of a file.
    JudgeFile {
        answers: Vec<DisputeAnswer>,
    },
    Recheck {
        checks: Vec<Recheck>,
    },
    /// Comparisons of findings with earlier disputes. A finding without a comparison is treated as a new
    /// problem.
    Compare {
        comparisons: Vec<Comparison>,
    },
    Stage {
        said: Box<Said>,
    },
    /// The answer of an agent to its task in a watch. A long answer is truncated.
    Work {
        said: Untrusted,
    },
    Peer {
        review: Box<PeerReview>,
    },
    /// The process succeeded, but Glee could not parse the answer.
    Invalid {
        error: String,
    },
    Failed {
        error: String,
        hint: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cause: Option<FailureKind>,
    },
}

/// A judge's answer to one of several disputes: a ruling, a request for a demonstration, or why there is neither.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DisputeAnswer {
    pub dispute: DisputeNumber,
    #[serde(flatten)]
    pub answer: CallAnswer,
}

impl CallAnswer {
    /// What the answer says to a question that the call contained.
    pub fn to(&self, purpose: &Purpose) -> Self {
        match (self, purpose) {
            (Self::JudgeFile { answers }, Purpose::Judge { dispute }) => {
                let own = answers.iter().find(|own| own.dispute == *dispute);
                own.map_or_else(Self::without_ruling, |own| own.answer.clone())
            }
            _ => self.clone(),
        }
    }

    /// The answer to a dispute that a judge left out.
    pub fn without_ruling() -> Self {
        Self::Invalid {
            error: "the answer has no ruling on this dispute".to_owned(),
        }
    }

    /// Whether the agent gave no valid answer.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Failed { .. } | Self::Invalid { .. })
    }
}
