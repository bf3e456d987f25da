//! Finds the work tree and the state folder of a command.

use std::path::{Path, PathBuf};

use super::globals::Globals;
use crate::cli::error::CommandError;
use crate::cli::report::paths::WorkFolder;
use glee_store::config::files::paths;
use glee_workspace::root::Workspace;

pub(crate) fn workspace(globals: &Globals) -> Result<Workspace, CommandError> {
    Ok(Workspace::discover(&globals.directory())?)
}

pub(crate) fn work_folder(globals: &Globals, workspace: &Workspace) -> WorkFolder {
    WorkFolder::new(&globals.directory(), workspace.root())
}

/// Finds the base folder of the relative paths in a command's output. The command needs no work tree. In the root
/// folder of a repository, the function starts no git process.
pub(crate) fn work_folder_here(globals: &Globals) -> WorkFolder {
    if globals.directory().join(".git").exists() {
        return WorkFolder::default();
    }
    workspace(globals)
        .map(|workspace| work_folder(globals, &workspace))
        .unwrap_or_default()
}

pub(crate) fn state_dir() -> Result<PathBuf, CommandError> {
    Ok(paths::state_dir()?)
}

/// Fails if the path `kept` is inside the work tree, because a coder could change files there.
pub(crate) fn refuse_inside(workspace: &Workspace, kept: &Path) -> Result<(), CommandError> {
    if workspace.holds(kept) {
        let message = format!(
            "`{}` is inside the reviewed tree, where a coder could rewrite it",
            kept.display()
        );
        return Err(CommandError::usage(message)
            .hint("set `GLEE_STATE_DIR` or `--history` to a path outside the tree"));
    }
    Ok(())
}
