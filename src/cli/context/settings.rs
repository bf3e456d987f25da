//! Loads the settings for commands.

use std::path::PathBuf;

use serde_json::Value;

use super::globals::Globals;
use super::names;
use crate::cli::error::CommandError;
use glee_model::domain::{Agent, ExitReason};
use glee_store::config::files::paths;
use glee_store::config::settings::{Settings, UiSettings};
use glee_store::config::{self, ConfigSources, Loaded, UntrustedConfig};

#[derive(Clone)]
pub(crate) struct Places {
    pub(crate) root: PathBuf,
    /// `None` if the user has no home folder.
    pub(crate) user_file: Option<PathBuf>,
    pub(crate) state: PathBuf,
}

impl Places {
    pub(crate) fn find(globals: &Globals) -> Result<Self, CommandError> {
        let directory = globals.directory();
        let start = directory.canonicalize().map_err(|error| {
            CommandError::caused(
                format!("failed to open the folder `{}`", directory.display()),
                error,
            )
        })?;
        let state = paths::state_dir()?;
        Ok(Self {
            root: paths::project_root(&start),
            user_file: paths::user_config_file().ok(),
            state,
        })
    }

    pub(crate) fn sources<'a>(&'a self, globals: &'a Globals) -> ConfigSources<'a> {
        ConfigSources {
            project_root: Some(&self.root),
            project_copy: None,
            user_file: self.user_file.clone(),
            // Glee skips every environment variable whose name is not UTF-8. Such a variable cannot be a setting
            // of Glee, because all names of Glee's variables are UTF-8.
            env: std::env::vars_os()
                .filter_map(|(name, value)| {
                    Some((
                        name.into_string().ok()?,
                        value.to_string_lossy().into_owned(),
                    ))
                })
                .collect(),
            flags: Vec::new(),
            trust_flag: globals.trust.as_deref(),
            state_dir: Some(self.state.clone()),
        }
    }
}

/// Loads the settings for a command that starts no agents. The project need not be trusted.
pub(crate) fn load(globals: &Globals) -> Result<Loaded, CommandError> {
    Ok(config::load(&Places::find(globals)?.sources(globals))?)
}

/// Returns the settings of these sources, with full names of agents. The project need not be trusted.
pub(crate) fn named(sources: &ConfigSources<'_>) -> Result<Settings, CommandError> {
    let mut settings = config::load(sources)?.settings;
    // An unknown name is an error of the command that starts the agents.
    drop(names::complete(&mut settings, &sources.flags));
    Ok(settings)
}

/// Returns the connected agents. Returns no agents if the settings cannot be read.
pub(crate) fn agents(globals: &Globals) -> Vec<Agent> {
    load(globals).map_or_else(|_| Vec::new(), |loaded| loaded.settings.agents)
}

/// The settings of the screen. If the settings cannot be read, returns the defaults.
pub(crate) fn of_screen(globals: &Globals) -> UiSettings {
    load(globals)
        .map(|loaded| loaded.settings.ui)
        .unwrap_or_default()
}

/// Returns the full name of an agent. If no agent matches or the settings cannot be read, returns the given name.
pub(crate) fn agent_name(globals: &Globals, given: &str) -> Result<String, CommandError> {
    match load(globals) {
        Ok(loaded) => names::full(&loaded.settings.agents, given, None),
        Err(_) => Ok(given.to_owned()),
    }
}

/// Loads the settings for a command that starts agents. Fails if a setting names an agent that is not connected, or
/// if the project is not trusted. `flags` contains settings from the command line, as pairs of a dotted key and a
/// value.
pub(crate) fn runnable(
    globals: &Globals,
    flags: Vec<(String, Value)>,
) -> Result<(Places, Settings), CommandError> {
    let (places, loaded) = trusted(globals, flags, None)?;
    Ok((places, loaded.settings))
}

/// Like [`runnable`], but returns everything that was loaded. `copy` is a folder that contains a copy of the project's
/// configuration file.
pub(crate) fn trusted(
    globals: &Globals,
    flags: Vec<(String, Value)>,
    copy: Option<PathBuf>,
) -> Result<(Places, Loaded), CommandError> {
    let places = Places::find(globals)?;
    let sources = ConfigSources {
        flags,
        project_copy: copy,
        ..places.sources(globals)
    };
    let mut loaded = config::load(&sources)?;
    names::complete(&mut loaded.settings, &sources.flags)?;
    config::check_names(&loaded.settings)?;
    let values = &loaded.values;
    let caps = ["budget.usd", "budget.month_usd", "budget.request_usd"];
    // A file of the project can lower a cap, but does not lift `budget.ci_usd` by another, larger one.
    let is_capped = caps
        .iter()
        .filter_map(|key| values.get(*key))
        .any(|setting| {
            setting.value != "none" && !matches!(setting.origin.layer(), "default" | "project")
        });
    if globals.interactive() || is_capped {
        loaded.settings.budget.ci_usd = None;
    }
    match &loaded.untrusted {
        Some(untrusted) => Err(refusal(untrusted)),
        None => Ok((places, loaded)),
    }
}

fn refusal(
    UntrustedConfig {
        hash,
        runs,
        changed,
    }: &UntrustedConfig,
) -> CommandError {
    let (what, lines) = match changed.as_slice() {
        [] => ("this project is not trusted", runs),
        _ => ("this project has changed since you trusted it", changed),
    };
    let message = format!(
        "{what}; with trust, its `{}` runs, sets or uses\n  {}\n{hash}",
        paths::PROJECT_FOLDER,
        lines.join("\n  ")
    );
    CommandError::ending(ExitReason::Untrusted, message).hint(format!(
        "read the configuration, then trust the project with `glee trust`, or only for one command with \
        `--trust {hash}`"
    ))
}
