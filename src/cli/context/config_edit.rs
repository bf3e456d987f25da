//! Changes a configuration file after validating the new content. A trusted file remains trusted.

use std::path::PathBuf;

use super::globals::Globals;
use super::settings::Places;
use crate::cli::error::CommandError;
use glee_store::config::files::edit::EditError;
use glee_store::config::files::{file, file::Links, paths};
use glee_store::config::trust::Store;
use glee_store::config::{self, Owner};

pub(crate) const HEAD: &str = "\
# Glee's configuration. Every key, its value and where it comes from: `glee config list --origin`
version: 1
";

pub(crate) struct ConfigTarget<'a> {
    globals: &'a Globals,
    pub(crate) places: Places,
    pub(crate) owner: Owner,
    pub(crate) path: PathBuf,
    /// The name of the file in error messages.
    pub(crate) name: String,
}

impl<'a> ConfigTarget<'a> {
    pub(crate) fn find(globals: &'a Globals, user: bool) -> Result<Self, CommandError> {
        let places = Places::find(globals)?;
        let (owner, path, name) = if user {
            let path = places.user_file.clone().ok_or(paths::NoHome)?;
            let name = path.display().to_string();
            (Owner::User, path, name)
        } else {
            (
                Owner::Project,
                places.root.join(paths::PROJECT_FILE),
                paths::PROJECT_FILE.to_owned(),
            )
        };
        Ok(Self {
            globals,
            places,
            owner,
            path,
            name,
        })
    }

    fn links(&self) -> Links {
        match self.owner {
            Owner::User => Links::Followed,
            Owner::Project => Links::Refused,
        }
    }

    pub(crate) fn read(&self) -> Result<Option<String>, CommandError> {
        Ok(file::read(&self.path, self.links())?)
    }

    /// Replaces the content of the file by `text`, which must be a valid configuration. If the user trusted the
    /// old content, the new content is trusted too.
    pub(crate) fn write(&self, text: &str) -> Result<(), CommandError> {
        self.replace(text, Some(&self.name), self.before()?)
    }

    /// Replaces the content of the file by the result of `edit`. If the file does not exist, `edit` gets the
    /// initial content from the constant [`HEAD`].
    pub(crate) fn change(
        &self,
        edit: impl FnOnce(&str) -> Result<String, EditError>,
    ) -> Result<(), CommandError> {
        let text = self.read()?.unwrap_or_else(|| HEAD.to_owned());
        let changed = edit(&text).map_err(|error| self.refused(error))?;
        let before = self.before()?;
        // The error message names the file only if the file was already invalid before the edit. Otherwise the
        // command line caused the error.
        let name = (before == Before::Broken).then_some(self.name.as_str());
        self.replace(&changed, name, before)
    }

    fn replace(&self, text: &str, name: Option<&str>, before: Before) -> Result<(), CommandError> {
        let places = &self.places;
        let needed = config::check_text(&places.sources(self.globals), self.owner, name, text)?;
        file::write(&self.path, text, self.links())?;
        match needed {
            Some(content) if before == Before::Trusted => {
                Store::new(&places.state).trust(&places.root, &content)?;
            }
            Some(_) => {
                self.globals.say(
                    "note: this configuration is not trusted to run programs: run `glee trust`",
                );
            }
            None => {}
        }
        Ok(())
    }

    fn before(&self) -> Result<Before, CommandError> {
        // A project without a configuration file can still have templates and scripts that require trust.
        let text = self.read()?.unwrap_or_default();
        let places = &self.places;
        match config::check_text(
            &places.sources(self.globals),
            self.owner,
            Some(&self.name),
            &text,
        ) {
            Err(_) => Ok(Before::Broken),
            Ok(None) => Ok(Before::Trusted),
            Ok(Some(content))
                if Store::new(&places.state).trusts(&places.root, &content.hash)? =>
            {
                Ok(Before::Trusted)
            }
            Ok(Some(_)) => Ok(Before::Untrusted),
        }
    }

    fn refused(&self, error: EditError) -> CommandError {
        let hint = match &error {
            EditError::NoAgent(_) => "`glee agents` lists the connected agents".to_owned(),
            EditError::NotSet(_) => {
                "`glee config list --origin` shows the source of every value".to_owned()
            }
            EditError::Unreadable(_) | EditError::Refused(_) => {
                let user = if self.owner == Owner::User {
                    " --user"
                } else {
                    ""
                };
                format!("edit the file with `glee config edit{user}`")
            }
        };
        CommandError::usage(format!("{}: {error}", self.name)).hint(hint)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    /// The file is missing, is trusted, or contains nothing that requires trust.
    Trusted,
    Untrusted,
    Broken,
}
