//! Changing a configuration file: edited, checked as a whole, then written, and trusted as far as it was before.

use std::path::PathBuf;

use crate::cli::context::globals::{Globals, say};
use crate::cli::context::settings::Places;
use crate::cli::error::CommandError;
use crate::config::files::edit::EditError;
use crate::config::files::file::{self, Links};
use crate::config::files::paths;
use crate::config::schema::renamed;
use crate::config::trust::Store;
use crate::config::{self, Owner};
use crate::domain::ExitReason;

/// The first lines of a new configuration file.
pub(crate) const HEAD: &str = "\
# Glee's configuration. Every key, its value and where it comes from: `glee config list --origin`
version: 1
";

#[derive(Clone, Debug)]
pub(crate) struct ConfigTarget {
    pub(crate) owner: Owner,
    pub(crate) path: PathBuf,
    /// The file as it is named to the user.
    pub(crate) name: String,
}

impl ConfigTarget {
    /// The project's file, or with `--user` the user's.
    pub(crate) fn of(places: &Places, user: bool) -> Result<Self, CommandError> {
        if !user {
            return Ok(Self {
                owner: Owner::Project,
                path: places.project_file(),
                name: paths::PROJECT_FILE.to_owned(),
            });
        }
        let path = places.user_file.clone().ok_or(paths::NoHome)?;
        let name = path.display().to_string();
        Ok(Self { owner: Owner::User, path, name })
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

    /// Replaces the file by `text`, if that is a good configuration.
    ///
    /// What the user writes with a command is trusted as it is written, unless there was something in the file before
    /// that was not.
    pub(crate) fn write(&self, places: &Places, globals: &Globals, text: &str) -> Result<(), CommandError> {
        let before = self.trusted(places, globals)?;
        self.replace(places, globals, text, Some(&self.name), before)
    }

    /// Changes the file's text; a file that is not there counts as empty, and gets [`HEAD`].
    pub(crate) fn change(
        &self,
        places: &Places,
        globals: &Globals,
        edit: impl FnOnce(&str) -> Result<String, EditError>,
    ) -> Result<(), CommandError> {
        let text = self.read()?.unwrap_or_else(|| HEAD.to_owned());
        let changed = edit(&text).map_err(|error| self.refused(error))?;
        let before = self.trusted(places, globals)?;
        // In a file that was good, what is wrong now is what was typed, and no line of the file.
        let name = if before == Before::Broken { Some(self.name.as_str()) } else { None };
        self.replace(places, globals, &changed, name, before)
    }

    fn replace(
        &self,
        places: &Places,
        globals: &Globals,
        text: &str,
        name: Option<&str>,
        before: Before,
    ) -> Result<(), CommandError> {
        let needed = config::check_text(&places.sources(globals), self.owner, name, text)?;
        file::write(&self.path, text, self.links())?;
        match needed {
            Some(content) if before == Before::Trusted => {
                Store::new(&places.state).trust(&places.root, &content)?
            }
            Some(_) => {
                say(globals, "note: this project is not trusted to run what its configuration names: `glee trust`");
            }
            None => {}
        }
        Ok(())
    }

    /// How the file stands before a change.
    fn trusted(&self, places: &Places, globals: &Globals) -> Result<Before, CommandError> {
        // Templates and scripts may be there before the file is.
        let text = self.read()?.unwrap_or_default();
        match config::check_text(&places.sources(globals), self.owner, Some(&self.name), &text) {
            Err(_) => Ok(Before::Broken),
            Ok(None) => Ok(Before::Trusted),
            Ok(Some(content)) => match Store::new(&places.state).trusts(&places.root, &content.hash)? {
                true => Ok(Before::Trusted),
                false => Ok(Before::Untrusted),
            },
        }
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

/// A file before a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    /// It is not there, needs no trust, or has it.
    Trusted,
    /// It names something that nobody has trusted.
    Untrusted,
    /// It is no good configuration.
    Broken,
}

/// Whether an earlier name is given; if so, says what the name is today.
pub(crate) fn is_earlier(globals: &Globals, is_given: bool, earlier: &str, today: &str) -> bool {
    if is_given {
        say(globals, &renamed::notice(earlier, today));
    }
    is_given
}
