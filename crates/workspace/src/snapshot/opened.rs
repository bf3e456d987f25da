//! Opens the snapshots of a run.

use std::path::Path;

use crate::guard::{TreeIdentity, TreeRelation};
use crate::snapshot::content_store::Bytes;
use crate::snapshot::manifest::{Image, SnapshotNote, TreeId};
use crate::snapshot::{backup_repo, content_store};
use crate::{Result, Workspace, WorkspaceError};
use glee_model::domain::RunId;

/// For each call of a run's coder, the snapshot before the call and, if recorded, the snapshot after the call.
pub(crate) type Spans = Vec<(Image, Option<Image>)>;

impl Workspace {
    pub fn opened(&self, run: &RunId, tree: &TreeId, state_dir: &Path) -> Result<(Image, Bytes)> {
        if tree.0.starts_with("blake3:") {
            return Ok((
                content_store::image(&tree.0, state_dir)?,
                Bytes::Copy(state_dir.to_owned()),
            ));
        }
        let backup = backup_repo::open(run, self.root(), state_dir)?
            .ok_or_else(|| WorkspaceError::Gone(tree.0.clone()))?;
        Ok((
            backup.image(&tree.0, state_dir)?,
            Bytes::Git(Box::new(backup.objects(None)?)),
        ))
    }

    pub(crate) fn opened_run(&self, run: &RunId, state_dir: &Path) -> Result<(Spans, Bytes)> {
        let mut spans = Vec::new();
        let mut bytes = None;
        for span in &note_of(run, state_dir)?.spans {
            let (before, reader) = self.opened(run, &span.before, state_dir)?;
            bytes.get_or_insert(reader);
            let after = span
                .after
                .as_ref()
                .map(|after| self.opened(run, after, state_dir));
            spans.push((before, after.transpose()?.map(|(after, _)| after)));
        }
        Ok((spans, bytes.ok_or_else(|| gone(run))?))
    }

    /// Fails if the run worked on another work tree.
    pub(crate) fn refuse_other(&self, run: &RunId, state_dir: &Path) -> Result<()> {
        let mut sibling = None;
        let now = TreeIdentity::of(self);
        for place in &note_of(run, state_dir)?.places {
            match place.relation(&now, self)? {
                TreeRelation::Same => return Ok(()),
                TreeRelation::Sibling => sibling = Some(place.root()),
                TreeRelation::Foreign => {}
            }
        }
        let root = self.root().to_owned();
        Err(match sibling {
            Some(theirs) => WorkspaceError::OtherTree { theirs, root },
            None => WorkspaceError::OtherRepository {
                root,
                run: run.short().to_owned(),
            },
        })
    }
}

fn note_of(run: &RunId, state_dir: &Path) -> Result<SnapshotNote> {
    SnapshotNote::read(run, state_dir).ok_or_else(|| gone(run))
}

fn gone(run: &RunId) -> WorkspaceError {
    WorkspaceError::Gone(format!("kept/{run}/before"))
}
