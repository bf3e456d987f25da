//! Changing a configuration file: edited, checked as a whole, then written, and trusted as far as it was before.

use std::path::PathBuf;

use super::Globals;
use super::error::CommandError;
use super::load::Places;
use crate::config::edit::EditError;
use crate::config::file::{self, FileError, Links};
use crate::config::trust::{Store, TrustError};
use crate::config::{self, ConfigError, Owner, paths};
use crate::domain::ExitReason;
use crate::ui::stream;

/// The first lines of a new configuration file.
pub(super) const HEAD: &str = "\
# Glee's configuration. Every key, its value and where it comes from: `glee config list --origin`
version: 1
";

/// One of the two files.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) owner: Owner,
    pub(super) path: PathBuf,
    /// The file as it is named to the user.
    pub(super) name: String,
}

impl Target {
    /// The project's file, or with `--user` the user's.
    pub(super) fn of(places: &Places, user: bool) -> Result<Self, CommandError> {
        if !user {
            return Ok(Self {
                owner: Owner::Project,
                path: places.project_file(),
                name: paths::PROJECT_FILE.to_owned(),
            });
        }
        let path = places
            .user_file
            .clone()
            .ok_or_else(|| CommandError::new(ExitReason::Usage, paths::NoHome).hint_if(paths::NoHome.hint()))?;
        let name = path.display().to_string();
        Ok(Self { owner: Owner::User, path, name })
    }

    fn links(&self) -> Links {
        match self.owner {
            Owner::User => Links::Followed,
            Owner::Project => Links::Refused,
        }
    }

    /// The file's text, if there is one.
    pub(super) fn read(&self) -> Result<Option<String>, CommandError> {
        Ok(file::read(&self.path, self.links())?)
    }

    /// Replaces the file by `text`, if that is a good configuration.
    ///
    /// What the user writes with a command is trusted as it is written, unless there was something in the file before
    /// that was not.
    pub(super) fn write(&self, places: &Places, globals: &Globals, text: &str) -> Result<(), CommandError> {
        let sources = places.sources(globals);
        let before = self.read()?;
        let needed = config::check_text(&sources, self.owner, &self.name, text)?;
        let store = Store::new(&places.state);
        let trusted_before =
            match before.as_deref().map(|text| config::check_text(&sources, self.owner, &self.name, text)) {
                None | Some(Ok(None)) => true,
                Some(Ok(Some(content))) => store.trusts(&places.root, &content.hash)?,
                Some(Err(_)) => false,
            };
        file::write(&self.path, text, self.links())?;
        match needed {
            Some(content) if trusted_before => store.trust(&places.root, &content)?,
            Some(_) => {
                say(globals, "note: this project is not trusted to run what its configuration names: `glee trust`")
            }
            None => {}
        }
        Ok(())
    }

    /// Changes the file's text; a file that is not there counts as empty, and gets [`HEAD`].
    pub(super) fn change(
        &self,
        places: &Places,
        globals: &Globals,
        edit: impl FnOnce(&str) -> Result<String, EditError>,
    ) -> Result<(), CommandError> {
        let before = self.read()?.unwrap_or_else(|| HEAD.to_owned());
        let after = edit(&before).map_err(|error| self.refused(error))?;
        self.write(places, globals, &after)
    }

    fn refused(&self, error: EditError) -> CommandError {
        let hint = match &error {
            EditError::NoAgent(_) => "`glee agents` lists who is connected".to_owned(),
            EditError::NotSet(_) => "`glee config list --origin` shows where every value comes from".to_owned(),
            EditError::Unreadable(_) | EditError::Refused(_) => {
                let user = if self.owner == Owner::User { " --user" } else { "" };
                format!("change it by hand with `glee config edit{user}`")
            }
        };
        let error = anyhow::Error::msg(format!("{}: {error}", self.name));
        CommandError::new(ExitReason::Usage, error).hint(hint)
    }
}

/// Tells the user something on stderr, unless they asked for quiet.
pub(super) fn say(globals: &Globals, line: &str) {
    if !globals.quiet {
        stream::err(&format!("{}\n", crate::protocol::printable::block(line)));
    }
}

impl From<FileError> for CommandError {
    fn from(error: FileError) -> Self {
        ConfigError::from(error).into()
    }
}

impl From<TrustError> for CommandError {
    fn from(error: TrustError) -> Self {
        ConfigError::from(error).into()
    }
}
