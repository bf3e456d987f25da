//! The kinds of calls, with one file for each kind: what an agent receives, its prompt, the form of its answer, and how
//! the answer is read. A new kind is a file, its template and a line in this file.

use std::io::{self, BufRead};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::calls::kind::{AboutKind, CallKind, JsonForm};
use crate::prompts::fence::DataFence;
use glee_model::domain::event::CallAnswer;
use glee_model::domain::{DisputeNumber, FindingId, PairId, Role};

pub mod aggregate;
pub mod arbitrate;
pub mod close;
pub mod compare;
pub mod defend;
pub mod demonstrate;
pub mod examine;
pub mod judge;
pub mod kind;
pub mod parts;
pub mod peer;
mod prelude;
pub mod questions;
pub(crate) mod read;
pub mod recheck;
pub mod respond;
pub mod review;
pub mod same;
pub mod stage;
pub mod validate;
pub mod work;

macro_rules! kinds {
    ($($kind:ident($call:path),)*) => {
        /// The task of the agent.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "kind", rename_all = "lowercase")]
        pub enum Task {
            $($kind($call),)*
        }

        /// All kinds.
        pub const KINDS: &[AboutKind] = &[$(<$call as CallKind>::ABOUT,)*];

        /// Calls a method of [`CallKind`].
        macro_rules! of {
            ($task:expr, $of:pat => $then:expr) => {
                match $task {
                    $(Task::$kind($of) => $then,)*
                }
            };
        }
    };
}

kinds! {
    Review(review::ReviewCall),
    Close(close::CloseCall),
    Same(same::SameCall),
    Examine(examine::ExamineCall),
    Defend(defend::DefendCall),
    Respond(respond::RespondCall),
    Judge(judge::JudgeCall),
    Demonstrate(demonstrate::DemonstrateCall),
    Recheck(recheck::RecheckCall),
    Compare(compare::CompareCall),
    Stage(stage::StageCall),
    Aggregate(aggregate::AggregateCall),
    Arbitrate(arbitrate::ArbitrateCall),
    Questions(questions::QuestionsCall),
    Validate(validate::ValidateCall),
    Work(work::WorkCall),
    Peer(peer::PeerCall),
}

fn about<K: CallKind>(_: &K) -> AboutKind {
    K::ABOUT
}

fn wants_effort<K: CallKind>(_: &K) -> bool {
    K::WANTS_EFFORT
}

impl Task {
    pub fn about(&self) -> AboutKind {
        of!(self, call => about(call))
    }

    pub fn kind(&self) -> &'static str {
        self.about().name
    }

    pub fn role(&self) -> Role {
        self.about().role
    }

    /// Whether the model has to reason with more effort than its default.
    pub fn wants_effort(&self) -> bool {
        of!(self, call => wants_effort(call))
    }

    /// The form of the answer in JSON; `None` if the answer is prose.
    pub fn form(&self) -> Option<JsonForm> {
        of!(self, call => call.form())
    }

    pub fn context(&self, fence: &DataFence<'_>) -> Value {
        of!(self, call => call.context(fence))
    }

    pub fn closing(&self, nonce: &str) -> String {
        of!(self, call => call.closing(nonce))
    }

    pub fn must_contain(&self, nonce: &str) -> String {
        of!(self, call => call.must_contain(nonce))
    }

    /// Reads an agent's answer. Fails only if the answer cannot be read from the disk.
    pub fn read(&self, answer: impl BufRead, nonce: &str) -> io::Result<CallAnswer> {
        of!(self, call => call.read(answer, nonce))
    }

    /// The findings that the answer has to name.
    pub fn findings(&self) -> Vec<FindingId> {
        of!(self, call => call.findings())
    }

    /// The pairs that the answer has to name.
    pub fn pairs(&self) -> Vec<PairId> {
        of!(self, call => call.pairs())
    }

    /// The disputes that the answer has to decide.
    pub fn disputes(&self) -> Vec<DisputeNumber> {
        of!(self, call => call.disputes())
    }
}
