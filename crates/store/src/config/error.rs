//! Defines the errors of the configuration, with hints for the user.

use std::io;
use std::path::PathBuf;

use crate::config::{
    files::file::FileError, files::paths::PROJECT_FILE, origin::Origin, programs,
    schema::address::ModelAddressError, schema::suggest::closest, schema::values::InvalidValue,
};
use glee_model::domain::{Advice, Role};

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("wrong name of the configuration file: `{0}`")]
    WrongName(String),
    #[error(transparent)]
    Trust(#[from] TrustError),
    #[error("{place}not valid YAML: {message}")]
    Syntax { place: Origin, message: String },
    #[error("{place}unknown key `{key}`")]
    UnknownKey {
        place: Origin,
        key: String,
        suggestion: Option<String>,
        known: Vec<String>,
    },
    #[error("unknown environment variable `{name}`")]
    UnknownVariable {
        name: String,
        suggestion: Option<String>,
    },
    #[error("{place}`{key}` {misfit}")]
    Value {
        place: Origin,
        key: String,
        misfit: Box<InvalidValue>,
    },
    #[error("{place}{} must be a mapping", if key.is_empty() { "the file".to_owned() } else { format!("`{key}`") })]
    NotASection {
        place: Origin,
        key: String,
        known: Vec<String>,
    },
    #[error("{place}only the project's file can set `{key}`")]
    OfProject { place: Origin, key: String },
    #[error("{place}the project's file cannot set `{key}`{}", to_value(.value.as_ref()))]
    OfUser {
        place: Origin,
        key: String,
        /// The value that is the user's; `None` if each value is.
        value: Option<String>,
    },
    #[error("{place}`agents` must be a list of agents")]
    AgentsNotAList { place: Origin },
    #[error("{place}the agent at `{path}` has no name")]
    NamelessAgent { place: Origin, path: String },
    #[error("{place}duplicate agent `{name}`")]
    TwoAgents { place: Origin, name: String },
    #[error("{place}the agent `{name}` has no {missing}")]
    Incomplete {
        place: Origin,
        name: String,
        missing: &'static str,
    },
    #[error("{place}unknown embedded agent `{command}` for the agent `{name}`")]
    Builtin {
        place: Origin,
        name: String,
        command: String,
        suggestion: Option<String>,
    },
    #[error("{place}the agent `{name}` cannot be a {role}: `builtin:{kind}` is a {its}")]
    BuiltinRole {
        place: Origin,
        name: String,
        kind: String,
        its: Role,
        role: Role,
    },
    #[error("{place}the agent `{name}` has a profile and the adapter `{adapter}`")]
    ProfileOfAdapter {
        place: Origin,
        name: String,
        adapter: String,
    },
    #[error("{place}there is no profile `{name}`")]
    NoProfile {
        place: Origin,
        name: String,
        file: PathBuf,
    },
    #[error("{place}the adapter of the agent `{name}` does not match its command `{command}`")]
    Adapter {
        place: Origin,
        name: String,
        command: String,
    },
    #[error("{place}the agent `{name}` cannot be asked: {error}")]
    Address {
        place: Origin,
        name: String,
        error: ModelAddressError,
    },
    #[error("the tag `{tag}` is in both `{mandatory}` and `{optional}`")]
    BothWays {
        tag: String,
        mandatory: &'static str,
        optional: &'static str,
    },
    #[error("{place}a project cannot change `{key}` from {bound} to the less strict value {value}")]
    Looser {
        place: Origin,
        key: String,
        value: String,
        bound: String,
    },
    #[error("`{name}` in `review.reviewers` is not a connected reviewer")]
    NoSuchReviewer {
        name: String,
        reviewers: Vec<String>,
    },
    #[error("invalid hash `{0}`")]
    NotAHash(String),
}

fn to_value(value: Option<&String>) -> String {
    value.map_or_else(String::new, |value| format!(" to `{value}`"))
}

impl ConfigError {
    pub fn value(place: Origin, key: &str, misfit: InvalidValue) -> Self {
        Self::Value {
            place,
            key: key.to_owned(),
            misfit: Box::new(misfit),
        }
    }
}

impl Advice for ConfigError {
    fn hint(&self) -> Option<String> {
        let did_you_mean = |word: &str| format!("did you mean `{word}`?");
        match self {
            Self::File(error) => error.hint(),
            Self::WrongName(_) => Some(format!("rename the file to `{PROJECT_FILE}`")),
            Self::Trust(_) | Self::Syntax { .. } => None,
            Self::UnknownKey { key, suggestion: Some(suggestion), .. } if key == suggestion => {
                let (section, name) = key.rsplit_once('.').unwrap_or(("", key));
                Some(format!("write `{name}` under `{section}`"))
            }
            Self::UnknownKey { suggestion: Some(suggestion), .. }
            | Self::UnknownVariable { suggestion: Some(suggestion), .. }
            | Self::Builtin { suggestion: Some(suggestion), .. } => Some(did_you_mean(suggestion)),
            Self::UnknownKey { known, .. } | Self::NotASection { known, .. } => {
                (!known.is_empty()).then(|| format!("use one of the keys {}", known.join(", ")))
            }
            Self::UnknownVariable { .. } => Some("`glee config list` shows every key".to_owned()),
            Self::Value { misfit, .. } => Some(misfit.hint()),
            Self::OfProject { .. } => Some(format!("set the key in `{PROJECT_FILE}`, or run `glee init`")),
            Self::OfUser { key, value, .. } => {
                let value = value.as_deref().unwrap_or("<value>");
                Some(format!("set the key in your own file: `glee config set --user {key} {value}`"))
            }
            Self::AgentsNotAList { .. } => Some(
                "connect an agent with `glee connect <agent> --role coder|reviewer|judge|aggregator`".to_owned(),
            ),
            Self::NamelessAgent { .. } => Some("add `name: <name>`".to_owned()),
            Self::TwoAgents { .. } => Some("rename one of the agents".to_owned()),
            Self::Incomplete { missing: "role", .. } => {
                Some("add `role: coder`, `reviewer`, `judge` or `aggregator`".to_owned())
            }
            Self::Incomplete { name, missing, .. } => {
                Some(format!("add `{missing}: ...`, or remove the agent with `glee disconnect {name}`"))
            }
            Self::Builtin { .. } => {
                Some("use an embedded agent: builtin:rules, builtin:fixer, builtin:referee".to_owned())
            }
            Self::BuiltinRole { its, .. } => Some(format!("write `role: {its}`")),
            Self::Address { error, .. } => error.hint(),
            Self::ProfileOfAdapter { .. } => Some("remove `adapter` or `profile`: a profile describes a program without an adapter".to_owned()),
            Self::NoProfile { name, file, .. } => {
                let known = programs::described().map(|profile| profile.name.as_str());
                Some(match closest(name, known.clone()) {
                    Some(near) => did_you_mean(near),
                    None => format!(
                        "write it to {}, or use one of {}",
                        file.display(),
                        known.collect::<Vec<_>>().join(", ")
                    ),
                })
            }
            Self::Adapter { .. } => Some("remove `adapter`, which Glee derives from the command".to_owned()),
            Self::BothWays { tag, mandatory, optional } => {
                Some(format!("remove `{tag}` from `{mandatory}` or from `{optional}`"))
            }
            Self::Looser { key, value, .. } => Some(format!(
                "set the value in the user's configuration file: `glee config set --user {key} {value}`"
            )),
            Self::NoSuchReviewer { name, reviewers } => {
                Some(match closest(name, reviewers.iter().map(String::as_str)) {
                    Some(reviewer) => did_you_mean(reviewer),
                    None if reviewers.is_empty() => {
                        "connect an agent with `glee connect <agent> --role reviewer`".to_owned()
                    }
                    None => format!("use one of the connected reviewers: {}", reviewers.join(", ")),
                })
            }
            Self::NotAHash(_) => Some(
                "write the hash as `glee trust --show` prints it: `blake3:` and 64 hexadecimal \
                      digits"
                    .to_owned(),
            ),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    #[error("`{0}` is a symbolic link")]
    Link(PathBuf),
    #[error("cannot read trust records in `{0}`")]
    Read(PathBuf, #[source] io::Error),
    #[error("cannot write trust records in `{0}`")]
    Write(PathBuf, #[source] io::Error),
}

impl Advice for TrustError {}
