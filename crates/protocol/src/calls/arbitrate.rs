//! The call in which an arbiter decides the conflicts of a stage.

use crate::calls::parts::{StagePosition, StageSubject};
use crate::calls::prelude::*;
use crate::calls::read::said;
use crate::prompts::fence::in_json;
use crate::replies::stage;
use glee_model::domain::{AgentName, Certainty};

/// Decide the conflicts of a stage (role judge). The answer is a JSON object with `nonce`, `decision`,
/// `rationale`, `modifications` and `confidence`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ArbitrateCall {
    pub about: StageSubject,
    pub positions: Vec<StagePosition>,
    /// The agent that listed the conflicts.
    pub aggregator: AgentName,
    /// The synthesis in a few sentences.
    pub summary: Untrusted,
    pub conflicts: Vec<Untrusted>,
}

impl CallKind for ArbitrateCall {
    const ABOUT: AboutKind = AboutKind {
        name: "arbitrate",
        role: Role::Judge,
        template: include_str!("arbitrate.md"),
        form: Some(JsonForm::whole::<DecisionReply>(
            "decision",
            "An arbiter's decision on conflicts",
        )),
    };
    // The decision of an arbiter binds all agents.
    const WANTS_EFFORT: bool = true;

    fn context(&self, fence: &DataFence<'_>) -> Value {
        let conflicts = Untrusted::joined(&self.conflicts, "\n");
        let values = json!({
            "positions": fence.positions(&self.positions),
            "aggregator": fence.line(&self.aggregator.0),
            "summary": fence.around("summary", self.summary.as_written()),
            "conflicts": fence.around("conflicts", conflicts.as_written()),
        });
        fence.stage(&self.about, values)
    }

    fn closing(&self, nonce: &str) -> String {
        in_json(nonce)
    }

    fn read(&self, answer: impl BufRead, nonce: &str) -> io::Result<CallAnswer> {
        let names: Vec<AgentName> = self
            .positions
            .iter()
            .map(|position| position.agent.clone())
            .collect();
        let read = stage::find(answer, Some(nonce))?.decision(&names);
        Ok(valid(read, said))
    }
}

/// An arbiter's decision between several answers.
#[derive(JsonSchema)]
pub struct DecisionReply {
    /// The nonce of the request.
    pub nonce: String,
    /// The chosen approach: the word `hybrid`, the name of an agent, or a label such as `approach_a`. The label
    /// `approach_a` stands for the first answer in the request, `approach_b` for the second answer, and so on.
    pub decision: String,
    /// The reason.
    pub rationale: String,
    /// Changes to the chosen approach.
    pub modifications: Vec<String>,
    /// The arbiter's confidence. If the confidence is `low`, a person decides.
    pub confidence: Certainty,
}
