//! After each call, records how the coder changed the tree. Selects the changes that are reviewed in the next
//! round.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::config::settings::Settings;
use crate::domain::event::{CallId, EventKind, ReviewEvent, Staged};
use crate::domain::{FileChange, Finding, RunId};
use crate::workflows::review::state::ReviewState;
use crate::workflows::run::error::RunError;
use crate::workspace::{
    Restaged, SelectOptions, SelectionRules, Since, TreeId, code::anchors::Blocks, root::Workspace,
};

#[derive(Clone, Copy)]
pub(crate) struct Trees<'a> {
    pub(crate) workspace: &'a Workspace,
    pub(crate) state_dir: &'a Path,
}

impl Trees<'_> {
    pub(crate) fn read_at(&self, tree: &str, path: &str) -> Option<Vec<u8>> {
        self.workspace
            .read_at(&TreeId(tree.to_owned()), path, self.state_dir)
    }

    fn changes(&self, before: &str, after: &str) -> Result<Vec<FileChange>, RunError> {
        let (before, after) = (TreeId(before.to_owned()), TreeId(after.to_owned()));
        Ok(self.workspace.changes(&before, &after, self.state_dir)?)
    }

    pub(crate) fn record(
        &self,
        state: &ReviewState,
        call: &CallId,
        run: &RunId,
    ) -> Result<EventKind, RunError> {
        let before = last_tree(state);
        let tree = self.workspace.left(run, self.state_dir)?.0;
        let changes = match before {
            Some(before) => self.changes(before, &tree)?,
            None => Vec::new(),
        };
        let texts: Vec<(&str, Option<String>, String)> = changes
            .iter()
            .map(|change| {
                let earlier = before.and_then(|tree| self.read_at(tree, &change.file));
                let earlier = earlier.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
                (
                    change.file.as_str(),
                    earlier,
                    self.workspace.read(&change.file).unwrap_or_default(),
                )
            })
            .collect();
        let is_anchored: BTreeSet<&str> = state
            .findings
            .iter()
            .filter_map(|finding| Some(finding.anchor.as_ref()?.file.as_str()))
            .collect();
        // The map has an entry for every changed file. Only a file that contains the anchor of a finding is
        // parsed.
        let changed: BTreeMap<&str, Option<Versions<'_>>> = texts
            .iter()
            .map(|(file, before, now)| {
                let versions = is_anchored.contains(file).then(|| Versions {
                    before: before.as_deref().map(|text| Blocks::of(file, text)),
                    now: Blocks::of(file, now),
                });
                (*file, versions)
            })
            .collect();
        let touched = state
            .findings
            .iter()
            .filter(|finding| is_touched(finding, &changed))
            .map(|finding| finding.id)
            .collect();
        Ok(ReviewEvent::TreeChanged {
            call: call.clone(),
            tree,
            changes,
            touched,
        }
        .into())
    }

    pub(crate) fn changed_target(
        &self,
        state: &ReviewState,
        round: u32,
        settings: &Settings,
        rules: Option<&SelectionRules>,
    ) -> Result<Since, RunError> {
        let tree = TreeId(tree_before_round(state, round).cloned().unwrap_or_default());
        let options = SelectOptions {
            max_file: settings.review.max_file_size,
            shard: settings.review.max_shard_size,
        };
        Ok(self
            .workspace
            .select_since(&tree, rules, self.state_dir, &options)?)
    }

    /// After a review of staged changes with `--restage`, adds the coder's changes to the index. Returns the files
    /// that were added to the index, and the changed files that are not in the index.
    pub(crate) fn restage(&self, state: &ReviewState) -> Result<Option<Restaged>, RunError> {
        let staged = state.plan.as_ref().and_then(|plan| plan.staged);
        let (Some(staged), Some((_, before)), Some(after)) =
            (staged, &state.before, last_tree(state))
        else {
            return Ok(None);
        };
        let (before, after) = (TreeId(before.clone()), TreeId(after.clone()));
        Ok(Some(self.workspace.restage(
            &before,
            &after,
            self.state_dir,
            staged == Staged::Restaged,
        )?))
    }

    pub(crate) fn all_changes(&self, state: &ReviewState) -> Result<Vec<FileChange>, RunError> {
        match (&state.before, last_tree(state)) {
            (Some((_, before)), Some(last)) if before != last => self.changes(before, last),
            _ => Ok(Vec::new()),
        }
    }

    /// Returns the result of [`Self::all_changes`]. If the recorded trees no longer exist, returns the recorded
    /// changes of all calls.
    pub(crate) fn all_changes_or_recorded(&self, state: &ReviewState) -> Vec<FileChange> {
        let recorded = |_| {
            state
                .tree_changes
                .iter()
                .flat_map(|change| change.changes.clone())
                .collect()
        };
        self.all_changes(state).unwrap_or_else(recorded)
    }
}

pub(crate) fn restage_notices(state: &ReviewState, restaged: &Restaged) -> Vec<EventKind> {
    let quoted = |files: &[String]| {
        let quoted = files
            .iter()
            .map(|file| shlex::try_quote(file).map_or(file.clone(), Cow::into_owned));
        quoted.collect::<Vec<_>>().join(" ")
    };
    let mut texts = Vec::new();
    if !restaged.staged.is_empty() {
        texts.push(format!(
            "staged the coder's changes: {}",
            quoted(&restaged.staged)
        ));
    }
    if !restaged.left.is_empty() {
        let files = quoted(&restaged.left);
        texts.push(match state.plan.as_ref().and_then(|plan| plan.staged) {
            Some(Staged::Restaged) => format!(
                "not staged, because the work tree differed from the index before the run, or git converts the file: \
                 {files}; the index still has the old code: stage it with `git add {files}`"
            ),
            Some(Staged::Left) | None => {
                format!("the index still has the old code: stage it with `git add {files}`, or use --restage")
            }
        });
    }
    texts.into_iter().map(EventKind::notice).collect()
}

struct Versions<'a> {
    before: Option<Blocks<'a>>,
    now: Blocks<'a>,
}

/// Whether the changes in `changed` possibly affect a finding. A finding without an anchor is affected by every
/// change. A finding with an anchor is affected if the anchor's block is missing in the old or in the new version
/// of the file. If the file has no old version, only the new version is checked.
fn is_touched(finding: &Finding, changed: &BTreeMap<&str, Option<Versions<'_>>>) -> bool {
    let Some(anchor) = &finding.anchor else {
        return !changed.is_empty();
    };
    let Some(Some(file)) = changed.get(anchor.file.as_str()) else {
        return false;
    };
    file.before
        .as_ref()
        .is_some_and(|before| before.place(anchor).is_none())
        || file.now.place(anchor).is_none()
}

pub(crate) fn tree_before_round(state: &ReviewState, round: u32) -> Option<&String> {
    let earlier = state
        .tree_changes
        .iter()
        .rev()
        .find(|change| change.call.purpose.round() < Some(round));
    earlier
        .map(|change| &change.tree)
        .or(state.before.as_ref().map(|(_, tree)| tree))
}

pub(crate) fn last_tree(state: &ReviewState) -> Option<&String> {
    state
        .tree_changes
        .last()
        .map(|change| &change.tree)
        .or(state.before.as_ref().map(|(_, tree)| tree))
}
