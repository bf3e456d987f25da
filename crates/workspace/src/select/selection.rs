//! Describes which target a user requests, and which files are selected for the target.

use std::path::PathBuf;

use crate::code::text_files;
use crate::diff::metadata_changes;
use crate::select::{filter, notebook};
use glee_model::domain::{CodeContext, Coverage, Skip, SkipReason};
use glee_protocol::request::SourceFile;

/// The target of a review, as requested by the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetSpec {
    /// All differences from `HEAD`: staged and unstaged changes, and untracked files that are not ignored.
    Uncommitted,
    /// The staged changes; the files are read from the index.
    Staged,
    /// The changes since the common ancestor of `HEAD` and a revision, including the uncommitted changes.
    Base(String),
    /// The changes of one commit relative to its first parent.
    Commit(String),
    /// `A..B` means the changes from A to B. `A...B` means the changes in B since the common ancestor of A and B.
    /// If A or B is omitted, `HEAD` replaces the omitted revision.
    Range(String),
    /// A unified diff. If a file in the tree already contains the changes of the diff, Glee reviews the file as it
    /// is in the tree. If the file does not contain the changes yet, Glee applies the diff in memory. If the diff
    /// does not fit the file, Glee reviews only the new lines of the diff.
    Diff {
        /// The file name of the diff, or `-` for stdin.
        name: String,
        text: Vec<u8>,
    },
    /// Whole files and folders, as paths relative to the working folder.
    Paths(Vec<PathBuf>),
}

/// The size limits of a selection, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelectOptions {
    /// The maximum size of a file (`review.max_file_size`).
    pub max_file: u64,
    /// The maximum size of a shard (`review.max_shard_size`).
    pub shard: u64,
    /// What is sent of a changed file (`review.context`). Only what is sent counts for the size of a shard.
    pub context: CodeContext,
}

/// A file of a shard, or the part of a file that is too large for one shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePart {
    /// The index of the file in [`Target::files`].
    pub file: usize,
    /// The lines under review, 1-based and inclusive; empty means all lines of the file that are under review.
    pub ranges: Vec<(u32, u32)>,
}

/// The reviewed files, the skipped files, and the shards of a review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub description: String,
    /// The commit under review, or `HEAD` if the target is neither a commit nor a range.
    pub commit: Option<String>,
    /// The id of the git tree under review, or `blake3:` and a hash of the reviewed paths and texts.
    pub tree: String,
    /// The reviewed files, sorted by path.
    pub files: Vec<SourceFile>,
    /// The skipped files, sorted by path.
    pub skipped: Vec<Skip>,
    pub shards: Vec<Vec<FilePart>>,
}

impl Target {
    /// Skips all files.
    pub fn leave_out(&mut self, reason: SkipReason) {
        let files = std::mem::take(&mut self.files).into_iter();
        self.skipped.extend(files.map(|file| Skip {
            file: file.path,
            reason,
        }));
        self.skipped.sort_by(|a, b| a.file.cmp(&b.file));
        self.shards.clear();
    }

    /// Returns the files of each shard, with the number of lines under review in each file.
    pub fn coverage(&self) -> Vec<Vec<Coverage>> {
        self.shards
            .iter()
            .map(|shard| {
                shard
                    .iter()
                    .map(|part| {
                        let file = &self.files[part.file];
                        let ranges = if part.ranges.is_empty() {
                            &file.changed
                        } else {
                            &part.ranges
                        };
                        let lines = match ranges.as_slice() {
                            _ if file.is_deleted() => file.deleted_lines(),
                            [] => text_files::lines(&file.text),
                            ranges => ranges.iter().map(|(first, last)| last - first + 1).sum(),
                        };
                        Coverage {
                            file: file.path.clone(),
                            lines,
                            ranges: part.ranges.clone(),
                        }
                    })
                    .collect()
            })
            .collect()
    }
}

/// The selected files of a target, not yet sorted and not yet split into shards.
#[derive(Debug, Default)]
pub struct Selection {
    pub files: Vec<SourceFile>,
    pub skipped: Vec<Skip>,
    /// The total diff size of all deleted files in `files`, in bytes.
    pub deleted: usize,
    /// The commit under review. `None` means the commit at `HEAD`.
    pub commit: Option<String>,
    /// The id of the git tree under review. `None` if the target is not a git tree.
    pub tree: Option<String>,
}

impl Selection {
    /// Adds a changed file. If the file is larger than `max_file` bytes, only its changed part is added.
    pub fn add(&mut self, file: SourceFile, max_file: u64) {
        if notebook::is_cells(&file.path, &file.text) {
            self.skipped.push(Skip {
                file: file.path.clone(),
                reason: SkipReason::NotebookOutputs,
            });
        }
        if file.is_deleted() {
            let size = file.diff.as_ref().map_or(0, String::len);
            let is_shown = size as u64 <= max_file
                && self.deleted.saturating_add(size) <= metadata_changes::SHOWN;
            self.deleted += if is_shown { size } else { 0 };
            if !is_shown {
                self.skipped.push(Skip {
                    file: file.path.clone(),
                    reason: SkipReason::Partial,
                });
            }
            self.files.push(if is_shown {
                file
            } else {
                metadata_changes::named(file)
            });
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
        self.skipped
            .extend(reason.map(|reason| Skip { file: path, reason }));
    }

    pub fn extend(&mut self, other: Self) {
        self.files.extend(other.files);
        self.skipped.extend(other.skipped);
        self.deleted += other.deleted;
    }

    /// Skips the file with this path, if it is selected.
    pub fn leave_out(&mut self, path: &str, reason: SkipReason) {
        let before = self.files.len();
        self.files.retain(|file| file.path != path);
        if self.files.len() < before {
            self.skip(path.as_bytes(), reason);
        }
    }

    pub fn skip(&mut self, path: &[u8], reason: SkipReason) {
        self.skipped.push(filter::skip(path, reason));
    }
}
