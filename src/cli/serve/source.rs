//! Where the data of pages comes from: the history of the repository in which the command was started, or the log of a
//! repository on the server. Of a log, the pages read a copy, which each request brings up to date.

use std::path::{Path, PathBuf};

use crate::cli::context::server::Server;
use crate::cli::context::{CommandError, Globals, execute, history, place, settings};
use crate::cli::report::options::FixCommand;
use glee_model::domain::event::Plan;
use glee_store::config::settings::Settings;
use glee_store::history::JournalError;
use glee_store::history::store::Journal;
#[cfg(feature = "server")]
use glee_store::history::{replica::replica_of, store::DATABASE};
use glee_workspace::root::Workspace;

#[derive(Clone)]
pub(crate) struct Source {
    globals: Globals,
    /// The history of this repository, or the copy of the log.
    history: PathBuf,
    /// The number of the repository on the server. `None` for the repository in which the command was started.
    server: Option<(Server, i32)>,
}

impl Source {
    pub(crate) fn here(globals: &Globals) -> Result<Self, CommandError> {
        Ok(Self {
            globals: globals.clone(),
            history: history::place(globals)?,
            server: None,
        })
    }

    /// A repository of the server. Its copy is below the folder `copies`.
    #[cfg(feature = "server")]
    pub(crate) fn of_server(
        globals: &Globals,
        server: &Server,
        number: i32,
        copies: &Path,
    ) -> Self {
        Self {
            globals: globals.clone(),
            history: replica_of(&copies.join(number.to_string()).join(DATABASE)),
            server: Some((server.clone(), number)),
        }
    }

    /// The path of the database from which the pages are made.
    pub(crate) fn history(&self) -> &Path {
        &self.history
    }

    /// Returns `None` if there is no history yet, or no such repository on the server any more.
    pub(crate) fn journal(&self) -> Result<Option<Journal>, JournalError> {
        let Some((server, number)) = &self.server else {
            return self.known();
        };
        let found = server.repository(*number)?;
        found
            .map(|found| Journal::following(&self.history, found.log))
            .transpose()
    }

    /// What this machine has of the history. Asks no server.
    pub(crate) fn known(&self) -> Result<Option<Journal>, JournalError> {
        Journal::open_read(&self.history)
    }

    /// Opens the history for a ruling.
    pub(crate) fn open(&self, workspace: &Workspace) -> Result<Journal, CommandError> {
        if self.is_here() {
            return history::open(&self.globals, workspace);
        }
        self.journal()?
            .ok_or_else(|| CommandError::usage("the server has this repository no more"))
    }

    pub(crate) fn workspace(&self) -> Result<Workspace, CommandError> {
        match self.server {
            Some(_) => Ok(Workspace::absent(self.history.with_file_name("absent"))),
            None => place::workspace(&self.globals),
        }
    }

    /// The settings by which findings are listed.
    pub(crate) fn settings(&self) -> Result<Settings, CommandError> {
        match self.server {
            Some(_) => Ok(Settings::default()),
            None => Ok(settings::load(&self.globals)?.settings),
        }
    }

    /// Whether the code of the repository is on this machine, and its runs go on here.
    pub(crate) fn is_here(&self) -> bool {
        self.server.is_none()
    }

    pub(crate) fn fix_command(&self, plan: &Plan) -> FixCommand {
        match self.server {
            Some(_) => FixCommand {
                command: None,
                has_coder: false,
            },
            None => execute::fix_command(&self.globals, plan),
        }
    }
}
