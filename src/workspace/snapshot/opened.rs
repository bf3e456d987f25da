//! What a run has kept, opened: by this Glee, or by an older one, which kept trees under refs of the user's repository.

use std::path::Path;

use crate::domain::RunId;
use crate::workspace::git::plumbing::GitObject;
use crate::workspace::guard::tree_identity::{TreeIdentity, TreeRelation};
use crate::workspace::root::Workspace;
use crate::workspace::snapshot::backup_repo;
use crate::workspace::snapshot::content_store::{self, Bytes};
use crate::workspace::snapshot::manifest::{Image, TreeId};
use crate::workspace::snapshot::note::SnapshotNote;
use crate::workspace::{Result, WorkspaceError};

pub(crate) struct Opened {
    pub(crate) spans: Vec<(Image, Option<Image>)>,
    pub(crate) bytes: Bytes,
}

impl Workspace {
    pub(crate) fn opened(&self, run: &RunId, tree: &TreeId, state_dir: &Path) -> Result<(Image, Bytes)> {
        if tree.0.starts_with("blake3:") {
            return Ok((content_store::image(&tree.0, state_dir)?, Bytes::Copy(state_dir.to_owned())));
        }
        let gone = || WorkspaceError::Gone(tree.0.clone());
        let twin = backup_repo::open(run, self.root(), state_dir)?.ok_or_else(gone)?;
        Ok((twin.image(&tree.0, state_dir)?, Bytes::Git(Box::new(twin.objects(None)?))))
    }

    /// Opens what is kept of a run, of one that an older Glee recorded too.
    pub(crate) fn opened_run(&self, run: &RunId, kept: &Kept<'_>, state_dir: &Path) -> Result<Opened> {
        let Some(note) = SnapshotNote::read(run, state_dir) else { return self.opened_older(run, kept, state_dir) };
        let mut spans = Vec::new();
        let mut bytes = None;
        for span in &note.spans {
            let (before, reader) = self.opened(run, &span.before, state_dir)?;
            bytes.get_or_insert(reader);
            let after = span.after.as_ref().map(|after| self.opened(run, after, state_dir));
            spans.push((before, after.transpose()?.map(|(after, _)| after)));
        }
        let bytes = bytes.ok_or_else(|| WorkspaceError::Gone(kept.kept_as.to_owned()))?;
        Ok(Opened { spans, bytes })
    }

    fn opened_older(&self, run: &RunId, kept: &Kept<'_>, state_dir: &Path) -> Result<Opened> {
        let after = |image: Result<Image>| image.ok();
        if !kept.kept_as.starts_with("refs/") {
            let before = content_store::image(kept.kept_as, state_dir)?;
            let left = kept.left.and_then(|left| after(content_store::image(&left.0, state_dir)));
            return Ok(Opened { spans: vec![(before, left)], bytes: Bytes::Copy(state_dir.to_owned()) });
        }
        let gone = || WorkspaceError::Gone(kept.kept_as.to_owned());
        let in_repository = match &self.repository {
            Some(git) => git.image(kept.kept_as, state_dir).map(|image| (git, image)),
            None => Err(gone()),
        };
        match in_repository {
            Ok((git, before)) => {
                let left = kept.left.and_then(|left| after(git.image(&left.0, state_dir)));
                let bytes = Bytes::Git(Box::new(git.objects(Some(&git.objects_in(state_dir)))?));
                Ok(Opened { spans: vec![(before, left)], bytes })
            }
            Err(WorkspaceError::Gone(..)) => {
                let (Some(twin), Some((tree, _))) =
                    (backup_repo::open(run, self.root(), state_dir)?, backup_repo::noted(run, state_dir))
                else {
                    return Err(gone());
                };
                let before = twin.image(&tree, state_dir)?;
                Ok(Opened { spans: vec![(before, None)], bytes: Bytes::Git(Box::new(twin.objects(None)?)) })
            }
            Err(error) => Err(error),
        }
    }

    pub(crate) fn refuse_other(&self, run: &RunId, kept: &Kept<'_>, state_dir: &Path) -> Result<()> {
        let foreign =
            || WorkspaceError::OtherRepository { root: self.root().to_owned(), run: run.short().to_owned() };
        let other =
            |theirs: &Path| WorkspaceError::OtherTree { theirs: theirs.to_owned(), root: self.root().to_owned() };
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
            return Err(sibling.map_or_else(foreign, |root| other(&root)));
        }
        let root = match &self.repository {
            Some(git) if kept.kept_as.starts_with("refs/") => match git.kept_root(kept.kept_as)? {
                Some(root) => Some(root),
                // The ref is gone: the repository is the run's if the twin knows where it stands.
                None => {
                    let twin = backup_repo::open(run, self.root(), state_dir)?.ok_or_else(foreign)?;
                    let head = git.head.as_deref().ok_or_else(foreign)?;
                    if twin.objects(None)?.read(head, 1 << 20)? == GitObject::Missing {
                        return Err(foreign());
                    }
                    backup_repo::noted(run, state_dir).map(|(_, root)| root)
                }
            },
            _ if kept.kept_as.starts_with("refs/") => backup_repo::noted(run, state_dir).map(|(_, root)| root),
            _ => content_store::kept_root(kept.kept_as),
        };
        // A repository that was moved is still its own.
        match root {
            Some(root) if root != self.root() && root.exists() => Err(other(&root)),
            _ => Ok(()),
        }
    }

    /// The files of a tree that was recorded a moment ago.
    pub(crate) fn image_of(&self, run: &RunId, tree: &TreeId, state_dir: &Path) -> Result<Image> {
        match &self.repository {
            Some(git) if git.is_there() => git.image(&tree.0, state_dir),
            _ => self.opened(run, tree, state_dir).map(|(image, _)| image),
        }
    }
}

/// What the events of a run say of its trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept<'a> {
    /// What the tree before the coder's first byte is kept as.
    pub kept_as: &'a str,
    /// The tree after the coder's last call, if one was recorded.
    pub left: Option<&'a TreeId>,
}
