//! Where a command finds its history: `--history`, else the repository's own database in the state folder.

use std::path::PathBuf;

use crate::cli::context::globals::{Globals, say};
use crate::cli::context::place::{self, refuse_inside, state_dir};
use crate::cli::error::CommandError;
use crate::history::store::{self, Journal};
use crate::history::{JournalError, Verification};
use crate::system::log;
use crate::workspace::HistoryPlace;
use crate::workspace::root::Workspace;

/// Opens the history of a work tree for writing; makes it if it is not there.
pub(crate) fn open(globals: &Globals, workspace: &Workspace) -> Result<Journal, CommandError> {
    Ok(Journal::open(&path_outside(globals, workspace)?)?)
}

/// Opens the history of a work tree for reading; `None` where there is none yet.
pub(crate) fn open_read(globals: &Globals, workspace: &Workspace) -> Result<Option<Journal>, CommandError> {
    Ok(Journal::open_read(&path(globals, || read_key(workspace))?)?)
}

/// Opens the history around the command's folder for writing; makes it if it is not there.
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

/// Reads from the history around the command's folder; `None` where there is none yet.
///
/// Of a damaged history the good part is read; the damage is then returned beside it, for the end of the command.
pub(crate) fn read_here<T>(
    globals: &Globals,
    read: impl Fn(&Journal) -> Result<T, JournalError>,
) -> Result<Option<(T, Option<CommandError>)>, CommandError> {
    let path = place(globals)?;
    let whole = Journal::open_read(&path).and_then(|journal| journal.as_ref().map(&read).transpose());
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

/// Checks the history around the command's folder; `None` where there is none yet. A torn file is a fault it names.
pub(crate) fn check_here(globals: &Globals) -> Result<Option<Verification>, CommandError> {
    Ok(Journal::open_read(&place(globals)?)?.map(|journal| journal.verify()).transpose()?)
}

/// The history around the command's folder in one line: where it is, and how much is in it.
pub(crate) fn summary(globals: &Globals) -> Result<String, CommandError> {
    let path = place(globals)?;
    let runs = Journal::open_read(&path)?.map(|journal| journal.runs(None)).transpose()?;
    let count = runs.map_or_else(|| "no run yet".to_owned(), |runs| crate::cli::style::count(runs.len(), "run"));
    Ok(format!("{} ({count})", path.display()))
}

/// Where the log of the last run around the command's folder is kept; `None` where there is no run yet.
pub(crate) fn last_log(globals: &Globals) -> Result<Option<PathBuf>, CommandError> {
    let Some(journal) = Journal::open_read(&place(globals)?)? else { return Ok(None) };
    Ok(journal.find_any_run("last").ok().map(|run| journal.folder_of(&run).join(log::FILE)))
}

fn place(globals: &Globals) -> Result<PathBuf, CommandError> {
    path(globals, || read_key(&place::workspace(globals)?))
}

/// The database of a work tree, which does not lie in it.
fn path_outside(globals: &Globals, workspace: &Workspace) -> Result<PathBuf, CommandError> {
    // Before anything is written there.
    refuse_inside(workspace, &state_dir()?)?;
    let path = path(globals, || {
        let HistoryPlace { key, notices, .. } = workspace.claim_history(&state_dir()?)?;
        notices.iter().for_each(|notice| say(globals, notice));
        Ok(key)
    })?;
    refuse_inside(workspace, &path)?;
    Ok(path)
}

fn read_key(workspace: &Workspace) -> Result<String, CommandError> {
    Ok(workspace.history(&state_dir()?)?.key)
}

/// What the repository around the command's folder is known by, in words; with what the user should know about it.
pub(crate) fn identity(globals: &Globals) -> Result<String, CommandError> {
    let HistoryPlace { identity, notices, .. } = place::workspace(globals)?.history(&state_dir()?)?;
    let words = std::iter::once(identity.words()).chain(notices);
    Ok(words.collect::<Vec<_>>().join("; "))
}

fn path(globals: &Globals, key: impl FnOnce() -> Result<String, CommandError>) -> Result<PathBuf, CommandError> {
    match &globals.history {
        // As if started in that folder.
        Some(path) => std::path::absolute(globals.directory().join(path))
            .map_err(|error| CommandError::usage(error.to_string())),
        None => Ok(store::path_for(&state_dir()?, &key()?)),
    }
}
