//! Agreement before code is written: stages that several agents answer, the synthesis of the answers, and the
//! questions of a checkpoint. The terms come from the specification of conflict resolution (seed 002): aggregator,
//! conflict, arbiter, deadlock.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::{Agent, AgentName, Untrusted};

/// The inputs of a stage or a checkpoint. All inputs are fixed before the first call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StagePlan {
    pub root: String,
    /// The id that the user chose for the work. The id is also the name of the output folder.
    pub id: String,
    pub stage: String,
    #[serde(flatten)]
    pub subject: Subject,
    /// The agents that answer the stage or the checkpoint. The agents run concurrently, and cannot change files.
    pub agents: Vec<Agent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aggregator: Option<Agent>,
    /// The agent that decides the conflicts of a stage, or validates the majority answers of a checkpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arbiter: Option<Agent>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub backups: Vec<Agent>,
}

impl StagePlan {
    pub fn all(&self) -> impl Iterator<Item = &Agent> {
        self.agents
            .iter()
            .chain(&self.aggregator)
            .chain(&self.arbiter)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "subject", rename_all = "snake_case")]
pub enum Subject {
    Stage {
        /// The prompt that the stage's file contains.
        instructions: String,
        prompt: String,
        /// The synthesis of the previous stage, as JSON.
        #[serde(skip_serializing_if = "Option::is_none")]
        input: Option<Untrusted>,
        /// The questions that checkpoints have resolved, as JSON.
        #[serde(skip_serializing_if = "Option::is_none")]
        resolved: Option<Untrusted>,
        /// The required fields of each answer and of the synthesis.
        required_fields: Vec<String>,
    },
    Checkpoint {
        questions: Vec<Question>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    pub id: String,
    pub question: String,
    /// The allowed answers; if the list is empty, every answer is allowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "as", rename_all = "snake_case")]
pub enum Said {
    Position(StageAnswer),
    Synthesis(Synthesis),
    Decision(Decision),
    Answers {
        /// A question that is missing from `answers` counts as unanswered.
        answers: Vec<QuestionAnswer>,
    },
    Validation(Validation),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageAnswer {
    /// The answer, either as a JSON object or as prose.
    pub content: Untrusted,
    pub json: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_fields: Vec<String>,
}

impl StageAnswer {
    /// The answer as a JSON value. An answer in prose becomes a string.
    pub fn value(&self) -> serde_json::Value {
        let object = serde_json::from_str(self.content.as_written())
            .ok()
            .filter(|_| self.json);
        object.unwrap_or_else(|| serde_json::json!(self.content))
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Synthesis {
    /// Whether the aggregator reports the status `conflict`. The aggregator can report a conflict even if the list
    /// `conflicts` is empty.
    pub conflict: bool,
    /// The aggregator's summary. A blank summary counts as missing.
    pub summary: Untrusted,
    pub agreements: Vec<Untrusted>,
    pub conflicts: Vec<Untrusted>,
    /// The aggregator's whole answer, a JSON object as text.
    pub content: Untrusted,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_fields: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StageStatus {
    /// All agents agree, or the conflicts were decided.
    Ok,
    /// The aggregator reports conflicts.
    Conflict,
    /// An agent gave no answer, there is no summary, or a required field is absent.
    Degraded,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageVerdict {
    pub status: StageStatus,
    pub missing_agents: Vec<AgentName>,
    pub required_fields_ok: bool,
    pub agreements: Vec<Untrusted>,
    pub conflicts: Vec<Untrusted>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Certainty {
    /// No relevant doubt.
    High,
    /// Some doubt.
    Medium,
    /// A guess.
    Low,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approach {
    Of(AgentName),
    /// A combination of several approaches.
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

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    pub decision: Approach,
    pub rationale: Untrusted,
    pub modifications: Vec<Untrusted>,
    pub confidence: Certainty,
}

/// States who decided the conflicts of a stage, or a question of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Settler {
    Agents,
    /// The arbiter of a stage or the validator of a checkpoint.
    Arbiter {
        name: AgentName,
    },
    Human,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuestionAnswer {
    pub id: String,
    pub answer: Untrusted,
    #[serde(default, skip_serializing_if = "Untrusted::is_empty")]
    pub reason: Untrusted,
}

/// An answer, and the agents that gave the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Opinion {
    /// The answer in the wording of the first agent.
    pub answer: Untrusted,
    pub by: Vec<AgentName>,
    /// The reasons for the answer, as given by the agents in the list `by`, and in the order of this list.
    pub reasons: Vec<Untrusted>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Validation {
    pub agrees_with_majority: bool,
    pub reasoning: Untrusted,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resolution {
    pub question: String,
    pub answer: Untrusted,
    pub by: Settler,
    pub confidence: Certainty,
    pub reason: Untrusted,
}
