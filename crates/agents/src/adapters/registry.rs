//! Maps names to adapters. A new adapter needs a variant of [`AdapterKind`].

use std::collections::BTreeMap;
use std::fmt;

use crate::adapters::programs::{
    acp, address, builtin, claude, codex, copilot, gemini, json, opencode, qwen, replay, text,
};
use crate::process::environment::names;
use crate::{Adapter, AgentError};
use glee_model::domain::{Agent, FailureKind, Profile, PromptForm, PromptLength};
use glee_store::config::layers::resolve::adapter_of;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AdapterKind {
    Text,
    Json,
    Builtin,
    Address,
    Replay,
    Claude,
    Codex,
    Gemini,
    Opencode,
    Qwen,
    Copilot,
    Acp,
}

impl AdapterKind {
    pub const ALL: [Self; 12] = [
        Self::Text,
        Self::Json,
        Self::Builtin,
        Self::Address,
        Self::Replay,
        Self::Claude,
        Self::Codex,
        Self::Gemini,
        Self::Opencode,
        Self::Qwen,
        Self::Copilot,
        Self::Acp,
    ];

    /// The adapters for known programs. Each adapter in this list has the same name as its program.
    pub const PROGRAMS: [Self; 6] = [
        Self::Claude,
        Self::Codex,
        Self::Gemini,
        Self::Opencode,
        Self::Qwen,
        Self::Copilot,
    ];

    pub fn as_str(self) -> &'static str {
        &self.adapter().profile().name
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// Returns the agent's configured adapter. If no adapter is configured, derives an adapter from the agent's
    /// command.
    pub fn of(agent: &Agent) -> Result<Self, AgentError> {
        let configured = Some(agent.adapter.as_str()).filter(|adapter| !adapter.is_empty());
        Self::parse(configured.unwrap_or_else(|| adapter_of(&agent.command))).ok_or_else(|| {
            let known = Self::ALL.map(|kind| format!("`{kind}`")).join(", ");
            let message = format!(
                "agent `{}` has an unknown adapter `{}`",
                agent.name, agent.adapter
            );
            AgentError::new(FailureKind::NotInstalled, message)
                .hint(format!("use one of the adapters {known}"))
        })
    }

    pub fn adapter(self) -> &'static dyn Adapter {
        match self {
            Self::Text => &text::TextAdapter,
            Self::Json => &json::Json,
            Self::Builtin => &builtin::BuiltinAdapter,
            Self::Address => &address::Address,
            Self::Replay => &REPLAY,
            Self::Claude => &claude::Claude,
            Self::Codex => &codex::Codex,
            Self::Gemini => &gemini::Gemini,
            Self::Opencode => &opencode::Opencode,
            Self::Qwen => &qwen::Qwen,
            Self::Copilot => &copilot::Copilot,
            Self::Acp => &acp::Acp,
        }
    }
}

static REPLAY: replay::Replay = replay::Replay(|| {
    let recorded = AdapterKind::ALL
        .into_iter()
        .filter(|kind| *kind != AdapterKind::Replay);
    recorded.map(AdapterKind::adapter).collect()
});

impl fmt::Display for AdapterKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The profile of an agent: its own, or that of its adapter.
pub fn profile(agent: &Agent) -> Result<&Profile, AgentError> {
    let kind = AdapterKind::of(agent)?;
    Ok(agent
        .profile
        .as_deref()
        .unwrap_or_else(|| kind.adapter().profile()))
}

/// Whether an argument of the agent stands for the text, such as `{prompt}`.
pub fn places(agent: &Agent, text: &str) -> bool {
    let of_profile = agent.profile.iter().flat_map(|profile| {
        let of_roles = profile.roles.values().flatten();
        profile.args.iter().chain(of_roles)
    });
    let mut words = agent.command.iter().skip(1).chain(of_profile);
    words.any(|word| word.contains(text))
}

/// The maximum length of the agent's prompts. A program that takes the prompt as an argument takes no more than an
/// argument can hold.
pub fn longest_prompt(agent: &Agent) -> Option<PromptLength> {
    let profile = profile(agent).ok()?;
    let is_argument = profile.prompt == Some(PromptForm::Argument);
    if is_argument || places(agent, Profile::PROMPT) {
        return Some(PromptLength::Bytes(Profile::LONGEST_ARGUMENT));
    }
    profile.longest_prompt
}

/// Returns the variables that Glee's environment hands to an agent because its program's profile names them. Their
/// values are often API keys.
pub fn handed_on(agent: &Agent) -> BTreeMap<String, String> {
    let pass = profile(agent).map_or(&[][..], |profile| &profile.pass);
    let vars = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    vars.filter(|(name, _)| pass.iter().any(|entry| names(entry, name)))
        .collect()
}

/// Fails if the agent has an effort, and its program takes none.
pub fn check_effort(agent: &Agent) -> Result<(), AgentError> {
    let (Some(effort), kind) = (agent.effort, AdapterKind::of(agent)?) else {
        return Ok(());
    };
    let has_option = |kind: &AdapterKind| !kind.adapter().profile().efforts.is_empty();
    if kind == AdapterKind::Replay || !profile(agent)?.efforts.is_empty() {
        return Ok(());
    }
    let name = &agent.name;
    let effort = effort.as_str();
    let message = format!(
        "the effort `{effort}` of agent `{name}` cannot be set: the adapter `{kind}` has no option for an \
                 effort"
    );
    let known: Vec<String> = AdapterKind::PROGRAMS
        .iter()
        .filter(|kind| has_option(kind))
        .map(|kind| format!("`{kind}`"))
        .collect();
    Err(AgentError::new(FailureKind::BadFlags, message).hint(format!(
        "remove `agents.{name}.effort` and choose a suitable `model`, or add an option of the program to `command`; \
         adapters with an effort option: {}",
        known.join(", ")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use glee_store::config::schema::values;

    #[test]
    fn the_configuration_knows_the_same_names() {
        assert_eq!(AdapterKind::ALL.map(AdapterKind::as_str), values::ADAPTERS);
        assert_eq!(
            AdapterKind::PROGRAMS.map(AdapterKind::as_str),
            glee_store::config::programs::KNOWN_PROGRAMS
        );
    }

    #[test]
    fn a_kind_is_configured_or_guessed() {
        let of = |adapter: &str, command: &[&str]| {
            AdapterKind::of(&samples::agent("a", adapter, command))
                .map_err(|error| error.to_string())
        };
        assert_eq!(of("json", &["claude"]), Ok(AdapterKind::Json));
        assert_eq!(of("", &["claude", "-x"]), Ok(AdapterKind::Claude));
        assert_eq!(of("", &["builtin:rules"]), Ok(AdapterKind::Builtin));
        assert_eq!(of("", &["http://h:1/v1"]), Ok(AdapterKind::Address));
        assert_eq!(of("", &["ollama:", "KEY"]), Ok(AdapterKind::Address));
        assert_eq!(of("", &["/opt/bin/codex"]), Ok(AdapterKind::Codex));
        assert_eq!(of("", &["./claude.sh"]), Ok(AdapterKind::Text));
        assert_eq!(of("", &[]), Ok(AdapterKind::Text));
        assert_eq!(
            of("xml", &["x"]),
            Err("agent `a` has an unknown adapter `xml`".to_owned())
        );
    }
}
