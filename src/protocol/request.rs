//! What an agent is asked: one value that `text` agents get as a rendered prompt and `json` agents as it stands.
//!
//! The JSON form is Glee's plug-in interface. It is versioned by [`Request::VERSION`] and grows only by optional
//! fields within one version; `glee config schema --request` prints its JSON Schema.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::{
    AgentName, Challenge, Disposition, Dispute, EarlierDispute, Finding, FindingId, Location, Opinion, Question,
    RawFinding, ReviewRequest, Role, RulingRef, Untrusted,
};

/// A file, or a part of one, that an agent is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceFile {
    /// Its path inside the tree, with `/` between components.
    pub path: String,
    /// Its whole text as recorded in the reviewed tree (invalid UTF-8 replaced); empty for a file that the change deletes.
    pub text: String,
    /// The line ranges under review, 1-based and inclusive; empty means the whole file.
    #[serde(default)]
    pub changed: Vec<(u32, u32)>,
    /// The unified diff under review, where the target is a change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

impl SourceFile {
    /// Whether the change deletes it: it has no text, and its diff leads to no file.
    pub fn is_deleted(&self) -> bool {
        let head = self.diff.iter().flat_map(|diff| diff.lines().take_while(|line| !line.starts_with("@@ ")));
        self.text.is_empty() && head.into_iter().any(|line| line == "+++ /dev/null")
    }

    /// The lines that its diff removes.
    pub fn deleted_lines(&self) -> u32 {
        let body = self.diff.iter().flat_map(|diff| diff.lines().skip_while(|line| !line.starts_with("@@ ")));
        u32::try_from(body.filter(|line| line.starts_with('-')).count()).unwrap_or(u32::MAX)
    }
}

/// Lines that the coder wrote in this run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CoderWritten {
    /// The path inside the tree.
    pub path: String,
    /// The line ranges, 1-based and inclusive, in the file as it is shown; empty means the whole file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<(u32, u32)>,
}

/// A ruling that reviewers are told of because it is in force, so that they do not raise the same again, or that a judge is
/// shown as a precedent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RulingInForce {
    /// The dispute it settled: its number, or the id of one whose ruling is shared as a file.
    pub dispute: RulingRef,
    /// Where.
    pub location: Option<Location>,
    /// The finding's title.
    pub title: Untrusted,
    /// How it was settled.
    pub disposition: Disposition,
    /// Why.
    pub rationale: Untrusted,
}

/// A finding with what a ruling says of it, as the coder gets it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Item {
    /// The finding.
    #[serde(flatten)]
    pub finding: Finding,
    /// The rationale of the ruling that makes it binding; absent when nobody ruled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enforced: Option<Untrusted>,
}

/// A command of `review.verify` that fails on the coder's edits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailedCheck {
    /// The command line.
    pub command: String,
    /// How it ended, with the end of what it printed.
    pub output: Untrusted,
}

/// A finding that may repeat an earlier dispute, as a judge gets it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UncertainPair {
    /// The finding.
    pub finding: Finding,
    /// The earlier dispute.
    pub earlier: EarlierDispute,
}

/// The change made for a finding, as its raiser gets it for the re-check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// The finding.
    #[serde(flatten)]
    pub finding: Finding,
    /// What the coder says it did.
    pub response: Untrusted,
    /// The unified diff of the files concerned.
    pub diff: String,
}

/// A challenged finding, as its raiser gets it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Challenged {
    /// The finding.
    #[serde(flatten)]
    pub finding: Finding,
    /// What others say.
    pub challenges: Vec<Challenge>,
}

/// An agent's answer to a stage, as the aggregator and the arbiter get it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StagePosition {
    /// Who gave it.
    pub agent: AgentName,
    /// The answer: a JSON object as text, or prose.
    pub content: Untrusted,
}

/// The stage that agents are asked about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StageSubject {
    /// What the work is called.
    pub id: String,
    /// The stage.
    pub stage: String,
    /// What the stage is for.
    pub instructions: String,
    /// What is asked.
    pub prompt: String,
    /// The fields that an answer must have.
    pub required_fields: Vec<String>,
}

/// The task itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Task {
    /// Review files and raise findings (role reviewer; answer: section 3.3 of the design).
    Review {
        /// The files of this shard.
        files: Vec<SourceFile>,
        /// What to look for.
        focus: Vec<String>,
        /// Rulings in force on these files.
        rulings: Vec<RulingInForce>,
        /// What the reviewer raised in an earlier review about lines that were edited since, at the lines where that code
        /// is now: to be raised again where it is still so.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        recheck: Vec<RawFinding>,
    },
    /// Say of each finding of others whether it is right (role reviewer). The answer is `[F<n>] AGREE|DISAGREE|PARTIAL
    /// <number>: why`, or `responses` as JSON.
    Examine {
        /// The files concerned.
        files: Vec<SourceFile>,
        /// The findings.
        findings: Vec<Finding>,
    },
    /// Defend, concede or modify your own findings that others challenge (role reviewer). The answer is `[F<n>]
    /// DEFEND|CONCEDE|MODIFY <number>: why`, or `defenses` as JSON.
    Defend {
        /// The files concerned.
        files: Vec<SourceFile>,
        /// The findings and what is said against them.
        challenged: Vec<Challenged>,
    },
    /// Implement findings in the tree or object to them (role coder; answer: section 3.4).
    Respond {
        /// The findings to answer.
        items: Vec<Item>,
        /// The commands that fail on the edits that the coder made for them; they are to pass.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        failing: Vec<FailedCheck>,
    },
    /// Rule on one dispute (role judge; answer: section 3.5).
    Judge {
        /// The dispute with finding and objection.
        dispute: Box<Dispute>,
        /// The original code: the files that the finding and the evidence name, as they were when the round of the finding
        /// began.
        files: Vec<SourceFile>,
        /// What the coder wrote in this run; it is no evidence by itself.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        written: Vec<CoderWritten>,
        /// Earlier rulings on the like in other code; they are evidence, and bind nobody here.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        precedents: Vec<RulingInForce>,
    },
    /// Say whether the coder's changes resolve the findings you raised (role reviewer).
    Recheck {
        /// The changes.
        changes: Vec<Change>,
        /// The files after the change.
        files: Vec<SourceFile>,
    },
    /// Say of each finding whether it names the same problem as an earlier dispute (role judge). The answer is
    /// `[F<n>] SAME|DIFFERENT: why`, or `comparisons` as JSON, each with `finding` and `answer`.
    Compare {
        /// The findings, each with one dispute.
        pairs: Vec<UncertainPair>,
        /// The files that the findings are about.
        files: Vec<SourceFile>,
    },
    /// Answer a stage, as one of several (role reviewer: nothing is written). The answer is a JSON object with `nonce` and
    /// the required fields, or prose that ends with `GLEE-STAGE-END nonce=<nonce> answers=1`.
    Stage {
        /// The stage.
        about: StageSubject,
        /// The synthesis of the stage before, as JSON.
        input: Option<Untrusted>,
        /// What checkpoints have resolved, as JSON.
        resolved: Option<Untrusted>,
    },
    /// Synthesise the answers to a stage and name what they agree and do not agree on (role aggregator). The answer is
    /// a JSON object with `nonce`, `status`, `summary`, `consensus` and the required fields.
    Aggregate {
        /// The stage.
        about: StageSubject,
        /// The answers.
        positions: Vec<StagePosition>,
        /// Who was asked and gave none.
        missing: Vec<AgentName>,
    },
    /// Decide the conflicts of a stage (role judge). The answer is a JSON object with `nonce`, `decision`, `rationale`,
    /// `modifications` and `confidence`.
    Arbitrate {
        /// The stage.
        about: StageSubject,
        /// The answers.
        positions: Vec<StagePosition>,
        /// Who named the conflicts.
        aggregator: AgentName,
        /// The synthesis in a few sentences.
        summary: Untrusted,
        /// The conflicts.
        conflicts: Vec<Untrusted>,
    },
    /// Answer questions about the requirements (role reviewer). The answer is a JSON object with `nonce` and `answers`.
    Questions {
        /// What the work is called.
        id: String,
        /// The checkpoint.
        checkpoint: String,
        /// The questions.
        questions: Vec<Question>,
    },
    /// Say whether a majority's answer is right (role judge). The answer is a JSON object with `nonce`,
    /// `agrees_with_majority` and `reasoning`.
    Validate {
        /// What the work is called.
        id: String,
        /// The checkpoint.
        checkpoint: String,
        /// The question.
        question: Question,
        /// What most say.
        majority: Opinion,
        /// What the others say.
        minority: Vec<Opinion>,
    },
    /// Do what a person asks for, in the tree (role coder). The answer says what was done, in prose.
    Work {
        /// What the person asks for.
        task: String,
    },
    /// Review what other agents did since the last cycle of a watch (role reviewer). The answer is a `review_result`: a
    /// JSON object with `nonce`, `type`, `reviewer` and `payload`.
    Peer {
        /// The request in the form of the specification.
        request: ReviewRequest,
        /// The unified diff of the tree since the last cycle; it may be cut.
        changes: Untrusted,
        /// Issues that a person closed; they are not raised again.
        closed: Vec<Untrusted>,
    },
}

impl Task {
    /// The word of the JSON form.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Review { .. } => "review",
            Self::Examine { .. } => "examine",
            Self::Defend { .. } => "defend",
            Self::Respond { .. } => "respond",
            Self::Judge { .. } => "judge",
            Self::Recheck { .. } => "recheck",
            Self::Compare { .. } => "compare",
            Self::Stage { .. } => "stage",
            Self::Aggregate { .. } => "aggregate",
            Self::Arbitrate { .. } => "arbitrate",
            Self::Questions { .. } => "questions",
            Self::Validate { .. } => "validate",
            Self::Work { .. } => "work",
            Self::Peer { .. } => "peer",
        }
    }

    /// The role that may be given this task.
    pub fn role(&self) -> Role {
        match self {
            Self::Review { .. }
            | Self::Examine { .. }
            | Self::Defend { .. }
            | Self::Recheck { .. }
            | Self::Stage { .. }
            | Self::Questions { .. }
            | Self::Peer { .. } => Role::Reviewer,
            Self::Respond { .. } | Self::Work { .. } => Role::Coder,
            Self::Judge { .. } | Self::Compare { .. } | Self::Arbitrate { .. } | Self::Validate { .. } => {
                Role::Judge
            }
            Self::Aggregate { .. } => Role::Aggregator,
        }
    }

    /// Whether the program is asked to think harder than it does by default: what is decided here binds everybody.
    pub fn wants_effort(&self) -> bool {
        matches!(self, Self::Arbitrate { .. })
    }

    /// The ids of the findings that the answer has to name.
    pub fn findings(&self) -> Vec<FindingId> {
        match self {
            Self::Review { .. }
            | Self::Stage { .. }
            | Self::Aggregate { .. }
            | Self::Arbitrate { .. }
            | Self::Questions { .. }
            | Self::Validate { .. }
            | Self::Work { .. }
            | Self::Peer { .. } => Vec::new(),
            Self::Examine { findings, .. } => findings.iter().map(|finding| finding.id).collect(),
            Self::Defend { challenged, .. } => challenged.iter().map(|item| item.finding.id).collect(),
            Self::Respond { items, .. } => items.iter().map(|item| item.finding.id).collect(),
            Self::Judge { dispute, .. } => vec![dispute.finding.id],
            Self::Compare { pairs, .. } => pairs.iter().map(|pair| pair.finding.id).collect(),
            Self::Recheck { changes, .. } => changes.iter().map(|change| change.finding.id).collect(),
        }
    }
}

/// One question to one agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Request {
    /// The version of this form.
    pub version: u32,
    /// The run's nonce of this call: 32 hexadecimal digits that the answer has to repeat.
    pub nonce: String,
    /// The agent asked.
    pub agent: AgentName,
    /// The absolute path of the work tree; the agent's working directory as well.
    pub root: String,
    /// The task.
    pub task: Task,
    /// Why the agent is asked again, if it is: what was missing or invalid in its last answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<String>,
}

impl Request {
    /// The version of the form that this program writes.
    pub const VERSION: u32 = 1;
}
