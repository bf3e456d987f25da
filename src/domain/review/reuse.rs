//! Earlier reviews of files, which are reused instead of asking the reviewer again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::{AgentName, RawFinding, RunId};

/// A reviewer's review of a file. A later review of the same content reuses it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileReview {
    /// The path inside the tree.
    pub file: String,
    /// The BLAKE3 hash (hex) of what was under review: path, text, lines, change, and the rulings in force.
    pub key: String,
    /// The hash of everything that is not compared line by line: the text before the change, its headers, the rulings.
    pub frame: String,
    /// A keyed hash of each line, [`Self::DIGITS`] hexadecimal digits each; absent where lines are not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<String>,
    /// The lines that were under review, 1-based and inclusive; empty means the whole file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranges: Vec<(u32, u32)>,
    /// The findings in this file, including those carried over from earlier reviews of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<RawFinding>,
}

impl FileReview {
    /// The hexadecimal digits of the hash of a line.
    pub const DIGITS: usize = 12;
}

/// A file that a reviewer is asked about in part, because the rest is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedFile {
    pub file: String,
    /// The lines asked about, 1-based and inclusive; empty means all lines under review.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranges: Vec<(u32, u32)>,
    /// The shown lines; empty means the whole file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<(u32, u32)>,
}

/// The files whose review was taken from an earlier run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReusedFrom {
    /// The run in which the reviewer reviewed them.
    pub run: RunId,
    /// The files that have not changed since that run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The files that have changed since then: the reviewer was asked about the lines that changed, and what it said about
    /// the other lines was carried over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub in_part: Vec<String>,
}

/// An earlier finding whose code has changed, and that its reviewer, who was asked to check it again there, does not raise
/// any more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NoLongerRaised {
    /// The reviewer.
    pub reviewer: AgentName,
    /// The finding, at the line of its code.
    #[serde(flatten)]
    pub finding: RawFinding,
}

/// The part of a reviewer's review that was reused from an earlier run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reused {
    /// The reviewer.
    pub reviewer: AgentName,
    /// The run and the files.
    #[serde(flatten)]
    pub from: ReusedFrom,
}
