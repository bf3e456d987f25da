//! What the tools take and return. An argument that a tool does not know is refused, so a caller that tries to choose the
//! judge or the settings is told.

use rmcp::schemars::{self, JsonSchema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StartArgs {
    /// Review all committed and uncommitted changes since this branch left this revision
    pub(super) base: Option<String>,
    /// Review the changes of this commit
    pub(super) commit: Option<String>,
    /// Review the staged changes
    #[serde(default)]
    pub(super) staged: bool,
    /// Review these files and folders, whole
    #[serde(default)]
    pub(super) paths: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WaitArgs {
    /// The id that `review_start` or `answer` returned
    pub(super) run: String,
    /// How long to wait, at most 600; keep it below your own limit
    #[serde(default = "wait_seconds")]
    pub(super) timeout_seconds: u64,
}

fn wait_seconds() -> u64 {
    45
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FindingsArgs {
    /// Only findings in these files and folders
    #[serde(default)]
    pub(super) paths: Vec<String>,
    /// Only findings of these severities, such as `must` and `high`
    #[serde(default)]
    pub(super) severities: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AnswerArgs {
    /// The number of the finding, such as `F12`
    pub(super) finding: String,
    pub(super) answer: GivenAnswer,
    /// Why you disagree (required), or what you changed
    pub(super) reason: Option<String>,
    /// Code that supports the answer, as `PATH:LINE`
    #[serde(default)]
    pub(super) evidence: Vec<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(super) enum GivenAnswer {
    /// You changed the code; who raised the finding is asked
    Implemented,
    /// The finding is wrong; the judge rules
    Disagree,
}

impl GivenAnswer {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Implemented => "implemented",
            Self::Disagree => "disagree",
        }
    }
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DisputesArgs {}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RulingArgs {
    /// The number of the dispute
    pub(super) dispute: u64,
    /// How long to wait, at most 600; keep it below your own limit
    #[serde(default = "wait_seconds")]
    pub(super) timeout_seconds: u64,
}

/// What a person answers.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GivenDecision {
    /// enforce: the finding has to be implemented; dismiss: it need not; later: leave the dispute open
    pub(super) ruling: DecisionWord,
    /// The reason, which is recorded
    #[serde(default)]
    pub(super) reason: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(super) enum DecisionWord {
    Enforce,
    Dismiss,
    Later,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct StartedRun {
    /// The id of the run, for `review_wait`
    pub(super) run: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RunState {
    pub(super) run: String,
    /// Whether the run still works; wait again
    pub(super) works: bool,
    /// The exit code of the ended run: 0 clean, 1 mandatory findings are open, 3 a dispute waits for a person, 4 or 75 the
    /// review is not complete, above 128 it was interrupted
    pub(super) exit_code: Option<i32>,
    /// The findings that are open
    pub(super) findings: Vec<OpenFinding>,
    /// Where the coder worked, if not in this tree; `glee runs apply RUN` brings changes over that are `not_applied`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) worktree: Option<Value>,
    /// What Glee said besides
    pub(super) notes: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct OpenFinding {
    pub(super) id: String,
    pub(super) tag: String,
    /// Whether the finding prevents exit code 0
    pub(super) mandatory: bool,
    pub(super) title: String,
    #[serde(default)]
    pub(super) body: String,
    pub(super) file: Option<String>,
    pub(super) line: Option<u64>,
    #[serde(default)]
    pub(super) raised_by: Vec<String>,
    pub(super) state: String,
    /// The number of its dispute in this history, or the id of the dispute
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) dispute: Option<Value>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct Findings {
    pub(super) findings: Vec<OpenFinding>,
    /// Where the coder of the run worked, if not in this tree
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) worktree: Option<Value>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct Disputes {
    pub(super) disputes: Vec<OpenDispute>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct OpenDispute {
    pub(super) number: u64,
    pub(super) finding: String,
    pub(super) tag: String,
    pub(super) title: String,
    /// The last ruling: `ESCALATE` if the judge left the dispute to a person
    pub(super) ruling: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DisputeState {
    pub(super) dispute: u64,
    /// Whether the dispute still waits for a ruling
    pub(super) open: bool,
    /// How the dispute was settled: `enforced`, or why the finding need not be implemented, such as `refuted`
    pub(super) settled_as: Option<String>,
    pub(super) finding: String,
    /// The reasons of the last ruling
    pub(super) rationale: Option<String>,
}
