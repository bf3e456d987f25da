//! The source of a configuration value, and the owner of a configuration file.

use std::fmt;

use crate::config::files::yaml::YamlPosition;

/// The source of a value. It is displayed as the prefix of a message, for example `.glee/config.yml:3:5: `. The
/// prefix is empty for defaults and flags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Default,
    /// `name` is the path as displayed to the user.
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
            Self::File { name, at: Some(YamlPosition { line, column }), .. } => {
                write!(f, "{name}:{line}:{column}: ")
            }
            Self::File { name, .. } | Self::Variable(name) => write!(f, "{name}: "),
            Self::Default | Self::Flag => Ok(()),
        }
    }
}

impl Origin {
    /// A layer with a higher rank overrides one with a lower rank.
    pub(crate) fn rank(&self) -> usize {
        match self {
            Self::Default => 0,
            Self::File { owner: Owner::User, .. } => 1,
            Self::File { owner: Owner::Project, .. } => 2,
            Self::Variable(_) => 3,
            Self::Flag => 4,
        }
    }

    pub fn layer(&self) -> &'static str {
        ["default", "user", "project", "variable", "flag"][self.rank()]
    }

    /// The form in lists of values, for example `.glee/config.yml:3`.
    pub fn label(&self) -> String {
        match self {
            Self::Default => "default".to_owned(),
            Self::File { name, at: Some(at), .. } => format!("{name}:{}", at.line),
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
