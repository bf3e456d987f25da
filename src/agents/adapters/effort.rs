//! How hard a model is told to think: `agents.<name>.effort` in the words of each program.

use crate::agents::adapters::interface::Adapter;
use crate::agents::adapters::invocation::Query;
use crate::agents::error::AgentError;
use crate::domain::{Effort, FailureKind};

/// The program's word for the effort that this question is worth, if it is to be told one: the configured one, or for
/// what binds everybody a high one where the program is known to have the flag.
pub(crate) fn word(
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
