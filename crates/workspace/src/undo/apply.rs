//! Brings the changes of a coder that worked in a worktree into the tree of its user, file by file. A change that is only
//! in the worktree is to the user's tree what an undone change is, so that an apply is a redo of chosen files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::snapshot::{Bytes, ManifestEntry, differing};
use crate::undo::applied_log::{self, AppliedVersion, AppliedVersions};
use crate::undo::restore::{self, UndoOptions, UndoPlan, UndoWork, Undone};
use crate::undo::three_way::FileContent;
use crate::undo::undo_log::{Copied, UndoEntry, UndoLog};
use crate::{Result, Workspace, WorkspaceError};
use glee_model::domain::RunId;

/// The effects of an apply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    pub done: Undone,
    /// The number of files whose changes are still only in the worktree.
    pub left: u64,
}

/// What is to be brought over.
struct Outstanding {
    log: UndoLog,
    /// The last version of the coder of each changed path.
    last: BTreeMap<Vec<u8>, Option<Copied>>,
    applied: AppliedVersions,
}

impl Workspace {
    /// Brings the changes over. If a file has a conflict, changes no file. Fails like
    /// [`Workspace::undo`], and if the coder of the run was interrupted.
    pub fn apply(&self, run: &RunId, options: &UndoOptions, state_dir: &Path) -> Result<Applied> {
        let Outstanding {
            mut log,
            last,
            mut applied,
        } = self.outstanding(run, state_dir)?;
        log.write()?;
        let (work, there) = self.work_of_redo(UndoWork::new(options, true), &|_| true, &log)?;
        let mut done = Undone::default();
        if work.undone.conflicts.is_empty() {
            let changed: Vec<Vec<u8>> = work.steps.iter().map(|step| step.path.clone()).collect();
            // Recorded before anything is written: a killed apply that is repeated finds its own
            // writes in the tree, which are not the user's.
            for path in &changed {
                let version = log.undone[path].put.clone();
                let was_there = false;
                applied.insert(path.clone(), AppliedVersion { version, was_there });
            }
            applied_log::write(run, &applied, state_dir)?;
            done = work.execute(self, &BTreeSet::new(), &log)?;
            for path in there.into_iter().chain(changed) {
                log.undone.remove(&path);
                let version = last.get(&path).cloned().unwrap_or_default();
                let was_there = applied.get(&path).is_none_or(|applied| applied.was_there);
                applied.insert(path, AppliedVersion { version, was_there });
            }
            applied_log::write(run, &applied, state_dir)?;
            log.write()?;
        } else {
            done.conflicts = work.undone.conflicts;
        }
        Ok(Applied {
            done,
            left: log.undone.len() as u64,
        })
    }

    /// Returns what [`apply`](Self::apply) would do.
    pub fn plan_apply(
        &self,
        run: &RunId,
        options: &UndoOptions,
        state_dir: &Path,
    ) -> Result<UndoPlan> {
        let Outstanding { log, .. } = self.outstanding(run, state_dir)?;
        let work = self
            .work_of_redo(UndoWork::new(options, false), &|_| true, &log)?
            .0;
        Ok(work.plan())
    }

    fn outstanding(&self, run: &RunId, state_dir: &Path) -> Result<Outstanding> {
        self.refuse_other(run, state_dir)?;
        let (spans, mut bytes) = self.opened_run(run, state_dir)?;
        let mut changes: BTreeMap<Vec<u8>, (Option<ManifestEntry>, Option<ManifestEntry>)> =
            BTreeMap::new();
        for (before, after) in &spans {
            let Some(after) = after else {
                return Err(WorkspaceError::CoderInterrupted(run.short().to_owned()));
            };
            for (path, old, new) in differing(before, after) {
                let change = changes.entry(path.clone());
                change.or_insert_with(|| (old.cloned(), None)).1 = new.cloned();
            }
        }
        let mut found = Outstanding {
            log: UndoLog::read(run, state_dir)?,
            last: BTreeMap::new(),
            applied: applied_log::read(run, state_dir)?,
        };
        for (path, (first, last)) in changes {
            let Some([first, last]) = contents([first, last], &mut bytes)? else {
                continue;
            };
            let last = found.log.keep(&last)?;
            found.last.insert(path.clone(), last.clone());
            let applied = found.applied.get(&path).map(|applied| &applied.version);
            if applied == Some(&last) {
                continue;
            }
            let put = match (found.log.undone.get(&path), applied) {
                (Some(entry), _) => entry.put.clone(),
                (None, Some(applied)) => applied.clone(),
                (None, None) => found.log.keep(&first)?,
            };
            if put == last {
                found.log.undone.remove(&path);
            } else {
                let entry = UndoEntry { found: last, put };
                found.log.undone.insert(path, entry);
            }
        }
        Ok(found)
    }
}

/// `None` if a content was not recorded, as that of a submodule.
fn contents(
    [first, last]: [Option<ManifestEntry>; 2],
    bytes: &mut Bytes,
) -> Result<Option<[FileContent; 2]>> {
    let first = restore::content(first.as_ref(), bytes)?;
    let last = restore::content(last.as_ref(), bytes)?;
    Ok(first.zip(last).map(|(first, last)| [first, last]))
}
