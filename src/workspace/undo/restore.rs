//! Takes back what the coder of a run did, file by file, and brings back what was taken back.
//!
//! What the coder did is what differs between the trees before and after its calls. A file that is as the coder left it
//! becomes what it was before; one that was changed since is merged, or left as it is and listed. No other file is touched,
//! and none is removed that the coder did not make. Index, HEAD, branches and stash stay as they are. What is replaced is
//! kept first. Ignore files have no say: only recorded paths are looked at.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::domain::RunId;
use crate::workspace::git::path_bytes;
use crate::workspace::git::plumbing::GitObject;
use crate::workspace::guard::tree_identity::{TreeIdentity, TreeRelation};
use crate::workspace::root::Workspace;
use crate::workspace::snapshot::content_store::Bytes;
use crate::workspace::snapshot::ignored_files::{self, Ignored};
use crate::workspace::snapshot::manifest::{FileKind, Image, ManifestEntry, differing};
use crate::workspace::snapshot::note::SnapshotNote;
use crate::workspace::snapshot::opened::{Kept, Opened};
use crate::workspace::undo::three_way::{self, Clash, FileContent};
use crate::workspace::undo::undo_log::{Copied, UndoEntry, UndoLog};
use crate::workspace::undo::write::{Occupancy, WriteStep, put, spot};
use crate::workspace::{Result, WorkspaceError};

/// What is done where it is not clear what the user wants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decided {
    /// The files that become what they were although they were changed since.
    pub forced: Forced,
    /// Whether files are removed that came since the run began, where it is not known whether the coder made them.
    pub remove_new: bool,
}

/// Files whose later changes are given up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Forced {
    #[default]
    None,
    All,
    /// These, by the bytes of their paths.
    Only(BTreeSet<Vec<u8>>),
}

/// A file that was left as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoConflict {
    pub path: Vec<u8>,
    pub clash: Clash,
}

impl UndoConflict {
    pub fn name(&self) -> String {
        path_bytes::shown(&self.path)
    }

    /// Whether [`Forced`] decides it.
    pub fn can_be_forced(&self) -> bool {
        self.clash.can_be_forced()
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Undone {
    /// How many files were written or removed.
    pub files: u64,
    /// How many of them keep changes that were made since.
    pub merged: u64,
    /// The files that were left as they are, although the coder changed them.
    pub conflicts: Vec<UndoConflict>,
    /// Files that came since the run began; it is not known whether the coder made them.
    pub new: Vec<String>,
    /// Files that the coder changed or made visible, and of which nothing was kept because they were ignored.
    pub ignored: Vec<String>,
}

/// A path with its changes in their order: before, and after if that is known.
type Changes = BTreeMap<Vec<u8>, Vec<(Option<ManifestEntry>, Option<Option<ManifestEntry>>)>>;

/// The same with contents.
type Contents = Vec<(FileContent, Option<FileContent>)>;

impl Workspace {
    /// Takes back what the coder of a run did. Fails when what was kept is gone, the tree is not the run's, the state
    /// folder fails before anything is touched, or [`WorkspaceError::NotRestored`] with every file that could not be
    /// written; all others are.
    pub fn undo(&self, run: &RunId, kept: &Kept<'_>, decided: &Decided, state_dir: &Path) -> Result<Undone> {
        self.refuse_other(run, kept, state_dir)?;
        let Opened { mut spans, mut bytes } = self.opened_run(run, kept, state_dir)?;
        let ignored = Ignored::read(run, state_dir);
        let mut deeds = UndoLog::read(run, state_dir)?;
        let before = spans.iter().flat_map(|(before, _)| before.keys());
        let folders: BTreeSet<Vec<u8>> =
            before.flat_map(|path| path_bytes::above(path)).map(<[u8]>::to_vec).collect();
        let mut work = Work { decided, steps: Vec::new(), undone: Undone::default() };
        let changes = self.changes_of(run, &mut spans, state_dir)?;
        let nothing = Image::new();
        let first = spans.first().map_or(&nothing, |(before, _)| before);
        for (path, mut changes) in changes {
            // An ignored file that came into view was not made by the coder.
            let is_hidden = ignored.covers(&path) && !ignored_files::is_surely_new(&path, first);
            if is_hidden && changes.iter().any(|(before, _)| before.is_some()) {
                changes.retain(|(before, _)| before.is_some());
            }
            let is_new = changes.iter().all(|(before, _)| before.is_none());
            let (now, spot) = match spot(self.root(), &path) {
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
            if is_new && changes.iter().any(|(_, after)| after.is_none()) && !decided.remove_new {
                work.undone.new.push(path_bytes::shown(&path));
                continue;
            }
            let Some(changes) = contents(&changes, &mut bytes)? else { continue };
            if let Some(deed) = deeds.undone.get(&path) {
                let found = Copied::of(&now);
                let is_back = changes.last().is_some_and(|(_, after)| after.as_ref() == Some(&now));
                if found == deed.put || (found != deed.found && !is_back) {
                    continue;
                }
            }
            work.consider(path, spot, now, &changes, &deeds)?;
        }
        work.settle(self.root());
        if !work.steps.is_empty() {
            deeds.undone.extend(work.steps.iter().map(|step| (step.path.clone(), step.deed.clone())));
            deeds.write()?;
        }
        work.carry_out(self.root(), &folders, &deeds)
    }

    /// Brings back what undos of a run replaced, by the same rule: what was changed since is merged, or left and listed.
    pub fn redo(&self, run: &RunId, kept: &Kept<'_>, decided: &Decided, state_dir: &Path) -> Result<Undone> {
        self.refuse_other(run, kept, state_dir)?;
        let mut deeds = UndoLog::read(run, state_dir)?;
        let mut work = Work { decided, steps: Vec::new(), undone: Undone::default() };
        let mut done = Vec::new();
        for (path, deed) in &deeds.undone {
            let change = (deeds.content(deed.found.as_ref())?, Some(deeds.content(deed.put.as_ref())?));
            match spot(self.root(), path) {
                Ok((now, _)) if now == change.0 => done.push(path.clone()),
                Ok((now, spot)) => work.consider(path.clone(), spot, now, &[change], &deeds)?,
                Err(clash) => work.undone.conflicts.push(UndoConflict { path: path.clone(), clash }),
            }
        }
        work.settle(self.root());
        done.extend(work.steps.iter().map(|step| step.path.clone()));
        let undone = work.carry_out(self.root(), &BTreeSet::new(), &deeds)?;
        done.iter().for_each(|path| drop(deeds.undone.remove(path)));
        deeds.write()?;
        Ok(undone)
    }

    /// The runs in the state folder that worked on this tree while it was elsewhere, the newest first, each with the key of
    /// the history it is in.
    pub fn runs_from_elsewhere(&self, state_dir: &Path) -> Result<Vec<(RunId, String)>> {
        let own = self.history(state_dir)?.key;
        let folders = std::fs::read_dir(state_dir.join("kept")).into_iter().flatten().flatten();
        let mut found = Vec::new();
        let now = TreeIdentity::of(self);
        for folder in folders {
            let Some(note) = SnapshotNote::read_in(&folder.path()) else { continue };
            let is_own = |place: &TreeIdentity| {
                place.relation(&now, self).is_ok_and(|relation| relation == TreeRelation::Same)
            };
            if note.history != own && note.places.iter().any(is_own) {
                found.push((RunId(folder.file_name().to_string_lossy().into_owned()), note.history));
            }
        }
        // The ids begin with the time.
        found.sort_by(|(one, _), (other, _)| other.0.cmp(&one.0));
        Ok(found)
    }

    /// Whether an undo of a run replaced something that was not brought back yet.
    pub fn is_undone(&self, run: &RunId, state_dir: &Path) -> bool {
        UndoLog::read(run, state_dir).is_ok_and(|deeds| !deeds.undone.is_empty())
    }

    /// Writes what was kept before the coder's first byte into a folder that is new or empty, and leaves the tree as
    /// it is. Returns the number of files. Fails with [`WorkspaceError::Occupied`] for a folder with something in it;
    /// else as [`Workspace::undo`].
    pub fn restore(&self, run: &RunId, kept: &Kept<'_>, state_dir: &Path, into: &Path) -> Result<u64> {
        let unwritable =
            |source: std::io::Error| WorkspaceError::NotRestored(vec![format!("`{}` ({source})", into.display())]);
        let Opened { spans, mut bytes } = self.opened_run(run, kept, state_dir)?;
        std::fs::create_dir_all(into).map_err(unwritable)?;
        if std::fs::read_dir(into).map_err(unwritable)?.next().is_some() {
            return Err(WorkspaceError::Occupied(into.to_owned()));
        }
        let mut failed = Vec::new();
        let mut files = 0;
        for (path, entry) in spans.first().map(|(before, _)| before).into_iter().flatten() {
            let Some(content) = content(Some(entry), &mut bytes)? else {
                if matches!(entry.kind, FileKind::File | FileKind::Link) {
                    failed.push(format!("`{}` (its copy is gone)", path_bytes::shown(path)));
                }
                continue;
            };
            let folder = into.join(path_bytes::path(path_bytes::folder(path)));
            match std::fs::create_dir_all(folder).and_then(|()| put(into, path, &content)) {
                Ok(()) => files += 1,
                Err(error) => failed.push(format!("`{}` ({error})", path_bytes::shown(path))),
            }
        }
        if failed.is_empty() { Ok(files) } else { Err(WorkspaceError::NotRestored(failed)) }
    }

    fn changes_of(&self, run: &RunId, spans: &mut [(Image, Option<Image>)], state_dir: &Path) -> Result<Changes> {
        let mut changes = Changes::new();
        for (before, after) in spans {
            let is_known = after.is_some();
            let seen = match after.take() {
                Some(after) => after,
                // Glee was killed while the coder worked: everything that is not as it was may be the coder's.
                None => {
                    let now = self.snapshot_of(run, state_dir)?;
                    self.image_of(run, &now, state_dir)?
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

struct Work<'a> {
    decided: &'a Decided,
    steps: Vec<WriteStep>,
    undone: Undone,
}

impl Work<'_> {
    /// Decides what becomes of a path, and keeps what is there.
    fn consider(
        &mut self,
        path: Vec<u8>,
        spot: Occupancy,
        now: FileContent,
        changes: &[(FileContent, Option<FileContent>)],
        deeds: &UndoLog,
    ) -> Result<()> {
        let mut wanted = Ok(now.clone());
        for (before, after) in changes.iter().rev() {
            wanted = wanted.and_then(|content| three_way::reverse(before, after.as_ref(), &content));
        }
        let earlier = changes.first().map_or(&now, |(before, _)| before);
        let is_forced = match &self.decided.forced {
            Forced::None => false,
            Forced::All => true,
            Forced::Only(paths) => paths.contains(&path),
        };
        let put = match wanted {
            Ok(content) => content,
            Err(clash) if clash.can_be_forced() && is_forced => earlier.clone(),
            Err(clash) => {
                self.undone.conflicts.push(UndoConflict { path, clash });
                return Ok(());
            }
        };
        if put != now {
            let is_merged = put != *earlier;
            let deed = UndoEntry { found: deeds.keep(&now)?, put: deeds.keep(&put)? };
            self.steps.push(WriteStep { path, spot, deed, is_merged });
        }
        Ok(())
    }

    /// Turns the steps that cannot be taken into conflicts.
    fn settle(&mut self, root: &Path) {
        let (removed, written): (Vec<&WriteStep>, Vec<&WriteStep>) =
            self.steps.iter().partition(|step| step.removes());
        let [removed, written] =
            [removed, written].map(|steps| steps.iter().map(|step| step.path.clone()).collect::<BTreeSet<_>>());
        // The user put a file or a link in the place of a folder between two calls: both cannot come back.
        let is_below = |path: &[u8]| path_bytes::above(path).any(|folder| written.contains(folder));
        for step in std::mem::take(&mut self.steps) {
            let above = (!step.removes() && is_below(&step.path)).then_some(Clash::Above);
            match above.or_else(|| step.clash(root, &removed)) {
                None => self.steps.push(step),
                Some(clash) => self.undone.conflicts.push(UndoConflict { path: step.path, clash }),
            }
        }
    }

    /// Takes the steps: removes files first, then writes the others.
    fn carry_out(mut self, root: &Path, folders: &BTreeSet<Vec<u8>>, deeds: &UndoLog) -> Result<Undone> {
        let mut failed = Vec::new();
        let (removed, written): (Vec<WriteStep>, Vec<WriteStep>) =
            self.steps.into_iter().partition(WriteStep::removes);
        for step in removed.iter().chain(&written) {
            match step.take(root, folders, deeds) {
                Ok(()) => {
                    self.undone.files += 1;
                    self.undone.merged += u64::from(step.is_merged);
                }
                Err(error) => failed.push(format!("`{}` ({error})", path_bytes::shown(&step.path))),
            }
        }
        if failed.is_empty() { Ok(self.undone) } else { Err(WorkspaceError::NotRestored(failed)) }
    }
}

/// The contents of a path's changes; `None` where one is no file and no link.
fn contents(
    changes: &[(Option<ManifestEntry>, Option<Option<ManifestEntry>>)],
    bytes: &mut Bytes,
) -> Result<Option<Contents>> {
    let mut found = Vec::new();
    for (before, after) in changes {
        let before = content(before.as_ref(), bytes)?;
        let after = after.as_ref().map(|after| content(after.as_ref(), bytes)).transpose()?;
        match (before, after) {
            (Some(before), None) => found.push((before, None)),
            (Some(before), Some(Some(after))) => found.push((before, Some(after))),
            (None, _) | (_, Some(None)) => return Ok(None),
        }
    }
    Ok(Some(found))
}

/// The content of an entry; `None` for what is no file and no link, could not be read, or is gone.
fn content(entry: Option<&ManifestEntry>, bytes: &mut Bytes) -> Result<Option<FileContent>> {
    let Some(entry) = entry else { return Ok(Some(FileContent::Nothing)) };
    let read = match entry.kind {
        FileKind::Submodule | FileKind::Unreadable => return Ok(None),
        FileKind::File | FileKind::Link => bytes.read(&entry.id, u64::MAX)?,
    };
    Ok(match (read, entry.kind) {
        (GitObject::Bytes(target), FileKind::Link) => Some(FileContent::Link(target)),
        (GitObject::Bytes(bytes), _) => Some(FileContent::File { bytes, permissions: entry.permissions }),
        (GitObject::Larger(_) | GitObject::Missing, _) => None,
    })
}
