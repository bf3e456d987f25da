//! What the coder did to the tree: recorded after each of its calls, and the target of the next round.

use std::collections::BTreeMap;
use std::path::Path;

use crate::config::settings::Settings;
use crate::domain::{FileChange, Finding};
use crate::event::{CallId, EventKind};
use crate::pipeline::RunError;
use crate::pipeline::state::State;
use crate::workspace::blocks::Blocks;
use crate::workspace::{SelectOptions, Target, TreeId, Workspace};

/// The work tree and the trees recorded of it.
#[derive(Clone, Copy)]
pub(crate) struct Trees<'a> {
    pub(crate) workspace: &'a Workspace,
    pub(crate) state_dir: &'a Path,
}

impl Trees<'_> {
    /// The bytes of a file in a recorded tree.
    pub(crate) fn read_at(&self, tree: &str, path: &str) -> Option<Vec<u8>> {
        self.workspace.read_at(&TreeId(tree.to_owned()), path, self.state_dir)
    }

    fn changes(&self, before: &str, after: &str) -> Result<Vec<FileChange>, RunError> {
        let (before, after) = (TreeId(before.to_owned()), TreeId(after.to_owned()));
        Ok(self.workspace.changes(&before, &after, self.state_dir)?)
    }

    /// The event that records what a call of the coder changed.
    pub(crate) fn record(&self, state: &State, call: &CallId) -> Result<EventKind, RunError> {
        let before = last_tree(state);
        let tree = self.workspace.snapshot(self.state_dir)?.0;
        let changes = match before {
            Some(before) => self.changes(before, &tree)?,
            None => Vec::new(),
        };
        let changed: BTreeMap<&str, Versions> = changes
            .iter()
            .map(|change| {
                let earlier = before.and_then(|tree| self.read_at(tree, &change.file));
                let versions = Versions {
                    before: earlier.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
                    now: self.workspace.read(&change.file).unwrap_or_default(),
                };
                (change.file.as_str(), versions)
            })
            .collect();
        let touched = state
            .findings
            .iter()
            .filter(|finding| is_touched(finding, &changed))
            .map(|finding| finding.id)
            .collect();
        Ok(EventKind::TreeChanged { call: call.clone(), tree, changes, touched })
    }

    /// What the coder changed in a round, as the target of the next.
    pub(crate) fn changed_target(
        &self,
        state: &State,
        round: u32,
        settings: &Settings,
    ) -> Result<Target, RunError> {
        let earlier = state.tree_changes.iter().rev().find(|change| change.call.purpose.round() < Some(round));
        let tree = earlier.map(|change| &change.tree).or(state.before.as_ref().map(|(_, tree)| tree));
        let tree = TreeId(tree.cloned().unwrap_or_default());
        let options = SelectOptions { max_file: settings.review.max_file, shard: settings.review.shard };
        Ok(self.workspace.select_since(&tree, self.state_dir, &options)?)
    }

    /// The coder's changes over the whole run, against the before-image.
    pub(crate) fn all_changes(&self, state: &State) -> Result<Vec<FileChange>, RunError> {
        match (&state.before, last_tree(state)) {
            (Some((_, before)), Some(last)) if before != last => self.changes(before, last),
            _ => Ok(Vec::new()),
        }
    }

    /// As [`Self::all_changes`]; where the trees are gone, what was recorded of each call, one after the other.
    pub(crate) fn all_changes_or_recorded(&self, state: &State) -> Vec<FileChange> {
        let recorded = |_| state.tree_changes.iter().flat_map(|change| change.changes.clone()).collect();
        self.all_changes(state).unwrap_or_else(recorded)
    }
}

/// A changed file before and after a call of the coder.
struct Versions {
    before: Option<String>,
    now: String,
}

/// Whether the code at a finding's anchor changed: its enclosing block is no longer in the file. A finding without an
/// anchor is touched by any change; one whose block was changed before, by any change of its file.
fn is_touched(finding: &Finding, changed: &BTreeMap<&str, Versions>) -> bool {
    let Some(anchor) = &finding.anchor else { return !changed.is_empty() };
    let Some(file) = changed.get(anchor.file.as_str()) else { return false };
    let holds = |text: &str| Blocks::of(&anchor.file, text).holds(anchor);
    !file.before.as_deref().is_none_or(holds) || !holds(&file.now)
}

/// The tree as it was recorded last.
pub(crate) fn last_tree(state: &State) -> Option<&String> {
    state.tree_changes.last().map(|change| &change.tree).or(state.before.as_ref().map(|(_, tree)| tree))
}
