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
    /// The closing line stands there and its number equals what was read.
    Complete,
    /// Complete, with no finding.
    Clean,
    /// Findings without a closing line, or another number of them.
    Incomplete,
    /// Neither findings nor a closing line: never "clean".
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
    /// It is no regular file (a FIFO, a device, a socket, a link, a submodule).
    NotAFile,
    /// The change deletes it.
    Deleted,
    /// A `.gleeignore` leaves it out.
    Ignored,
    /// Its change is larger than `review.max_file_size`, and the beginning of it was reviewed.
    Partial,
}

impl SkipReason {
    /// The words shown in reports.
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

    /// Whether content was there to be reviewed, and nobody asked to leave it out.
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
    /// The worst status over its shards.
    pub status: AnswerStatus,
    /// How many findings it raised.
    pub findings: u32,
    /// The longest of its calls, in milliseconds.
    pub millis: u64,
    /// What went wrong, if the agent failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// The proof of review: what exactly was looked at, by whom.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Proof {
    /// The commit under review, if there is one.
    pub commit: Option<String>,
    /// The id of the reviewed tree's content: a git tree id, or `blake3:...` outside git.
    pub tree: String,
    /// What was asked for, in words (`uncommitted changes`, `src/`, `main..HEAD`).
    pub target: String,
    /// The files covered.
    pub covered: Vec<Coverage>,
    /// The files skipped, each with its reason.
    pub skipped: Vec<Skip>,
    /// The reviewers and how completely they answered.
    pub reviewers: Vec<ReviewerReport>,
    /// What reviewers were not asked about, because they had answered it in an earlier run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reused: Vec<Reused>,
    /// Wall time of the run in milliseconds.
    pub millis: u64,
    /// Tokens and money over all calls, where known.
    pub usage: Usage,
    /// Calls of agents, each repeated try counted.
    #[serde(default)]
    pub calls: u64,
    /// What the run may cost.
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
    /// An agent failed; nothing may be concluded.
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

    /// The rank among several reasons: the lowest wins.
    fn rank(self) -> u8 {
        match self {
            Self::Signal(_) => 0,
            Self::Untrusted => 1,
            Self::History => 2,
            Self::Locked => 3,
            Self::Usage => 4,
            Self::ReadOnlyViolation => 5,
            Self::Budget => 6,
            Self::AgentFailed => 7,
            Self::DisputeOpen => 8,
            Self::FindingsOpen => 9,
            Self::Clean => 10,
        }
    }

    #[must_use]
    pub fn strongest(self, other: Self) -> Self {
        if other.rank() < self.rank() { other } else { self }
    }
}

/// What a finding was before a ruling gave it a tag that is not mandatory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Lowered {
    /// The tag that it was raised with.
    pub was: Severity,
    /// The dispute that the ruling settled: its number, or the id of one whose ruling is shared as a file.
    pub dispute: RulingRef,
}

/// A finding with everything that became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SettledFinding {
    /// The finding.
    #[serde(flatten)]
    pub finding: Finding,
    /// Where it stands.
    #[serde(flatten)]
    pub state: FindingState,
    /// The coder's last answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Response>,
    /// The ruling that gave it a lower tag, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lowered: Option<Lowered>,
    /// Whether the reviewer raised it against a ruling that it was told of, without new evidence.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub insisted: bool,
    /// Earlier disputes that it relates to and that do not bind it.
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
    /// What happened, in one line.
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

/// The whole outcome of a run: what `--format json` prints and `report` turns into other forms.
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
    /// Whether a before-image exists, so that `glee runs undo` can bring it back.
    pub undoable: bool,
    /// Agents that failed.
    pub failures: Vec<Failure>,
    /// How many rounds were done.
    pub rounds: u32,
    /// One line each: defaults taken without a person, quorum, anything a reader has to know.
    pub notices: Vec<String>,
}

impl Outcome {
    /// The version of the form that this program writes.
    pub const SCHEMA: u32 = 1;

    /// How the notice ends that names a command of `review.verify` that failed.
    pub const VERIFY_FAILS: &'static str = "fails on the coder's edits";

    pub fn finding(&self, id: FindingId) -> Option<&SettledFinding> {
        self.findings.iter().find(|finding| finding.finding.id == id)
    }
}
