//! Opens the snapshots of a run. Earlier versions of Glee stored snapshots as refs in the user's repository.

use std::path::{Path, PathBuf};

use crate::git::{GitObject, Repository, path_bytes};
use crate::guard::{TreeIdentity, TreeRelation};
use crate::snapshot::content_store::Bytes;
use crate::snapshot::manifest::{COMPARED_CAP, Image, SnapshotNote, TreeId};
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
        let gone = || WorkspaceError::Gone(tree.0.clone());
        let backup = backup_repo::open(run, self.root(), state_dir)?.ok_or_else(gone)?;
        Ok((
            backup.image(&tree.0, state_dir)?,
            Bytes::Git(Box::new(backup.objects(None)?)),
        ))
    }

    pub(crate) fn opened_run(
        &self,
        run: &RunId,
        kept: &Kept<'_>,
        state_dir: &Path,
    ) -> Result<(Spans, Bytes)> {
        let Some(note) = SnapshotNote::read(run, state_dir) else {
            return self.opened_older(run, kept, state_dir);
        };
        let mut spans = Vec::new();
        let mut bytes = None;
        for span in &note.spans {
            let (before, reader) = self.opened(run, &span.before, state_dir)?;
            bytes.get_or_insert(reader);
            let after = span
                .after
                .as_ref()
                .map(|after| self.opened(run, after, state_dir));
            spans.push((before, after.transpose()?.map(|(after, _)| after)));
        }
        let bytes = bytes.ok_or_else(|| WorkspaceError::Gone(kept.kept_as.to_owned()))?;
        Ok((spans, bytes))
    }

    fn opened_older(
        &self,
        run: &RunId,
        kept: &Kept<'_>,
        state_dir: &Path,
    ) -> Result<(Spans, Bytes)> {
        if !kept.kept_as.starts_with("refs/") {
            let before = content_store::image(kept.kept_as, state_dir)?;
            let after = kept
                .left
                .and_then(|left| content_store::image(&left.0, state_dir).ok());
            return Ok((vec![(before, after)], Bytes::Copy(state_dir.to_owned())));
        }
        match self
            .repository
            .as_ref()
            .map(|git| (git, git.image(kept.kept_as, state_dir)))
        {
            Some((git, Ok(before))) => {
                let after = kept
                    .left
                    .and_then(|left| git.image(&left.0, state_dir).ok());
                return Ok((vec![(before, after)], self.bytes(state_dir)?));
            }
            None | Some((_, Err(WorkspaceError::Gone(..)))) => {}
            Some((_, Err(error))) => return Err(error),
        }
        let gone = || WorkspaceError::Gone(kept.kept_as.to_owned());
        let backup = backup_repo::open(run, self.root(), state_dir)?.ok_or_else(gone)?;
        let (tree, _) = backup_repo::noted(run, state_dir).ok_or_else(gone)?;
        let spans = vec![(backup.image(&tree, state_dir)?, None)];
        Ok((spans, Bytes::Git(Box::new(backup.objects(None)?))))
    }

    /// Fails if the run worked on another work tree.
    pub(crate) fn refuse_other(
        &self,
        run: &RunId,
        kept: &Kept<'_>,
        state_dir: &Path,
    ) -> Result<()> {
        let foreign = || WorkspaceError::OtherRepository {
            root: self.root().to_owned(),
            run: run.short().to_owned(),
        };
        let other = |theirs: PathBuf| WorkspaceError::OtherTree {
            theirs,
            root: self.root().to_owned(),
        };
        if let Some(note) = SnapshotNote::read(run, state_dir) {
            let mut sibling = None;
            let now = TreeIdentity::of(self);
            for place in &note.places {
                match place.relation(&now, self)? {
                    TreeRelation::Same => return Ok(()),
                    TreeRelation::Sibling => sibling = Some(place.root()),
                    TreeRelation::Foreign => {}
                }
            }
            return Err(sibling.map_or_else(foreign, other));
        }
        let noted_root = || backup_repo::noted(run, state_dir).map(|(_, root)| root);
        let root = match &self.repository {
            _ if !kept.kept_as.starts_with("refs/") => {
                content_store::noted(Path::new(kept.kept_as)).map(|(_, root)| root)
            }
            None => noted_root(),
            Some(git) => match root_of_ref(git, kept.kept_as)? {
                Some(root) => Some(root),
                // If no ref records the top folder of the work tree, the run's backup repository must contain the
                // commit at `HEAD`. If the backup repository does not contain this commit, the repository does not
                // belong to the run.
                None => {
                    let backup =
                        backup_repo::open(run, self.root(), state_dir)?.ok_or_else(foreign)?;
                    let head = git.head.as_deref().ok_or_else(foreign)?;
                    if backup.objects(None)?.read(head, 1 << 20)? == GitObject::Missing {
                        return Err(foreign());
                    }
                    noted_root()
                }
            },
        };
        // If the recorded top folder no longer exists, Glee assumes that the repository was moved.
        match root {
            Some(root) if root != self.root() && root.exists() => Err(other(root)),
            _ => Ok(()),
        }
    }
}

/// The snapshots that the events of a run mention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept<'a> {
    /// The field [`BeforeImage::kept_as`](crate::BeforeImage::kept_as) of the run's first snapshot.
    pub kept_as: &'a str,
    /// The tree after the coder's last call. `None` if the events do not mention this tree.
    pub left: Option<&'a TreeId>,
}

/// Reads the top folder of the work tree from a ref of an earlier version of Glee. Returns `None` if the ref is
/// missing.
fn root_of_ref(git: &Repository, kept_as: &str) -> Result<Option<PathBuf>> {
    let GitObject::Bytes(commit) = git.objects(None)?.read(kept_as, COMPARED_CAP)? else {
        return Ok(None);
    };
    let root = path_bytes::items(&commit, b'\n').find_map(|line| line.strip_prefix(b"Root: "));
    Ok(root
        .and_then(path_bytes::unquoted)
        .map(|root| path_bytes::path(&root)))
}
