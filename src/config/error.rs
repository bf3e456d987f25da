use std::io;
use std::path::PathBuf;

use crate::config::files::file::FileError;
use crate::config::files::paths::PROJECT_FILE;
use crate::config::origin::Origin;
use crate::config::schema::suggest::closest;
use crate::config::schema::values::InvalidValue;
use crate::domain::{Advice, Role};

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error(transparent)]
    File(#[from] FileError),
    /// The file has a name under which nobody reads it.
    #[error("`{0}` is not read")]
    WrongName(String),
    #[error(transparent)]
    Trust(#[from] TrustError),
    #[error("{place}not valid YAML: {message}")]
    Syntax { place: Origin, message: String },
    #[error("{place}unknown key `{key}`")]
    UnknownKey { place: Origin, key: String, suggestion: Option<String>, known: Vec<String> },
    #[error("the variable `{name}` sets nothing")]
    UnknownVariable { name: String, suggestion: Option<String> },
    #[error("{place}`{earlier}` and `{today}` are the same key, and both are given")]
    BothNames { place: Origin, earlier: String, today: String },
    #[error("{place}`{key}` {misfit}")]
    Value { place: Origin, key: String, misfit: Box<InvalidValue> },
    #[error("{place}{} is made of keys, not a value", if key.is_empty() { "the file".to_owned() } else { format!("`{key}`") })]
    NotASection { place: Origin, key: String, known: Vec<String> },
    /// It would name every project the same.
    #[error("{place}only a project's own file may set `{key}`")]
    OfProject { place: Origin, key: String },
    #[error("{place}`agents` is a list of agents")]
    AgentsNotAList { place: Origin },
    #[error("{place}`{path}` has no name")]
    NamelessAgent { place: Origin, path: String },
    #[error("{place}there is another agent `{name}`")]
    TwoAgents { place: Origin, name: String },
    #[error("{place}the agent `{name}` has no {missing}")]
    Incomplete { place: Origin, name: String, missing: &'static str },
    #[error("{place}the agent `{name}` has the command `{command}`, which is no embedded agent")]
    Builtin { place: Origin, name: String, command: String, suggestion: Option<String> },
    #[error("{place}the agent `{name}` cannot be a {role}: `builtin:{kind}` is a {its}")]
    BuiltinRole { place: Origin, name: String, kind: String, its: Role, role: Role },
    #[error("{place}the agent `{name}` has the command `{command}`, which does not go with its adapter")]
    Adapter { place: Origin, name: String, command: String },
    #[error("the tag `{tag}` is both in `{mandatory}` and in `{optional}`")]
    BothWays { tag: String, mandatory: &'static str, optional: &'static str },
    #[error("{place}a project may not loosen `{key}` from {bound} to {value}")]
    Looser { place: Origin, key: String, value: String, bound: String },
    #[error("`review.reviewers` names `{name}`, which is not a connected reviewer")]
    NoSuchReviewer { name: String, reviewers: Vec<String> },
    #[error("`{0}` is not a hash")]
    NotAHash(String),
}

impl ConfigError {
    pub(crate) fn value(place: Origin, key: &str, misfit: InvalidValue) -> Self {
        Self::Value { place, key: key.to_owned(), misfit: Box::new(misfit) }
    }
}

impl Advice for ConfigError {
    fn hint(&self) -> Option<String> {
        let did_you_mean = |word: &str| format!("did you mean `{word}`?");
        match self {
            Self::File(error) => error.hint(),
            Self::WrongName(_) => Some(format!("rename it to `{PROJECT_FILE}`")),
            Self::Trust(_) | Self::Syntax { .. } => None,
            Self::UnknownKey { key, suggestion: Some(suggestion), .. } if key == suggestion => {
                let (section, name) = key.rsplit_once('.').unwrap_or(("", key));
                Some(format!("write `{name}` under `{section}`"))
            }
            Self::UnknownKey { suggestion: Some(suggestion), .. }
            | Self::UnknownVariable { suggestion: Some(suggestion), .. }
            | Self::Builtin { suggestion: Some(suggestion), .. } => Some(did_you_mean(suggestion)),
            Self::UnknownKey { known, .. } | Self::NotASection { known, .. } => {
                (!known.is_empty()).then(|| format!("known here: {}", known.join(", ")))
            }
            Self::UnknownVariable { .. } => Some("`glee config list` shows every key".to_owned()),
            Self::BothNames { earlier, .. } => Some(format!("remove `{earlier}`, its earlier name")),
            Self::Value { misfit, .. } => Some(misfit.hint()),
            Self::OfProject { .. } => Some(format!("write it in `{PROJECT_FILE}`, or let `glee init` do so")),
            Self::AgentsNotAList { .. } => {
                Some("connect one with `glee connect <agent> --role coder|reviewer|judge|aggregator`".to_owned())
            }
            Self::NamelessAgent { .. } => Some("give it one: `name: <name>`".to_owned()),
            Self::TwoAgents { .. } => Some("names are unique: rename one of them".to_owned()),
            Self::Incomplete { missing: "role", .. } => {
                Some("give it one: `role: coder`, `reviewer`, `judge` or `aggregator`".to_owned())
            }
            Self::Incomplete { name, missing, .. } => {
                Some(format!("give it one, or remove it with `glee disconnect {name}`: `{missing}: ...`"))
            }
            Self::Builtin { .. } => {
                Some("embedded agents: builtin:rules, builtin:fixer, builtin:referee".to_owned())
            }
            Self::BuiltinRole { its, .. } => Some(format!("write `role: {its}`")),
            Self::Adapter { .. } => Some("remove its `adapter`: it is guessed from the command".to_owned()),
            Self::BothWays { .. } => Some("remove it from one of them".to_owned()),
            Self::Looser { key, value, .. } => {
                Some(format!("only you may, for yourself: `glee config set --user {key} {value}`"))
            }
            Self::NoSuchReviewer { name, reviewers } => {
                Some(match closest(name, reviewers.iter().map(String::as_str)) {
                    Some(reviewer) => did_you_mean(reviewer),
                    None if reviewers.is_empty() => {
                        "connect one with `glee connect <agent> --role reviewer`".to_owned()
                    }
                    None => format!("connected reviewers: {}", reviewers.join(", ")),
                })
            }
            Self::NotAHash(_) => {
                Some("a hash is `blake3:` and 64 digits, as `glee trust --show` prints it".to_owned())
            }
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    #[error("`{0}` is a symbolic link")]
    Link(PathBuf),
    #[error("cannot read what is trusted in `{0}`")]
    Read(PathBuf, #[source] io::Error),
    #[error("cannot record trust in `{0}`")]
    Write(PathBuf, #[source] io::Error),
}

impl Advice for TrustError {}
