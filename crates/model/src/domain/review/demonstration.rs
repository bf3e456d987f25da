//! Demonstrations: tests that belong to a finding or to a coder's answer, and what was seen when Glee ran them.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::{FindingId, Role, Untrusted};

/// A test of one file. The agent names a configured runner; it gives no command.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Demonstration {
    /// The name of a runner in `review.runners`.
    pub runner: String,
    /// The path of the new file, relative to the root of the tree.
    pub path: String,
    pub code: Untrusted,
}

/// A judge's question before its ruling: one side is to show what it says by a demonstration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DemonstrationRequest {
    /// The side: `reviewer` or `coder`.
    pub from: Role,
    /// What the demonstration is to show.
    pub question: Untrusted,
}

/// What a demonstration is to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// The test fails as long as the defect is there.
    Defect,
    /// The test passes: what the finding says does not happen.
    NoDefect,
}

impl Claim {
    /// What a demonstration shows that a judge asks a side for.
    pub fn of_side(side: Role) -> Self {
        match side {
            Role::Coder => Self::NoDefect,
            Role::Reviewer | Role::Judge | Role::Aggregator => Self::Defect,
        }
    }
}

/// On which tree a demonstration ran.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum TestedTree {
    /// The tree in which the finding was raised.
    Before,
    /// The tree after the coder's edits.
    After,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TestEnd {
    Passed,
    /// A test failed.
    Failed,
    /// No test failed or passed: the file does not compile, an exception was thrown, or it contains no test.
    Broken,
    TimedOut,
    /// The test took more memory, disk space or processes than a test is allowed to take.
    TookTooMuch,
    /// The test changed a file of the tree under test.
    ChangedTree,
    /// The output does not tell a failing test from a broken one.
    Unclear,
}

/// One run of a demonstration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestRun {
    pub end: TestEnd,
    /// Whether a line of the finding's block was executed; absent if the runner gives no trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reached: Option<bool>,
    pub millis: u64,
    /// The end of the output, without secrets.
    pub output: Untrusted,
}

/// What Glee saw when it ran a demonstration on one tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DemonstrationRun {
    pub finding: FindingId,
    pub claim: Claim,
    /// The reviewer or the coder.
    pub by: Role,
    pub demonstration: Demonstration,
    /// The id of the tested content.
    pub tree: String,
    pub tested: TestedTree,
    /// The command, for display.
    pub command: String,
    pub runs: Vec<TestRun>,
    /// One more run of a test that passes, without what makes it pass: after the coder's edits, without the coder's lines in
    /// the finding's block; on the reviewed tree, without the guard that the objection names. Absent if it did not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without: Option<TestRun>,
    /// Why nothing ran; absent if it ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// Why a demonstration shows nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "reason", content = "problem", rename_all = "snake_case")]
pub enum Inconclusive {
    Refused(String),
    ChangedTree,
    TimedOut,
    TookTooMuch,
    Unclear,
    Flaky,
    Broken,
    /// The test of a defect passes on the reviewed tree.
    Passes,
    /// The test of an objection fails on the reviewed tree.
    Fails,
    /// No line of the finding's block was executed.
    NotReached,
    /// Nothing tells which lines were executed.
    ReachUnknown,
}

/// What a demonstration shows, as a table in `rules::review::demonstrations` defines it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum DemonstrationResult {
    FailsBefore,
    /// It failed before the coder's edits and fails after them.
    FailsAfter,
    /// It failed before the coder's edits and passes after them.
    PassesAfter,
    /// The test of an objection passes on the reviewed tree.
    Passes,
    Inconclusive {
        #[serde(flatten)]
        why: Inconclusive,
    },
}

/// A demonstration with what it shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Demonstrated {
    /// The reviewer or the coder.
    pub by: Role,
    pub claim: Claim,
    pub demonstration: Demonstration,
    #[serde(flatten)]
    pub result: DemonstrationResult,
    /// Whether the test passes because of what it is about: it fails without the coder's lines at the finding, or without the
    /// guard that the objection names.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stronger: bool,
    /// The last run on each tree.
    pub runs: Vec<DemonstrationRun>,
}

impl fmt::Display for Inconclusive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Refused(why) => return write!(f, "not run: {why}"),
            Self::ChangedTree => "it changes the code under test",
            Self::TimedOut => "it does not end in time",
            Self::TookTooMuch => "it takes too much memory, disk space or processes",
            Self::Unclear => "its output does not tell a failing test from a broken one",
            Self::Flaky => "its runs end differently",
            Self::Broken => "it breaks by itself",
            Self::Passes => "it passes on the reviewed code",
            Self::Fails => "it fails on the reviewed code",
            Self::NotReached => "it executes nothing of the finding's block",
            Self::ReachUnknown => {
                "nothing tells which lines it executes; a runner that writes `{coverage}` (LCOV) tells it"
            }
        })
    }
}

impl fmt::Display for DemonstrationResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FailsBefore => f.pad("fails on the reviewed code"),
            Self::FailsAfter => f.pad("failed before, still fails"),
            Self::PassesAfter => f.pad("failed before, passes after"),
            Self::Passes => f.pad("passes on the reviewed code"),
            Self::Inconclusive { why } => write!(f, "inconclusive: {why}"),
        }
    }
}

impl DemonstrationResult {
    /// Whether the defect was seen on the reviewed tree.
    pub fn failed_before(&self) -> bool {
        matches!(
            self,
            Self::FailsBefore | Self::FailsAfter | Self::PassesAfter
        )
    }
}

impl Demonstrated {
    /// One line, as in `` `tests/test_total.py` of the reviewer: failed before, passes after ``.
    pub fn summary(&self) -> Untrusted {
        let path = &self.demonstration.path;
        format!("`{path}` of the {}: {}", self.by, self.shows()).into()
    }

    /// What it shows, in words.
    pub fn shows(&self) -> String {
        let Self { claim, result, .. } = self;
        match (self.stronger, claim) {
            (false, _) => result.to_string(),
            (true, Claim::Defect) => format!("{result}, and fails without the change"),
            (true, Claim::NoDefect) => {
                format!("{result}, and fails without the guard that it names")
            }
        }
    }

    /// The output of the last run; `None` if nothing ran.
    pub fn output(&self) -> Option<&Untrusted> {
        let runs = self.runs.iter().flat_map(|run| &run.runs);
        runs.last().map(|run| &run.output)
    }
}
