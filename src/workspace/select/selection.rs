//! Targets, and the selection of their files.

use std::path::PathBuf;

use crate::domain::{Coverage, Skip, SkipReason};
use crate::protocol::request::SourceFile;
use crate::workspace::code::text_files;
use crate::workspace::diff::metadata_changes;
use crate::workspace::select::filter;

/// The target of a review, as requested by the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetSpec {
    /// Everything that differs from `HEAD`: staged, unstaged, and untracked files that are not ignored.
    Uncommitted,
    /// The staged changes; the files are read from the index.
    Staged,
    /// The changes since the common ancestor of `HEAD` and a revision, including the uncommitted changes.
    Base(String),
    /// The changes of one commit relative to its first parent.
    Commit(String),
    /// `A..B`: from A to B. `A...B`: from the common ancestor of both to B. A missing side is `HEAD`.
    Range(String),
    /// A unified diff. A file in the diff's final state is read. To a file in the diff's initial state, the diff is
    /// applied in memory. If a file is in another state or missing, only the lines of the diff's new side are
    /// reviewed, at their line numbers.
    Diff {
        /// The name of the diff; `-` for stdin.
        name: String,
        text: Vec<u8>,
    },
    /// Whole files and folders, relative to the working folder.
    Paths(Vec<PathBuf>),
}

/// Bounds on a selection, both in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelectOptions {
    /// Larger files are skipped (`review.max_file_size`).
    pub max_file: u64,
    /// The maximum size of a shard (`review.max_shard_size`).
    pub shard: u64,
}

/// The reviewed files, the skipped files, and the shards of a review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub description: String,
    /// The commit under review, or `HEAD`.
    pub commit: Option<String>,
    /// The id of the git tree under review; for a work tree, `blake3:` followed by a hash of the reviewed paths and
    /// texts.
    pub tree: String,
    /// The files, by path.
    pub files: Vec<SourceFile>,
    /// The skipped files, by path.
    pub skipped: Vec<Skip>,
    /// The shards, as indexes into `files`.
    pub shards: Vec<Vec<usize>>,
}

impl Target {
    /// For each shard, the files it covers, each with the number of lines under review.
    pub fn coverage(&self) -> Vec<Vec<Coverage>> {
        let coverage = |index: &usize| {
            let file = &self.files[*index];
            let lines = match file.changed.as_slice() {
                _ if file.is_deleted() => file.deleted_lines(),
                [] => text_files::lines(&file.text),
                ranges => ranges.iter().map(|(first, last)| last - first + 1).sum(),
            };
            Coverage { file: file.path.clone(), lines }
        };
        self.shards.iter().map(|shard| shard.iter().map(coverage).collect()).collect()
    }
}

/// A selection before it is sorted and split.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    pub(crate) files: Vec<SourceFile>,
    pub(crate) skipped: Vec<Skip>,
    /// The total size, in bytes, of the diffs of deleted files added so far.
    pub(crate) deleted: usize,
    /// The commit under review, if it is not `HEAD`.
    pub(crate) commit: Option<String>,
    /// The id of the tree under review, if the target has one.
    pub(crate) tree: Option<String>,
}

impl Selection {
    /// Adds a file of a change; if the file exceeds `max_file`, only its changed part is added.
    pub(crate) fn add(&mut self, file: SourceFile, max_file: u64) {
        if file.is_deleted() {
            let size = file.diff.as_ref().map_or(0, String::len);
            let is_shown = size as u64 <= max_file && self.deleted.saturating_add(size) <= metadata_changes::SHOWN;
            self.deleted += if is_shown { size } else { 0 };
            self.files.push(if is_shown { file } else { metadata_changes::named(file) });
            return;
        }
        if file.text.len() as u64 <= max_file {
            self.files.push(file);
            return;
        }
        let path = file.path.clone();
        let reason = match metadata_changes::part(file, max_file) {
            Ok((file, is_cut)) => {
                self.files.push(file);
                is_cut.then_some(SkipReason::Partial)
            }
            Err(reason) => Some(reason),
        };
        self.skipped.extend(reason.map(|reason| Skip { file: path, reason }));
    }

    pub(crate) fn skip(&mut self, path: &[u8], reason: SkipReason) {
        self.skipped.push(filter::skip(path, reason));
    }
}
