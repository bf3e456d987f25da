//! Targets that are changes: which files differ, and what both sides of each are.
//!
//! Lists come from git's trees and index, never from its look at the work tree; contents are compared here.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::SkipReason;
use crate::protocol::request::SourceFile;

use super::git::{Object, Objects, Repository, object_id};
use super::ignores::Ignores;
use super::scan::{LINK, Lstat, SUBMODULE, Scan};
use super::sift::{self, Chosen};
use super::target::{Attributes, SelectOptions, Selection};
use super::walk::{self, Hidden, Met};
use super::{Workspace, WorkspaceError, difference, names};

/// The old side of a diff is read up to this many times the bound on files.
const OLD_FACTOR: u64 = 4;

/// One changed file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Changed {
    pub(super) path: Vec<u8>,
    /// The path and object before; `None` for a new file.
    pub(super) old: Option<(Vec<u8>, String)>,
    pub(super) new: New,
}

/// The new side of a changed file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum New {
    /// The file in the work tree.
    Worktree,
    /// An object.
    Blob(String),
    /// It is gone.
    Gone,
    /// A link or a submodule.
    NotAFile,
    /// It has several versions, or none that could be read.
    Unreadable,
}

impl Repository {
    /// The files of the work tree that may differ from a commit; from nothing before the first commit.
    pub(super) fn uncommitted(&self, base: Option<&str>) -> Result<Vec<Changed>, WorkspaceError> {
        let (scan, deltas) = std::thread::scope(|scope| {
            let deltas = scope.spawn(|| self.index_against(base));
            (self.scan(), deltas.join())
        });
        let (scan, deltas) = (scan?, deltas.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        let mut files: BTreeMap<Vec<u8>, Changed> =
            deltas.into_iter().map(|delta| (delta.path.clone(), delta)).collect();
        let mut lstat = Lstat::below(&self.top);
        for entry in &scan.entries {
            let meta = lstat.get(&entry.path);
            let new = match &meta {
                None if entry.may_be_missing() || entry.mode == SUBMODULE => continue,
                None => New::Gone,
                Some(meta) if scan.is_clean(entry, meta) && !files.contains_key(&entry.path) => continue,
                Some(_) if entry.mode == SUBMODULE => New::NotAFile,
                Some(meta) if meta.is_file() => New::Worktree,
                Some(_) => New::NotAFile,
            };
            let as_indexed = || Some((entry.path.clone(), entry.id.clone()));
            // During a merge, the second version is the one of `HEAD`.
            let old = match (base, entry.stage) {
                (None, _) | (_, 1 | 3) => None,
                _ if entry.is_intent() => None,
                _ => as_indexed(),
            };
            match files.get_mut(&entry.path) {
                Some(known) => {
                    known.new = new;
                    if entry.stage == 2 {
                        known.old = old;
                    }
                }
                None => drop(files.insert(entry.path.clone(), Changed { path: entry.path.clone(), old, new })),
            }
        }
        for path in self.untracked(&scan) {
            let is_file = lstat.get(&path).is_some_and(|meta| meta.is_file());
            let new = if is_file { New::Worktree } else { New::NotAFile };
            // Taken out of the index, but still there: it changed, it was not added.
            let old = files.remove(&path).and_then(|known| known.old);
            files.insert(path.clone(), Changed { path, old, new });
        }
        Ok(files.into_values().collect())
    }

    /// The untracked files, with those of repositories that lie inside this one.
    pub(super) fn untracked(&self, scan: &Scan) -> BTreeSet<Vec<u8>> {
        let mut paths = BTreeSet::new();
        for path in &scan.others {
            let Some(folder) = path.strip_suffix(b"/") else {
                paths.insert(path.clone());
                continue;
            };
            let mut ignores = Ignores::git(&self.top, None);
            for met in walk::walk(&self.top, folder, &mut ignores, Hidden::Met).unwrap_or_default() {
                match met {
                    Met::File(path) | Met::Link(path) | Met::Other(path) => drop(paths.insert(path)),
                    Met::Unreadable(_) => {}
                }
            }
        }
        paths
    }

    /// The differences between a commit's tree and the index; everything in the index without a commit.
    fn index_against(&self, base: Option<&str>) -> Result<Vec<Changed>, WorkspaceError> {
        let base = base.unwrap_or(self.empty_tree);
        let output = self
            .call(["diff-index", "--cached", "--raw", "-r", "-M", "-z", "--no-abbrev", "--no-ext-diff"])
            .arg("--no-textconv")
            .arg(base)
            .output()?;
        Ok(deltas(&output))
    }

    /// The id of the tree that a commit of the index would have; `None` during a merge. The objects for it go to a
    /// folder that is thrown away.
    fn index_tree(&self) -> Result<Option<String>, WorkspaceError> {
        let failed = |source| WorkspaceError::Start { source };
        let folder = tempfile::tempdir().map_err(failed)?;
        let index = folder.path().join("index");
        std::fs::copy(self.git_dir.join("index"), &index).map_err(failed)?;
        match self.call(["write-tree"]).index(&index).writing_to(folder.path(), self).output() {
            Ok(id) => Ok(object_id(id.trim_ascii_end())),
            Err(WorkspaceError::Git { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The differences between two trees.
    fn tree_against(&self, old: &str, new: &str) -> Result<Vec<Changed>, WorkspaceError> {
        let output = self
            .call([
                "diff-tree",
                "--raw",
                "-r",
                "-M",
                "-z",
                "--no-abbrev",
                "--no-ext-diff",
                "--no-textconv",
                old,
                new,
            ])
            .output()?;
        Ok(deltas(&output))
    }

    /// The ids of a commit's first parent, if it has one, and of its tree.
    fn parent_and_tree(&self, commit: &str) -> Result<(Option<String>, String), WorkspaceError> {
        let output = self.call(["rev-parse", &format!("{commit}^@"), &format!("{commit}^{{tree}}")]).output()?;
        let mut ids: Vec<String> = names::shown(&output).lines().map(str::to_owned).collect();
        let tree = ids.pop().ok_or_else(|| WorkspaceError::Gone { tree: commit.to_owned() })?;
        if ids.is_empty() {
            let cut = std::fs::read_to_string(self.common.join("shallow")).unwrap_or_default();
            if cut.lines().any(|line| line == commit) {
                return Err(WorkspaceError::Shallow { commit: commit.to_owned() });
            }
        }
        Ok((ids.into_iter().next(), tree))
    }
}

impl Workspace {
    pub(super) fn select_staged(
        &self,
        git: &Repository,
        options: &SelectOptions,
    ) -> Result<Selection, WorkspaceError> {
        let selection = self.select_changes(git, &git.index_against(git.head.as_deref())?, options)?;
        Ok(Selection { tree: git.index_tree()?, ..selection })
    }

    pub(super) fn select_commit(
        &self,
        git: &Repository,
        revision: &str,
        options: &SelectOptions,
    ) -> Result<Selection, WorkspaceError> {
        let commit = git.commit(revision)?;
        let (parent, tree) = git.parent_and_tree(&commit)?;
        let changes = git.tree_against(parent.as_deref().unwrap_or(git.empty_tree), &commit)?;
        let selection = self.select_changes(git, &changes, options)?;
        Ok(Selection { commit: Some(commit), tree: Some(tree), ..selection })
    }

    pub(super) fn select_range(
        &self,
        git: &Repository,
        range: &str,
        options: &SelectOptions,
    ) -> Result<Selection, WorkspaceError> {
        let side = |revision: &str| git.commit(if revision.is_empty() { "HEAD" } else { revision });
        let (from, to) = match (range.split_once("..."), range.split_once("..")) {
            (Some((one, other)), _) => {
                let (one, other) = (side(one)?, side(other)?);
                (git.merge_base(&one, &other)?, other)
            }
            (None, Some((from, to))) => (side(from)?, side(to)?),
            (None, None) => return Err(WorkspaceError::BadRevision { revision: range.to_owned() }),
        };
        let selection = self.select_changes(git, &git.tree_against(&from, &to)?, options)?;
        let (_, tree) = git.parent_and_tree(&to)?;
        Ok(Selection { commit: Some(to), tree: Some(tree), ..selection })
    }

    /// Reads both sides of changed files and keeps what is text and really differs.
    pub(super) fn select_changes(
        &self,
        git: &Repository,
        changes: &[Changed],
        options: &SelectOptions,
    ) -> Result<Selection, WorkspaceError> {
        let mut ignores = Ignores::glee(&self.root, self.steered_by.as_ref());
        let changes: Vec<&Changed> = changes.iter().filter(|change| !ignores.is_ignored(&change.path)).collect();
        let mut selection = Selection::default();
        let mut sides = Sides {
            git,
            marks: git.attributes(changes.iter().map(|change| &change.path))?,
            objects: None,
            crlf: None,
        };
        for change in changes {
            match self.read_change(change, &mut sides, options)? {
                Ok(Some(file)) => selection.files.push(file),
                Ok(None) => {}
                Err(reason) => selection.skip(&change.path, reason),
            }
        }
        Ok(selection)
    }

    /// One changed file; `Ok(Ok(None))` if both sides are the same after all.
    fn read_change(
        &self,
        change: &Changed,
        sides: &mut Sides<'_>,
        options: &SelectOptions,
    ) -> Result<Result<Option<SourceFile>, SkipReason>, WorkspaceError> {
        let bytes = match &change.new {
            New::Gone => return Ok(Err(SkipReason::Deleted)),
            New::NotAFile => return Ok(Err(SkipReason::NotAFile)),
            New::Unreadable => return Ok(Err(SkipReason::Unreadable)),
            New::Worktree => self.bytes_now(&change.path, options.max_file),
            New::Blob(id) => match sides.read(id, options.max_file)? {
                Object::Bytes(bytes) => Ok(bytes),
                Object::Larger(_) => Err(SkipReason::Oversized),
                Object::Missing => Err(SkipReason::Unreadable),
            },
        };
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(reason) => return Ok(Err(reason)),
        };
        let old = match &change.old {
            None => None,
            Some((path, id)) => match sides.read(id, options.max_file.saturating_mul(OLD_FACTOR))? {
                Object::Bytes(old) => Some((path, old)),
                Object::Larger(_) | Object::Missing => None,
            },
        };
        let mut compared = None;
        if let Some((old_path, old)) = &old {
            let mut same = *old == bytes;
            let converted = !same && change.new == New::Worktree && ends_in_cr(&bytes) && !ends_in_cr(old);
            if converted && sides.converts_line_ends(&change.path)? {
                let unix = without_cr(&bytes);
                same = *old == unix;
                compared = Some(unix);
            }
            if same && *old_path == &change.path {
                return Ok(Ok(None));
            }
        }
        let marked = sides.marks.generated(&change.path);
        let sifted = sift::path_text(&change.path)
            .and_then(|path| Ok((sift::text(&path, bytes, Chosen::Met, marked)?, path)));
        let (text, path) = match sifted {
            Ok(sifted) => sifted,
            Err(reason) => return Ok(Err(reason)),
        };
        let compared = compared.map(super::content::lossy);
        let new = (Some(change.path.as_slice()), compared.as_deref().unwrap_or(&text));
        let difference = match old {
            Some((_, old)) if sift::is_binary(&old) => None,
            Some((path, old)) => Some(difference::between((Some(path), &super::content::lossy(old)), new)),
            None if change.old.is_some() => None,
            None => Some(difference::between((None, ""), new)),
        };
        let (changed, diff) = difference.map_or((Vec::new(), None), |found| (found.changed, Some(found.text)));
        Ok(Ok(Some(SourceFile { path, text, changed, diff })))
    }
}

/// What both sides of changes are read with; processes start when they are needed.
struct Sides<'a> {
    git: &'a Repository,
    marks: Attributes,
    objects: Option<Objects>,
    /// Whether `core.autocrlf` is on.
    crlf: Option<bool>,
}

impl Sides<'_> {
    fn read(&mut self, id: &str, cap: u64) -> Result<Object, WorkspaceError> {
        let objects = match &mut self.objects {
            Some(objects) => objects,
            none => none.insert(self.git.objects(None)?),
        };
        objects.read(id, cap)
    }

    fn converts_line_ends(&mut self, path: &[u8]) -> Result<bool, WorkspaceError> {
        if let Some(said) = self.marks.converts_line_ends(path) {
            return Ok(said);
        }
        let known = match self.crlf {
            Some(known) => known,
            None => *self.crlf.insert(self.git.autocrlf()?),
        };
        Ok(known)
    }
}

/// Reads `--raw -z`: `:mode mode id id status`, a path, and a second path for a rename.
fn deltas(output: &[u8]) -> Vec<Changed> {
    let mut fields = output.split(|byte| *byte == 0);
    let mut deltas = Vec::new();
    while let (Some(record), Some(path)) = (fields.next(), fields.next()) {
        let record = names::shown(record);
        let words: Vec<&str> = record.trim_start_matches(':').split(' ').collect();
        let [old_mode, new_mode, old_id, new_id, status] = words.as_slice() else { continue };
        let was_file = !matches!(u32::from_str_radix(old_mode, 8), Ok(0 | LINK | SUBMODULE));
        let is_rename = status.starts_with(['R', 'C']);
        let (old_path, path) = match is_rename.then(|| fields.next()).flatten() {
            Some(renamed) => (path, renamed),
            None => (path, path),
        };
        let old = was_file.then(|| (old_path.to_vec(), (*old_id).to_owned()));
        let new = match u32::from_str_radix(new_mode, 8) {
            _ if status.starts_with('U') => New::Unreadable,
            Ok(LINK | SUBMODULE) => New::NotAFile,
            _ if status.starts_with('D') => New::Gone,
            _ => New::Blob((*new_id).to_owned()),
        };
        deltas.push(Changed { path: path.to_vec(), old, new });
    }
    deltas
}

/// Whether a line ends in CR LF.
fn ends_in_cr(bytes: &[u8]) -> bool {
    bytes.windows(2).any(|pair| pair == b"\r\n")
}

/// The same with LF for CR LF.
fn without_cr(bytes: &[u8]) -> Vec<u8> {
    let is_kept = |index: &usize| !(bytes[*index] == b'\r' && bytes.get(index + 1) == Some(&b'\n'));
    (0..bytes.len()).filter(is_kept).map(|index| bytes[index]).collect()
}
