//! Puts back what a call of a coder changed in files that it was not to edit.

use std::path::Path;

use crate::git::path_bytes;
use crate::snapshot::manifest::CallSpan;
use crate::snapshot::{Ignored, SnapshotNote, differing, ignored_files};
use crate::undo::restore::{UndoOptions, UndoWork, contents};
use crate::undo::undo_log::UndoLog;
use crate::undo::write::inspect;
use crate::{Result, TreeId, Workspace};
use glee_model::domain::RunId;

impl Workspace {
    /// Puts each file that the last call of a run's coder changed, and for which `is_named` returns false, back to what it
    /// was before that call. Later changes of the file remain, or the file is left as it is if they cannot be merged. Then
    /// takes the snapshot after the call again, so that the call did not change these files. Returns their paths. If a call
    /// was killed, the next one completes it.
    pub fn put_back(
        &self,
        run: &RunId,
        is_named: &dyn Fn(&str) -> bool,
        state_dir: &Path,
    ) -> Result<Vec<String>> {
        let Some(mut note) = SnapshotNote::read(run, state_dir) else {
            return Ok(Vec::new());
        };
        let Some(span) = note.spans.last().cloned() else {
            return Ok(Vec::new());
        };
        let mut put_back = span.put_back.clone();
        if let Some(after) = &span.after {
            let log = UndoLog::read(run, state_dir)?;
            let options = UndoOptions::default();
            let mut work = UndoWork::new(&options, true);
            let found =
                self.add_unnamed(&mut work, run, (&span, after), is_named, &log, state_dir)?;
            put_back.extend(found);
            put_back.sort();
            put_back.dedup();
            if put_back.is_empty() {
                return Ok(put_back);
            }
            let (before, _) = self.opened(run, &span.before, state_dir)?;
            let folders = before.keys().flat_map(|path| path_bytes::above(path));
            let folders = folders.map(<[u8]>::to_vec).collect();
            // Recorded before anything is written: who completes this after a kill tells the same files.
            let last = note.spans.len() - 1;
            note.spans[last].put_back.clone_from(&put_back);
            note.write(run, state_dir)?;
            work.execute(self, &folders, &log)?;
            note.spans[last].after = None;
            note.write(run, state_dir)?;
        }
        if !put_back.is_empty() {
            self.after_coder_call(run, state_dir)?;
        }
        Ok(put_back)
    }

    /// Returns the files that are put back when the work is done, or are already back.
    fn add_unnamed(
        &self,
        work: &mut UndoWork<'_>,
        run: &RunId,
        (span, after): (&CallSpan, &TreeId),
        is_named: &dyn Fn(&str) -> bool,
        log: &UndoLog,
        state_dir: &Path,
    ) -> Result<Vec<String>> {
        let (before, mut bytes) = self.opened(run, &span.before, state_dir)?;
        let (after, _) = self.opened(run, after, state_dir)?;
        let ignored = Ignored::read(run, state_dir);
        let mut found = Vec::new();
        for (path, old, new) in differing(&before, &after) {
            let name = path_bytes::shown(path);
            // A file that was ignored before the call may have been there without a copy.
            let is_hidden = old.is_none()
                && ignored.covers(path)
                && !ignored_files::is_certainly_new(path, &before);
            if is_named(&name) || is_hidden {
                continue;
            }
            let changes = [(old.cloned(), Some(new.cloned()))];
            let Some(changes) = contents(&changes, &mut bytes)? else {
                continue;
            };
            let Ok((now, occupancy)) = inspect(self.root(), path) else {
                continue;
            };
            if work.add(path.clone(), occupancy, now, &changes, log)? {
                found.push(name);
            }
        }
        work.settle(self.root());
        found.extend(work.steps.iter().map(|step| path_bytes::shown(&step.path)));
        Ok(found)
    }
}
