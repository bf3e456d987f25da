//! Loads the settings from all layers, and checks whether the user trusts the project's configuration file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::layer::{self, Layer, Setting};
use super::resolve::{ConfigLayers, resolve};
use crate::config::files::file::{self, Links};
use crate::config::origin::{Origin, Owner};
use crate::config::trust::{self, Store};
use crate::config::{
    error::ConfigError,
    files::paths::{PROJECT_FILE, PROJECT_FOLDER},
    files::scripts::Roots,
    programs, schema,
    schema::values::ReviewerChoice,
    settings::Settings,
};
use glee_model::domain::{AgentName, Role};

pub use crate::config::trust::UntrustedConfig;

const PROJECT_ID: &str = "project.id";

#[derive(Clone, Debug, Default)]
pub struct ConfigSources<'a> {
    pub project_root: Option<&'a Path>,
    /// A copy of the project. Glee reads the project's configuration file from this copy. The trust records still
    /// refer to the original path, `project_root`.
    pub project_copy: Option<PathBuf>,
    pub user_file: Option<PathBuf>,
    pub env: Vec<(String, String)>,
    /// The settings from the command line, as pairs of a dotted key and a value.
    pub flags: Vec<(String, Value)>,
    pub trust_flag: Option<&'a str>,
    /// The state folder, which contains the trust records. Without a state folder, only `trust_flag` can grant
    /// trust.
    pub state_dir: Option<PathBuf>,
}

#[derive(Clone, Debug)]
pub struct Loaded {
    pub settings: Settings,
    /// The settings by dotted key.
    pub values: BTreeMap<String, Setting>,
    /// The part of the project's configuration file that the user has not approved yet.
    pub untrusted: Option<UntrustedConfig>,
    /// The agents whose command, adapter or variables come from the project's file and need trust.
    pub project_agents: BTreeSet<AgentName>,
    pub project_file: Option<PathBuf>,
    pub user_file: Option<PathBuf>,
}

/// Loads all layers, and fails with the first error. A lack of trust is not an error. [`Loaded::untrusted`]
/// contains the part that the user has not approved.
pub fn load(sources: &ConfigSources<'_>) -> Result<Loaded, ConfigError> {
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
    let layers = ConfigLayers {
        user: user.clone().unwrap_or_default(),
        project: project.clone().unwrap_or_default(),
        variables: layer::from_variables(&sources.env)?,
        flags: layer::from_flags(&sources.flags)?,
    };
    let resolved = resolve(&layers)?;
    Ok(Loaded {
        settings: resolved.settings,
        values: resolved.values,
        untrusted: untrusted(sources, &layers.project)?,
        project_agents: trust::agents(&layers.project),
        project_file: project_file.filter(|_| project.is_some()),
        user_file: sources.user_file.clone().filter(|_| user.is_some()),
    })
}

fn optional(path: Option<&Path>, owner: Owner) -> Result<Option<Layer>, ConfigError> {
    let Some(path) = path else { return Ok(None) };
    let (name, links) = match owner {
        Owner::User => (path.display().to_string(), Links::Followed),
        Owner::Project => (PROJECT_FILE.to_owned(), Links::Refused),
    };
    let Some(text) = file::read(path, links)? else {
        return Ok(None);
    };
    let mut layer = layer::from_text(owner, Some(&name), &text)?;
    read_profiles(&mut layer, owner, path.parent())?;
    Ok(Some(layer))
}

/// Replaces the name of a profile by the content of `profiles/NAME.yml` in the folder of the configuration file. The
/// name of a shipped profile stays where there is no such file.
fn read_profiles(
    layer: &mut Layer,
    owner: Owner,
    folder: Option<&Path>,
) -> Result<(), ConfigError> {
    let links = match owner {
        Owner::User => Links::Followed,
        Owner::Project => Links::Refused,
    };
    for agent in &mut layer.agents {
        let Some(setting) = agent.values.get_mut("profile") else {
            continue;
        };
        let Value::String(name) = &setting.value else {
            continue;
        };
        let below = Path::new("profiles").join(format!("{name}.yml"));
        let file = folder.map(|folder| folder.join(&below));
        let text = match &file {
            Some(file) => file::read(file, links)?,
            None => None,
        };
        match (text, file) {
            (Some(text), Some(file)) => {
                let shown = match owner {
                    Owner::User => file.display().to_string(),
                    Owner::Project => format!("{PROJECT_FOLDER}/{}", below.display()),
                };
                setting.value = layer::profile(owner, &shown, &text)?;
            }
            (None, _) if programs::known(name).is_some() => {}
            (_, file) => {
                return Err(ConfigError::NoProfile {
                    place: setting.origin.clone(),
                    name: name.clone(),
                    file: file.unwrap_or(below),
                });
            }
        }
    }
    Ok(())
}

/// Reads `project.id` in the project's configuration file. Errors in keys other than `project.id` are ignored, so
/// that Glee finds the history even if the configuration is invalid.
pub fn project_id(root: &Path) -> Result<Option<String>, ConfigError> {
    let Some(text) = file::read(&root.join(PROJECT_FILE), Links::Refused)? else {
        return Ok(None);
    };
    let document = layer::document(Owner::Project, Some(PROJECT_FILE), &text)?;
    let Some(given) = schema::at(&document.json(), PROJECT_ID).cloned() else {
        return Ok(None);
    };
    let key = schema::find(PROJECT_ID).expect("the key is one of the schema's");
    let id = key.check(&given).map_err(|misfit| {
        let place = layer::place(Owner::Project, Some(PROJECT_FILE), None);
        ConfigError::value(place, PROJECT_ID, misfit)
    })?;
    Ok(id.as_str().filter(|id| *id != "none").map(str::to_owned))
}

fn untrusted(
    sources: &ConfigSources<'_>,
    project: &Layer,
) -> Result<Option<UntrustedConfig>, ConfigError> {
    if let Some(hash) = sources.trust_flag.filter(|hash| !trust::is_hash(hash)) {
        return Err(ConfigError::NotAHash(hash.to_owned()));
    }
    let roots = match &sources.project_copy {
        Some(copy) => Some(Roots::copy(copy, sources.project_root)),
        None => sources.project_root.map(Roots::of),
    };
    let Some(needed) = trust::needed(project, roots.as_ref()) else {
        return Ok(None);
    };
    if sources.trust_flag == Some(needed.hash.as_str()) {
        return Ok(None);
    }
    let (Some(state), Some(root)) = (&sources.state_dir, sources.project_root) else {
        return Ok(Some(needed));
    };
    let store = Store::new(state);
    if store.trusts(root, &needed.hash)? {
        return Ok(None);
    }
    let changed = store.changed(root, &needed.runs)?;
    Ok(Some(UntrustedConfig { changed, ..needed }))
}

pub fn check_names(settings: &Settings) -> Result<(), ConfigError> {
    let ReviewerChoice::Named(names) = &settings.review.reviewers else {
        return Ok(());
    };
    let reviewers: Vec<String> = settings
        .agents
        .iter()
        .filter(|agent| agent.role == Role::Reviewer)
        .map(|agent| agent.name.0.clone())
        .collect();
    match names.iter().find(|name| !reviewers.contains(name)) {
        Some(name) => Err(ConfigError::NoSuchReviewer {
            name: name.clone(),
            reviewers,
        }),
        None => Ok(()),
    }
}

/// Checks the text of a configuration file. Unlike [`load`], this function ignores variables and flags. Returns the
/// part of the text that needs trust. If `name` is given, messages contain this file name and a position.
pub fn check_text(
    sources: &ConfigSources<'_>,
    owner: Owner,
    name: Option<&str>,
    text: &str,
) -> Result<Option<UntrustedConfig>, ConfigError> {
    let mut given = layer::from_text(owner, name, text)?;
    let folder = match owner {
        Owner::User => sources
            .user_file
            .as_deref()
            .and_then(Path::parent)
            .map(Path::to_owned),
        Owner::Project => {
            let root = sources.project_copy.as_deref().or(sources.project_root);
            root.map(|root| root.join(PROJECT_FOLDER))
        }
    };
    read_profiles(&mut given, owner, folder.as_deref())?;
    let layers = match owner {
        Owner::User => ConfigLayers {
            user: given,
            ..ConfigLayers::default()
        },
        Owner::Project => {
            let user = optional(sources.user_file.as_deref(), Owner::User)?;
            ConfigLayers {
                user: user.unwrap_or_default(),
                project: given,
                ..ConfigLayers::default()
            }
        }
    };
    resolve(&layers)?;
    let roots = sources
        .project_root
        .map(Roots::of)
        .filter(|_| owner == Owner::Project);
    Ok(trust::needed(&layers.project, roots.as_ref()))
}

/// Parses and checks a value for a dotted key. The returned value keeps the user's notation, for example `1h`
/// instead of seconds.
pub fn typed(key: &str, text: &str) -> Result<Value, ConfigError> {
    let found = match schema::split_agent(key) {
        Some((_, last)) => {
            schema::find_agent_key(last).ok_or_else(|| layer::unknown(Origin::Flag, key))?
        }
        None => schema::find(key).ok_or_else(|| unknown_key(key))?,
    };
    let value = found.read(text);
    found
        .check(&value)
        .map_err(|misfit| ConfigError::value(Origin::Flag, key, misfit))?;
    Ok(value)
}

pub fn unknown_key(key: &str) -> ConfigError {
    let place = Origin::Flag;
    let known: Vec<String> = schema::children(key)
        .into_iter()
        .map(|child| format!("{key}.{child}"))
        .collect();
    match key {
        "agents" => ConfigError::AgentsNotAList { place },
        _ if known.is_empty() => layer::unknown(place, key),
        _ => ConfigError::NotASection {
            place,
            key: key.to_owned(),
            known,
        },
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use glee_model::domain::Advice as _;

    const RUNS: &str = "agents: [{name: a, command: ./a.sh, role: reviewer}]\n";

    fn project(text: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        file::write(&folder.path().join(PROJECT_FILE), text, Links::Refused).unwrap();
        folder
    }

    #[test]
    fn a_project_is_trusted_by_record_or_by_hash_and_by_nothing_else() {
        let root = project(RUNS);
        let state = tempfile::tempdir().unwrap();
        let sources = ConfigSources {
            project_root: Some(root.path()),
            env: vec![("CI".to_owned(), "true".to_owned())],
            state_dir: Some(state.path().to_owned()),
            ..ConfigSources::default()
        };
        let untrusted = load(&sources).unwrap().untrusted.unwrap();
        assert_eq!(untrusted.runs, ["./a.sh (agent `a`)"]);
        let by_hash = ConfigSources {
            trust_flag: Some(&untrusted.hash),
            ..sources.clone()
        };
        assert_eq!(load(&by_hash).unwrap().untrusted, None);
        let other = format!("blake3:{}", "0".repeat(64));
        let by_other = ConfigSources {
            trust_flag: Some(&other),
            ..sources.clone()
        };
        assert_eq!(load(&by_other).unwrap().untrusted, Some(untrusted.clone()));
        Store::new(state.path())
            .trust(root.path(), &untrusted)
            .unwrap();
        assert_eq!(load(&sources).unwrap().untrusted, None);
    }

    #[test]
    fn what_the_user_says_needs_no_trust() {
        let user = project(RUNS);
        let sources = ConfigSources {
            user_file: Some(user.path().join(PROJECT_FILE)),
            ..ConfigSources::default()
        };
        let loaded = load(&sources).unwrap();
        assert_eq!(loaded.untrusted, None);
        assert_eq!(loaded.settings.agents.len(), 1);
        assert_eq!(
            (loaded.project_file, loaded.user_file),
            (None, sources.user_file)
        );
    }

    #[test]
    fn the_reviewers_that_are_named_have_to_be_connected() {
        let check = |names: &str| {
            let root = project(&format!(
                "agents:\n  - {{name: a, command: claude, role: reviewer}}\n  - {{name: b, command: claude, role: coder}}\nreview: {{reviewers: {names}}}\n"
            ));
            let sources = ConfigSources {
                project_root: Some(root.path()),
                ..ConfigSources::default()
            };
            check_names(&load(&sources).unwrap().settings)
                .map_err(|error| format!("{error} | {}", error.hint().unwrap_or_default()))
        };
        assert_eq!(check("all"), Ok(()));
        assert_eq!(check("first"), Ok(()));
        assert_eq!(check("[a]"), Ok(()));
        assert_eq!(
            check("[a, b]"),
            Err("`b` in `review.reviewers` is not a connected reviewer | use one of the connected reviewers: a"
                .to_owned())
        );
    }
}
