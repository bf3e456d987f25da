//! The call in which the aggregator synthesises the answers to a stage.

use crate::calls::parts::{StagePosition, StageSubject};
use crate::calls::prelude::*;
use crate::calls::read::said;
use crate::prompts::fence::in_json;
use crate::replies::stage;
use glee_model::domain::AgentName;

/// Synthesise the answers to a stage, and name the agreements and conflicts (role aggregator). The answer is a
/// JSON object with `nonce`, `status`, `summary`, `consensus` and the required fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct AggregateCall {
    pub about: StageSubject,
    pub positions: Vec<StagePosition>,
    /// The agents that gave no answer.
    pub missing: Vec<AgentName>,
}

impl CallKind for AggregateCall {
    const ABOUT: AboutKind = AboutKind {
        name: "aggregate",
        role: Role::Aggregator,
        template: include_str!("aggregate.md"),
        form: Some(JsonForm::beside_prose::<SynthesisReply>(
            "synthesis",
            "An aggregator's summary of several answers",
        )),
    };

    fn context(&self, fence: &DataFence<'_>) -> Value {
        let values = json!({
            "positions": fence.positions(&self.positions),
            "missing": fence.names(&self.missing),
        });
        fence.stage(&self.about, values)
    }

    fn closing(&self, nonce: &str) -> String {
        in_json(nonce)
    }

    fn read(&self, answer: impl BufRead, nonce: &str) -> io::Result<CallAnswer> {
        let read = stage::find(answer, Some(nonce))?.synthesis(&self.about.required_fields);
        Ok(valid(read, said))
    }
}

/// A synthesis of several answers, with the additional fields that the stage requires.
#[derive(JsonSchema)]
pub struct SynthesisReply {
    /// The nonce of the request.
    pub nonce: String,
    /// `ok` or `conflict`.
    pub status: String,
    /// The synthesis in a few sentences.
    pub summary: String,
    /// The points on which the answers agree, and the points on which they conflict.
    pub consensus: ConsensusReply,
}

/// The agreements and conflicts of several answers.
#[derive(JsonSchema)]
pub struct ConsensusReply {
    /// The points on which all answers agree.
    pub agreements: Vec<String>,
    /// The conflicts of the answers. An arbiter decides each conflict.
    pub conflicts: Vec<String>,
}
