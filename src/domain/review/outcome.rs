//! How a run ended, with the proof of what was reviewed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::ids::RunId;
use crate::domain::{
    AgentName, Caps, Dispute, EarlierDispute, FailureKind, Finding, FindingId, FindingState, NoLongerRaised,
    Response, Reused, Role, RulingRef, Severity, Usage,
};

/// Whether a reviewer's answer can be relied on (section 3.3 of the design).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerStatus {
    /// With a closing line whose number equals the number of findings read.
    Complete,
    /// Complete, with no finding.
    Clean,
    /// Findings without a closing line, or a different number of them.
    Incomplete,
    /// Neither findings nor a closing line; never "clean".
    NotReviewed,
}

impl AnswerStatus {
    pub fn is_complete(self) -> bool {
        matches!(self, Self::Complete | Self::Clean)
    }
}

/// Why a file of the target was not reviewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// It has a NUL byte or is not text.
    Binary,
    /// It is marked or recognised as generated (lock files, minified code, `@generated`).
    Generated,
    /// It is larger than `review.max_file_size`.
    Oversized,
    /// It cannot be read.
    Unreadable,
    /// It is not a regular file (a FIFO, a device, a socket, a link, a submodule).
    NotAFile,
    /// The change deletes it.
    Deleted,
    /// A `.gleeignore` excludes it.
    Ignored,
    /// Its change is larger than `review.max_file_size`, and the beginning of it was reviewed.
    Partial,
}

impl SkipReason {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Binary => "binary",
            Self::Generated => "generated",
            Self::Oversized => "oversized",
            Self::Unreadable => "unreadable",
            Self::NotAFile => "not a regular file",
            Self::Deleted => "deleted",
            Self::Ignored => "named in .gleeignore",
            Self::Partial => "only in part: oversized",
        }
    }

    /// Whether it has content to review that was not excluded on request.
    pub fn is_unread(self) -> bool {
        !matches!(self, Self::Deleted | Self::Ignored)
    }
}

/// A file that was not reviewed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Skip {
    /// Its path inside the tree.
    pub file: String,
    /// Why.
    pub reason: SkipReason,
}

/// A file that was reviewed, and how much of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    /// Its path inside the tree.
    pub file: String,
    /// How many of its lines the reviewers were shown as the target.
    pub lines: u32,
}

/// What one reviewer contributed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewerReport {
    /// Who.
    pub name: AgentName,
    /// The worst status of its shards.
    pub status: AnswerStatus,
    /// How many findings it raised.
    pub findings: u32,
    /// The longest of its calls, in milliseconds.
    pub millis: u64,
    /// What went wrong, if the agent failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// The proof of review: what was reviewed, and by whom.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Proof {
    /// The commit under review, if there is one.
    pub commit: Option<String>,
    /// The id of the reviewed tree's content: a git tree id, or `blake3:...` outside git.
    pub tree: String,
    /// The target in words (`uncommitted changes`, `src/`, `main..HEAD`).
    pub target: String,
    /// The files covered.
    pub covered: Vec<Coverage>,
    /// The files skipped, each with its reason.
    pub skipped: Vec<Skip>,
    /// The reviewers, with the status of their answers.
    pub reviewers: Vec<ReviewerReport>,
    /// Reviews that were reused from an earlier run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reused: Vec<Reused>,
    /// Wall time of the run in milliseconds.
    pub millis: u64,
    /// Tokens and money over all calls, where known.
    pub usage: Usage,
    /// Calls of agents, including retries.
    #[serde(default)]
    pub calls: u64,
    /// The caps of the run.
    #[serde(default, skip_serializing_if = "Caps::is_none")]
    pub caps: Caps,
}

/// The reason behind an exit code; the strongest of several is the run's (section 3.6 of the design).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExitReason {
    /// Nothing mandatory is open.
    Clean,
    /// Mandatory findings are open.
    FindingsOpen,
    /// Usage or configuration.
    Usage,
    /// A dispute waits for a person.
    DisputeOpen,
    /// An agent failed; the result is inconclusive.
    AgentFailed,
    /// A read-only agent changed files, or a path was forbidden.
    ReadOnlyViolation,
    /// Another run holds this tree.
    Locked,
    /// The history store cannot be written or is newer.
    History,
    /// The repository's configuration is not trusted.
    Untrusted,
    /// Rate-limited or over budget; resumable.
    Budget,
    /// Ended by a signal.
    Signal(u8),
}

impl ExitReason {
    pub fn code(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::FindingsOpen => 1,
            Self::Usage => 2,
            Self::DisputeOpen => 3,
            Self::AgentFailed => 4,
            Self::ReadOnlyViolation => 5,
            Self::Locked => 6,
            Self::History => 7,
            Self::Untrusted => 8,
            Self::Budget => 75,
            Self::Signal(number) => 128_u8.saturating_add(number),
        }
    }

    #[must_use]
    pub fn strongest(self, other: Self) -> Self {
        /// The codes from the weakest to the strongest; signals are stronger than all of them.
        const STRENGTHS: [u8; 10] = [0, 1, 3, 4, 75, 5, 2, 6, 7, 8];
        let strength =
            |reason: Self| STRENGTHS.iter().position(|code| *code == reason.code()).unwrap_or(usize::MAX);
        if strength(other) > strength(self) { other } else { self }
    }
}

/// The tag of a finding before a ruling lowered it to one that is not mandatory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Lowered {
    /// The tag that it was raised with.
    pub was: Severity,
    /// The dispute that the ruling settled: its number, or the id of one whose ruling is shared as a file.
    pub dispute: RulingRef,
}

/// A finding with its outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SettledFinding {
    /// The finding.
    #[serde(flatten)]
    pub finding: Finding,
    /// Its state.
    #[serde(flatten)]
    pub state: FindingState,
    /// The coder's last answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Response>,
    /// The ruling that gave it a lower tag, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lowered: Option<Lowered>,
    /// Whether the reviewer raised it against a ruling that it was shown, without new evidence.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub insisted: bool,
    /// Related earlier disputes that do not bind it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<EarlierDispute>,
}

impl SettledFinding {
    /// Whether it keeps the run from ending clean.
    pub fn blocks(&self) -> bool {
        self.finding.mandatory && !self.state.is_closed()
    }
}

/// An agent's failure in a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// Who failed.
    pub agent: AgentName,
    /// In which role.
    pub role: Role,
    /// The error in one line.
    pub error: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The kind of failure, where the process failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<FailureKind>,
}

/// One file the coder changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileChange {
    /// Its path inside the tree.
    pub file: String,
    /// Lines added.
    pub added: u32,
    /// Lines removed.
    pub removed: u32,
    /// The unified diff; `None` for a binary file or one over the size kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// The whole outcome of a run, as `--format json` prints it and other reports render it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// The version of this form; it grows only by optional fields within one number.
    pub schema: u32,
    /// The run.
    pub run: RunId,
    /// The exit reason.
    pub exit: ExitReason,
    /// The proof of review.
    pub proof: Proof,
    /// All findings, by id.
    pub findings: Vec<SettledFinding>,
    /// All disputes of this run, and earlier ones that wait for a person and that findings repeat; by number.
    pub disputes: Vec<Dispute>,
    /// What reviewers raised in an earlier run and do not raise any more, now that the code concerned has changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub no_longer_raised: Vec<NoLongerRaised>,
    /// What the coder changed over the whole run, against the before-image.
    pub changes: Vec<FileChange>,
    /// Whether a before-image exists, so that `glee runs undo` can restore it.
    pub undoable: bool,
    /// Agents that failed.
    pub failures: Vec<Failure>,
    /// The number of rounds.
    pub rounds: u32,
    /// Notices to the reader, one line each, such as defaults that were applied without a person.
    pub notices: Vec<String>,
}

impl Outcome {
    /// The version of the form that this program writes.
    pub const SCHEMA: u32 = 1;

    /// The end of the notice about a failed command of `review.verify`.
    pub const VERIFY_FAILS: &'static str = "fails on the coder's edits";

    pub fn finding(&self, id: FindingId) -> Option<&SettledFinding> {
        self.findings.iter().find(|finding| finding.finding.id == id)
    }
}
