//! Reads each changed file before and after the change.

use std::path::Path;

use crate::code::text_files;
use crate::diff::changed_files::{Changed, New, WorktreeChanges};
use crate::diff::metadata_changes::{self, FACTOR, MetadataEdit};
use crate::diff::unified;
use crate::git::listed_index::SUBMODULE;
use crate::git::objects::Objects;
use crate::git::path_bytes;
use crate::git::plumbing::Repository;
use crate::root::Workspace;
use crate::select::attributes::Attributes;
use crate::select::filter;
use crate::select::ignores::Ignores;
use crate::select::selection::{SelectOptions, Selection};
use crate::{Result, WorkspaceError};
use glee_model::domain::SkipReason;
use glee_protocol::request::SourceFile;

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

fn ends_in_cr(bytes: &[u8]) -> bool {
    bytes.windows(2).any(|pair| pair == b"\r\n")
}

pub(crate) fn without_cr(bytes: &[u8]) -> Vec<u8> {
    (0..bytes.len())
        .filter(|index| !(bytes[*index] == b'\r' && bytes.get(index + 1) == Some(&b'\n')))
        .map(|index| bytes[index])
        .collect()
}
