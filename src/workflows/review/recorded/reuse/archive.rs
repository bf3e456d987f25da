//! The data types of recorded answers and of the files that the answers are about.

use std::collections::BTreeMap;

use crate::domain::{AgentName, FileReview, RawFinding, RunId};
use crate::history::store::Journal;
use crate::protocol::request::SourceFile;
use crate::workflows::run::redaction::Redaction;
use crate::workspace::diff::delta::Delta;

/// For each reviewer, a hash of everything that determines the reviewer's answers, except the code.
pub(crate) type ReviewerKeys = BTreeMap<AgentName, String>;

/// The context around changed lines is reduced until the size of the shown lines is below a limit. The first
/// number of `SMALL` is the limit as a percentage of the code under review, and the second number is the limit
/// in bytes. The larger limit applies.
pub(crate) const SMALL: (usize, usize) = (8, 16 << 10);

/// The maximum size of the lines that are shown with the smallest context, as a percentage of the code under
/// review. If the size exceeds the maximum, the context is not reduced.
pub(crate) const LARGE: usize = 40;

pub(crate) struct ShownFile {
    pub(crate) file: SourceFile,
    pub(crate) key: String,
    pub(crate) frame: String,
    /// Whether the lines of the file can be compared with the lines of an earlier version. `is_comparable` is
    /// false if redaction changed the number of lines.
    pub(crate) is_comparable: bool,
}

pub(crate) enum KnownAnswer {
    Nothing,
    Same { place: RecordedAt, review: FileReview },
    Part { place: RecordedAt, review: FileReview, delta: Delta },
}

/// The id of a run, and the number of an event of this run.
pub(crate) type RecordedAt = (RunId, u64);

pub(crate) struct RecordedAnswer {
    pub(crate) salt: String,
    pub(crate) files: Vec<FileReview>,
    pub(crate) others: Vec<RawFinding>,
}

pub(crate) struct Archive<'a> {
    pub(crate) journal: &'a Journal,
    pub(crate) reviewers: &'a ReviewerKeys,
    pub(crate) redaction: Redaction,
    /// The current run, whose records are not reused.
    pub(crate) now: Option<&'a RunId>,
}
