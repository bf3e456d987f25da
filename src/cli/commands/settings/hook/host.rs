//! The agents whose hooks can run Glee when they end their turn: what they write to a hook, and what they read from it.

use serde_json::{Value, json};

use crate::cli::context::Words;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum AgentHost {
    Claude,
    Codex,
    Gemini,
    Qwen,
    Cursor,
}

pub(crate) const HOSTS: Words<AgentHost> = &[
    ("claude", AgentHost::Claude, "Claude Code, event `Stop`"),
    ("codex", AgentHost::Codex, "Codex, event `Stop`"),
    (
        "gemini",
        AgentHost::Gemini,
        "Gemini CLI, event `AfterAgent`",
    ),
    ("qwen", AgentHost::Qwen, "Qwen Code, event `Stop`"),
    ("cursor", AgentHost::Cursor, "Cursor, event `stop`"),
];

/// The time after which the host ends the printed hook, in seconds.
const HOST_LIMIT: u64 = 300;
/// The time after which the printed hook ends itself.
const OWN_LIMIT: &str = "280s";

/// The session that ends a turn.
#[derive(Clone)]
pub(crate) struct HostSession {
    pub(crate) id: String,
    /// The folder in which the agent works, if the host names it.
    pub(crate) folder: Option<String>,
}

impl AgentHost {
    pub(crate) fn name(self) -> &'static str {
        let known = HOSTS.iter().find(|(_, host, _)| *host == self);
        known.map_or("", |(name, ..)| name)
    }

    /// Reads what the host writes to the standard input of a hook. Returns `None` if it names no session.
    pub(crate) fn session(self, input: &Value) -> Option<HostSession> {
        let (id, folder) = match self {
            Self::Cursor => (&input["conversation_id"], &input["workspace_roots"][0]),
            Self::Claude | Self::Codex | Self::Gemini | Self::Qwen => {
                (&input["session_id"], &input["cwd"])
            }
        };
        let id = id.as_str().filter(|id| !id.is_empty())?;
        Some(HostSession {
            id: id.to_owned(),
            folder: folder.as_str().map(str::to_owned),
        })
    }

    /// The answer that makes the agent go on with `reason`.
    pub(crate) fn block(self, reason: &str) -> Value {
        match self {
            Self::Claude | Self::Codex | Self::Qwen => {
                json!({ "decision": "block", "reason": reason })
            }
            Self::Gemini => json!({ "decision": "deny", "reason": reason }),
            Self::Cursor => json!({ "followup_message": reason }),
        }
    }

    /// The answer that lets the agent end its turn and tells the person.
    pub(crate) fn warn(self, message: &str) -> Value {
        match self {
            Self::Claude | Self::Codex | Self::Gemini | Self::Qwen => {
                json!({ "systemMessage": message })
            }
            Self::Cursor => json!({}),
        }
    }

    /// The file in the project that takes the snippet, relative to its root or to the home folder.
    pub(crate) fn settings_file(self) -> &'static str {
        match self {
            Self::Claude => ".claude/settings.json",
            Self::Codex => "~/.codex/hooks.json",
            Self::Gemini => ".gemini/settings.json",
            Self::Qwen => ".qwen/settings.json",
            Self::Cursor => ".cursor/hooks.json",
        }
    }

    /// The settings of the host that run the hook. `options` are further options of `glee hook agent`.
    pub(crate) fn snippet(self, options: &str) -> Value {
        // Claude Code takes exit 2 for "block", so no failure of the command may reach the host.
        let command = format!(
            "glee hook agent {} --timeout {OWN_LIMIT}{options} || exit 0",
            self.name()
        );
        let hook = |limit: u64| json!([{ "hooks": [{ "type": "command", "command": command, "timeout": limit }] }]);
        match self {
            Self::Claude | Self::Codex => json!({ "hooks": { "Stop": hook(HOST_LIMIT) } }),
            Self::Qwen => json!({ "hooks": { "Stop": hook(HOST_LIMIT * 1_000) } }),
            Self::Gemini => json!({ "hooks": { "AfterAgent": hook(HOST_LIMIT * 1_000) } }),
            Self::Cursor => {
                json!({ "version": 1, "hooks": { "stop": [{ "command": command, "loop_limit": 3 }] } })
            }
        }
    }
}
