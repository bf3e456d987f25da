//! The outcome of a run, with the proof of review.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::ids::RunId;
use crate::domain::{
    AgentName, Caps, Coverage, Demonstrated, Dispute, EarlierDispute, ExitReason, FailureKind,
    Finding, FindingId, FindingState, Location, Loosened, NoLongerRaised, Response, Reused, Role,
    RulingRef, RunWorktree, Severity, Skip, SkipReason, UnreadFile, Untrusted, Usage, number_of,
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
    #[serde(skip_serializing_if = "Option::is_none")]
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
    #[serde(default, skip_serializing_if = "crate::domain::is_default")]
    pub caps: Caps,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<Response>,
    /// The coder that received the finding; absent if the run has only one coder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coder: Option<AgentName>,
    /// The places that the coder did not change, if the coder changed only some places of a claimed finding.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unchanged: Vec<Location>,
    /// The ruling that lowered the tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lowered: Option<Lowered>,
    /// Whether the reviewer raised the finding against a ruling in force, without new evidence.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub insisted: bool,
    /// Related earlier disputes that do not bind the finding.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<EarlierDispute>,
    /// The demonstrations of the finding and of the coder's answer that Glee ran, or refused to run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub demonstrations: Vec<Demonstrated>,
    /// Whether the finding would block, but `review.demonstrations` is `required` and no test shows it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undemonstrated: bool,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The kind of the failure. `cause` is absent if no process failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<FailureKind>,
    /// The name of the failed call in the output of `glee runs show --calls`. `call` is absent if the agent
    /// printed nothing that explains the failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileChange {
    pub file: String,
    pub added: u32,
    pub removed: u32,
    /// The unified diff; `None` for a binary or large file.
    #[serde(skip_serializing_if = "Option::is_none")]
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
    #[serde(default, skip_serializing_if = "crate::domain::is_default")]
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
    /// Where the coder worked, if not in the user's tree (`--worktree`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worktree: Option<RunWorktree>,
    pub failures: Vec<Failure>,
    pub rounds: u32,
    /// Notices to the user, one line each.
    pub notices: Vec<String>,
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
        [
            self.undemonstrated(),
            self.loosening(),
            self.not_sent(),
            missing,
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// What `review.demonstrations: required` has made optional, as in ``1 mandatory finding that no test shows does not
    /// block (`review.demonstrations: required`)``.
    fn undemonstrated(&self) -> Option<String> {
        let findings = self.findings.iter();
        let number = findings.filter(|settled| settled.undemonstrated).count();
        let (verb, does) = if number == 1 {
            ("finding that no test shows", "does")
        } else {
            ("findings that no test shows", "do")
        };
        (number > 0).then(|| {
            format!(
                "{number} mandatory {verb} {does} not block (`review.demonstrations: required`)"
            )
        })
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
