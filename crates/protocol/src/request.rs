//! A request to an agent. Agents with the adapter `json` receive the request as JSON, and agents with the adapter
//! `text` receive a rendered prompt.
//!
//! The JSON form is Glee's interface for plug-ins. A new optional field does not require a new
//! [`Request::VERSION`]. Any other change of the JSON form requires a new version. The command `glee agents schema
//! request` prints the JSON Schema of a request.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use glee_model::domain::{
    AgentName, Challenge, Disposition, Dispute, EarlierDispute, Finding, FindingId, Location,
    Opinion, PairId, Question, RawFinding, ReviewRequest, Role, RulingRef, Untrusted,
};

/// A file that an agent receives, with the lines under review.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceFile {
    /// The path inside the tree, with `/` between components.
    pub path: String,
    /// The whole text of the file in the reviewed tree (invalid UTF-8 replaced); empty for a deleted file.
    pub text: String,
    /// The line ranges under review, 1-based and inclusive; empty means the whole file.
    #[serde(default)]
    pub changed: Vec<(u32, u32)>,
    /// The unified diff under review, if the target is a change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

impl SourceFile {
    /// Whether the change deletes the file. In this case, the text is empty, and the diff has the target
    /// `/dev/null`.
    pub fn is_deleted(&self) -> bool {
        let head = self
            .diff
            .iter()
            .flat_map(|diff| diff.lines().take_while(|line| !line.starts_with("@@ ")));
        self.text.is_empty() && head.into_iter().any(|line| line == "+++ /dev/null")
    }

    pub fn deleted_lines(&self) -> u32 {
        u32::try_from(self.removed().count()).unwrap_or(u32::MAX)
    }

    /// The text of a deleted file before the change, as far as the diff shows it. `None` for every other file.
    pub fn deleted_text(&self) -> Option<String> {
        let lines: Vec<&str> = self.removed().collect();
        self.is_deleted().then(|| lines.join("\n"))
    }

    fn removed(&self) -> impl Iterator<Item = &str> {
        let body = self
            .diff
            .iter()
            .flat_map(|diff| diff.lines().skip_while(|line| !line.starts_with("@@ ")));
        body.filter_map(|line| line.strip_prefix('-'))
    }
}

/// Lines that the coder wrote in this run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CoderWritten {
    /// The path inside the tree.
    pub path: String,
    /// The line ranges in the shown file, 1-based and inclusive; empty means the whole file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<(u32, u32)>,
}

/// A ruling in force. Reviewers receive the ruling so that they do not raise the same finding again. A judge
/// receives the ruling as a precedent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RulingInForce {
    /// The number of the settled dispute, or the dispute's id if the ruling is shared as a file.
    pub dispute: RulingRef,
    pub location: Option<Location>,
    pub title: Untrusted,
    /// How the dispute was settled.
    pub disposition: Disposition,
    pub rationale: Untrusted,
}

/// A finding for the coder, with the ruling that enforces the finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Item {
    #[serde(flatten)]
    pub finding: Finding,
    /// The rationale of the ruling that enforces the finding; absent if no ruling enforces the finding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enforced: Option<Untrusted>,
}

/// A command of `review.verify` that fails on the coder's edits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailedCheck {
    pub command: String,
    /// The command's error, for example an exit code, followed by the end of the command's output.
    pub output: Untrusted,
}

/// A finding that is compared with other findings before findings get their ids.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedFinding {
    /// The number of the finding in this request, counted from 1.
    pub number: u32,
    #[serde(flatten)]
    pub raw: RawFinding,
}

/// Two findings that may name the same defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FindingPair {
    pub id: PairId,
    /// The number of a finding in this request.
    pub one: u32,
    /// The number of the other finding.
    pub other: u32,
}

/// A finding and an earlier dispute. A judge decides whether the finding repeats the dispute.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UncertainPair {
    pub finding: Finding,
    pub earlier: EarlierDispute,
}

/// The coder's change for a finding. The reviewer that raised the finding checks the change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    #[serde(flatten)]
    pub finding: Finding,
    /// The coder's description of the change.
    pub response: Untrusted,
    /// The unified diff of the coder's changes for the finding.
    pub diff: String,
}

/// A finding that other reviewers challenged. The reviewer that raised the finding receives this object in a
/// request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Challenged {
    #[serde(flatten)]
    pub finding: Finding,
    /// The examinations in which other reviewers challenge the finding.
    pub challenges: Vec<Challenge>,
}

/// An agent's answer to a stage, for the aggregator and the arbiter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StagePosition {
    pub agent: AgentName,
    /// The answer: a JSON object as text, or prose.
    pub content: Untrusted,
}

/// The data that agents receive about a stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StageSubject {
    /// The id that the user chose for the work of the agents.
    pub id: String,
    pub stage: String,
    /// The instructions for the agents in this stage.
    pub instructions: String,
    /// The user's request.
    pub prompt: String,
    /// The fields that an answer must have.
    pub required_fields: Vec<String>,
}

/// The task of the agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Task {
    /// Review files and raise findings (role reviewer; answer: section 3.3 of the design).
    Review {
        /// The files of this shard.
        files: Vec<SourceFile>,
        /// The kinds of problems that the reviewer looks for.
        focus: Vec<String>,
        /// Rulings in force on these files.
        rulings: Vec<RulingInForce>,
        /// Findings of this reviewer from an earlier review, on lines that were edited after the earlier review.
        /// The line numbers refer to the current version of the file. The reviewer raises a finding again if the
        /// finding still applies.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        recheck: Vec<RawFinding>,
    },
    /// Say of your own answer how many findings it reports, and whether you read all of the code (role reviewer). The
    /// answer is the closing line of a review, or a JSON object with `nonce`, `findings` (a number) and `read`.
    Close {
        /// Why Glee asks.
        problem: Untrusted,
        /// The findings that were read from the answer.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        findings: Vec<RawFinding>,
        /// The words beside the findings, possibly shortened.
        answer: Untrusted,
    },
    /// For each pair of findings, state whether both name the same defect (role aggregator). The answer is
    /// `[P<n>] SAME|DIFFERENT: why`, or `pairs` as JSON: objects with `pair` and `answer`.
    Same {
        pairs: Vec<FindingPair>,
        /// The findings of the pairs.
        findings: Vec<ComparedFinding>,
        /// The blocks of code that the findings are about. All other lines of a file are empty.
        files: Vec<SourceFile>,
    },
    /// For each finding of other reviewers, state whether the finding is right (role reviewer). The answer is
    /// `[F<n>] AGREE|DISAGREE|PARTIAL <number>: why`, or `[F<n>] SAME F<m>: why` for the same defect as the own finding
    /// `F<m>`, or `responses` as JSON.
    Examine {
        files: Vec<SourceFile>,
        findings: Vec<Finding>,
        /// The reviewer's own findings near the findings of the others.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        own: Vec<Finding>,
    },
    /// Defend, concede or modify your own findings that other reviewers challenge (role reviewer). The answer is
    /// `[F<n>] DEFEND|CONCEDE|MODIFY <number>: why`, or `defenses` as JSON.
    Defend {
        files: Vec<SourceFile>,
        challenged: Vec<Challenged>,
    },
    /// Implement each finding in the tree, or raise an objection to the finding (role coder; answer: section 3.4).
    Respond {
        items: Vec<Item>,
        /// Commands that fail on the coder's edits. The coder has to change the code so that these commands
        /// pass.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        failing: Vec<FailedCheck>,
    },
    /// Rule on one dispute (role judge; answer: section 3.5).
    Judge {
        dispute: Box<Dispute>,
        /// The files that the finding and the evidence refer to. The content of each file is the content at the
        /// start of the round in which the finding was raised.
        files: Vec<SourceFile>,
        /// Lines that the coder wrote in this run. A judge that cites these lines as evidence must explain why
        /// the lines are valid evidence.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        written: Vec<CoderWritten>,
        /// Earlier rulings on similar findings in other code. The judge can use these earlier rulings as
        /// evidence, but is not bound by them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        precedents: Vec<RulingInForce>,
    },
    /// State whether the coder's changes resolve the findings you raised (role reviewer).
    Recheck {
        changes: Vec<Change>,
        /// The files after the coder's changes.
        files: Vec<SourceFile>,
    },
    /// For each finding, state whether the finding is about the same problem as an earlier dispute (role judge).
    /// The answer is `[F<n>] SAME|DIFFERENT: why`, or `comparisons` as JSON: objects with `finding` and `answer`.
    Compare {
        /// Pairs of a finding and an earlier dispute.
        pairs: Vec<UncertainPair>,
        /// The files that the findings are about.
        files: Vec<SourceFile>,
    },
    /// Answer a stage as one of several agents, without changing files (role reviewer). The answer is a JSON object
    /// with `nonce` and the required fields, or prose that ends with `GLEE-STAGE-END nonce=<nonce> answers=1`.
    Stage {
        about: StageSubject,
        /// The synthesis of the previous stage, as JSON.
        input: Option<Untrusted>,
        /// The questions that checkpoints have resolved, as JSON.
        resolved: Option<Untrusted>,
    },
    /// Synthesise the answers to a stage, and name the agreements and conflicts (role aggregator). The answer is a
    /// JSON object with `nonce`, `status`, `summary`, `consensus` and the required fields.
    Aggregate {
        about: StageSubject,
        positions: Vec<StagePosition>,
        /// The agents that gave no answer.
        missing: Vec<AgentName>,
    },
    /// Decide the conflicts of a stage (role judge). The answer is a JSON object with `nonce`, `decision`,
    /// `rationale`, `modifications` and `confidence`.
    Arbitrate {
        about: StageSubject,
        positions: Vec<StagePosition>,
        /// The agent that listed the conflicts.
        aggregator: AgentName,
        /// The synthesis in a few sentences.
        summary: Untrusted,
        conflicts: Vec<Untrusted>,
    },
    /// Answer questions about the requirements (role reviewer). The answer is a JSON object with `nonce` and
    /// `answers`.
    Questions {
        /// The id that the user chose for the work of the agents.
        id: String,
        checkpoint: String,
        questions: Vec<Question>,
    },
    /// State whether a majority's answer is right (role judge). The answer is a JSON object with `nonce`,
    /// `agrees_with_majority` and `reasoning`.
    Validate {
        /// The id that the user chose for the work of the agents.
        id: String,
        checkpoint: String,
        question: Question,
        majority: Opinion,
        minority: Vec<Opinion>,
    },
    /// Carry out the user's request in the tree (role coder). The answer is a description of the work in prose.
    Work {
        /// The user's request.
        task: String,
    },
    /// Review the work that other agents did since the last cycle of a watch (role reviewer). The answer is a
    /// `review_result`: a JSON object with `nonce`, `type`, `reviewer` and `payload`.
    Peer {
        /// The review request, in the format of the specification.
        request: ReviewRequest,
        /// The unified diff of the tree since the last cycle, possibly truncated.
        changes: Untrusted,
        /// Issues that a person closed, and that reviewers must not raise again.
        closed: Vec<Untrusted>,
    },
}

impl Task {
    /// Returns the value of the field `kind` in the task's JSON, and the role of the agents that receive the
    /// task.
    fn kind_and_role(&self) -> (&'static str, Role) {
        match self {
            Self::Review { .. } => ("review", Role::Reviewer),
            Self::Close { .. } => ("close", Role::Reviewer),
            Self::Same { .. } => ("same", Role::Aggregator),
            Self::Examine { .. } => ("examine", Role::Reviewer),
            Self::Defend { .. } => ("defend", Role::Reviewer),
            Self::Respond { .. } => ("respond", Role::Coder),
            Self::Judge { .. } => ("judge", Role::Judge),
            Self::Recheck { .. } => ("recheck", Role::Reviewer),
            Self::Compare { .. } => ("compare", Role::Judge),
            Self::Stage { .. } => ("stage", Role::Reviewer),
            Self::Aggregate { .. } => ("aggregate", Role::Aggregator),
            Self::Arbitrate { .. } => ("arbitrate", Role::Judge),
            Self::Questions { .. } => ("questions", Role::Reviewer),
            Self::Validate { .. } => ("validate", Role::Judge),
            Self::Work { .. } => ("work", Role::Coder),
            Self::Peer { .. } => ("peer", Role::Reviewer),
        }
    }

    pub fn kind(&self) -> &'static str {
        self.kind_and_role().0
    }

    pub fn role(&self) -> Role {
        self.kind_and_role().1
    }

    /// Whether the model has to reason with more effort than its default. Only arbitration requires more effort,
    /// because the arbiter's decision binds all agents.
    pub fn wants_effort(&self) -> bool {
        matches!(self, Self::Arbitrate { .. })
    }

    /// The pairs that the answer has to name, or an empty list if the task is not about pairs.
    pub fn pairs(&self) -> Vec<PairId> {
        match self {
            Self::Same { pairs, .. } => pairs.iter().map(|pair| pair.id).collect(),
            _ => Vec::new(),
        }
    }

    pub fn findings(&self) -> Vec<FindingId> {
        match self {
            Self::Examine { findings, .. } => findings.iter().map(|finding| finding.id).collect(),
            Self::Defend { challenged, .. } => {
                challenged.iter().map(|item| item.finding.id).collect()
            }
            Self::Respond { items, .. } => items.iter().map(|item| item.finding.id).collect(),
            Self::Judge { dispute, .. } => vec![dispute.finding.id],
            Self::Compare { pairs, .. } => pairs.iter().map(|pair| pair.finding.id).collect(),
            Self::Recheck { changes, .. } => {
                changes.iter().map(|change| change.finding.id).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// One question to one agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Request {
    /// The version of the request format.
    pub version: u32,
    /// The nonce of this call: 32 hexadecimal digits that the answer has to repeat.
    pub nonce: String,
    /// The receiver of the request.
    pub agent: AgentName,
    /// The absolute path of the work tree, which is the agent's working directory.
    pub root: String,
    pub task: Task,
    /// What was missing or invalid in the agent's last answer; absent in the first request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<String>,
}

impl Request {
    pub const VERSION: u32 = 1;
}
