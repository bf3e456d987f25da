//! The outcome of a run, with the proof of review.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::ids::RunId;
use crate::domain::{
    AgentName, Caps, Dispute, EarlierDispute, FailureKind, Finding, FindingId, FindingState,
    Location, Loosened, NoLongerRaised, Response, Reused, Role, RulingRef, Severity, Untrusted,
    Usage, number_of,
};

/// Whether a reviewer's answer can be relied on (section 3.3 of the design).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerStatus {
    /// The number in the closing line equals the number of findings.
    Complete,
    /// The answer is complete and has no findings.
    Clean,
    /// The closing line is missing, its number differs from the number of findings, the reviewer says that it did
    /// not read all of the code, or its words contradict the number.
    Incomplete,
    /// The answer has neither findings nor a closing line.
    NotReviewed,
}

impl AnswerStatus {
    pub fn is_complete(self) -> bool {
        matches!(self, Self::Complete | Self::Clean)
    }
}

/// How much of the code a reviewer says it read: the word `read` of the closing line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CodeRead {
    All,
    Part,
}

impl CodeRead {
    /// Joins two statements about the same code. If they differ, only part of the code was read.
    pub fn joined(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        match (one, other) {
            (Some(Self::Part), _) | (_, Some(Self::Part)) => Some(Self::Part),
            (one, other) => one.or(other),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// The file contains a NUL byte or is not text.
    Binary,
    /// A tool writes the file: its name says so (lock files, snapshots, `*.pb.go`), or a mark that the base has.
    Generated,
    /// The file is a copy of other people's code (`node_modules/`, `vendor/`).
    Vendored,
    /// The file holds data (`*.csv`).
    Data,
    /// Everything in the notebook but its cells: their outputs, counters and metadata.
    NotebookOutputs,
    /// The file is larger than `review.max_file_size`.
    Oversized,
    /// The file cannot be read.
    Unreadable,
    /// The file is not a regular file (a FIFO, a device, a socket, a link, a submodule).
    NotAFile,
    /// The change deletes the file.
    Deleted,
    /// A `.gleeignore` excludes the file.
    Ignored,
    /// The change of the file is larger than `review.max_file_size`. Only the beginning of the change was reviewed.
    Partial,
    /// The file is a document, and the reviewers read only code.
    Document,
    /// The file configures Glee, and nothing else changed.
    Configuration,
    /// The folder is another repository or work tree, and not a submodule.
    Repository,
    /// The pull request is a draft, and `pr.drafts` is false.
    Draft,
}

impl SkipReason {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Binary => "binary",
            Self::Generated => "generated",
            Self::Vendored => "vendored",
            Self::Data => "data",
            Self::NotebookOutputs => "outputs of a notebook",
            Self::Oversized => "oversized",
            Self::Unreadable => "unreadable",
            Self::NotAFile => "not a regular file",
            Self::Deleted => "deleted",
            Self::Ignored => "named in .gleeignore",
            Self::Partial => "only in part: oversized",
            Self::Document => "a document that no reviewer reads",
            Self::Configuration => "the configuration of Glee",
            Self::Repository => "another repository or work tree",
            Self::Draft => "in a draft",
        }
    }

    /// Whether Glee did not send all that should have been reviewed, because it is too large or could not be read.
    /// All other files are left out by design.
    pub fn is_incomplete(self) -> bool {
        matches!(self, Self::Oversized | Self::Partial | Self::Unreadable)
    }

    /// Whether a rule says that nobody has to review the file: no person wrote it for this project.
    pub fn is_by_rule(self) -> bool {
        matches!(
            self,
            Self::Generated | Self::Vendored | Self::Data | Self::NotebookOutputs
        )
    }

    /// Whether the skipped file should have been reviewed. A file need not be reviewed if the change deletes the
    /// file, if the user excludes the file or drafts, if the file configures the review, or if it belongs to another
    /// repository.
    pub fn is_unread(self) -> bool {
        !matches!(
            self,
            Self::Deleted
                | Self::Ignored
                | Self::Configuration
                | Self::Repository
                | Self::NotebookOutputs
                | Self::Draft
        )
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Skip {
    pub file: String,
    pub reason: SkipReason,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    pub file: String,
    /// The number of lines shown to the reviewers as the target.
    pub lines: u32,
    /// The line ranges of the part of the file that a shard covers, 1-based and inclusive; empty if the shard covers
    /// all lines under review.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranges: Vec<(u32, u32)>,
}

/// A file that a reviewer received but could not read, because the reviewer has no rules for the file's
/// language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnreadFile {
    pub file: String,
    /// A language or a kind of file, such as `Ruby` or `.txt`.
    pub language: String,
}

impl UnreadFile {
    const NAMED: usize = 6;

    /// The languages of the files, sorted by first occurrence, as in `Ruby, C`.
    pub fn languages(files: &[Self]) -> String {
        let mut named: Vec<&str> = Vec::new();
        for file in files {
            if !named.contains(&file.language.as_str()) {
                named.push(&file.language);
            }
        }
        let more = named.len().saturating_sub(Self::NAMED);
        named.truncate(Self::NAMED);
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        format!("{}{more}", named.join(", "))
    }
}

/// A reviewer's answer that is not complete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerProblem {
    /// The name of the call in the output of `glee runs show --calls`.
    pub call: String,
    /// The reason why the answer is not complete.
    pub problem: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewerReport {
    pub name: AgentName,
    /// The worst status of the reviewer's answers. The status is `not_reviewed` if the reviewer could read no file.
    pub status: AnswerStatus,
    pub findings: u32,
    /// The duration of the longest call, in milliseconds.
    pub millis: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// The reasons why answers are not complete.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<AnswerProblem>,
    /// The files that the reviewer received but could not read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<UnreadFile>,
    /// What the reviewer says beside its findings, in its last answers; at most 2,000 characters.
    #[serde(default, skip_serializing_if = "Untrusted::is_empty")]
    pub said: Untrusted,
}

impl ReviewerReport {
    /// The largest number of characters in `said`.
    pub const SAID: usize = 2_000;
}

/// The proof of review: what was reviewed, and by whom.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Proof {
    pub commit: Option<String>,
    /// The id of the reviewed tree's content: a git tree id, or `blake3:...` outside git.
    pub tree: String,
    /// The target in words (`uncommitted changes`, `src/`, `main..HEAD`).
    pub target: String,
    pub covered: Vec<Coverage>,
    pub skipped: Vec<Skip>,
    /// The files that reviewers received, but that no reviewer could read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<UnreadFile>,
    pub reviewers: Vec<ReviewerReport>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reused: Vec<Reused>,
    /// The wall time of the run in milliseconds.
    pub millis: u64,
    /// The sum of the usage that the agents reported for all calls.
    pub usage: Usage,
    /// Calls of agents, including retries.
    #[serde(default)]
    pub calls: u64,
    #[serde(default, skip_serializing_if = "Caps::is_none")]
    pub caps: Caps,
}

/// The reason for an exit code (section 3.6 of the design). If a run has several reasons, the strongest reason
/// determines the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExitReason {
    /// No mandatory finding is open, or there is nothing to review.
    Clean,
    /// Mandatory findings are open.
    FindingsOpen,
    /// The command line or the configuration is invalid.
    Usage,
    /// A dispute waits for a person.
    DisputeOpen,
    /// An agent failed; the result is inconclusive.
    AgentFailed,
    /// Files changed while a read-only agent worked.
    ReadOnlyViolation,
    /// Another run has locked this tree.
    Locked,
    /// The history cannot be written, or the history has a format that is too new for this version of Glee.
    History,
    /// The repository's configuration is not trusted.
    Untrusted,
    /// The budget is used up; the run can be resumed.
    Budget,
    /// An agent has reached a rate limit or a quota; the run can be resumed.
    Limited,
    /// The run still works; the time to wait for it is over.
    StillRunning,
    /// A signal ended the run.
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
            Self::Budget | Self::Limited => 75,
            // As `timeout` of the coreutils.
            Self::StillRunning => 124,
            Self::Signal(number) => 128_u8.saturating_add(number),
        }
    }

    /// The reason with this exit code. A code that no reason has is a failure about which nothing is known.
    pub fn with_code(code: u8) -> Self {
        match code {
            0 => Self::Clean,
            1 => Self::FindingsOpen,
            2 => Self::Usage,
            3 => Self::DisputeOpen,
            5 => Self::ReadOnlyViolation,
            6 => Self::Locked,
            7 => Self::History,
            8 => Self::Untrusted,
            75 => Self::Budget,
            124 => Self::StillRunning,
            129.. => Self::Signal(code - 128),
            _ => Self::AgentFailed,
        }
    }

    /// Whether the run ended before its work was done, and can be resumed.
    pub fn is_unfinished(self) -> bool {
        matches!(self, Self::Budget | Self::Limited | Self::Signal(_))
    }

    #[must_use]
    pub fn strongest(self, other: Self) -> Self {
        if strength(other) > strength(self) {
            other
        } else {
            self
        }
    }
}

fn strength(reason: ExitReason) -> usize {
    /// The exit codes, from the weakest to the strongest. The exit codes after a signal are not in the list.
    /// An exit code after a signal takes precedence over all codes in the list.
    const STRENGTHS: [u8; 11] = [0, 1, 3, 4, 75, 124, 5, 2, 6, 7, 8];
    STRENGTHS
        .iter()
        .position(|code| *code == reason.code())
        .unwrap_or(usize::MAX)
}

/// A ruling lowered the tag of a finding, so the finding is no longer mandatory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Lowered {
    /// The reviewer's tag.
    pub was: Severity,
    pub dispute: RulingRef,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SettledFinding {
    #[serde(flatten)]
    pub finding: Finding,
    #[serde(flatten)]
    pub state: FindingState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Response>,
    /// The coder that received the finding; absent if the run has only one coder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coder: Option<AgentName>,
    /// The places that the coder did not change, if the coder changed only some places of a claimed finding.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unchanged: Vec<Location>,
    /// The ruling that lowered the tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lowered: Option<Lowered>,
    /// Whether the reviewer raised the finding against a ruling in force, without new evidence.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub insisted: bool,
    /// Related earlier disputes that do not bind the finding.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<EarlierDispute>,
}

impl SettledFinding {
    /// Whether the finding is neither closed nor rejected.
    pub fn is_open(&self) -> bool {
        !self.state.is_closed() && !self.finding.is_rejected()
    }

    /// The name of the coder that received the finding, or `the coder` if the run has only one.
    pub fn coder_name(&self) -> &str {
        self.coder.as_ref().map_or("the coder", |name| &name.0)
    }

    /// The member of a group whose state is the state of the group: a member that blocks, otherwise an open member.
    pub fn leading(group: &[Self]) -> &Self {
        let leading = group
            .iter()
            .min_by_key(|member| (!member.blocks(), !member.is_open()));
        leading.expect("a group has a member")
    }

    /// States which code of a claimed finding did not change, as in `b.py:1 and c.py:1 are unchanged`.
    pub fn what_is_unchanged(&self) -> String {
        let places: Vec<String> = self.unchanged.iter().map(Location::to_string).collect();
        match places.as_slice() {
            [] => "nothing changed here".to_owned(),
            [place] => format!("{place} is unchanged"),
            [places @ .., last] => format!("{} and {last} are unchanged", places.join(", ")),
        }
    }

    /// Whether the finding is mandatory and not closed. Such a finding prevents exit code 0.
    pub fn blocks(&self) -> bool {
        self.finding.mandatory && !self.state.is_closed()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// The agent that failed.
    pub agent: AgentName,
    pub role: Role,
    /// The error message in one line.
    pub error: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The kind of the failure. `cause` is absent if no process failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<FailureKind>,
    /// The name of the failed call in the output of `glee runs show --calls`. `call` is absent if the agent
    /// printed nothing that explains the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileChange {
    pub file: String,
    pub added: u32,
    pub removed: u32,
    /// The unified diff; `None` for a binary or large file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// The outcome of a run, as `--format json` prints it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// The version of this schema. A new optional field does not require a new version of the schema; every other
    /// change does.
    pub schema: u32,
    pub run: RunId,
    pub exit: ExitReason,
    pub proof: Proof,
    /// The findings, sorted by id.
    pub findings: Vec<SettledFinding>,
    /// The number of open findings that are older than the change, and that `review.older: hide` hides.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hidden_older: u32,
    /// What the project's configuration loosens about this review, against the defaults and the user's own
    /// configuration. The list is empty if the configuration comes from the base of a change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loosened: Vec<Loosened>,
    /// The disputes of this run, sorted by number. A finding of this run can repeat the disputed finding of an
    /// earlier run. If the earlier dispute waits for a person, the list also contains the earlier dispute.
    pub disputes: Vec<Dispute>,
    /// Earlier findings about code that has changed since the earlier review. The reviewers no longer raise these
    /// findings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub no_longer_raised: Vec<NoLongerRaised>,
    /// The coder's changes in the whole run.
    pub changes: Vec<FileChange>,
    /// Whether `glee runs undo` can restore the tree.
    pub undoable: bool,
    pub failures: Vec<Failure>,
    pub rounds: u32,
    /// Notices to the user, one line each.
    pub notices: Vec<String>,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Outcome {
    pub const SCHEMA: u32 = 1;

    /// The last words of every notice about a failed command of `review.verify`.
    pub const VERIFY_FAILS: &'static str = "fails on the coder's edits";

    /// One line about what the project's configuration loosens; `None` if it loosens nothing.
    pub fn loosening(&self) -> Option<String> {
        let parts: Vec<String> = self.loosened.iter().map(Loosened::sentence).collect();
        (!parts.is_empty())
            .then(|| format!("This project loosens the review: {}", parts.join("; ")))
    }

    /// The first words of the notice about files that were not reviewed.
    pub const NOT_REVIEWED: &'static str = "not reviewed";

    /// One line about the files of which Glee did not send all that is under review; `None` if it sent all.
    pub fn not_sent(&self) -> Option<String> {
        let files = self.skipped(SkipReason::is_incomplete)?;
        Some(format!("Not all was reviewed: {files}"))
    }

    /// What limits the outcome as a whole, a line each: the first lines of every report.
    pub fn caveats(&self) -> Vec<String> {
        let missing = |failure: &&Failure| failure.cause == Some(FailureKind::NotInstalled);
        let missing: BTreeSet<&str> = self
            .failures
            .iter()
            .filter(missing)
            .map(|failure| failure.agent.0.as_str())
            .collect();
        let missing: Vec<&str> = missing.into_iter().collect();
        let are = if missing.len() == 1 { "is" } else { "are" };
        let missing = (!missing.is_empty()).then(|| {
            format!(
                "{} {are} not installed here and gave no answer",
                missing.join(", ")
            )
        });
        [self.loosening(), self.not_sent(), missing]
            .into_iter()
            .flatten()
            .collect()
    }

    /// How many open findings are older than the change, whether they block, and how many are at no such place, as in
    /// `; 2 older findings do not block`. Empty if there are none.
    pub fn set_apart(&self) -> String {
        let leading = self.groups().map(SettledFinding::leading);
        let open: Vec<_> = leading.filter(|settled| settled.is_open()).collect();
        let lost = open
            .iter()
            .filter(|settled| settled.finding.no_such_place)
            .count();
        let (blocking, shown): (Vec<_>, Vec<_>) = open
            .into_iter()
            .filter(|settled| settled.finding.older)
            .partition(|settled| settled.finding.mandatory);
        let be = |number: usize, one, many| if number == 1 { one } else { many };
        let hidden = self.hidden_older as usize;
        let parts = [
            (blocking.len(), be(blocking.len(), "blocks", "block")),
            (
                shown.len(),
                be(shown.len(), "does not block", "do not block"),
            ),
            (hidden, be(hidden, "is hidden", "are hidden")),
        ];
        let older = parts
            .into_iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, what)| format!("; {} {what}", number_of(number, "older finding")));
        let lost = (lost > 0).then(|| {
            let name = be(lost, "names", "name");
            format!("; {} {name} no such place", number_of(lost, "finding"))
        });
        older.chain(lost).collect()
    }

    /// One line about a target in which there is nothing to read; `None` for every other target.
    pub fn nothing_to_review(&self) -> Option<String> {
        let is_empty = self.proof.covered.is_empty()
            && self.findings.is_empty()
            && self.exit == ExitReason::Clean;
        is_empty.then(|| {
            let target = &self.proof.target;
            match self.skipped(|_| true) {
                Some(files) => format!("Nothing to review in {target}: {files}"),
                None if ["uncommitted ", "staged ", "changes since "]
                    .iter()
                    .any(|start| target.starts_with(start)) =>
                {
                    format!("Nothing to review: there are no {target}")
                }
                None => format!("Nothing to review in {target}"),
            }
        })
    }

    /// Lists the first skipped files of a kind with their reasons; `None` if there are none.
    fn skipped(&self, is_of_kind: impl Fn(SkipReason) -> bool) -> Option<String> {
        const NAMED: usize = 5;
        let skipped = self.proof.skipped.iter();
        let mut files: Vec<String> = skipped
            .filter(|skip| is_of_kind(skip.reason))
            .map(|skip| format!("{} ({})", skip.file, skip.reason.as_str()))
            .collect();
        let more = files.len().saturating_sub(NAMED);
        files.truncate(NAMED);
        if more > 0 {
            files.push(format!("and {more} more"));
        }
        (!files.is_empty()).then(|| files.join(", "))
    }

    /// The finding, or the head of the group with this id.
    pub fn finding(&self, id: FindingId) -> Option<&SettledFinding> {
        let exact = self
            .findings
            .iter()
            .find(|finding| finding.finding.id == id);
        exact.or_else(|| self.addressed(id).next())
    }

    /// The findings that an id addresses: one finding, or the members of a group.
    pub fn addressed(&self, id: FindingId) -> impl Iterator<Item = &SettledFinding> {
        self.findings
            .iter()
            .filter(move |finding| id.addresses(finding.finding.id))
    }

    /// The findings by group. The first finding of a group is its head.
    pub fn groups(&self) -> impl Iterator<Item = &[SettledFinding]> {
        self.findings
            .chunk_by(|one, next| one.finding.id.number == next.finding.id.number)
    }

    /// The dispute about a finding, even if an earlier run opened the dispute.
    pub fn dispute_of(&self, finding: &SettledFinding) -> Option<&Dispute> {
        let number = match finding.state {
            FindingState::Disputed { dispute }
            | FindingState::Enforced { dispute }
            | FindingState::Dismissed { dispute } => Some(dispute),
            _ => None,
        };
        let Finding { id, raw, .. } = &finding.finding;
        self.disputes.iter().find(|dispute| match number {
            Some(number) => dispute.number == number,
            // The outcome can contain disputes of earlier runs, and each run numbers its own findings. In the
            // outcome, the number of a finding is therefore not unique.
            None => dispute
                .findings()
                .any(|finding| finding.id == *id && finding.raw.title == raw.title),
        })
    }
}
