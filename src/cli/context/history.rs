//! Opens the history for a command. The history is the file that the option `--history` names. Without this
//! option, the history is the repository's database in the state folder.

use std::path::PathBuf;

use super::globals::Globals;
use super::place::{self, refuse_inside, state_dir};
use crate::cli::error::CommandError;
use crate::cli::style;
use glee_store::history::JournalError;
use glee_store::history::store::{self, Journal};
use glee_system::log;
use glee_workspace::HistoryPlace;
use glee_workspace::root::Workspace;

/// Creates the history if it does not exist.
pub(crate) fn open(globals: &Globals, workspace: &Workspace) -> Result<Journal, CommandError> {
    Ok(Journal::open(&path_outside(globals, workspace)?)?)
}

/// Returns `None` if the history does not exist.
pub(crate) fn open_read(
    globals: &Globals,
    workspace: &Workspace,
) -> Result<Option<Journal>, CommandError> {
    Ok(Journal::open_read(&path(globals, || read_key(workspace))?)?)
}

/// Creates the history of the current folder if it does not exist.
pub(crate) fn open_here(globals: &Globals) -> Result<Journal, CommandError> {
    match (&globals.history, place::workspace(globals)) {
        (None, workspace) => open(globals, &workspace?),
        (Some(_), workspace) => {
            let path = place(globals)?;
            if let Ok(workspace) = workspace {
                refuse_inside(&workspace, &path)?;
            }
            Ok(Journal::open(&path)?)
        }
    }
}

/// Returns `None` if the current folder has no history.
pub(crate) fn open_read_here(globals: &Globals) -> Result<Option<Journal>, CommandError> {
    Ok(Journal::open_read(&place(globals)?)?)
}

/// Returns `None` if the current folder has no history. If the history is damaged, reads the intact part and
/// also returns an error. The caller should print this error after the output.
pub(crate) fn read_here<T>(
    globals: &Globals,
    read: impl Fn(&Journal) -> Result<T, JournalError>,
) -> Result<Option<(T, Option<CommandError>)>, CommandError> {
    let path = place(globals)?;
    let whole =
        Journal::open_read(&path).and_then(|journal| journal.as_ref().map(&read).transpose());
    match whole {
        Ok(found) => Ok(found.map(|value| (value, None))),
        Err(damage @ JournalError::Damaged { .. }) => {
            match Journal::open_damaged(&path).and_then(|journal| read(&journal)) {
                Ok(value) => Ok(Some((value, Some(damage.into())))),
                Err(_) => Err(damage.into()),
            }
        }
        Err(error) => Err(error.into()),
    }
}

pub(crate) fn summary(globals: &Globals) -> Result<String, CommandError> {
    let path = place(globals)?;
    let runs = Journal::open_read(&path)?
        .map(|journal| journal.runs(None))
        .transpose()?;
    let count = runs.map_or_else(
        || "no run yet".to_owned(),
        |runs| style::count(runs.len(), "run"),
    );
    Ok(format!("{} ({count})", path.display()))
}

/// Returns `None` if no run is recorded.
pub(crate) fn last_log(globals: &Globals) -> Result<Option<PathBuf>, CommandError> {
    let Some(journal) = open_read_here(globals)? else {
        return Ok(None);
    };
    Ok(journal
        .find_any_run("last")
        .ok()
        .map(|run| journal.folder_of(&run).join(log::FILE)))
}

/// Returns the path of the history database, even if the database does not exist yet.
pub(crate) fn place(globals: &Globals) -> Result<PathBuf, CommandError> {
    path(globals, || read_key(&place::workspace(globals)?))
}

/// Fails if the path of the history is inside the work tree.
fn path_outside(globals: &Globals, workspace: &Workspace) -> Result<PathBuf, CommandError> {
    // Glee must check the path of the state folder before any write to the folder.
    refuse_inside(workspace, &state_dir()?)?;
    let path = path(globals, || {
        let HistoryPlace { key, notices, .. } = workspace.claim_history(&state_dir()?)?;
        notices.iter().for_each(|notice| globals.say(notice));
        Ok(key)
    })?;
    refuse_inside(workspace, &path)?;
    Ok(path)
}

fn read_key(workspace: &Workspace) -> Result<String, CommandError> {
    Ok(workspace.history(&state_dir()?)?.key)
}

pub(crate) fn identity(globals: &Globals) -> Result<String, CommandError> {
    let HistoryPlace {
        identity, notices, ..
    } = place::workspace(globals)?.history(&state_dir()?)?;
    let words = std::iter::once(identity.words()).chain(notices);
    Ok(words.collect::<Vec<_>>().join("; "))
}

fn path(
    globals: &Globals,
    key: impl FnOnce() -> Result<String, CommandError>,
) -> Result<PathBuf, CommandError> {
    match &globals.history {
        Some(path) => std::path::absolute(globals.directory().join(path))
            .map_err(|error| CommandError::usage(error.to_string())),
        None => Ok(store::path_for(&state_dir()?, &key()?)),
    }
}
