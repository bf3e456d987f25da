//! What changed since a recorded tree, as a target: the second round of a run and those after it.

use std::collections::BTreeSet;
use std::path::Path;

use super::ignores::Ignores;
use crate::domain::SkipReason;
use crate::protocol::request::SourceFile;
use crate::workspace::Result;
use crate::workspace::diff::metadata_changes::{self, MetadataEdit};
use crate::workspace::root::Workspace;
use crate::workspace::select::filter;
use crate::workspace::select::recorded_rules::SelectionRules;
use crate::workspace::select::selection::{SelectOptions, Selection, Target};
use crate::workspace::snapshot::content_store::Bytes;
use crate::workspace::snapshot::manifest::{FileKind, ManifestEntry, TreeId, differing};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Since {
    pub target: Target,
    /// Those of them that ignore files hide from git which did not do so when the run began.
    pub hidden: Vec<String>,
}

impl Workspace {
    /// Selects the files that differ now from a recorded tree, with the lines that do. `rules` are those of the beginning;
    /// without them the ones of the tree count.
    pub fn select_since(
        &self,
        before: &TreeId,
        rules: Option<&SelectionRules>,
        state_dir: &Path,
        options: &SelectOptions,
    ) -> Result<Since> {
        let now = self.snapshot(state_dir)?;
        let (old, new) = (self.image(&before.0, state_dir)?, self.image(&now.0, state_dir)?);
        let hidden = match rules {
            Some(rules) => self.hidden_since(rules, &new)?,
            None => BTreeSet::new(),
        };
        let recorded = self.steered_by.clone().or_else(|| rules.map(SelectionRules::recorded));
        let mut ignores = Ignores::glee(self.root(), recorded.as_ref());
        let mut selection = Selection::default();
        let mut paths: BTreeSet<&Vec<u8>> = differing(&old, &new).map(|(path, ..)| path).chain(&hidden).collect();
        paths.retain(|path| {
            let is_ignored = ignores.is_ignored(path);
            if is_ignored {
                selection.skip(path, SkipReason::Ignored);
            }
            !is_ignored
        });
        let marks = self.attributes(paths.iter().copied())?;
        // Only what was marked at the beginning, too, is left out.
        let marked: Vec<&Vec<u8>> =
            paths.iter().copied().filter(|path| marks.generated(path) == Some(true)).collect();
        let earlier = match (&self.repository, rules) {
            (Some(git), Some(rules)) if !marked.is_empty() => Some(rules.attributes(git, marked.into_iter())?),
            _ => None,
        };
        let mut bytes = self.bytes(state_dir)?;
        let mut found = Vec::new();
        for path in paths {
            let now = marks.generated(path);
            let marks = (now, earlier.as_ref().map_or(now, |earlier| earlier.generated(path)));
            let is_hidden = hidden.contains(path);
            let new = match new.get(path) {
                None if is_hidden => {
                    let cap = options.max_file.saturating_mul(metadata_changes::FACTOR);
                    Some(Content::Here(self.bytes_now(path, cap)))
                }
                entry => entry.map(Content::Recorded),
            };
            match file(path, old.get(path), new, marks, &mut bytes, options)? {
                Ok(None) => continue,
                Ok(Some(file)) => selection.add(file, options.max_file),
                Err(reason) => selection.skip(path, reason),
            }
            if is_hidden {
                found.push(filter::path_text(path));
            }
        }
        let target = self.finish(selection, "changes since the recorded tree".to_owned(), options);
        Ok(Since { target, hidden: found })
    }
}

enum Content<'a> {
    Recorded(&'a ManifestEntry),
    /// In the work tree alone.
    Here(Result<Vec<u8>, SkipReason>),
}

fn file(
    path: &[u8],
    old: Option<&ManifestEntry>,
    new: Option<Content<'_>>,
    generated: (Option<bool>, Option<bool>),
    bytes: &mut Bytes,
    options: &SelectOptions,
) -> Result<Result<Option<SourceFile>, SkipReason>> {
    let mut read = |entry: &ManifestEntry| -> Result<Result<Vec<u8>, SkipReason>> {
        Ok(match entry.kind {
            FileKind::Submodule => Ok(metadata_changes::submodule(&entry.id)),
            FileKind::Unreadable => Err(SkipReason::Unreadable),
            FileKind::File | FileKind::Link => {
                bytes.read(&entry.id, options.max_file.saturating_mul(metadata_changes::FACTOR))?.bytes()
            }
        })
    };
    let old_bytes = old.map(&mut read).transpose()?;
    let modes = match (old, &new) {
        (Some(old), Some(Content::Recorded(new))) => metadata_changes::modes(path, old.mode(), new.mode()),
        _ => None,
    };
    let new_bytes = match new {
        None => {
            let bytes = old_bytes.as_ref().and_then(|old| old.as_deref().ok());
            return Ok(Ok(old.map(|old| metadata_changes::deleted(path, old.mode(), bytes))));
        }
        Some(Content::Recorded(entry)) => read(entry)?,
        // It is hidden and as it was.
        Some(Content::Here(bytes)) if old_bytes.as_ref() == Some(&bytes) => {
            return Ok(Ok(None));
        }
        Some(Content::Here(bytes)) => bytes,
    };
    let old = old_bytes.map(|old| (path, old.ok()));
    let edit = MetadataEdit { path, old, generated, modes };
    Ok(new_bytes.and_then(|bytes| edit.file(bytes, None)).map(Some))
}
