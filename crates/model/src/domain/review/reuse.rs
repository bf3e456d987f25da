//! Reuse of earlier reviews of files.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::{AgentName, FindingId, RawFinding, ReadSet, RunId};

/// A review of one file by one reviewer. Later reviews of the same content reuse this review.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileReview {
    pub file: String,
    /// A BLAKE3 hash (hex) of everything that the reviewer received for the file: path, text, line ranges, diff,
    /// and the rulings in force.
    pub key: String,
    /// A hash of the parts that are not compared line by line: the headers of the diff, the text before the
    /// change, and the rulings.
    pub frame: String,
    /// The keyed hashes of all lines, with [`Self::DIGITS`] hexadecimal digits for each line. If `lines` is
    /// absent, a later review compares only the field `key`, which is the hash of everything that the reviewer
    /// received for the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<String>,
    /// The lines that were under review, 1-based and inclusive; empty means the whole file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranges: Vec<(u32, u32)>,
    /// The findings in this file, including findings carried over from earlier reviews of the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<RawFinding>,
}

impl FileReview {
    pub const DIGITS: usize = 12;
}

/// A file that a call still has to cover. For the other files and lines, Glee reuses earlier answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedFile {
    pub file: String,
    /// The lines that the call covers, 1-based and inclusive; empty means all lines under review.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranges: Vec<(u32, u32)>,
    /// The lines in the prompt; empty means the whole file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<(u32, u32)>,
}

/// The answers of earlier runs that a reviewer does not have to give again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reuse {
    pub from: Vec<ReusedFrom>,
    /// The findings of the earlier answers, with current line numbers.
    pub findings: Vec<RawFinding>,
    /// For each finding in `findings`, the same finding in the earlier run. A value is `None` if the earlier
    /// run did not merge the finding. A list that contains only `None` is stored as an empty list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub origins: Vec<Option<FindingId>>,
    /// The files that the reviewer still receives in the call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<AskedFile>,
    /// Earlier findings about code that has changed since the earlier review. The reviewer reads the code
    /// again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub superseded: Vec<RawFinding>,
    /// What the answers rest on that are reused for a part of a file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<ReadSet>,
}

/// A complete review, by file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReviewedFiles {
    /// A BLAKE3 hash (hex) that identifies the reviewer's configuration. The hash covers the agent, the
    /// agent's program, the focus, the prompt template and the rules.
    pub asker: String,
    /// The random key for hashing lines.
    pub salt: String,
    pub files: Vec<FileReview>,
    /// Findings that belong to no file in `files`. The findings in `others` are reused only if all files in
    /// `files` are unchanged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<RawFinding>,
    /// The keys of the files under review in which the findings have further places.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub places: BTreeMap<String, String>,
    /// What the answer rests on beside the files that the reviewer received; absent if the reviewer's program gives
    /// no trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads: Option<Vec<ReadSet>>,
}

/// The files whose review was taken from an earlier run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReusedFrom {
    /// The earlier run.
    pub run: RunId,
    /// Files that are unchanged since the earlier run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Files whose changed lines were reviewed again; the findings about other lines were reused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub in_part: Vec<String>,
    /// Whether it is unknown what the reviewer read beside the files that it received, because its program gives no
    /// trace. A change of such a file does not make Glee ask again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reads_unknown: bool,
}

/// An earlier finding about changed code. The reviewer checked the code again and did not repeat the finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NoLongerRaised {
    pub reviewer: AgentName,
    /// The finding, with the current line of its code.
    #[serde(flatten)]
    pub finding: RawFinding,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reused {
    pub reviewer: AgentName,
    #[serde(flatten)]
    pub from: ReusedFrom,
}
