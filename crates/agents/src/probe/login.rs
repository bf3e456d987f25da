//! Finds the environment variable or the file that contains an agent's login, without starting the agent's
//! program.

use std::env;

use crate::AdapterKind;
use glee_model::domain::Agent;
use glee_store::config::schema::address::ModelAddress;

/// The names of the files in which agent programs store a login.
const FILES: [&str; 3] = [".credentials.json", "auth.json", "oauth_creds.json"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Login {
    /// The variable or the file with the login.
    Found(String),
    Missing(&'static str),
    /// Either the agent needs no login, or Glee does not know where the agent's program stores the login.
    Unknown,
}

pub fn login(agent: &Agent) -> Login {
    let Ok(kind) = AdapterKind::of(agent) else {
        return Login::Unknown;
    };
    let profile = kind.adapter().profile();
    if let (AdapterKind::Address, Ok(address)) = (kind, ModelAddress::parse(&agent.command)) {
        return match address.key {
            Some(name) if is_set(agent, &name) => Login::Found(name),
            Some(_) if address.needs_key => Login::Missing(profile.login),
            _ => Login::Unknown,
        };
    }
    let keys = profile.sees.iter().copied();
    let keys = keys.filter(|name| name.ends_with("_KEY") || name.ends_with("_TOKEN"));
    // A program in a cloud logs in with the cloud's credentials.
    let clouds = profile.clouds.iter().map(|(choice, _)| *choice);
    if let Some(name) = keys.chain(clouds).find(|name| is_set(agent, name)) {
        return Login::Found(name.to_owned());
    }
    let folders = profile.settings_folders();
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
        ) => Login::Missing(profile.login),
        (None, _) => Login::Unknown,
    }
}

fn is_set(agent: &Agent, name: &str) -> bool {
    agent.env.contains_key(name) || env::var_os(name).is_some_and(|value| !value.is_empty())
}
