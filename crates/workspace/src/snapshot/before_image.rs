//! Takes snapshots before and after each call of a run's coder, so that undo can revert the coder's changes.
//!
//! A change between the two snapshots of a call counts as the coder's change. A change at any other time counts as
//! the user's change. The snapshots of a run are in the run's folder inside the state folder. A note in the run's
//! folder lists the snapshots and identifies the work tree. Glee writes no object and no ref to the repository.

use std::path::Path;

use crate::git::path_bytes;
use crate::guard::TreeIdentity;
use crate::snapshot::manifest::{Beyond, CallSpan, RecordedTree, SnapshotNote, TreeId};
use crate::snapshot::{backup_repo, content_store, ignored_files};
use crate::{Result, Workspace, WorkspaceError};
use glee_model::domain::RunId;

/// The snapshot before the first call of a run's coder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BeforeImage {
    /// The path of the file that lists the run's snapshots, relative to the state folder.
    pub kept_as: String,
    pub tree: TreeId,
}

impl Workspace {
    /// Takes a snapshot before the first call of a run's coder, or returns the existing snapshot. Fails with the
    /// errors of [`Workspace::snapshot`]. If a file cannot be read, fails with [`WorkspaceError::NotKept`].
    pub fn keep(&self, run: &RunId, state_dir: &Path) -> Result<BeforeImage> {
        let kept_as = format!("kept/{run}/before");
        if let Some(first) =
            SnapshotNote::read(run, state_dir).and_then(|note| note.spans.into_iter().next())
        {
            return Ok(BeforeImage {
                kept_as,
                tree: first.before,
            });
        }
        let recorded = self.record_with(state_dir, &Beyond::default())?;
        if let Some(path) = recorded.unreadable.first() {
            let source = std::io::ErrorKind::PermissionDenied.into();
            return Err(WorkspaceError::NotKept {
                path: path_bytes::shown(path),
                source,
            });
        }
        let tree = recorded.tree;
        self.record_ignored(run, state_dir)?;
        ignored_files::write_paths(run, "sparse", &recorded.sparse, state_dir)?;
        self.pin(run, &tree, state_dir)?;
        let span = CallSpan {
            before: tree.clone(),
            after: None,
            put_back: Vec::new(),
        };
        let history = self.history(state_dir)?.key;
        let places = vec![TreeIdentity::of(self.home())];
        SnapshotNote {
            form: 1,
            history,
            places,
            spans: vec![span],
            is_apart: self.has_home(),
        }
        .write(run, state_dir)?;
        Ok(BeforeImage { kept_as, tree })
    }

    /// Takes a snapshot before the second and each later call of a run's coder. With the snapshot, Glee can
    /// distinguish the user's changes since the previous call from the coder's changes. Does nothing if the run
    /// has no first snapshot.
    pub fn before_coder_call(&self, run: &RunId, state_dir: &Path) -> Result<()> {
        let Some(mut note) = SnapshotNote::read(run, state_dir) else {
            return Ok(());
        };
        // No new snapshot is necessary before the first call, or before Glee repeats an interrupted call.
        if note.spans.last().is_none_or(|span| span.after.is_none()) {
            return Ok(());
        }
        let before = self.snapshot_of(run, state_dir)?;
        self.pin(run, &before, state_dir)?;
        // Ignored files that the user created since the previous call do not count as created by the coder.
        if let Some(after) = note.spans.last().and_then(|span| span.after.as_ref()) {
            let (image, _) = self.opened(run, after, state_dir)?;
            self.record_ignored_since(run, &image, state_dir)?;
        }
        note.spans.push(CallSpan {
            before,
            after: None,
            put_back: Vec::new(),
        });
        note.write(run, state_dir)
    }

    /// Takes a snapshot after a call of a run's coder, even if the call failed.
    pub fn after_coder_call(&self, run: &RunId, state_dir: &Path) -> Result<()> {
        let Some(mut note) = SnapshotNote::read(run, state_dir) else {
            return Ok(());
        };
        let after = self.snapshot_of(run, state_dir)?;
        self.pin(run, &after, state_dir)?;
        let place = TreeIdentity::of(self.home());
        if !note.places.contains(&place) {
            note.places.push(place);
        }
        if let Some(span) = note.spans.last_mut() {
            span.after = Some(after);
        }
        note.write(run, state_dir)
    }

    /// The tree after the last call of a run's coder. If the tree was not recorded, takes a new snapshot.
    pub fn left(&self, run: &RunId, state_dir: &Path) -> Result<TreeId> {
        match SnapshotNote::read(run, state_dir)
            .and_then(|note| note.spans.into_iter().next_back()?.after)
        {
            Some(after) => Ok(after),
            None => self.snapshot_of(run, state_dir),
        }
    }

    /// Takes a snapshot with the ignore rules from the start of the run. The snapshot includes a file that was
    /// not ignored at the start of the run, even if a later rule ignores the file.
    pub fn snapshot_of(&self, run: &RunId, state_dir: &Path) -> Result<TreeId> {
        let Some(note) = SnapshotNote::read(run, state_dir) else {
            return self.snapshot(state_dir);
        };
        let [first, later @ ..] = note.spans.as_slice() else {
            return self.snapshot(state_dir);
        };
        let (image, mut bytes) = self.opened(run, &first.before, state_dir)?;
        let mut beyond = self.beyond(run, &image, &mut bytes, state_dir)?;
        // The new snapshot includes the files of the previous snapshot, even if they are ignored now.
        if let Some(CallSpan {
            before,
            after: None,
            ..
        }) = later.last()
        {
            let (image, _) = self.opened(run, before, state_dir)?;
            beyond
                .paths
                .extend(ignored_files::existing_paths(self.root(), &image));
        }
        match &self.repository {
            // The coder removed `.git`, so the files are recorded in the backup repository.
            Some(git) if !git.is_there() => {
                let backup = backup_repo::open(run, self.root(), state_dir)?;
                let backup = backup.ok_or_else(|| WorkspaceError::Gone(first.before.0.clone()))?;
                backup.record_paths(&beyond.paths, state_dir)
            }
            _ => Ok(self.record_with(state_dir, &beyond)?.tree),
        }
    }

    pub(crate) fn record_with(&self, state_dir: &Path, beyond: &Beyond) -> Result<RecordedTree> {
        match &self.repository {
            Some(git) => git.record(state_dir, beyond),
            None => content_store::record(self.root(), state_dir, beyond),
        }
    }

    /// Keeps a recorded tree until the run is pruned. Does nothing outside git, because a prune keeps the trees
    /// that are listed in the [`SnapshotNote`] of a remaining run.
    fn pin(&self, run: &RunId, tree: &TreeId, state_dir: &Path) -> Result<()> {
        match &self.repository {
            Some(git) if git.is_there() => backup_repo::pin(git, run, tree, state_dir),
            _ => Ok(()),
        }
    }
}
