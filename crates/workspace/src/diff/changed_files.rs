//! Finds the changed files of a target.
//!
//! Git compares only commits and the index. Glee itself compares the files of the work tree, because git would run
//! filters on these files.

use std::collections::{BTreeMap, BTreeSet};

use crate::diff::metadata_changes::{self};
use crate::git::listed_index::{LINK, SUBMODULE, Scan};
use crate::git::path_bytes;
use crate::git::plumbing::Repository;
use crate::git::worktree_scan::{Lstat, is_executable};
use crate::select::ignores::Ignores;
use crate::select::walk;
use crate::{Result, WorkspaceError};
use glee_system::files;

const RAW: [&str; 7] = [
    "--raw",
    "-r",
    "-M",
    "-z",
    "--no-abbrev",
    "--no-ext-diff",
    "--no-textconv",
];

#[derive(Debug, PartialEq, Eq)]
pub struct Changed {
    pub path: Vec<u8>,
    /// The path and the object id before the change, or `None` for a new file.
    pub old: Option<(Vec<u8>, String)>,
    pub new: New,
    /// The git modes before and after the change; 0 if the file is missing or the mode is unknown.
    pub modes: (u32, u32),
}

#[derive(Debug, PartialEq, Eq)]
pub enum New {
    Worktree,
    Blob(String),
    Gone,
    /// A symbolic link. The id names the git object that contains the link's target. A link in the work tree has
    /// no id.
    Link(Option<String>),
    Submodule(String),
    /// A folder, a FIFO or a device.
    NotAFile,
    /// A file with an unresolved merge conflict in the index.
    Unreadable,
}

/// The differences of a work tree from a commit.
#[derive(Debug, Default)]
pub struct WorktreeChanges {
    /// The files that possibly differ.
    pub changes: Vec<Changed>,
    /// The folders of the submodules that are checked out.
    pub(super) submodules: Vec<Vec<u8>>,
    /// The folders of other repositories and work trees.
    pub(super) repositories: Vec<Vec<u8>>,
}

impl WorktreeChanges {
    /// Puts `folder` before all paths.
    pub(super) fn below(mut self, folder: &[u8]) -> Self {
        let place = |path: &mut Vec<u8>| *path = path_bytes::joined(folder, path);
        for change in &mut self.changes {
            place(&mut change.path);
            change.old.iter_mut().for_each(|(path, _)| place(path));
        }
        self.submodules.iter_mut().for_each(place);
        self.repositories.iter_mut().for_each(place);
        self
    }
}

impl Repository {
    /// Compares the work tree with the commit `base`, or with nothing if `base` is `None`.
    pub fn uncommitted(&self, base: Option<&str>) -> Result<WorktreeChanges> {
        let scan = self.scan()?;
        let deltas = self.index_against(base)?;
        let mut changed: BTreeMap<Vec<u8>, Changed> = deltas
            .into_iter()
            .map(|delta| (delta.path.clone(), delta))
            .collect();
        let mut lstat = Lstat::below(&self.top);
        let has_modes = self.has_modes()?;
        let mut submodules = Vec::new();
        for entry in scan.entries.iter() {
            let meta = lstat.get(&entry.path);
            let is_listed = changed.contains_key(&entry.path);
            let (new, mode) = match &meta {
                None if entry.is_sparse || entry.mode == SUBMODULE => continue,
                None => (New::Gone, 0),
                Some(meta) if entry.mode == SUBMODULE && meta.is_dir() => {
                    submodules.push(entry.path.clone());
                    let now = self
                        .commit_in(&lstat.full(&entry.path))
                        .unwrap_or_else(|| entry.id.clone());
                    if now == entry.id && !is_listed {
                        continue;
                    }
                    (New::Submodule(now), SUBMODULE)
                }
                Some(meta) if scan.is_clean(entry, meta) && !is_listed => continue,
                Some(meta) => of_worktree(meta, entry.mode, has_modes),
            };
            // During a merge, stage 2 of an index entry is the version of the file in `HEAD`.
            let is_in_base = base.is_some() && !matches!(entry.stage, 1 | 3) && !entry.is_intent;
            let old = is_in_base.then(|| (entry.path.clone(), entry.id.clone()));
            match changed.get_mut(&entry.path) {
                Some(known) => {
                    known.new = new;
                    known.modes.1 = mode;
                    if entry.stage == 2 {
                        known.old = old;
                    }
                }
                None => {
                    let modes = (old.as_ref().map_or(0, |_| entry.mode), mode);
                    changed.insert(
                        entry.path.clone(),
                        Changed {
                            path: entry.path.clone(),
                            old,
                            new,
                            modes,
                        },
                    );
                }
            }
        }
        for path in scan.untracked {
            let meta = lstat.get(&path);
            // The report that a shell writes to a file of the tree is no change.
            if meta.as_ref().is_some_and(files::is_own_output) {
                continue;
            }
            // An untracked file can exist in the base commit if the user removed the file only from the index.
            let known = changed.remove(&path);
            let before = known.as_ref().map_or(0, |known| known.modes.0);
            let (new, mode) = meta.map_or((New::NotAFile, 0), |meta| {
                of_worktree(&meta, before, has_modes)
            });
            let old = known.and_then(|known| known.old);
            changed.insert(
                path.clone(),
                Changed {
                    path,
                    old,
                    new,
                    modes: (before, mode),
                },
            );
        }
        Ok(WorktreeChanges {
            changes: changed.into_values().collect(),
            submodules,
            repositories: scan.repositories,
        })
    }

    /// Compares the work tree with the commit `fork`, at which `revision` and `HEAD` diverged. A file that is the same
    /// in `revision` is no difference: both sides made the same change, for example with a cherry-pick.
    pub(crate) fn uncommitted_since(&self, fork: &str, revision: &str) -> Result<WorktreeChanges> {
        let mut found = self.uncommitted(Some(fork))?;
        let tip = self.commit(revision)?;
        if tip != fork {
            let mut differing = BTreeSet::new();
            for Changed { path, old, .. } in self.uncommitted(Some(&tip))?.changes {
                differing.extend(old.map(|(path, _)| path));
                differing.insert(path);
            }
            found
                .changes
                .retain(|change| differing.contains(&change.path));
        }
        Ok(found)
    }

    fn has_modes(&self) -> Result<bool> {
        let set = self.setting("core.filemode")?.map(str::to_lowercase);
        Ok(!set.is_some_and(|value| matches!(value.as_str(), "false" | "no" | "off" | "0" | "")))
    }

    /// Returns the untracked files, including the files of untracked repositories inside the tree.
    pub fn untracked(&self, scan: &Scan) -> BTreeSet<Vec<u8>> {
        let mut paths: BTreeSet<Vec<u8>> = scan.untracked.iter().cloned().collect();
        for folder in &scan.repositories {
            let mut ignores = Ignores::git(&self.top, None);
            let entries =
                walk::walk(&self.top, folder, &mut ignores, &mut |_, _| false).unwrap_or_default();
            paths.extend(
                entries
                    .into_iter()
                    .filter(|(_, kind)| kind.is_some())
                    .map(|(path, _)| path),
            );
        }
        paths
    }

    pub(super) fn index_against(&self, base: Option<&str>) -> Result<Vec<Changed>> {
        let base = base.unwrap_or(self.empty_tree);
        let output = self
            .call(
                ["diff-index", "--cached", "--ita-invisible-in-index"]
                    .into_iter()
                    .chain(RAW)
                    .chain([base]),
            )
            .output()?;
        Ok(deltas(&output))
    }

    /// Returns the id of the index as a git tree, or `None` if the index has merge conflicts.
    pub(super) fn index_tree(&self) -> Result<Option<String>> {
        let failed = WorkspaceError::Start;
        let folder = tempfile::tempdir().map_err(failed)?;
        let index = folder.path().join("index");
        if self.index.exists() {
            std::fs::copy(&self.index, &index).map_err(failed)?;
        }
        self.call(["write-tree"])
            .index(&index)
            .writing_to(folder.path(), self)
            .id()
    }

    pub(super) fn tree_against(&self, old: &str, new: &str) -> Result<Vec<Changed>> {
        let output = self
            .call(["diff-tree"].into_iter().chain(RAW).chain([old, new]))
            .output()?;
        Ok(deltas(&output))
    }
}

/// Parses the output of `git diff --raw -z`. Each change is printed as `:mode mode id id status`, followed by
/// one or two paths.
fn deltas(output: &[u8]) -> Vec<Changed> {
    let mut fields = output.split(|byte| *byte == 0);
    let mut deltas = Vec::new();
    while let (Some(record), Some(path)) = (fields.next(), fields.next()) {
        let record = path_bytes::shown(record);
        let words: Vec<&str> = record.trim_start_matches(':').split(' ').collect();
        let [old_mode, new_mode, old_id, new_id, status] = words.as_slice() else {
            continue;
        };
        let mode = |mode: &str| u32::from_str_radix(mode, 8).unwrap_or(0);
        let modes = (mode(old_mode), mode(new_mode));
        let is_rename = status.starts_with(['R', 'C']);
        let (old_path, path) = match is_rename.then(|| fields.next()).flatten() {
            Some(renamed) => (path, renamed),
            None => (path, path),
        };
        let old = (modes.0 != 0).then(|| (old_path.to_vec(), (*old_id).to_owned()));
        let new = match modes.1 {
            _ if status.starts_with('U') => New::Unreadable,
            LINK => New::Link(Some((*new_id).to_owned())),
            SUBMODULE => New::Submodule((*new_id).to_owned()),
            _ if status.starts_with('D') => New::Gone,
            _ => New::Blob((*new_id).to_owned()),
        };
        deltas.push(Changed {
            path: path.to_vec(),
            old,
            new,
            modes,
        });
    }
    deltas
}

/// Returns the new content and mode of a file in the work tree. If git does not record modes in the repository
/// (`has_modes` is false), a regular file keeps the mode `before`.
fn of_worktree(meta: &std::fs::Metadata, before: u32, has_modes: bool) -> (New, u32) {
    if meta.is_symlink() {
        return (New::Link(None), LINK);
    }
    if !meta.is_file() {
        return (New::NotAFile, 0);
    }
    let mode = match is_executable(meta) {
        _ if !has_modes && metadata_changes::is_regular(before) => before,
        true if has_modes => 0o100_755,
        _ => 0o100_644,
    };
    (New::Worktree, mode)
}
