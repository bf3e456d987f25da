//! Selects the changes since a recorded tree, for the second and later rounds of a run.

use std::collections::BTreeSet;
use std::path::Path;

use crate::diff::metadata_changes;
use crate::diff::metadata_changes::MetadataEdit;
use crate::select::filter;
use crate::select::ignores::Ignores;
use crate::select::recorded_rules::SelectionRules;
use crate::select::selection::{SelectOptions, Selection, Target};
use crate::snapshot::{Bytes, ManifestEntry, TreeId, differing};
use crate::{Result, Workspace};
use glee_model::domain::SkipReason;
use glee_protocol::request::SourceFile;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Since {
    pub target: Target,
    /// The files that are ignored now, but were not ignored when the run began.
    pub hidden: Vec<String>,
}

impl Workspace {
    /// Selects the files that differ from a recorded tree, with the changed lines. `rules` are the selection rules
    /// from the start of the run. Without `rules`, the current rules apply.
    pub fn select_since(
        &self,
        before: &TreeId,
        rules: Option<&SelectionRules>,
        state_dir: &Path,
        options: &SelectOptions,
    ) -> Result<Since> {
        let now = self.snapshot(state_dir)?;
        let old = self.image(&before.0, state_dir)?;
        let new = self.image(&now.0, state_dir)?;
        let hidden = rules
            .map(|rules| self.hidden_since(rules, &new))
            .transpose()?
            .unwrap_or_default();
        let recorded = self
            .recorded_ignores
            .clone()
            .or_else(|| rules.map(SelectionRules::recorded));
        let mut ignores = Ignores::glee(self.root(), recorded.as_ref());
        let mut selection = Selection::default();
        let mut paths: BTreeSet<&Vec<u8>> = differing(&old, &new)
            .map(|(path, ..)| path)
            .chain(&hidden)
            .collect();
        paths.retain(|path| {
            let is_ignored = ignores.is_ignored(path);
            if is_ignored {
                selection.skip(path, SkipReason::Ignored);
            }
            !is_ignored
        });
        let marks = self.attributes(paths.iter().copied())?;
        // A file is skipped as generated only if the file was marked as generated when the run began.
        let marked: Vec<&Vec<u8>> = paths
            .iter()
            .copied()
            .filter(|path| marks.generated(path) == Some(true))
            .collect();
        let earlier = match (&self.repository, rules) {
            (Some(git), Some(rules)) if !marked.is_empty() => {
                Some(rules.attributes(git, marked.into_iter())?)
            }
            _ => None,
        };
        let mut bytes = self.bytes(state_dir)?;
        let mut found = Vec::new();
        for path in paths {
            let now = marks.generated(path);
            let marks = (
                now,
                earlier
                    .as_ref()
                    .map_or(now, |earlier| earlier.generated(path)),
            );
            let is_hidden = hidden.contains(path);
            let cap = options.max_file.saturating_mul(metadata_changes::FACTOR);
            let hidden = is_hidden.then(|| self.bytes_now(path, cap));
            match file(
                path,
                [old.get(path), new.get(path)],
                hidden,
                marks,
                &mut bytes,
                cap,
            )? {
                Ok(None) => continue,
                Ok(Some(file)) => selection.add(file, options.max_file),
                Err(reason) => selection.skip(path, reason),
            }
            if is_hidden {
                found.push(filter::path_text(path));
            }
        }
        let target = self.finish(
            selection,
            "changes since the recorded tree".to_owned(),
            options,
        );
        Ok(Since {
            target,
            hidden: found,
        })
    }
}

/// Returns the source of a changed file. `old` and `new` are the entries of the file in the earlier and the later
/// snapshot. If the current ignore rules hide the file, `hidden` contains the file's current content. Returns
/// `None` if the content in `hidden` is equal to the content in the entry `old`.
fn file(
    path: &[u8],
    [old, new]: [Option<&ManifestEntry>; 2],
    hidden: Option<Result<Vec<u8>, SkipReason>>,
    generated: (Option<bool>, Option<bool>),
    bytes: &mut Bytes,
    cap: u64,
) -> Result<Result<Option<SourceFile>, SkipReason>> {
    let old_bytes = old.map(|entry| bytes.compared(entry, cap)).transpose()?;
    let new_bytes = match (new, hidden) {
        (Some(entry), _) => bytes.compared(entry, cap)?,
        (None, Some(bytes)) if old_bytes.as_ref() == Some(&bytes) => return Ok(Ok(None)),
        (None, Some(bytes)) => bytes,
        (None, None) => {
            let bytes = old_bytes.as_ref().and_then(|old| old.as_deref().ok());
            return Ok(Ok(
                old.map(|old| metadata_changes::deleted(path, old.mode(), bytes))
            ));
        }
    };
    let modes = old
        .zip(new)
        .and_then(|(old, new)| metadata_changes::modes(path, old.mode(), new.mode()));
    let old = old_bytes.map(|old| (path, old.ok()));
    let edit = MetadataEdit {
        path,
        old,
        generated,
        modes,
    };
    Ok(new_bytes.and_then(|bytes| edit.file(bytes, None)).map(Some))
}
