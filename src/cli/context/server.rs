//! The server that the setting `server` names.

use std::fs;

use super::globals::Globals;
use super::settings::Places;
use crate::cli::error::CommandError;
use glee_store::config::files::paths;
use glee_store::config::{self, ConfigSources};

#[cfg(feature = "server")]
pub(crate) use glee_store::history::server::Server;
#[cfg(not(feature = "server"))]
pub(crate) use without::NoServer as Server;

/// Returns `None` without the setting. Reads nothing of the project, which cannot name a server.
pub(crate) fn configured(globals: &Globals) -> Result<Option<Server>, CommandError> {
    // Most commands that read a history need no other setting, so the settings are loaded only for a word of the key.
    let file = paths::user_config_file().ok();
    let text = file.and_then(|file| fs::read(file).ok());
    let is_named = text.is_some_and(|text| String::from_utf8_lossy(&text).contains("server"));
    if !is_named && std::env::var_os("GLEE_SERVER").is_none() {
        return Ok(None);
    }
    let places = Places::find(globals)?;
    let sources = places.sources(globals);
    let sources = ConfigSources {
        project_root: None,
        env: sources
            .env
            .into_iter()
            .filter(|(name, _)| name == "GLEE_SERVER")
            .collect(),
        trust_flag: None,
        ..sources
    };
    let address = config::load(&sources)?.settings.server;
    address.as_deref().map(at).transpose()
}

/// Like [`configured`], but fails without the setting.
pub(crate) fn required(globals: &Globals) -> Result<Server, CommandError> {
    configured(globals)?.ok_or_else(|| {
        CommandError::usage("no server is configured").hint(
            "name the database with `glee config set --user server postgres://user@host/database` or GLEE_SERVER",
        )
    })
}

pub(crate) fn at(address: &str) -> Result<Server, CommandError> {
    Ok(Server::at(address)?)
}

/// A build without the feature `server` fails instead of keeping a history where nobody looks for it.
#[cfg(not(feature = "server"))]
mod without {
    use std::fmt;

    use jiff::civil::Date;

    use super::CommandError;
    use glee_model::domain::CallGroup;
    use glee_store::history::DisputeFilter;
    use glee_store::history::queries::measures::Sums;
    use glee_store::history::queue::Queue;
    use glee_store::history::shared_log::{
        FoundRepository, Log, LoggedDispute, LoggedRun, RepositoryNames, SharedLogError,
    };
    use glee_store::history::submission::CarriedRun;

    #[derive(Clone)]
    pub(crate) enum NoServer {}

    impl NoServer {
        pub(crate) fn at(_: &str) -> Result<Self, CommandError> {
            Err(
                CommandError::usage("this build of Glee cannot connect to a server")
                    .hint("build it with the feature `server`"),
            )
        }

        pub(crate) fn log(
            &self,
            _: &RepositoryNames,
            _: bool,
        ) -> Result<Option<Box<dyn Log>>, SharedLogError> {
            match *self {}
        }

        pub(crate) fn repository(&self, _: i32) -> Result<Option<FoundRepository>, SharedLogError> {
            match *self {}
        }

        pub(crate) fn runs(&self, _: u32) -> Result<Vec<LoggedRun>, SharedLogError> {
            match *self {}
        }

        pub(crate) fn disputes(
            &self,
            _: &DisputeFilter,
        ) -> Result<Vec<LoggedDispute>, SharedLogError> {
            match *self {}
        }

        pub(crate) fn sums(
            &self,
            _: Option<CallGroup>,
            _: Option<Date>,
        ) -> Result<Sums, SharedLogError> {
            match *self {}
        }

        pub(crate) fn carried_log(
            &self,
            _: &CarriedRun,
        ) -> Result<(i32, Box<dyn Log>), SharedLogError> {
            match *self {}
        }

        pub(crate) fn queue(&self) -> Result<Box<dyn Queue>, SharedLogError> {
            match *self {}
        }

        pub(crate) fn limit(&self, _: &str, _: Option<i32>) -> Result<(), SharedLogError> {
            match *self {}
        }

        pub(crate) fn budget(&self, _: &str, _: Option<f64>) -> Result<bool, SharedLogError> {
            match *self {}
        }

        pub(crate) fn set_up(&self, _: &[String]) -> Result<bool, SharedLogError> {
            match *self {}
        }
    }

    impl fmt::Display for NoServer {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            match *self {}
        }
    }
}
