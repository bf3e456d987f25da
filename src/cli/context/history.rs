//! Opens the history for a command. The history is the file that the option `--history` names. Without this
//! option, the history is the repository's log on the server that the setting `server` names, or else the repository's
//! database in the state folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::globals::Globals;
use super::place::{self, refuse_inside, state_dir};
use super::server::{self, Server};
use crate::cli::error::CommandError;
use crate::cli::style;
use glee_store::history::JournalError;
use glee_store::history::replica;
use glee_store::history::shared_log::RepositoryNames;
use glee_store::history::store::{self, Journal};
use glee_store::history::submission::CarriedRun;
use glee_system::log;
use glee_workspace::HistoryPlace;
use glee_workspace::root::Workspace;

/// Creates the history if it does not exist.
pub(crate) fn open(globals: &Globals, workspace: &Workspace) -> Result<Journal, CommandError> {
    // Glee must check the path of the state folder before any write to the folder.
    refuse_inside(workspace, &state_dir()?)?;
    let place = find(globals, || {
        let place = workspace.claim_history(&state_dir()?)?;
        place.notices.iter().for_each(|notice| globals.say(notice));
        Ok(place)
    })?;
    refuse_inside(workspace, &place.path)?;
    Ok(place.open()?)
}

/// Returns `None` if the history does not exist.
pub(crate) fn open_read(
    globals: &Globals,
    workspace: &Workspace,
) -> Result<Option<Journal>, CommandError> {
    Ok(find(globals, || Ok(workspace.history(&state_dir()?)?))?.open_read()?)
}

/// Creates the history of the current folder if it does not exist.
pub(crate) fn open_here(globals: &Globals) -> Result<Journal, CommandError> {
    let workspace = place::workspace(globals);
    if globals.history.is_none() {
        return open(globals, &workspace?);
    }
    let place = find_here(globals)?;
    if let Ok(workspace) = workspace {
        refuse_inside(&workspace, &place.path)?;
    }
    Ok(place.open()?)
}

/// Returns `None` if the current folder has no history.
pub(crate) fn open_read_here(globals: &Globals) -> Result<Option<Journal>, CommandError> {
    Ok(find_here(globals)?.open_read()?)
}

/// What this machine has of the history of the current folder. Asks no server.
pub(crate) fn known_here(globals: &Globals) -> Option<Journal> {
    Journal::open_read(&place(globals).ok()?).ok().flatten()
}

/// Returns `None` if the current folder has no history. If the history is damaged, reads the intact part and
/// also returns an error. The caller should print this error after the output.
pub(crate) fn read_here<T>(
    globals: &Globals,
    read: impl Fn(&Journal) -> Result<T, JournalError>,
) -> Result<Option<(T, Option<CommandError>)>, CommandError> {
    let place = find_here(globals)?;
    let whole = place
        .open_read()
        .and_then(|journal| journal.as_ref().map(&read).transpose());
    match whole {
        Ok(found) => Ok(found.map(|value| (value, None))),
        Err(damage @ JournalError::Damaged { .. }) if place.server.is_none() => {
            match Journal::open_damaged(&place.path).and_then(|journal| read(&journal)) {
                Ok(value) => Ok(Some((value, Some(damage.into())))),
                Err(_) => Err(damage.into()),
            }
        }
        Err(error) => Err(error.into()),
    }
}

pub(crate) fn summary(globals: &Globals) -> Result<String, CommandError> {
    let place = find_here(globals)?;
    let runs = place
        .open_read()?
        .map(|journal| journal.runs(None))
        .transpose()?;
    let count = runs.map_or_else(
        || "no run yet".to_owned(),
        |runs| style::count(runs.len(), "run"),
    );
    let server = match &place.server {
        Some((server, _)) => format!("{server}, with a copy in "),
        None => String::new(),
    };
    Ok(format!("{server}{} ({count})", place.path.display()))
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
    Ok(find_here(globals)?.path)
}

fn find_here(globals: &Globals) -> Result<Place, CommandError> {
    find(globals, || {
        Ok(place::workspace(globals)?.history(&state_dir()?)?)
    })
}

pub(crate) fn identity(globals: &Globals) -> Result<String, CommandError> {
    let HistoryPlace {
        identity, notices, ..
    } = place::workspace(globals)?.history(&state_dir()?)?;
    let words = std::iter::once(identity.words()).chain(notices);
    Ok(words.collect::<Vec<_>>().join("; "))
}

/// Where a history is.
struct Place {
    path: PathBuf,
    /// The server whose log the file follows, and the names of the repository there.
    server: Option<(Server, RepositoryNames)>,
    /// The run that this process carries as a worker, which opens the log.
    claim: Option<CarriedRun>,
}

fn find(
    globals: &Globals,
    repository: impl FnOnce() -> Result<HistoryPlace, CommandError>,
) -> Result<Place, CommandError> {
    if let Some(path) = &globals.history {
        let path = std::path::absolute(globals.directory().join(path));
        return Ok(Place {
            path: path.map_err(|error| CommandError::usage(error.to_string()))?,
            server: None,
            claim: None,
        });
    }
    let HistoryPlace { key, names, .. } = repository()?;
    let path = store::path_for(&state_dir()?, &key);
    let server = server::configured(globals)?.map(|server| (server, names));
    Ok(Place {
        path: if server.is_some() {
            replica::replica_of(&path)
        } else {
            path
        },
        server,
        claim: globals.claim(),
    })
}

impl Place {
    fn open(&self) -> Result<Journal, JournalError> {
        match self.follow(true)? {
            Some(journal) => Ok(journal),
            None => Journal::open(&self.path),
        }
    }

    fn open_read(&self) -> Result<Option<Journal>, JournalError> {
        match &self.server {
            Some(_) => self.follow(false),
            None => Journal::open_read(&self.path),
        }
    }

    /// Returns `None` if no server keeps the history.
    fn follow(&self, creates: bool) -> Result<Option<Journal>, JournalError> {
        let Some((server, names)) = &self.server else {
            return Ok(None);
        };
        if let Some(claim) = &self.claim {
            // A worker serves tenants that have a repository each with the same names.
            let (repository, log) = server.carried_log(claim)?;
            let folder = self.path.ancestors().nth(2).unwrap_or(&self.path);
            let folder = folder.with_added_extension(repository.to_string());
            let path = replica::replica_of(&folder.join(store::DATABASE));
            if creates {
                remove_old_runs(&path);
            }
            return Journal::following(&path, log).map(Some);
        }
        let log = server.log(names, creates)?;
        log.map(|log| Journal::following(&self.path, log))
            .transpose()
    }
}

/// How long the folder of a run stays on a worker.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Removes the folders of runs that a worker carried long ago, with their prompts and answers. What cannot be removed stays.
fn remove_old_runs(replica: &Path) {
    let runs = fs::read_dir(replica.with_file_name("runs"));
    for run in runs.into_iter().flatten().flatten() {
        let written = run.metadata().and_then(|folder| folder.modified());
        let age = written.ok().and_then(|time| time.elapsed().ok());
        if age.is_some_and(|age| age > KEPT) {
            drop(fs::remove_dir_all(run.path()));
        }
    }
}
