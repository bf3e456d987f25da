//! The history of the repository that a command works in.

use std::path::PathBuf;

use super::Globals;
use super::error::CommandError;
use super::sitting::{journal_error, state_dir};
use crate::journal::{self, Journal};
use crate::workspace::Workspace;

/// Opens the history for writing; it is created where there is none.
pub(crate) fn open(globals: &Globals, workspace: &Workspace) -> Result<Journal, CommandError> {
    Journal::open(&path(globals, workspace)?).map_err(journal_error)
}

/// Opens the history for reading; `None` where there is none yet.
pub(crate) fn open_read(globals: &Globals, workspace: &Workspace) -> Result<Option<Journal>, CommandError> {
    Journal::open_read(&path(globals, workspace)?).map_err(journal_error)
}

fn path(globals: &Globals, workspace: &Workspace) -> Result<PathBuf, CommandError> {
    match &globals.history {
        Some(path) => Ok(path.clone()),
        None => Ok(journal::path_for(&state_dir()?, &workspace.history_key())),
    }
}
