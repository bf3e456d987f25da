//! Finds the environment variable or the file that contains an agent's login, without starting the agent's
//! program.

use std::env;

use crate::AdapterKind;
use crate::adapters::{profile, registry};
use glee_model::domain::Agent;
use glee_store::config::schema::address::ModelAddress;

/// The names of the files in which agent programs store a login.
const FILES: [&str; 3] = [".credentials.json", "auth.json", "oauth_creds.json"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Login {
    /// The variable or the file with the login.
    Found(String),
    Missing(String),
    /// Either the agent needs no login, or Glee does not know where the agent's program stores the login.
    Unknown,
}

pub fn login(agent: &Agent) -> Login {
    let Ok(kind) = AdapterKind::of(agent) else {
        return Login::Unknown;
    };
    let Ok(profile) = registry::profile(agent) else {
        return Login::Unknown;
    };
    if let (AdapterKind::Address, Ok(address)) = (kind, ModelAddress::parse(&agent.command)) {
        return match address.key {
            Some(name) if is_set(agent, &name) => Login::Found(name),
            Some(_) if address.needs_key => Login::Missing(profile.login.clone()),
            _ => Login::Unknown,
        };
    }
    let keys = profile.pass.iter().map(String::as_str);
    let keys = keys.filter(|name| name.ends_with("_KEY") || name.ends_with("_TOKEN"));
    // A program in a cloud logs in with the cloud's credentials.
    let clouds = profile.clouds.keys().map(String::as_str);
    if let Some(name) = keys.chain(clouds).find(|name| is_set(agent, name)) {
        return Login::Found(name.to_owned());
    }
    let folders = profile::settings_folders(profile);
    let mut files = folders
        .into_iter()
        .flat_map(|folder| FILES.map(|file| folder.join(file)));
    match (files.find(|file| file.is_file()), kind) {
        (Some(file), _) => Login::Found(file.display().to_string()),
        // On macOS, Claude Code stores its login in the keychain.
        (None, AdapterKind::Claude) if cfg!(target_os = "macos") => Login::Unknown,
        (
            None,
            AdapterKind::Claude
            | AdapterKind::Codex
            | AdapterKind::Gemini
            | AdapterKind::Opencode
            | AdapterKind::Qwen,
        ) => Login::Missing(profile.login.clone()),
        (None, _) => Login::Unknown,
    }
}

fn is_set(agent: &Agent, name: &str) -> bool {
    agent.env.contains_key(name) || env::var_os(name).is_some_and(|value| !value.is_empty())
}
