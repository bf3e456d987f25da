//! Agreement before code: stages that several agents answer, their synthesis, and the questions of a checkpoint.
//!
//! The words are those of the specification of conflict resolution (seed 002): aggregator, conflict, arbiter, deadlock.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::{Agent, AgentName, Untrusted};

/// Everything that was decided before the first agent of a stage or a checkpoint was asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StagePlan {
    /// The absolute root of the work tree.
    pub root: String,
    /// What the work is called by the person who asked; the folder of its files as well.
    pub id: String,
    /// The stage or the checkpoint.
    pub stage: String,
    #[serde(flatten)]
    pub subject: Subject,
    /// Those who answer, side by side; all may only read.
    pub agents: Vec<Agent>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aggregator: Option<Agent>,
    /// Who decides a stage's conflicts, or is asked whether a majority is right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arbiter: Option<Agent>,
    /// Agents that answer in the place of those that name them as their backup.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub backups: Vec<Agent>,
}

impl StagePlan {
    pub fn all(&self) -> impl Iterator<Item = &Agent> {
        self.agents.iter().chain(&self.aggregator).chain(&self.arbiter)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "subject", rename_all = "snake_case")]
pub enum Subject {
    /// One thing, to be agreed on.
    Stage {
        /// What the stage is for, in the words of its file.
        instructions: String,
        prompt: String,
        /// The synthesis of the stage before, as JSON.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input: Option<Untrusted>,
        /// What checkpoints have resolved until now, as JSON.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resolved: Option<Untrusted>,
        /// The fields that every answer and the synthesis must have.
        required_fields: Vec<String>,
    },
    Checkpoint {
        questions: Vec<Question>,
    },
}

/// A question about the requirements.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    /// Its id within the list.
    pub id: String,
    /// The question.
    pub question: String,
    /// The answers it allows; empty for any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
}

/// What an agent said in a stage or at a checkpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "as", rename_all = "snake_case")]
pub enum Said {
    Position(StageAnswer),
    Synthesis(Synthesis),
    Decision(Decision),
    Answers {
        /// The answers; a question that is missing here was not answered.
        answers: Vec<QuestionAnswer>,
    },
    Validation(Validation),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageAnswer {
    /// The answer: a JSON object as text, or prose.
    pub content: Untrusted,
    /// Whether it is a JSON object.
    pub json: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_fields: Vec<String>,
}

/// What the aggregator makes of all answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Synthesis {
    /// Whether its own word for the state is `conflict`.
    pub conflict: bool,
    /// The summary; blank is none.
    pub summary: Untrusted,
    pub agreements: Vec<Untrusted>,
    /// What they do not agree on; authoritative.
    pub conflicts: Vec<Untrusted>,
    /// The whole answer, a JSON object as text.
    pub content: Untrusted,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_fields: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StageStatus {
    /// All agree, or a conflict was decided.
    Ok,
    /// The aggregator names conflicts.
    Conflict,
    /// An agent is missing, there is no summary, or a required field is absent.
    Degraded,
}

/// What is known when everybody has answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageVerdict {
    pub status: StageStatus,
    pub missing_agents: Vec<AgentName>,
    /// Whether every answer and the synthesis have the required fields.
    pub required_fields_ok: bool,
    pub agreements: Vec<Untrusted>,
    pub conflicts: Vec<Untrusted>,
}

/// How sure somebody is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Certainty {
    /// No doubt that matters.
    High,
    /// Some doubt.
    Medium,
    /// A guess.
    Low,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approach {
    /// That of one agent.
    Of(AgentName),
    /// Parts of several.
    Hybrid,
}

impl fmt::Display for Approach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Of(name) => &name.0,
            Self::Hybrid => "hybrid",
        })
    }
}

/// A binding decision of a stage's conflicts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    pub decision: Approach,
    pub rationale: Untrusted,
    pub modifications: Vec<Untrusted>,
    pub confidence: Certainty,
}

/// Who decided a stage's conflicts or a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Settler {
    /// Nobody had to: all agree.
    Agents,
    /// An agent: the arbiter of a stage, the validator of a checkpoint.
    Arbiter {
        name: AgentName,
    },
    Human,
}

/// An agent's answer to one question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuestionAnswer {
    /// The question's id.
    pub id: String,
    /// The answer.
    pub answer: Untrusted,
    /// Why.
    #[serde(default, skip_serializing_if = "Untrusted::is_empty")]
    pub reason: Untrusted,
}

/// An answer and those who gave it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Opinion {
    /// The answer, as the first of them wrote it.
    pub answer: Untrusted,
    /// Who gave it.
    pub by: Vec<AgentName>,
    /// Why, in the order of `by`.
    pub reasons: Vec<Untrusted>,
}

/// What a validator says of a majority.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Validation {
    /// Whether it agrees with the majority.
    pub agrees_with_majority: bool,
    /// Why.
    pub reasoning: Untrusted,
}

/// The answer that holds for a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resolution {
    pub question: String,
    pub answer: Untrusted,
    pub by: Settler,
    pub confidence: Certainty,
    pub reason: Untrusted,
}
