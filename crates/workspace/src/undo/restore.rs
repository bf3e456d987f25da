//! For each file, undoes the changes of a run's coder, and redoes the changes after an undo. A plan lists the
//! effects of an undo or a redo, and changes nothing.
//!
//! Glee takes a snapshot before and after each call of the coder. The differences between the two snapshots are
//! the coder's changes. If a file was not changed after the coder's call, an undo restores the old content. If a
//! file was changed after the coder's call, Glee merges the old content with the later changes. If the merge
//! fails, the file remains unchanged and is reported as a conflict. By default, an undo removes only files that
//! the coder created. The index, `HEAD`, branches and stashes of git remain unchanged. Glee records the current
//! content of a file before replacing the file. Ignore files have no effect on an undo.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::git::{GitObject, Repository, path_bytes};
use crate::guard::{TreeIdentity, TreeRelation};
use crate::snapshot::{
    Bytes, FileKind, Ignored, Image, ManifestEntry, SnapshotNote, differing, ignored_files,
};
use crate::undo::three_way::{Clash, FileContent, UndoEffect};
use crate::undo::undo_log::{Copied, UndoEntry, UndoLog};
use crate::undo::write::{self, Occupancy, WriteStep, inspect, put};
use crate::undo::{applied_log, three_way};
use crate::{Result, Workspace, WorkspaceError};
use glee_model::domain::RunId;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UndoOptions {
    pub forced: Forced,
    /// Whether an undo also removes new files whose creator is unknown.
    pub remove_new: bool,
    /// Only these files and the files below these folders; `None` for all.
    pub only: Option<BTreeSet<Vec<u8>>>,
}

impl UndoOptions {
    fn takes(&self, path: &[u8]) -> bool {
        let only = self.only.as_ref();
        only.is_none_or(|only| {
            only.iter()
                .any(|folder| path_bytes::is_within(folder, path))
        })
    }
}

/// The files in which an undo discards later changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Forced {
    #[default]
    None,
    All,
    Only(BTreeSet<Vec<u8>>),
}

impl Forced {
    fn includes(&self, path: &[u8]) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::Only(paths) => paths.contains(path),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoConflict {
    pub path: Vec<u8>,
    pub clash: Clash,
}

impl UndoConflict {
    pub fn name(&self) -> String {
        path_bytes::shown(&self.path)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Undone {
    /// The number of files that were written or removed.
    pub files: u64,
    /// The number of written files that still contain changes made after the coder's changes.
    pub merged: u64,
    /// The changed files that could not be restored.
    pub conflicts: Vec<UndoConflict>,
    /// The new files that were not removed because their creator is unknown.
    pub new: Vec<String>,
    /// The files that cannot be restored because they were ignored when the run began.
    pub ignored: Vec<String>,
}

/// The effects that an undo or a redo would have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UndoPlan {
    pub files: Vec<(String, UndoEffect)>,
    /// The changed files that cannot be restored.
    pub conflicts: Vec<UndoConflict>,
    /// The new files that the undo or redo would keep, because their creator is unknown.
    pub new: Vec<String>,
    /// The files that cannot be restored because they were ignored when the run began.
    pub ignored: Vec<String>,
}

/// The changes of each path in chronological order. A change is a pair of snapshot entries: the entry before the
/// change and, if recorded, the entry after the change.
type Changes = BTreeMap<Vec<u8>, Vec<(Option<ManifestEntry>, Option<Option<ManifestEntry>>)>>;

type Contents = Vec<(FileContent, Option<FileContent>)>;

impl Workspace {
    /// Undoes the changes of a run's coder. Fails if a snapshot is missing, if the tree does not belong to the
    /// run, or if the state folder cannot be used. In these cases, no file is changed. If some files cannot be
    /// written, restores all other files, and then fails with [`WorkspaceError::NotRestored`].
    pub fn undo(&self, run: &RunId, options: &UndoOptions, state_dir: &Path) -> Result<Undone> {
        self.refuse_other(run, state_dir)?;
        let mut log = UndoLog::read(run, state_dir)?;
        let (work, folders) =
            self.work_of_undo(run, UndoWork::new(options, true), &log, state_dir)?;
        if !work.steps.is_empty() {
            log.undone.extend(
                work.steps
                    .iter()
                    .map(|step| (step.path.clone(), step.entry.clone())),
            );
            log.write()?;
        }
        work.execute(self, &folders, &log)
    }

    /// Returns what [`undo`](Self::undo) would do.
    pub fn plan_undo(
        &self,
        run: &RunId,
        options: &UndoOptions,
        state_dir: &Path,
    ) -> Result<UndoPlan> {
        self.refuse_other(run, state_dir)?;
        let log = UndoLog::read(run, state_dir)?;
        Ok(self
            .work_of_undo(run, UndoWork::new(options, false), &log, state_dir)?
            .0
            .plan())
    }

    /// The files that git has not merged.
    fn unmerged(&self) -> Result<BTreeSet<Vec<u8>>> {
        let scan = self.repository.as_ref().map(Repository::scan).transpose()?;
        let entries = scan.iter().flat_map(|scan| scan.entries.iter());
        Ok(entries
            .filter(|entry| entry.stage > 0)
            .map(|entry| entry.path.clone())
            .collect())
    }

    fn work_of_undo<'a>(
        &self,
        run: &RunId,
        mut work: UndoWork<'a>,
        log: &UndoLog,
        state_dir: &Path,
    ) -> Result<(UndoWork<'a>, BTreeSet<Vec<u8>>)> {
        let (mut spans, mut bytes) = self.opened_run(run, state_dir)?;
        let ignored = Ignored::read(run, state_dir);
        let before = spans.iter().flat_map(|(before, _)| before.keys());
        let folders = before
            .flat_map(|path| path_bytes::above(path))
            .map(<[u8]>::to_vec)
            .collect();
        let mut changes = self.changes_of(run, &mut spans, state_dir)?;
        let applied = applied_log::read(run, state_dir)?;
        changes.retain(|path, _| !applied.get(path).is_some_and(|applied| applied.was_there));
        let unmerged = self.unmerged()?;
        let nothing = Image::new();
        let first = spans.first().map_or(&nothing, |(before, _)| before);
        for (path, mut changes) in changes {
            if !work.options.takes(&path) {
                continue;
            }
            // A file that was ignored before the coder began does not count as created by the coder.
            let is_hidden = ignored.covers(&path) && !ignored_files::is_certainly_new(&path, first);
            if is_hidden && changes.iter().any(|(before, _)| before.is_some()) {
                changes.retain(|(before, _)| before.is_some());
            }
            let is_new = changes.iter().all(|(before, _)| before.is_none());
            let inspected = match unmerged.contains(&path) {
                true => Err(Clash::Unmerged),
                false => inspect(self.root(), &path),
            };
            let (now, occupancy) = match inspected {
                Ok(found) => found,
                Err(clash) => {
                    work.undone.conflicts.push(UndoConflict { path, clash });
                    continue;
                }
            };
            if is_new && now == FileContent::Nothing {
                continue;
            }
            if is_new && is_hidden {
                work.undone.ignored.push(path_bytes::shown(&path));
                continue;
            }
            if is_new
                && changes.iter().any(|(_, after)| after.is_none())
                && !work.options.remove_new
            {
                work.undone.new.push(path_bytes::shown(&path));
                continue;
            }
            let Some(changes) = contents(&changes, &mut bytes)? else {
                continue;
            };
            if let Some(entry) = log.undone.get(&path) {
                let found = Copied::of(&now);
                let is_back = changes
                    .last()
                    .is_some_and(|(_, after)| after.as_ref() == Some(&now));
                if found == entry.put || (found != entry.found && !is_back) {
                    continue;
                }
            }
            work.add(path, occupancy, now, &changes, log)?;
        }
        work.settle(self.root());
        Ok((work, folders))
    }

    /// Restores the contents that an undo replaced. If a file was changed after the undo, Glee merges the changes
    /// or reports a conflict.
    pub fn redo(&self, run: &RunId, options: &UndoOptions, state_dir: &Path) -> Result<Undone> {
        self.refuse_other(run, state_dir)?;
        let mut log = UndoLog::read(run, state_dir)?;
        let wanted = self.redoable(run, state_dir)?;
        let (work, mut done) = self.work_of_redo(UndoWork::new(options, true), &wanted, &log)?;
        done.extend(work.steps.iter().map(|step| step.path.clone()));
        let undone = work.execute(self, &BTreeSet::new(), &log)?;
        done.iter().for_each(|path| drop(log.undone.remove(path)));
        log.write()?;
        Ok(undone)
    }

    /// Returns the effects that [`redo`](Self::redo) would have.
    pub fn plan_redo(
        &self,
        run: &RunId,
        options: &UndoOptions,
        state_dir: &Path,
    ) -> Result<UndoPlan> {
        self.refuse_other(run, state_dir)?;
        let log = UndoLog::read(run, state_dir)?;
        let wanted = self.redoable(run, state_dir)?;
        let work = self
            .work_of_redo(UndoWork::new(options, false), &wanted, &log)?
            .0;
        Ok(work.plan())
    }

    /// Whether a file can be redone: what is only in a worktree was never done here.
    fn redoable(&self, run: &RunId, state_dir: &Path) -> Result<impl Fn(&[u8]) -> bool> {
        let is_apart = SnapshotNote::read(run, state_dir).is_some_and(|note| note.is_apart);
        let applied = applied_log::read(run, state_dir)?;
        Ok(move |path: &[u8]| !is_apart || applied.contains_key(path))
    }

    /// Also returns the paths for which nothing is left to do.
    pub(super) fn work_of_redo<'a>(
        &self,
        mut work: UndoWork<'a>,
        wanted: &dyn Fn(&[u8]) -> bool,
        log: &UndoLog,
    ) -> Result<(UndoWork<'a>, Vec<Vec<u8>>)> {
        let mut done = Vec::new();
        let unmerged = self.unmerged()?;
        let options = work.options;
        let chosen = log.undone.iter();
        for (path, entry) in chosen.filter(|(path, _)| wanted(path) && options.takes(path)) {
            let change = (
                log.content(entry.found.as_ref())?,
                Some(log.content(entry.put.as_ref())?),
            );
            let inspected = match unmerged.contains(path) {
                true => Err(Clash::Unmerged),
                false => inspect(self.root(), path),
            };
            match inspected {
                Ok((now, _)) if now == change.0 => done.push(path.clone()),
                Ok((now, occupancy)) => {
                    if work.add(path.clone(), occupancy, now, &[change], log)? {
                        done.push(path.clone());
                    }
                }
                Err(clash) => work.undone.conflicts.push(UndoConflict {
                    path: path.clone(),
                    clash,
                }),
            }
        }
        work.settle(self.root());
        Ok((work, done))
    }

    /// Returns the runs that worked on this tree before the tree was moved to its current path. The newest run is
    /// first. Each run is returned with the key of its history.
    pub fn runs_of_moved_tree(&self, state_dir: &Path) -> Result<Vec<(RunId, String)>> {
        let own = self.history(state_dir)?.key;
        let folders = std::fs::read_dir(state_dir.join("kept"))
            .into_iter()
            .flatten()
            .flatten();
        let mut found = Vec::new();
        let now = TreeIdentity::of(self);
        for folder in folders {
            let Some(note) = SnapshotNote::read_in(&folder.path()) else {
                continue;
            };
            let mut places = note.places.iter();
            if note.history != own
                && places.any(|place| matches!(place.relation(&now, self), Ok(TreeRelation::Same)))
            {
                found.push((
                    RunId(folder.file_name().to_string_lossy().into_owned()),
                    note.history,
                ));
            }
        }
        // The id of a run begins with its start time, so the run with the highest id is the newest run.
        found.sort_by(|(one, _), (other, _)| other.0.cmp(&one.0));
        Ok(found)
    }

    /// Whether an undo of a run can be redone.
    pub fn is_undone(&self, run: &RunId, state_dir: &Path) -> bool {
        UndoLog::read(run, state_dir).is_ok_and(|log| !log.undone.is_empty())
    }

    /// Writes the first snapshot of a run to a folder that must be new or empty. Returns the number of files.
    pub fn restore(&self, run: &RunId, state_dir: &Path, into: &Path) -> Result<u64> {
        let (spans, mut bytes) = self.opened_run(run, state_dir)?;
        let existing = std::fs::create_dir_all(into).and_then(|()| std::fs::read_dir(into));
        let mut existing = existing.map_err(|source| {
            WorkspaceError::NotRestored(vec![format!("`{}` ({source})", into.display())])
        })?;
        if existing.next().is_some() {
            return Err(WorkspaceError::Occupied(into.to_owned()));
        }
        let mut failed = Vec::new();
        let mut files = 0;
        for (path, entry) in spans
            .first()
            .map(|(before, _)| before)
            .into_iter()
            .flatten()
        {
            let Some(content) = content(Some(entry), &mut bytes)? else {
                if matches!(entry.kind, FileKind::File | FileKind::Link) {
                    failed.push(format!("`{}` (its copy is gone)", path_bytes::shown(path)));
                }
                continue;
            };
            let folder = into.join(path_bytes::path(path_bytes::folder(path)));
            match std::fs::create_dir_all(folder).and_then(|()| put(into, path, &content, &[])) {
                Ok(()) => files += 1,
                Err(error) => failed.push(format!("`{}` ({error})", path_bytes::shown(path))),
            }
        }
        if failed.is_empty() {
            Ok(files)
        } else {
            Err(WorkspaceError::NotRestored(failed))
        }
    }

    fn changes_of(
        &self,
        run: &RunId,
        spans: &mut [(Image, Option<Image>)],
        state_dir: &Path,
    ) -> Result<Changes> {
        let mut changes = Changes::new();
        let is_apart = SnapshotNote::read(run, state_dir).is_some_and(|note| note.is_apart);
        for (before, after) in spans {
            let is_known = after.is_some();
            let seen = match after.take() {
                Some(after) => after,
                // If Glee was killed during the coder's call, the current tree replaces the missing snapshot.
                // Nothing of an interrupted call in a worktree is in this tree.
                None if is_apart => continue,
                None => {
                    let now = self.snapshot_of(run, state_dir)?;
                    match &self.repository {
                        Some(git) if git.is_there() => git.image(&now.0, state_dir)?,
                        _ => self.opened(run, &now, state_dir)?.0,
                    }
                }
            };
            for (path, old, new) in differing(before, &seen) {
                let change = (old.cloned(), is_known.then(|| new.cloned()));
                changes.entry(path.clone()).or_default().push(change);
            }
        }
        Ok(changes)
    }
}

pub(super) struct UndoWork<'a> {
    options: &'a UndoOptions,
    /// Whether Glee stores two versions of each file: the version before the undo and the version after the undo.
    /// A plan changes no file, so Glee stores no contents for a plan.
    stores: bool,
    pub(super) steps: Vec<WriteStep>,
    pub(super) undone: Undone,
}

impl<'a> UndoWork<'a> {
    pub(super) fn new(options: &'a UndoOptions, stores: bool) -> Self {
        Self {
            options,
            stores,
            steps: Vec::new(),
            undone: Undone::default(),
        }
    }

    pub(super) fn plan(mut self) -> UndoPlan {
        self.steps.sort_by(|one, other| one.path.cmp(&other.path));
        let Undone {
            conflicts,
            new,
            ignored,
            ..
        } = self.undone;
        let files = self
            .steps
            .iter()
            .map(|step| (path_bytes::shown(&step.path), step.effect));
        UndoPlan {
            files: files.collect(),
            conflicts,
            new,
            ignored,
        }
    }

    /// Returns whether nothing is left to do.
    pub(super) fn add(
        &mut self,
        path: Vec<u8>,
        occupancy: Occupancy,
        now: FileContent,
        changes: &[(FileContent, Option<FileContent>)],
        log: &UndoLog,
    ) -> Result<bool> {
        let mut wanted = Ok(now.clone());
        for (before, after) in changes.iter().rev() {
            wanted =
                wanted.and_then(|content| three_way::reverse(before, after.as_ref(), &content));
        }
        let earlier = changes.first().map_or(&now, |(before, _)| before);
        let is_forced = wanted.is_err();
        let put = match wanted {
            Ok(content) => content,
            Err(clash) if clash.can_be_forced() && self.options.forced.includes(&path) => {
                earlier.clone()
            }
            Err(clash) => {
                self.undone.conflicts.push(UndoConflict { path, clash });
                return Ok(false);
            }
        };
        let is_settled = put == now;
        if !is_settled {
            let effect = match (&now, &put) {
                _ if is_forced => UndoEffect::Forced,
                _ if put != *earlier => UndoEffect::Merged,
                (FileContent::Nothing, _) => UndoEffect::Returned,
                (_, FileContent::Nothing) => UndoEffect::Removed,
                _ => UndoEffect::Restored,
            };
            let entry = UndoEntry {
                found: self.copy(&now, log)?,
                put: self.copy(&put, log)?,
            };
            self.steps.push(WriteStep {
                path,
                occupancy,
                entry,
                effect,
            });
        }
        Ok(is_settled)
    }

    fn copy(&self, content: &FileContent, log: &UndoLog) -> Result<Option<Copied>> {
        if self.stores {
            log.keep(content)
        } else {
            Ok(Copied::of(content))
        }
    }

    /// Removes each `WriteStep` that cannot be executed, and records a conflict for the path of this step.
    pub(super) fn settle(&mut self, root: &Path) {
        let [removed, written] = [true, false].map(|removes| -> BTreeSet<Vec<u8>> {
            let steps = self.steps.iter().filter(|step| step.removes() == removes);
            steps.map(|step| step.path.clone()).collect()
        });
        // If a step writes a file at a path, no other step can write below this path.
        let is_below = |path: &[u8]| path_bytes::above(path).any(|folder| written.contains(folder));
        for step in std::mem::take(&mut self.steps) {
            let above = (!step.removes() && is_below(&step.path)).then_some(Clash::Above);
            match above.or_else(|| step.clash(root, &removed)) {
                None => self.steps.push(step),
                Some(clash) => self.undone.conflicts.push(UndoConflict {
                    path: step.path,
                    clash,
                }),
            }
        }
    }

    pub(super) fn execute(
        mut self,
        workspace: &Workspace,
        folders: &BTreeSet<Vec<u8>>,
        log: &UndoLog,
    ) -> Result<Undone> {
        let root = workspace.root();
        let asides = write::asides(workspace.repository.as_ref(), log);
        write::clean(root, log, &asides).map_err(WorkspaceError::state(root))?;
        let mut failed = Vec::new();
        self.steps.sort_by_key(|step| !step.removes());
        for step in &self.steps {
            match step.execute(root, folders, log, &asides) {
                Ok(()) => {
                    self.undone.files += 1;
                    self.undone.merged += u64::from(step.effect == UndoEffect::Merged);
                }
                Err(error) => failed.push(format!("`{}` ({error})", path_bytes::shown(&step.path))),
            }
        }
        if failed.is_empty() {
            Ok(self.undone)
        } else {
            Err(WorkspaceError::NotRestored(failed))
        }
    }
}

/// For each change of a path, returns the content before the change and the content after the change. Returns
/// `None` if the content before or after a change cannot be found.
pub(super) fn contents(
    changes: &[(Option<ManifestEntry>, Option<Option<ManifestEntry>>)],
    bytes: &mut Bytes,
) -> Result<Option<Contents>> {
    let mut found = Vec::new();
    for (before, after) in changes {
        let before = content(before.as_ref(), bytes)?;
        let after = after
            .as_ref()
            .map(|after| content(after.as_ref(), bytes))
            .transpose()?;
        let (Some(before), None | Some(Some(_))) = (before, &after) else {
            return Ok(None);
        };
        found.push((before, after.flatten()));
    }
    Ok(Some(found))
}

/// The content of an entry. Returns `None` if the entry is a submodule, was not readable, or has no recorded bytes.
pub(crate) fn content(
    entry: Option<&ManifestEntry>,
    bytes: &mut Bytes,
) -> Result<Option<FileContent>> {
    let Some(entry) = entry else {
        return Ok(Some(FileContent::Nothing));
    };
    let read = match entry.kind {
        FileKind::Submodule | FileKind::Unreadable => return Ok(None),
        FileKind::File | FileKind::Link => bytes.read(&entry.id, u64::MAX)?,
    };
    Ok(match (read, entry.kind) {
        (GitObject::Bytes(target), FileKind::Link) => Some(FileContent::Link(target)),
        (GitObject::Bytes(bytes), _) => Some(FileContent::File {
            bytes,
            permissions: entry.permissions,
        }),
        (GitObject::Larger | GitObject::Missing, _) => None,
    })
}
