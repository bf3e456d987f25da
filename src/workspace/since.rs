//! What changed since a recorded tree, as a target: the second round of a run and those after it.

use std::collections::BTreeSet;
use std::path::Path;

use crate::domain::SkipReason;
use crate::protocol::request::SourceFile;

use super::git::Object;
use super::ignores::Ignores;
use super::image::{Bytes, Entry, Kind, TreeId};
use super::sift::{self, Chosen};
use super::target::{Attributes, SelectOptions, Selection, Target};
use super::{Workspace, WorkspaceError, content, difference};

impl Workspace {
    /// Selects the files that differ now from a recorded tree, with the lines that do.
    ///
    /// # Errors
    /// The tree is gone, or nothing differs.
    pub fn select_since(
        &self,
        before: &TreeId,
        state_dir: &Path,
        options: &SelectOptions,
    ) -> Result<Target, WorkspaceError> {
        let now = self.snapshot(state_dir)?;
        let (old, new) = (self.image(&before.0, state_dir)?, self.image(&now.0, state_dir)?);
        let mut ignores = Ignores::glee(self.root(), self.steered_by.as_ref());
        let mut paths: BTreeSet<&Vec<u8>> = old.keys().chain(new.keys()).collect();
        paths.retain(|path| old.get(*path) != new.get(*path) && !ignores.is_ignored(path));
        let marks = match &self.repository {
            Some(git) => git.attributes(paths.iter().copied())?,
            None => Attributes::default(),
        };
        let mut selection = Selection::default();
        let mut bytes = self.bytes(state_dir)?;
        for path in paths {
            let marked = marks.generated(path);
            match file(path, old.get(path), new.get(path), marked, &mut bytes, options)? {
                Ok(file) => selection.files.push(file),
                Err(reason) => selection.skip(path, reason),
            }
        }
        self.finish(selection, "changes since the recorded tree".to_owned(), options)
    }
}

/// One file that differs.
fn file(
    path: &[u8],
    old: Option<&Entry>,
    new: Option<&Entry>,
    marked: Option<bool>,
    bytes: &mut Bytes,
    options: &SelectOptions,
) -> Result<Result<SourceFile, SkipReason>, WorkspaceError> {
    let mut read = |entry: &Entry| -> Result<Result<Vec<u8>, SkipReason>, WorkspaceError> {
        Ok(match entry.kind {
            Kind::Link | Kind::Submodule => Err(SkipReason::NotAFile),
            Kind::Unreadable => Err(SkipReason::Unreadable),
            Kind::File => match bytes.read(&entry.id, options.max_file)? {
                Object::Bytes(bytes) => Ok(bytes),
                Object::Larger(_) => Err(SkipReason::Oversized),
                Object::Missing => Err(SkipReason::Unreadable),
            },
        })
    };
    let new_bytes = match new {
        None => return Ok(Err(SkipReason::Deleted)),
        Some(entry) => read(entry)?,
    };
    let old_bytes = old.map(read).transpose()?;
    let sifted = new_bytes.and_then(|bytes| {
        let path_text = sift::path_text(path)?;
        Ok((sift::text(&path_text, bytes, Chosen::Met, marked)?, path_text))
    });
    let (text, path_text) = match sifted {
        Ok(sifted) => sifted,
        Err(reason) => return Ok(Err(reason)),
    };
    let old = match old_bytes {
        None => Some((None, String::new())),
        Some(Ok(old)) if !sift::is_binary(&old) => Some((Some(path), content::lossy(old))),
        Some(_) => None,
    };
    let (changed, diff) = match old {
        Some((old_path, old)) => {
            let found = difference::between((old_path, &old), (Some(path), &text));
            (found.changed, Some(found.text))
        }
        None => (Vec::new(), None),
    };
    Ok(Ok(SourceFile { path: path_text, text, changed, diff }))
}
