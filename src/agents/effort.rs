//! How hard a model is told to think: `agents.<name>.effort` in the words of each program.

use super::adapter::{Adapter, AgentError, Query};
use super::kind::AdapterKind;
use crate::domain::{Agent, Effort, FailureKind};

/// Fails where an agent has a configured effort and its adapter has no option for it.
pub(super) fn fits(agent: &Agent) -> Result<(), AgentError> {
    let (Some(effort), kind) = (agent.effort, AdapterKind::of(agent)?) else { return Ok(()) };
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

/// The program's word for the effort that this question is worth, if it is to be told one: the configured one, or for
/// what binds everybody a high one where the program is known to have the flag.
pub(super) fn word(
    adapter: &dyn Adapter,
    query: &Query<'_>,
    flag: &str,
) -> Result<Option<&'static str>, AgentError> {
    let (program, agent, word) = (query.program, query.agent, adapter.profile().effort);
    let Some(effort) = agent.effort else {
        let is_told = query.request.task.wants_effort() && program.names(flag);
        return Ok(word.filter(|_| is_told).map(|word| word(Effort::High)));
    };
    if program.words.is_some() && !program.names(flag) {
        let version = program.version.as_deref().map_or_else(String::new, |version| format!(" ({version})"));
        let message = format!(
            "`{}`{version} has no `{flag}`, by which it is told `agents.{}.effort`",
            program.path.display(),
            agent.name
        );
        return Err(AgentError::new(FailureKind::BadFlags, message)
            .hint(format!("update the program, or `glee config unset agents.{}.effort`", agent.name)));
    }
    Ok(word.map(|word| word(effort)))
}
