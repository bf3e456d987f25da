//! `glee mcp`: Glee as a server of the Model Context Protocol on standard input and output.
//!
//! The server starts detached runs by Glee's own commands. When the client closes the stream, the server ends the runs that
//! it started; they can be resumed. If the server is killed, its runs go on, and `glee runs` lists them.
//!
//! What the tools take and return is below. An argument that a tool does not know is refused, so a caller that tries to choose the
//! judge or the settings is told.

mod commands;
pub(crate) mod server;

use rmcp::schemars::{self, JsonSchema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Serve reviews to an agent by the Model Context Protocol (stdio)
#[derive(clap::Args)]
#[command(after_help = "\
An agent starts this command and calls the tools `review_start`, `review_wait`, `findings`, `answer`, `disputes` and \
`await_ruling`. They do what `glee review`, `glee runs wait`, `glee findings`, `glee answer` and `glee disputes` do. The agent \
does not review itself, choose the judge, change settings or rule. A person rules where the agent can show a \
question, and otherwise in a terminal.

Examples:
  claude mcp add glee -- glee mcp
  codex mcp add glee -- glee mcp")]
pub(crate) struct Args {}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct StartArgs {
    /// Review all committed and uncommitted changes since this branch left this revision
    base: Option<String>,
    /// Review the changes of this commit
    commit: Option<String>,
    /// Review the staged changes
    #[serde(default)]
    staged: bool,
    /// Review these files and folders, whole
    #[serde(default)]
    paths: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WaitArgs {
    /// The id that `review_start` or `answer` returned
    run: String,
    /// How long to wait, at most 600; keep it below your own limit
    #[serde(default = "wait_seconds")]
    timeout_seconds: u64,
}

fn wait_seconds() -> u64 {
    45
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FindingsArgs {
    /// Only findings in these files and folders
    #[serde(default)]
    paths: Vec<String>,
    /// Only findings of these severities, such as `must` and `high`
    #[serde(default)]
    severities: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AnswerArgs {
    /// The number of the finding, such as `F12`
    finding: String,
    answer: GivenAnswer,
    /// Why you disagree (required), or what you changed
    reason: Option<String>,
    /// Code that supports the answer, as `PATH:LINE`
    #[serde(default)]
    evidence: Vec<String>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum GivenAnswer {
    /// You changed the code; who raised the finding is asked
    Implemented,
    /// The finding is wrong; the judge rules
    Disagree,
}

impl GivenAnswer {
    fn as_str(self) -> &'static str {
        match self {
            Self::Implemented => "implemented",
            Self::Disagree => "disagree",
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DisputesArgs {}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RulingArgs {
    /// The number of the dispute
    dispute: u64,
    /// How long to wait, at most 600; keep it below your own limit
    #[serde(default = "wait_seconds")]
    timeout_seconds: u64,
}

/// What a person answers.
#[derive(Deserialize, JsonSchema)]
struct GivenDecision {
    /// enforce: the finding has to be implemented; dismiss: it need not; later: leave the dispute open
    ruling: DecisionWord,
    /// The reason, which is recorded
    #[serde(default)]
    reason: String,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum DecisionWord {
    Enforce,
    Dismiss,
    Later,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct StartedRun {
    /// The id of the run, for `review_wait`
    run: String,
}

#[derive(Serialize, JsonSchema)]
struct RunState {
    run: String,
    /// Whether the run still works; wait again
    works: bool,
    /// The exit code of the ended run: 0 clean, 1 mandatory findings are open, 3 a dispute waits for a person, 4 or 75 the
    /// review is not complete, above 128 it was interrupted
    exit_code: Option<i32>,
    /// The findings that are open
    findings: Vec<OpenFinding>,
    /// Where the coder worked, if not in this tree; `glee runs apply RUN` brings changes over that are `not_applied`
    #[serde(skip_serializing_if = "Option::is_none")]
    worktree: Option<Value>,
    /// What Glee said besides
    notes: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct OpenFinding {
    id: String,
    tag: String,
    /// Whether the finding prevents exit code 0
    mandatory: bool,
    title: String,
    #[serde(default)]
    body: String,
    file: Option<String>,
    line: Option<u64>,
    #[serde(default)]
    raised_by: Vec<String>,
    state: String,
    /// The number of its dispute in this history, or the id of the dispute
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dispute: Option<Value>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Findings {
    findings: Vec<OpenFinding>,
    /// Where the coder of the run worked, if not in this tree
    #[serde(default, skip_serializing_if = "Option::is_none")]
    worktree: Option<Value>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Disputes {
    disputes: Vec<OpenDispute>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct OpenDispute {
    number: u64,
    finding: String,
    tag: String,
    title: String,
    /// The last ruling: `ESCALATE` if the judge left the dispute to a person
    ruling: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct DisputeState {
    dispute: u64,
    /// Whether the dispute still waits for a ruling
    open: bool,
    /// How the dispute was settled: `enforced`, or why the finding need not be implemented, such as `refuted`
    settled_as: Option<String>,
    finding: String,
    /// The reasons of the last ruling
    rationale: Option<String>,
}
