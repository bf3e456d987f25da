use std::path::Path;

use crate::cli::context::globals::Globals;
use crate::cli::error::CommandError;
use crate::config::files::paths;
use crate::workspace::root::Workspace;

/// The work tree around the folder that the command works in.
pub(crate) fn workspace(globals: &Globals) -> Result<Workspace, CommandError> {
    Ok(Workspace::discover(&globals.directory())?)
}

#[cfg(unix)]
pub(crate) fn create_private(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
pub(crate) fn create_private(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)
}

pub(crate) fn state_dir() -> Result<std::path::PathBuf, CommandError> {
    Ok(paths::state_dir()?)
}

/// Refuses to work with a record that a coder could rewrite: what Glee keeps has to lie outside the tree.
pub(crate) fn refuse_inside(workspace: &Workspace, kept: &Path) -> Result<(), CommandError> {
    if workspace.holds(kept) {
        let message = format!("`{}` lies in the reviewed tree, where a coder could rewrite it", kept.display());
        return Err(CommandError::usage(message)
            .hint("keep the history elsewhere: `GLEE_STATE_DIR` or `--history` name a place outside the tree"));
    }
    Ok(())
}
