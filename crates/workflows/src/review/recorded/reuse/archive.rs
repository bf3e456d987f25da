//! Data types: the recorded answers of reviewers, and the reviewed files.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::SystemTime;

use crate::run::redaction::Redaction;
use glee_model::domain::{AgentName, FileReview, RawFinding, ReviewedFiles, RunId};
use glee_protocol::{request::SourceFile, text::location};
use glee_store::history::store::Journal;
use glee_workspace::diff::delta::Delta;
use glee_workspace::root::Workspace;

/// What determines the reviewers' answers, except the code, as it was when the run began.
#[derive(Debug)]
pub struct ReviewerKeys {
    /// For each reviewer, a hash of its program, its settings and its prompt.
    pub reviewers: BTreeMap<AgentName, String>,
    /// For each folder with files under review, a hash of the instructions that agents read by themselves.
    pub instructions: BTreeMap<String, String>,
    /// For each file under review, a hash of the guidelines that apply to it.
    pub guidelines: BTreeMap<String, String>,
    pub at: SystemTime,
}

impl ReviewerKeys {
    pub fn none() -> Self {
        Self {
            reviewers: BTreeMap::new(),
            instructions: BTreeMap::new(),
            guidelines: BTreeMap::new(),
            at: SystemTime::now(),
        }
    }
}

pub(super) fn hash(parts: &[&[u8]]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher
            .update(&(part.len() as u64).to_le_bytes())
            .update(part);
    }
    hasher.finalize().to_hex().to_string()
}

/// The folder of a file in the tree; empty for a file in the root.
pub(super) fn folder_of(file: &str) -> String {
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    folder.to_string_lossy().into_owned()
}

/// Two limits for the size of the shown lines: a percentage of the code under review, and a number of bytes.
/// Glee reduces the context around changed lines until the size is within the larger limit.
pub(super) const SMALL: (usize, usize) = (8, 16 << 10);

/// A percentage of the code under review. If the size exceeds both this percentage and `SMALL` even with the
/// smallest context, Glee shows the full context.
pub(super) const LARGE: usize = 40;

pub(crate) struct ShownFile {
    pub file: SourceFile,
    pub key: String,
    pub frame: String,
    /// Whether the lines of the file can be compared with the lines of an earlier version. `is_comparable` is
    /// false if redaction changed the number of lines.
    pub(crate) is_comparable: bool,
}

pub(crate) enum KnownAnswer {
    Nothing,
    Same {
        place: RecordedAt,
        review: FileReview,
    },
    Part {
        place: RecordedAt,
        review: FileReview,
        delta: Delta,
    },
}

/// The id of a run, and the number of an event of this run.
pub(crate) type RecordedAt = (RunId, u64);

/// Whether the other files in which findings of a review have places are unchanged. `current` contains the keys of
/// the files under review. A file that is not under review counts as unchanged.
pub(crate) fn has_same_places(
    recorded: &ReviewedFiles,
    review: &FileReview,
    current: &BTreeMap<&str, &str>,
) -> bool {
    let findings = review.findings.iter().chain(&recorded.others);
    let mut files = findings
        .flat_map(|finding| &finding.places)
        .map(|place| place.file.as_str())
        .filter(|file| *file != review.file);
    files.all(|file| recorded.places.get(file).map(String::as_str) == current.get(file).copied())
}

pub struct Archive<'a> {
    pub journal: &'a Journal,
    pub workspace: &'a Workspace,
    pub keys: &'a ReviewerKeys,
    pub redaction: Redaction,
    /// The current run, whose records are not reused.
    pub now: Option<&'a RunId>,
}

/// Finds the path in `paths` to which `named` refers. Returns the index of the path, or `None` if no path or several
/// paths match.
pub(super) fn path_of(named: &str, paths: &[&str]) -> Option<usize> {
    let named = named.trim().trim_matches(['`', '"', '\'']);
    let plain = named.strip_prefix("./").unwrap_or(named);
    let whole = paths.iter().position(|path| *path == plain);
    whole.or_else(|| {
        let mut of_name =
            (0..paths.len()).filter(|at| paths[*at].rsplit('/').next() == Some(plain));
        of_name.next().filter(|_| of_name.next().is_none())
    })
}

/// Finds the path in `paths` that a finding refers to. Returns the index of the path, and a copy of the finding
/// with this path. Returns `None` if no path or several paths match.
pub(super) fn placed(finding: &RawFinding, paths: &[&str]) -> Option<(usize, RawFinding)> {
    let named = finding
        .file
        .as_deref()?
        .trim()
        .trim_matches(['`', '"', '\'']);
    let (at, lines) = match (path_of(named, paths), finding.line) {
        (Some(at), _) => (at, (finding.line, finding.end_line)),
        (None, Some(_)) => return None,
        (None, None) => {
            let (path, line, end_line) = location::split(named)?;
            (path_of(path, paths)?, (Some(line), end_line))
        }
    };
    let (line, end_line) = lines;
    Some((
        at,
        RawFinding {
            file: Some(paths[at].to_owned()),
            line,
            end_line,
            ..finding.clone()
        },
    ))
}
