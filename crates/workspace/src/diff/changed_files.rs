//! Finds the changed files of a target, and reads each file before and after the change.
//!
//! Git compares only commits and the index. Glee itself compares the files of the work tree, because git would run
//! filters on these files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::code::text_files;
use crate::diff::metadata_changes::{self, FACTOR, MetadataEdit};
use crate::diff::unified;
use crate::git::listed_index::{LINK, SUBMODULE, Scan};
use crate::git::objects::Objects;
use crate::git::path_bytes;
use crate::git::plumbing::Repository;
use crate::git::worktree_scan::{Lstat, is_executable};
use crate::root::Workspace;
use crate::select::attributes::Attributes;
use crate::select::filter;
use crate::select::ignores::Ignores;
use crate::select::selection::{SelectOptions, Selection};
use crate::select::walk;
use crate::{Result, WorkspaceError};
use glee_model::domain::SkipReason;
use glee_protocol::request::SourceFile;
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
    submodules: Vec<Vec<u8>>,
    /// The folders of other repositories and work trees.
    repositories: Vec<Vec<u8>>,
}

impl WorktreeChanges {
    /// Puts `folder` before all paths.
    fn below(mut self, folder: &[u8]) -> Self {
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
        let set = self
            .call(["config", "--type=bool", "--get", "core.fileMode"])
            .answer()?;
        Ok(set.is_none_or(|value| value.trim_ascii() != b"false"))
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

    fn index_against(&self, base: Option<&str>) -> Result<Vec<Changed>> {
        let base = base.unwrap_or(self.empty_tree);
        let output = self
            .call(
                ["diff-index", "--cached"]
                    .into_iter()
                    .chain(RAW)
                    .chain([base]),
            )
            .output()?;
        Ok(deltas(&output))
    }

    /// Returns the id of the index as a git tree, or `None` if the index has merge conflicts.
    fn index_tree(&self) -> Result<Option<String>> {
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

    fn tree_against(&self, old: &str, new: &str) -> Result<Vec<Changed>> {
        let output = self
            .call(["diff-tree"].into_iter().chain(RAW).chain([old, new]))
            .output()?;
        Ok(deltas(&output))
    }

    fn parent_and_tree(&self, commit: &str) -> Result<(Option<String>, String)> {
        let output = self
            .call([
                "rev-parse",
                &format!("{commit}^@"),
                &format!("{commit}^{{tree}}"),
            ])
            .output()?;
        let mut ids: Vec<String> = path_bytes::shown(&output)
            .lines()
            .map(str::to_owned)
            .collect();
        let tree = ids
            .pop()
            .ok_or_else(|| WorkspaceError::Gone(commit.to_owned()))?;
        if ids.is_empty() {
            let cut = files::read_to_string(&self.common.join("shallow")).unwrap_or_default();
            if cut.lines().any(|line| line == commit) {
                return Err(WorkspaceError::Shallow(commit.to_owned()));
            }
        }
        Ok((ids.into_iter().next(), tree))
    }
}

impl Workspace {
    pub(crate) fn select_staged(
        &self,
        git: &Repository,
        options: &SelectOptions,
    ) -> Result<Selection> {
        let base = git.head.as_deref();
        let selection = self.select_changes(git, &git.index_against(base)?, base, options)?;
        Ok(Selection {
            tree: git.index_tree()?,
            ..selection
        })
    }

    pub(crate) fn select_commit(
        &self,
        git: &Repository,
        revision: &str,
        options: &SelectOptions,
    ) -> Result<Selection> {
        let commit = git.commit(revision)?;
        let (parent, tree) = git.parent_and_tree(&commit)?;
        let changes = git.tree_against(parent.as_deref().unwrap_or(git.empty_tree), &commit)?;
        let selection = self.select_changes(git, &changes, parent.as_deref(), options)?;
        Ok(Selection {
            commit: Some(commit),
            tree: Some(tree),
            ..selection
        })
    }

    pub(crate) fn select_range(
        &self,
        git: &Repository,
        range: &str,
        options: &SelectOptions,
    ) -> Result<Selection> {
        let (from, to) = git.range(range)?;
        let selection =
            self.select_changes(git, &git.tree_against(&from, &to)?, Some(&from), options)?;
        let (_, tree) = git.parent_and_tree(&to)?;
        Ok(Selection {
            commit: Some(to),
            tree: Some(tree),
            ..selection
        })
    }

    /// Reads the changed files of a work tree, and the uncommitted changes of its submodules.
    pub(crate) fn select_worktree(
        &self,
        git: &Repository,
        found: WorktreeChanges,
        base: Option<&str>,
        options: &SelectOptions,
    ) -> Result<Selection> {
        let mut selection = self.select_changes(git, &found.changes, base, options)?;
        for folder in &found.repositories {
            selection.skip(folder, SkipReason::Repository);
        }
        for folder in found.submodules {
            let Some(submodule) = git.nested(&self.root.join(path_bytes::path(&folder))) else {
                continue;
            };
            let head = submodule.current();
            let inside = submodule.uncommitted(head.as_deref()).and_then(|found| {
                self.select_worktree(&submodule, found.below(&folder), head.as_deref(), options)
            });
            match inside {
                Ok(inside) => selection.extend(inside),
                Err(WorkspaceError::Git { .. }) => selection.skip(&folder, SkipReason::Unreadable),
                Err(error) => return Err(error),
            }
        }
        Ok(selection)
    }

    /// Reads each changed file before and after the change. `base` is the commit before the changes. `git` is the
    /// repository of the changes; their paths are relative to the root of the tree.
    pub(crate) fn select_changes(
        &self,
        git: &Repository,
        changes: &[Changed],
        base: Option<&str>,
        options: &SelectOptions,
    ) -> Result<Selection> {
        let mut ignores = Ignores::glee(&self.root, self.recorded_ignores.as_ref());
        let mut selection = Selection::default();
        let mut shown = Vec::new();
        for change in changes {
            match ignores.is_ignored(&change.path) {
                true => selection.skip(&change.path, SkipReason::Ignored),
                false => shown.push(change),
            }
        }
        let changes = shown;
        let folder = git.top.strip_prefix(&self.root).unwrap_or(Path::new(""));
        let folder = path_bytes::bytes(folder);
        let paths: Vec<Vec<u8>> = changes
            .iter()
            .map(|change| path_bytes::inside(&folder, &change.path))
            .collect();
        let marks = git.attributes(paths.iter())?;
        // A file is treated as generated only if the file also had the attribute `linguist-generated` before the
        // change.
        let marked: Vec<&Vec<u8>> = paths
            .iter()
            .filter(|path| marks.generated(path) == Some(true))
            .collect();
        let before = match base.filter(|_| !marked.is_empty()) {
            Some(base) => git.attributes_at(base, marked.into_iter())?,
            None => Attributes::default(),
        };
        let mut sides = Sides {
            marks: marks.below(&folder),
            before: before.below(&folder),
            objects: git.objects(None)?,
            autocrlf: git.autocrlf()?,
        };
        for change in changes {
            match self.read_change(change, &mut sides, options)? {
                Ok(Some(file)) => selection.add(file, options.max_file),
                Ok(None) => {}
                Err(reason) => selection.skip(&change.path, reason),
            }
        }
        Ok(selection)
    }

    /// Reads a changed file. Returns `Ok(Ok(None))` if the file is the same before and after the change.
    fn read_change(
        &self,
        change: &Changed,
        sides: &mut Sides,
        options: &SelectOptions,
    ) -> Result<ReadChange> {
        let cap = options.max_file.saturating_mul(FACTOR);
        let bytes = match &change.new {
            New::Gone => {
                let old = sides.old(change, cap)?;
                return Ok(Ok(change.old.is_some().then(|| {
                    metadata_changes::deleted(&change.path, change.modes.0, old.as_deref())
                })));
            }
            New::Link(_) | New::Submodule(_) => return self.read_other(change, sides, cap),
            // Something that has no text stands in the place of a file: the change cannot be read.
            New::NotAFile => return Ok(Err(SkipReason::Unreadable)),
            New::Unreadable => return Ok(Err(SkipReason::Unreadable)),
            New::Worktree => self.bytes_now(&change.path, cap),
            New::Blob(id) => sides.objects.read(id, cap)?.bytes(),
        };
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(reason) => return Ok(Err(reason)),
        };
        let old = sides.old(change, cap)?;
        let modes = metadata_changes::modes(&change.path, change.modes.0, change.modes.1);
        let mut compared = None;
        if let (Some((old_path, _)), Some(old)) = (&change.old, &old) {
            let mut same = *old == bytes;
            let converted =
                !same && change.new == New::Worktree && ends_in_cr(&bytes) && !ends_in_cr(old);
            if converted
                && sides
                    .marks
                    .converts_line_ends(&change.path)
                    .unwrap_or(sides.autocrlf)
            {
                let unix = without_cr(&bytes);
                same = *old == unix;
                compared = Some(unix);
            }
            if same && *old_path == change.path {
                let path = filter::path_text(&change.path);
                let text = if filter::is_text(&path, &bytes) {
                    text_files::lossy(bytes)
                } else {
                    String::new()
                };
                return Ok(Ok(modes.map(|diff| SourceFile {
                    path,
                    text,
                    changed: Vec::new(),
                    diff: Some(diff),
                })));
            }
        }
        let edit = MetadataEdit {
            path: &change.path,
            old: change.old.as_ref().map(|(path, _)| (path.as_slice(), old)),
            generated: (
                sides.marks.generated(&change.path),
                sides.before.generated(&change.path),
            ),
            modes,
        };
        Ok(edit.file(bytes, compared).map(Some))
    }

    /// For a changed link, reads the path of the link's target. For a changed submodule, reads the id of the
    /// submodule's commit.
    fn read_other(&self, change: &Changed, sides: &mut Sides, cap: u64) -> Result<ReadChange> {
        let bytes = match &change.new {
            New::Submodule(commit) => Some(metadata_changes::submodule(commit)),
            New::Link(None) => {
                let target = std::fs::read_link(self.root.join(path_bytes::path(&change.path)));
                target.ok().map(|target| path_bytes::bytes(&target))
            }
            New::Link(Some(id)) => sides.objects.read(id, cap)?.bytes().ok(),
            New::Worktree | New::Blob(_) | New::Gone | New::NotAFile | New::Unreadable => None,
        };
        let Some(bytes) = bytes else {
            return Ok(Err(SkipReason::Unreadable));
        };
        let old = sides.old(change, cap)?;
        let modes = metadata_changes::modes(&change.path, change.modes.0, change.modes.1);
        let old = change
            .old
            .as_ref()
            .zip(old)
            .map(|((path, _), old)| (path, old));
        if modes.is_none()
            && old
                .as_ref()
                .is_some_and(|(path, old)| **path == change.path && *old == bytes)
        {
            return Ok(Ok(None));
        }
        let text = text_files::lossy(bytes);
        let (path, before) = old.map_or((None, String::new()), |(path, old)| {
            (Some(path.as_slice()), text_files::lossy(old))
        });
        let found = unified::between((path, &before), (Some(&change.path), &text));
        let diff = modes.unwrap_or_default() + &found.text;
        let path = filter::path_text(&change.path);
        Ok(Ok(Some(SourceFile {
            path,
            text,
            changed: found.changed,
            diff: Some(diff),
        })))
    }
}

type ReadChange = Result<Option<SourceFile>, SkipReason>;

struct Sides {
    marks: Attributes,
    /// The attributes of files in the base commit. Only files that the current attributes mark as generated are
    /// included.
    before: Attributes,
    objects: Objects,
    autocrlf: bool,
}

impl Sides {
    fn old(&mut self, change: &Changed, cap: u64) -> Result<Option<Vec<u8>>> {
        let Some((_, id)) = &change.old else {
            return Ok(None);
        };
        match change.modes.0 {
            SUBMODULE => Ok(Some(metadata_changes::submodule(id))),
            _ => Ok(self.objects.read(id, cap)?.bytes().ok()),
        }
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

fn ends_in_cr(bytes: &[u8]) -> bool {
    bytes.windows(2).any(|pair| pair == b"\r\n")
}

pub(crate) fn without_cr(bytes: &[u8]) -> Vec<u8> {
    (0..bytes.len())
        .filter(|index| !(bytes[*index] == b'\r' && bytes.get(index + 1) == Some(&b'\n')))
        .map(|index| bytes[index])
        .collect()
}
