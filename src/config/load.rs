//! Loading: the layers are read, resolved, and the project's part is held against what is trusted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::file::{self, FileError, Links};
use super::layer::{self, Layer, Origin, Setting};
use super::paths::PROJECT_FILE;
use super::renamed;
use super::resolve::{Layers, resolve};
use super::schema;
use super::scripts::Roots;
use super::settings::{ReviewerChoice, Settings};
use super::suggest::closest;
pub use super::trust::Untrusted;
use super::trust::{self, Store, TrustError};
use super::values::Misfit;
use super::yaml;
use crate::domain::{Advice, Role};

/// Names the project's history.
const PROJECT_ID: &str = "project.id";

#[derive(Clone, Debug, Default)]
pub struct Sources<'a> {
    pub project_root: Option<&'a Path>,
    /// Another folder to read the project's file from: what trusts it is still the project.
    pub project_copy: Option<PathBuf>,
    /// The user's file, whether or not it exists.
    pub user_file: Option<PathBuf>,
    pub env: Vec<(String, String)>,
    /// What the command line sets, by dotted key.
    pub flags: Vec<(String, Value)>,
    /// The hash given with `--trust`.
    pub trust_flag: Option<&'a str>,
    /// Where trust is recorded; without it only `trust_flag` counts.
    pub state_dir: Option<PathBuf>,
}

#[derive(Clone, Debug)]
pub struct Loaded {
    pub settings: Settings,
    /// Every value with its origin, by dotted key.
    pub values: BTreeMap<String, Setting>,
    /// What is said of earlier names of keys, a line each.
    pub notices: Vec<String>,
    /// What the project's file would run without being trusted to.
    pub untrusted: Option<Untrusted>,
    pub project_file: Option<PathBuf>,
    pub user_file: Option<PathBuf>,
}

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
    Value { place: Origin, key: String, misfit: Box<Misfit> },
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
    pub(crate) fn value(place: Origin, key: &str, misfit: Misfit) -> Self {
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

/// Loads the settings. Fails for the first thing that is wrong with any of the sources. A project that is not trusted
/// is no error here: see [`Loaded::untrusted`].
pub fn load(sources: &Sources<'_>) -> Result<Loaded, ConfigError> {
    let project_folder = sources.project_copy.as_deref().or(sources.project_root);
    let project_file = project_folder.map(|folder| folder.join(PROJECT_FILE));
    let project = optional(project_file.as_deref(), Owner::Project)?;
    if let Some(root) = project_folder.filter(|_| project.is_none()) {
        let other = PROJECT_FILE.replace(".yml", ".yaml");
        if root.join(&other).is_file() {
            return Err(ConfigError::WrongName(other));
        }
    }
    let user = optional(sources.user_file.as_deref(), Owner::User)?;
    let layers = Layers {
        user: user.clone().unwrap_or_default(),
        project: project.clone().unwrap_or_default(),
        variables: layer::from_variables(&sources.env)?,
        flags: layer::from_flags(&sources.flags)?,
    };
    let resolved = resolve(&layers)?;
    Ok(Loaded {
        settings: resolved.settings(),
        values: resolved.values,
        notices: [&layers.user, &layers.project, &layers.variables, &layers.flags]
            .iter()
            .flat_map(|layer| layer.notices.clone())
            .collect(),
        untrusted: untrusted(sources, &layers.project)?,
        project_file: project_file.filter(|_| project.is_some()),
        user_file: sources.user_file.clone().filter(|_| user.is_some()),
    })
}

/// What a file sets, if it is there; the project's is named by its place in the project.
fn optional(path: Option<&Path>, owner: Owner) -> Result<Option<Layer>, ConfigError> {
    let Some(path) = path else { return Ok(None) };
    let (name, links) = match owner {
        Owner::User => (path.display().to_string(), Links::Followed),
        Owner::Project => (PROJECT_FILE.to_owned(), Links::Refused),
    };
    let Some(text) = file::read(path, links)? else { return Ok(None) };
    layer::from_text(owner, Some(&name), &text).map(Some)
}

/// The `project.id` that the file of the project at `root` sets. Only this key is looked at: what else is wrong with the
/// file is no concern of whoever looks for the project's history.
pub fn project_id(root: &Path) -> Result<Option<String>, ConfigError> {
    let Some(text) = file::read(&root.join(PROJECT_FILE), Links::Refused)? else { return Ok(None) };
    let place = |at| Origin::File { owner: Owner::Project, name: PROJECT_FILE.to_owned(), at };
    let document = yaml::parse(&text)
        .map_err(|error| ConfigError::Syntax { place: place(error.at), message: error.message })?;
    let Some(given) = schema::at(&document.json(), PROJECT_ID).cloned() else { return Ok(None) };
    let key = schema::find(PROJECT_ID).expect("the key is one of the schema's");
    let id = key.check(&given).map_err(|misfit| ConfigError::value(place(None), PROJECT_ID, misfit))?;
    Ok(id.as_str().filter(|id| *id != "none").map(str::to_owned))
}

fn untrusted(sources: &Sources<'_>, project: &Layer) -> Result<Option<Untrusted>, ConfigError> {
    if let Some(hash) = sources.trust_flag.filter(|hash| !trust::is_hash(hash)) {
        return Err(ConfigError::NotAHash(hash.to_owned()));
    }
    let roots = match &sources.project_copy {
        Some(copy) => Some(Roots::copy(copy)),
        None => sources.project_root.map(Roots::of),
    };
    let Some(needed) = trust::needed(project, roots.as_ref()) else { return Ok(None) };
    if sources.trust_flag == Some(needed.hash.as_str()) {
        return Ok(None);
    }
    let (Some(state), Some(root)) = (&sources.state_dir, sources.project_root) else { return Ok(Some(needed)) };
    let store = Store::new(state);
    if store.trusts(root, &needed.hash)? {
        return Ok(None);
    }
    let changed = store.changed(root, &needed.runs)?;
    Ok(Some(Untrusted { changed, ..needed }))
}

/// Checks that the names in `review.reviewers` are those of connected reviewers.
pub fn check_names(settings: &Settings) -> Result<(), ConfigError> {
    let ReviewerChoice::Named(names) = &settings.review.reviewers else { return Ok(()) };
    let reviewers: Vec<String> = settings
        .agents
        .iter()
        .filter(|agent| agent.role == Role::Reviewer)
        .map(|agent| agent.name.0.clone())
        .collect();
    match names.iter().find(|name| !reviewers.contains(name)) {
        Some(name) => Err(ConfigError::NoSuchReviewer { name: name.clone(), reviewers }),
        None => Ok(()),
    }
}

/// Whose file a text is to become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    User,
    Project,
}

/// Checks a text before it becomes a file: everything that [`load`] would say about it, save variables and flags.
/// Returns what the text needs trust for. `name` is what the file is called in errors; without it they name no place.
pub fn check_text(
    sources: &Sources<'_>,
    owner: Owner,
    name: Option<&str>,
    text: &str,
) -> Result<Option<Untrusted>, ConfigError> {
    let given = layer::from_text(owner, name, text)?;
    let layers = match owner {
        Owner::User => Layers { user: given, ..Layers::default() },
        Owner::Project => {
            let user = optional(sources.user_file.as_deref(), Owner::User)?;
            Layers { user: user.unwrap_or_default(), project: given, ..Layers::default() }
        }
    };
    resolve(&layers)?;
    let roots = sources.project_root.map(Roots::of).filter(|_| owner == Owner::Project);
    Ok(trust::needed(&layers.project, roots.as_ref()))
}

/// Reads a value typed for a dotted key, and checks it; what comes back is what belongs in a file.
pub fn typed(key: &str, text: &str) -> Result<Value, ConfigError> {
    let found = match key.strip_prefix("agents.").and_then(|rest| rest.rsplit_once('.')) {
        Some((_, last)) => schema::find_agent_key(last).ok_or_else(|| layer::unknown(Origin::Flag, key))?,
        None => schema::find(renamed::today(key).unwrap_or(key)).ok_or_else(|| unknown_key(key))?,
    };
    let value = found.read(text);
    found.check(&value).map_err(|misfit| ConfigError::value(Origin::Flag, key, misfit))?;
    Ok(value)
}

/// The error for a typed key that does not exist, or that is a section.
pub fn unknown_key(key: &str) -> ConfigError {
    let place = Origin::Flag;
    let known: Vec<String> = schema::children(key).into_iter().map(|child| format!("{key}.{child}")).collect();
    match key {
        "agents" => ConfigError::AgentsNotAList { place },
        _ if known.is_empty() => layer::unknown(place, key),
        _ => ConfigError::NotASection { place, key: key.to_owned(), known },
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    const RUNS: &str = "agents: [{name: a, command: ./a.sh, role: reviewer}]\n";

    fn project(text: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        file::write(&folder.path().join(PROJECT_FILE), text, Links::Refused).unwrap();
        folder
    }

    #[test]
    fn a_project_is_trusted_by_record_or_by_hash_and_by_nothing_else() {
        let (root, state) = (project(RUNS), tempfile::tempdir().unwrap());
        let sources = Sources {
            project_root: Some(root.path()),
            env: vec![("CI".to_owned(), "true".to_owned())],
            state_dir: Some(state.path().to_owned()),
            ..Sources::default()
        };
        let untrusted = load(&sources).unwrap().untrusted.unwrap();
        assert_eq!(untrusted.runs, ["./a.sh (agent `a`)"]);
        let by_hash = Sources { trust_flag: Some(&untrusted.hash), ..sources.clone() };
        assert_eq!(load(&by_hash).unwrap().untrusted, None);
        let other = format!("blake3:{}", "0".repeat(64));
        let by_other = Sources { trust_flag: Some(&other), ..sources.clone() };
        assert_eq!(load(&by_other).unwrap().untrusted, Some(untrusted.clone()));
        Store::new(state.path()).trust(root.path(), &untrusted).unwrap();
        assert_eq!(load(&sources).unwrap().untrusted, None);
    }

    #[test]
    fn what_the_user_says_needs_no_trust() {
        let user = project(RUNS);
        let sources = Sources { user_file: Some(user.path().join(PROJECT_FILE)), ..Sources::default() };
        let loaded = load(&sources).unwrap();
        assert_eq!(loaded.untrusted, None);
        assert_eq!(loaded.settings.agents.len(), 1);
        assert_eq!((loaded.project_file, loaded.user_file), (None, sources.user_file));
    }

    #[test]
    fn the_reviewers_that_are_named_have_to_be_connected() {
        let check = |names: &str| {
            let root = project(&format!(
                "agents:\n  - {{name: a, command: claude, role: reviewer}}\n  - {{name: b, command: claude, role: coder}}\nreview: {{reviewers: {names}}}\n"
            ));
            let sources = Sources { project_root: Some(root.path()), ..Sources::default() };
            check_names(&load(&sources).unwrap().settings)
                .map_err(|error| format!("{error} | {}", error.hint().unwrap_or_default()))
        };
        assert_eq!(check("all"), Ok(()));
        assert_eq!(check("first"), Ok(()));
        assert_eq!(check("[a]"), Ok(()));
        assert_eq!(
            check("[a, b]"),
            Err("`review.reviewers` names `b`, which is not a connected reviewer | connected reviewers: a"
                .to_owned())
        );
    }
}
