//! Keeping the tree around the calls of a run's coder, so that what the coder did can be undone.
//!
//! The tree is recorded before each call and after it; what differs between the two is the coder's, everything else the
//! user's. The trees of a run are kept in a folder of its own in the state folder, with a note on which they are and which
//! work tree they are of. The user's repository gets no object and no ref.

use std::path::Path;

use crate::domain::RunId;
use crate::workspace::git::path_bytes;
use crate::workspace::git::plumbing::{GitObject, Repository};
use crate::workspace::guard::tree_identity::TreeIdentity;
use crate::workspace::root::Workspace;
use crate::workspace::snapshot::manifest::{Beyond, COMPARED_CAP, RecordedTree, TreeId};
use crate::workspace::snapshot::note::{CallSpan, ROOT, SnapshotNote};
use crate::workspace::snapshot::{backup_repo, content_store, ignored_files};
use crate::workspace::{Result, WorkspaceError};

/// The tree as it was kept before a coder's first byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BeforeImage {
    /// What it is kept as: the place of the note, below the state folder. Of older runs a git ref, or the note's path.
    pub kept_as: String,
    pub tree: TreeId,
}

impl Workspace {
    /// Keeps the tree as it is right now, before the first call of a run's coder. A tree that is kept already for
    /// this run is left as it is. Fails as [`Workspace::snapshot`]; [`WorkspaceError::NotKept`] for a file that
    /// cannot be read.
    pub fn keep(&self, run: &RunId, state_dir: &Path) -> Result<BeforeImage> {
        let kept_as = format!("kept/{run}/before");
        if let Some(first) = SnapshotNote::read(run, state_dir).and_then(|note| note.spans.into_iter().next()) {
            return Ok(BeforeImage { kept_as, tree: first.before });
        }
        let recorded = self.record_with(state_dir, &Beyond::default())?;
        if let Some(path) = recorded.unreadable.first() {
            let source = std::io::ErrorKind::PermissionDenied.into();
            return Err(WorkspaceError::NotKept { path: path_bytes::shown(path), source });
        }
        let tree = recorded.tree;
        self.note_ignored(run, state_dir)?;
        ignored_files::note(run, "sparse", &recorded.sparse, state_dir)?;
        self.pin(run, &tree, state_dir)?;
        let span = CallSpan { before: tree.clone(), after: None };
        let (history, places) = (self.history(state_dir)?.key, vec![TreeIdentity::of(self)]);
        SnapshotNote { form: 1, history, places, spans: vec![span] }.write(run, state_dir)?;
        Ok(BeforeImage { kept_as, tree })
    }

    /// Records the tree before a further call of a run's coder: what the user changed since the last one is not the
    /// coder's. Nothing is recorded for a run of which no tree was kept.
    pub fn coder_begins(&self, run: &RunId, state_dir: &Path) -> Result<()> {
        let Some(mut note) = SnapshotNote::read(run, state_dir) else { return Ok(()) };
        // The first call, or one that was broken off and is begun again on the same tree.
        if note.spans.last().is_none_or(|span| span.after.is_none()) {
            return Ok(());
        }
        let before = self.snapshot_of(run, state_dir)?;
        self.pin(run, &before, state_dir)?;
        // What the user made since the last call may be ignored, and is none of the coder's.
        if let Some(after) = note.spans.last().and_then(|span| span.after.as_ref()) {
            let (image, _) = self.opened(run, after, state_dir)?;
            self.note_ignored_since(run, &image, state_dir)?;
        }
        note.spans.push(CallSpan { before, after: None });
        note.write(run, state_dir)
    }

    /// Records the tree after a call of a run's coder, however it ended.
    pub fn coder_ended(&self, run: &RunId, state_dir: &Path) -> Result<()> {
        let Some(mut note) = SnapshotNote::read(run, state_dir) else { return Ok(()) };
        let after = self.snapshot_of(run, state_dir)?;
        self.pin(run, &after, state_dir)?;
        let place = TreeIdentity::of(self);
        if !note.places.contains(&place) {
            note.places.push(place);
        }
        if let Some(span) = note.spans.last_mut() {
            span.after = Some(after);
        }
        note.write(run, state_dir)
    }

    /// The tree as the last call of a run's coder left it; as it is now, where that was not recorded.
    pub fn left(&self, run: &RunId, state_dir: &Path) -> Result<TreeId> {
        match SnapshotNote::read(run, state_dir).and_then(|note| note.spans.into_iter().next_back()?.after) {
            Some(after) => Ok(after),
            None => self.snapshot_of(run, state_dir),
        }
    }

    /// Records the tree as it is right now, as the rules of a run's beginning see it: what an ignore file hides that came
    /// since is recorded too.
    pub fn snapshot_of(&self, run: &RunId, state_dir: &Path) -> Result<TreeId> {
        let Some(note) = SnapshotNote::read(run, state_dir) else { return self.snapshot(state_dir) };
        let [first, later @ ..] = note.spans.as_slice() else { return self.snapshot(state_dir) };
        let (image, mut bytes) = self.opened(run, &first.before, state_dir)?;
        let mut beyond = self.beyond(run, &image, &mut bytes, state_dir)?;
        // What was seen before this call is looked at after it too, whatever hides it by then.
        if let Some(CallSpan { before, after: None }) = later.last() {
            let (image, _) = self.opened(run, before, state_dir)?;
            beyond.paths.extend(ignored_files::still_there(self.root(), &image));
        }
        match &self.repository {
            // The coder removed it; what there is goes into the twin.
            Some(git) if !git.is_there() => {
                let Some(twin) = backup_repo::open(run, self.root(), state_dir)? else {
                    return Err(WorkspaceError::Gone(first.before.0.clone()));
                };
                twin.record_paths(&beyond.paths, state_dir)
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

    /// Makes a recorded tree last as long as the run is not pruned. Copies outside git do so by the note.
    fn pin(&self, run: &RunId, tree: &TreeId, state_dir: &Path) -> Result<()> {
        match &self.repository {
            Some(git) if git.is_there() => backup_repo::pin(git, run, tree, state_dir),
            _ => Ok(()),
        }
    }
}

impl Repository {
    /// The root of the work tree that a ref of an older Glee keeps.
    pub(crate) fn kept_root(&self, kept_as: &str) -> Result<Option<std::path::PathBuf>> {
        let GitObject::Bytes(commit) = self.objects(None)?.read(kept_as, COMPARED_CAP)? else { return Ok(None) };
        let root = commit.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(ROOT.as_bytes()));
        Ok(root.and_then(path_bytes::unquoted).map(|root| path_bytes::path(&root)))
    }
}
