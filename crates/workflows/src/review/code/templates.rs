//! Finds the project's prompt templates at the base of the change under review.

use std::path::{Path, PathBuf};

use crate::run::error::RunError;
use glee_model::domain::event::{Mode, Plan};
use glee_system::{files, private};
use glee_workspace::root::Workspace;

/// Returns the folder with the project's templates. If the change under review edits `.glee`, the folder is a copy
/// from the base commit. If the change does not edit `.glee` but the run has a coder, the folder is a copy from
/// the start of the run.
pub fn templates(workspace: &Workspace, plan: &Plan, folder: &Path) -> Result<PathBuf, RunError> {
    let place = |root: &Path| root.join(".glee").join("prompts");
    let own = place(workspace.root());
    let copy = folder.join("steering");
    match &plan.steered_by {
        Some(commit) => workspace
            .control_files_at(commit)?
            .write(&copy)
            .map_err(RunError::Sources)?,
        None if plan.mode == Mode::Review => return Ok(own),
        None if copy.exists() => {}
        None => keep_templates(&own, &place(&copy)).map_err(RunError::Sources)?,
    }
    Ok(place(&copy))
}

pub(crate) fn keep_templates(from: &Path, to: &Path) -> std::io::Result<()> {
    private::folder(to)?;
    let entries = match std::fs::read_dir(from) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let file = entry?.path();
        if file.extension().is_some_and(|ending| ending == "md")
            && let Some(name) = file.file_name()
        {
            private::write(&to.join(name), &files::read(&file)?)?;
        }
    }
    Ok(())
}
