//! The adapters by name: the one match that an addition has to extend.

use std::fmt;
use std::path::Path;

use crate::agents::adapters::interface::Adapter;
use crate::agents::adapters::programs::{acp, claude, codex, copilot, gemini, json, opencode, qwen, replay, text};
use crate::agents::builtin;
use crate::agents::error::AgentError;
use crate::domain::{Agent, FailureKind};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AdapterKind {
    Text,
    Json,
    Builtin,
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
    pub const ALL: [Self; 11] = [
        Self::Text,
        Self::Json,
        Self::Builtin,
        Self::Replay,
        Self::Claude,
        Self::Codex,
        Self::Gemini,
        Self::Opencode,
        Self::Qwen,
        Self::Copilot,
        Self::Acp,
    ];

    /// Those that stand for one program, which has the same name.
    pub const PROGRAMS: [Self; 6] =
        [Self::Claude, Self::Codex, Self::Gemini, Self::Opencode, Self::Qwen, Self::Copilot];

    pub fn as_str(self) -> &'static str {
        self.adapter().profile().name
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// The adapter for a command where none is configured: an embedded agent's, the known program's own, else `text`.
    pub fn guess(command: &[String]) -> Self {
        let word = command.first().map(String::as_str).unwrap_or_default();
        if word.starts_with(builtin::PREFIX) {
            return Self::Builtin;
        }
        let name = Path::new(word).file_name().and_then(|name| name.to_str()).unwrap_or_default();
        Self::PROGRAMS.into_iter().find(|kind| kind.as_str() == name).unwrap_or(Self::Text)
    }

    /// The kind of an agent: the configured one, or where that is empty the guessed one.
    pub fn of(agent: &Agent) -> Result<Self, AgentError> {
        if agent.adapter.is_empty() {
            return Ok(Self::guess(&agent.command));
        }
        Self::parse(&agent.adapter).ok_or_else(|| {
            let known = Self::ALL.map(|kind| format!("`{kind}`")).join(", ");
            let message = format!("agent `{}` has an unknown adapter `{}`", agent.name, agent.adapter);
            AgentError::new(FailureKind::NotInstalled, message).hint(format!("the adapters are {known}"))
        })
    }

    pub fn adapter(self) -> &'static dyn Adapter {
        match self {
            Self::Text => &text::TextAdapter,
            Self::Json => &json::Json,
            Self::Builtin => &builtin::BuiltinAdapter,
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

static REPLAY: replay::Replay = replay::Replay {
    of_record: |name| {
        let kind = AdapterKind::parse(name).filter(|kind| *kind != AdapterKind::Replay);
        kind.map(AdapterKind::adapter)
    },
    programs: || AdapterKind::PROGRAMS.map(AdapterKind::adapter).into(),
};

impl fmt::Display for AdapterKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Fails where an agent has a configured effort and its adapter has no option for it.
pub(crate) fn fits(agent: &Agent) -> Result<(), AgentError> {
    let (Some(effort), kind) = (agent.effort, AdapterKind::of(agent)?) else {
        return Ok(());
    };
    // What was kept is played as it was.
    if kind == AdapterKind::Replay || kind.adapter().profile().effort.is_some() {
        return Ok(());
    }
    let known = AdapterKind::PROGRAMS.iter().filter(|kind| kind.adapter().profile().effort.is_some());
    let known: Vec<String> = known.map(|kind| format!("`{kind}`")).collect();
    let message = format!(
        "agent `{}` cannot be told to think with effort `{}`: the adapter `{kind}` has no way to say it",
        agent.name,
        effort.as_str()
    );
    Err(AgentError::new(FailureKind::BadFlags, message).hint(format!(
        "take `agents.{}.effort` out and choose a `model` that thinks as hard, or give a program of your own its flag in \
         `command`; {} can be told",
        agent.name,
        known.join(", ")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::samples;
    use crate::config::schema::values;

    #[test]
    fn the_configuration_knows_the_same_names() {
        assert_eq!(AdapterKind::ALL.map(AdapterKind::as_str), values::ADAPTERS);
        assert_eq!(AdapterKind::PROGRAMS.map(AdapterKind::as_str), crate::config::schema::KNOWN_PROGRAMS);
    }

    #[test]
    fn a_kind_is_configured_or_guessed() {
        let of = |adapter: &str, command: &[&str]| {
            AdapterKind::of(&samples::agent("a", adapter, command)).map_err(|error| error.to_string())
        };
        assert_eq!(of("json", &["claude"]), Ok(AdapterKind::Json));
        assert_eq!(of("", &["claude", "-x"]), Ok(AdapterKind::Claude));
        assert_eq!(of("", &["builtin:rules"]), Ok(AdapterKind::Builtin));
        assert_eq!(of("", &["/opt/bin/codex"]), Ok(AdapterKind::Codex));
        assert_eq!(of("", &["./claude.sh"]), Ok(AdapterKind::Text));
        assert_eq!(of("", &[]), Ok(AdapterKind::Text));
        assert_eq!(of("xml", &["x"]), Err("agent `a` has an unknown adapter `xml`".to_owned()));
    }
}
