//! Which changes of a run `glee runs undo` and `glee runs apply` are about.

use std::collections::BTreeSet;

use crate::cli::commands::history::runs::lookup;
use crate::cli::commands::work::findings::RunFindings;
use crate::cli::context::{CommandError, Globals};
use glee_model::domain::{FindingId, RunId};
use glee_protocol::text::printable;
use glee_workspace::git::path_bytes;
use glee_workspace::root::Workspace;

#[derive(clap::Args)]
pub(super) struct ChosenChanges {
    /// The id of the run, then only these files, folders and findings of it. Without an id, `undo` takes the last run that
    /// changed something, and `apply` the last run
    #[arg(value_name = "RUN|PATH|FINDING")]
    words: Vec<String>,
}

impl ChosenChanges {
    /// The run that the first word names.
    pub(super) fn run(&self, globals: &Globals) -> Result<Option<&str>, CommandError> {
        let Some(first) = self.words.first() else {
            return Ok(None);
        };
        let path = globals.directory().join(first);
        if FindingId::parse(first).is_some() || path.symlink_metadata().is_ok() {
            return Ok(None);
        }
        // A word that is neither is a path of a file that the coder deleted.
        let is_path = first.contains(['/', '.']);
        if !is_path {
            lookup::find(globals, first)?;
        }
        Ok((!is_path).then_some(first.as_str()))
    }

    /// The chosen files and folders, relative to the root; `None` for all.
    pub(super) fn paths(
        &self,
        globals: &Globals,
        workspace: &Workspace,
        run: &RunId,
    ) -> Result<Option<BTreeSet<Vec<u8>>>, CommandError> {
        let words = match self.run(globals)? {
            Some(_) => &self.words[1..],
            None => self.words.as_slice(),
        };
        if words.is_empty() {
            return Ok(None);
        }
        let recorded = RunFindings::find(globals, &run.0)?;
        let changes = recorded.outcome().changes.iter();
        let changed: Vec<&str> = changes.map(|change| change.file.as_str()).collect();
        let mut chosen = BTreeSet::new();
        for word in words {
            let Some(named) = named(globals, workspace, &recorded, word)? else {
                return Ok(None);
            };
            let is_changed = changed.iter().any(|file| {
                named
                    .iter()
                    .any(|path| path_bytes::is_within(path, file.as_bytes()))
            });
            if !is_changed {
                let message = format!("the coder changed nothing of `{word}`");
                let files = printable::line(&changed.join(", "));
                return Err(CommandError::usage(message).hint(format!("it changed {files}")));
            }
            chosen.extend(named);
        }
        Ok(Some(chosen))
    }
}

/// The paths that a word names; `None` for the root of the tree.
fn named(
    globals: &Globals,
    workspace: &Workspace,
    recorded: &RunFindings,
    word: &str,
) -> Result<Option<Vec<Vec<u8>>>, CommandError> {
    let full = workspace.start.join(word);
    if FindingId::parse(word).is_some() && full.symlink_metadata().is_err() {
        return recorded.files_of(globals, word).map(Some);
    }
    let full = full.to_string_lossy();
    if full.trim_end_matches(['/', '.']) == workspace.root().to_string_lossy() {
        return Ok(None);
    }
    match workspace.clean(&full) {
        Some(path) => Ok(Some(vec![path.into_bytes()])),
        None => Err(
            CommandError::usage(format!("`{word}` is not a path in this tree"))
                .hint("name files, folders, or findings such as F12"),
        ),
    }
}
