//! The settings as every command loads them.

use std::path::PathBuf;

use serde_json::Value;

use crate::cli::context::globals::{Globals, say};
use crate::cli::error::CommandError;
use crate::config::files::paths;
use crate::config::{self, ConfigSources, Loaded, UntrustedConfig};
use crate::domain::ExitReason;

/// The folders and files that a command works with.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    pub(crate) root: PathBuf,
    /// The user's configuration file, if there is a home for one.
    pub(crate) user_file: Option<PathBuf>,
    pub(crate) state: PathBuf,
}

impl Places {
    /// Finds them from the folder the command works in.
    pub(crate) fn find(globals: &Globals) -> Result<Self, CommandError> {
        let directory = globals.directory();
        let start = directory
            .canonicalize()
            .map_err(|error| CommandError::caused(format!("cannot work in `{}`", directory.display()), error))?;
        let state = paths::state_dir()?;
        Ok(Self { root: paths::project_root(&start), user_file: paths::user_config_file().ok(), state })
    }

    /// The project's configuration file, whether or not it exists.
    pub(crate) fn project_file(&self) -> PathBuf {
        self.root.join(paths::PROJECT_FILE)
    }

    /// The sources of settings that lie there, with the environment.
    pub(crate) fn sources<'a>(&'a self, globals: &'a Globals) -> ConfigSources<'a> {
        ConfigSources {
            project_root: Some(&self.root),
            project_copy: None,
            user_file: self.user_file.clone(),
            // A name that is not text is none of Glee's; a value that is not text fits no key and is refused there.
            env: std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value.to_string_lossy().into_owned())))
                .collect(),
            flags: Vec::new(),
            trust_flag: globals.trust.as_deref(),
            state_dir: Some(self.state.clone()),
        }
    }
}

/// Loads the settings; `flags` are what the command line sets, by dotted key.
///
/// For commands that run nothing: a project that is not trusted is no error here.
pub(crate) fn settings(globals: &Globals, flags: Vec<(String, Value)>) -> Result<(Places, Loaded), CommandError> {
    let places = Places::find(globals)?;
    let sources = ConfigSources { flags, ..places.sources(globals) };
    let loaded = config::load(&sources)?;
    loaded.notices.iter().for_each(|notice| say(globals, notice));
    Ok((places, loaded))
}

/// Loads the settings for a command that runs agents: every name must be connected and the project trusted. `copy` is a
/// folder to read the project's file from instead.
pub(crate) fn runnable(
    globals: &Globals,
    flags: Vec<(String, Value)>,
    copy: Option<PathBuf>,
) -> Result<(Places, Loaded), CommandError> {
    let places = Places::find(globals)?;
    let loaded = config::load(&ConfigSources { flags, project_copy: copy, ..places.sources(globals) })?;
    config::check_names(&loaded.settings)?;
    loaded.notices.iter().for_each(|notice| say(globals, notice));
    match &loaded.untrusted {
        Some(untrusted) => Err(refusal(untrusted)),
        None => Ok((places, loaded)),
    }
}

/// The error for a project that is not trusted: what it would run, and how to trust it.
fn refusal(untrusted: &UntrustedConfig) -> CommandError {
    let UntrustedConfig { hash, runs, changed } = untrusted;
    let (said, lines) = match changed.as_slice() {
        [] => ("this project is not trusted", runs),
        changed => ("this project has changed since it was trusted", &changed.to_vec()),
    };
    let message =
        format!("{said}; its `{}` would run, set or use\n  {}\n{hash}", paths::PROJECT_FOLDER, lines.join("\n  "));
    CommandError::new(ExitReason::Untrusted, anyhow::Error::msg(message))
        .hint(format!("read it, then trust it with `glee trust`, or for one command with `--trust {hash}`"))
}
