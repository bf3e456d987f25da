//! Defines the origin of a setting's value, and the owner of a configuration file.

use std::fmt;

use crate::config::files::yaml::YamlPosition;

/// The source of a setting's value. If the source is a file or a variable, messages about the value begin with
/// the source, for example `.glee/config.yml:3:5: `.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Default,
    /// A configuration file. The field `name` contains the file's path for display.
    File {
        owner: Owner,
        name: String,
        at: Option<YamlPosition>,
    },
    Variable(String),
    Flag,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File {
                name,
                at: Some(YamlPosition { line, column }),
                ..
            } => {
                write!(f, "{name}:{line}:{column}: ")
            }
            Self::File { name, .. } | Self::Variable(name) => write!(f, "{name}: "),
            Self::Default | Self::Flag => Ok(()),
        }
    }
}

impl Origin {
    /// Returns the rank of the layer. A layer overrides all layers with a lower rank.
    pub fn rank(&self) -> usize {
        match self {
            Self::Default => 0,
            Self::File {
                owner: Owner::User, ..
            } => 1,
            Self::File {
                owner: Owner::Project,
                ..
            } => 2,
            Self::Variable(_) => 3,
            Self::Flag => 4,
        }
    }

    pub fn layer(&self) -> &'static str {
        ["default", "user", "project", "variable", "flag"][self.rank()]
    }

    /// Returns the text that is displayed in lists of settings, for example `.glee/config.yml:3`.
    pub fn label(&self) -> String {
        match self {
            Self::Default => "default".to_owned(),
            Self::File {
                name, at: Some(at), ..
            } => format!("{name}:{}", at.line),
            Self::File { name, .. } | Self::Variable(name) => name.clone(),
            Self::Flag => "command line".to_owned(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    User,
    Project,
}
