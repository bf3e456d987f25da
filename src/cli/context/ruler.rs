//! Who gives a ruling: a person at a terminal, or a person whom `--by` names. An agent does not rule.

use clap::builder::NonEmptyStringValueParser;

use super::globals::has_terminal;
use crate::cli::error::CommandError;
use glee_model::domain::Person;
use glee_workspace::root::Workspace;

/// The variables that agents set for the commands that they run, with the names of the agents.
const SESSIONS: &[(&str, &str)] = &[
    ("GLEE_AGENT", "an agent of Glee"),
    ("CLAUDECODE", "Claude Code"),
    ("CODEX_THREAD_ID", "Codex"),
    ("CODEX_SANDBOX", "Codex"),
    ("CODEX_SANDBOX_NETWORK_DISABLED", "Codex"),
    ("CODEX_CI", "Codex"),
    ("GEMINI_CLI", "Gemini CLI"),
    ("QWEN_CODE", "Qwen Code"),
    ("CURSOR_AGENT", "Cursor"),
    ("COPILOT_CLI", "Copilot CLI"),
    ("OPENCODE", "opencode"),
    ("AI_AGENT", "an AI agent"),
];

/// The variables by which the session of an agent is recognised.
#[cfg(feature = "mcp")]
pub(crate) fn session_variables() -> impl Iterator<Item = &'static str> {
    SESSIONS.iter().map(|(name, _)| *name)
}

// The struct has no doc comment, because clap would use the comment as the help of the commands.
#[derive(clap::Args)]
pub(crate) struct ByFlag {
    /// The name of the person who rules (required without a terminal) [default: the name in git]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    by: Option<String>,
}

impl ByFlag {
    /// The person who rules. Fails in the session of an agent, and without a terminal if no person is named. Only the
    /// person of git's configuration has a mail address in the record.
    pub(crate) fn person(&self, workspace: &Workspace) -> Result<Person, CommandError> {
        refuse_agent()?;
        let own = workspace.person();
        match &self.by {
            Some(name) if own.name == name.trim() => Ok(own),
            Some(name) => Ok(Person {
                name: name.trim().to_owned(),
                email: String::new(),
            }),
            None if has_terminal() => Ok(own),
            None => Err(CommandError::usage(
                "without a terminal, a ruling needs the name of the person who rules",
            )
            .hint("add `--by NAME`")),
        }
    }
}

/// Fails in the session of an agent: its variables are set, and there is no terminal.
pub(crate) fn refuse_agent() -> Result<(), CommandError> {
    if has_terminal() {
        return Ok(());
    }
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    match SESSIONS.iter().find(|(name, _)| is_set(name)) {
        Some((name, agent)) => Err(CommandError::usage(format!(
            "an agent does not rule, and this is the session of {agent} (`{name}` is set)"
        ))
        .hint(
            "object with `glee answer F12 disagree --reason '...' --evidence PATH:LINE`; a person rules in a \
             terminal",
        )),
        None => Ok(()),
    }
}
