//! A request to an agent. Agents with the adapter `json` receive the request as JSON, and agents with the adapter
//! `text` receive a rendered prompt.
//!
//! The JSON form is Glee's interface for plug-ins. A new optional field does not require a new
//! [`Request::VERSION`]. Any other change of the JSON form requires a new version. The command `glee agents schema
//! request` prints the JSON Schema of a request.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::calls::KINDS;
pub use crate::calls::Task;
use crate::calls::judge::RULINGS;
use crate::calls::kind::JsonForm;
pub use crate::calls::parts::{Guideline, RulingInForce, SourceFile, StagePosition, StageSubject};
use glee_model::domain::AgentName;

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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub again: Option<String>,
}

impl Request {
    pub const VERSION: u32 = 1;

    pub const FORM: JsonForm =
        JsonForm::whole::<Self>("request", "The request that Glee sends to an agent");
}

/// All published forms: the request, and the answers.
pub fn forms() -> impl Iterator<Item = JsonForm> {
    let answers = KINDS.iter().filter_map(|kind| kind.form);
    std::iter::once(Request::FORM)
        .chain(answers)
        .chain([RULINGS])
}
