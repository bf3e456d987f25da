//! The work tree and the state folder of a command.

use std::path::{Path, PathBuf};

use super::globals::Globals;
use crate::cli::error::CommandError;
use crate::config::files::paths;
use crate::workspace::root::Workspace;

pub(crate) fn workspace(globals: &Globals) -> Result<Workspace, CommandError> {
    Ok(Workspace::discover(&globals.directory())?)
}

pub(crate) fn state_dir() -> Result<PathBuf, CommandError> {
    Ok(paths::state_dir()?)
}

/// Fails if `kept` is inside the work tree, because a coder could rewrite the file there.
pub(crate) fn refuse_inside(workspace: &Workspace, kept: &Path) -> Result<(), CommandError> {
    if workspace.holds(kept) {
        let message = format!("`{}` is inside the reviewed tree, where a coder could rewrite it", kept.display());
        return Err(
            CommandError::usage(message).hint("set `GLEE_STATE_DIR` or `--history` to a path outside the tree")
        );
    }
    Ok(())
}
