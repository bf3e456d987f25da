//! Finds an agent by a word from the command line: the full name, the program, or the start of the name.

use std::path::Path;

use serde_json::Value;

use crate::cli::error::CommandError;
use glee_model::domain::{Agent, Role};
use glee_store::config::schema::values::ReviewerChoice;
use glee_store::config::settings::Settings;

/// Returns the full name of the agent that `given` abbreviates. If several agents match, agents with the role in
/// `usual` take precedence. If no agent matches, returns `given`, and the caller decides whether to fail.
pub(crate) fn full(
    agents: &[Agent],
    given: &str,
    usual: Option<Role>,
) -> Result<String, CommandError> {
    let tests: [fn(&Agent, &str) -> bool; 3] = [
        |agent, given| agent.name.0 == given,
        runs,
        |agent, given| !given.is_empty() && agent.name.0.starts_with(given),
    ];
    let mut matches: Vec<&Agent> = Vec::new();
    for test in tests {
        if matches.is_empty() {
            matches.extend(agents.iter().filter(|agent| test(agent, given)));
        }
    }
    let has_usual = matches.iter().any(|agent| Some(agent.role) == usual);
    if has_usual {
        matches.retain(|agent| Some(agent.role) == usual);
    }
    match matches.as_slice() {
        [] => Ok(given.to_owned()),
        [agent] => Ok(agent.name.0.clone()),
        _ if usual.is_some() && !has_usual => Ok(given.to_owned()),
        several => {
            let names = several
                .iter()
                .map(|agent| format!("`{}`", agent.name))
                .collect::<Vec<_>>()
                .join(", ");
            Err(
                CommandError::usage(format!("`{given}` matches several agents: {names}"))
                    .hint("write the full name of the agent"),
            )
        }
    }
}

/// For each word in `given`, returns the full name of the agent. The agent can have any role. If several agents
/// match, the agents with the role in `usual` take precedence.
pub(crate) fn full_of_any_role(
    agents: &[Agent],
    given: &[String],
    usual: Role,
) -> Result<Vec<String>, CommandError> {
    given
        .iter()
        .map(|given| {
            let name = full(agents, given, Some(usual))?;
            // It is possible that several agents match `given`, and that none of these agents has the role in `usual`.
            // The second call of the function `full` then fails with an error that lists these agents.
            if agents.iter().any(|agent| agent.name.0 == name) {
                Ok(name)
            } else {
                full(agents, given, None)
            }
        })
        .collect()
}

/// Completes the name of an agent in a key such as `agents.codex.focus`. If no agent matches, returns the key.
pub(crate) fn full_key(agents: &[Agent], key: &str) -> Result<String, CommandError> {
    let Some(rest) = key.strip_prefix("agents.") else {
        return Ok(key.to_owned());
    };
    let is_known = |name: &str| agents.iter().any(|agent| agent.name.0 == name);
    // An agent's name can contain dots, so the function tries every dot as the end of the name.
    let dots = rest.match_indices('.').map(|(at, _)| at);
    let ends = dots.chain([rest.len()]);
    if ends.clone().any(|end| is_known(&rest[..end])) {
        return Ok(key.to_owned());
    }
    for end in ends {
        let name = full(agents, &rest[..end], None)?;
        if is_known(&name) {
            return Ok(format!("agents.{name}{}", &rest[end..]));
        }
    }
    Ok(key.to_owned())
}

/// Replaces abbreviated names of agents in the settings by full names. `flags` are the settings of the command line.
pub(crate) fn complete(
    settings: &mut Settings,
    flags: &[(String, Value)],
) -> Result<(), CommandError> {
    let agents = &settings.agents;
    for (key, _) in flags {
        let (names, usual) = match (key.as_str(), &mut settings.review.reviewers) {
            ("review.reviewers", ReviewerChoice::Named(names)) => (names, Role::Reviewer),
            ("watch.reviewers", _) => (&mut settings.watch.reviewers, Role::Reviewer),
            ("watch.agents", _) => (&mut settings.watch.agents, Role::Coder),
            _ => continue,
        };
        let full_names = names.iter().map(|name| full(agents, name, Some(usual)));
        *names = full_names.collect::<Result<_, _>>()?;
    }
    Ok(())
}

/// Whether the agent runs `program`. The program of an embedded agent is, for example, `rules` or `builtin:rules`.
pub(crate) fn runs(agent: &Agent, program: &str) -> bool {
    let command = agent
        .command
        .first()
        .map(String::as_str)
        .unwrap_or_default();
    let file = Path::new(command)
        .file_stem()
        .is_some_and(|name| name == program);
    file || command == program || command.strip_prefix("builtin:") == Some(program)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::style::fixture;

    #[test]
    fn a_name_means_an_agent_where_it_is_unambiguous() {
        let agent = |name: &str, role, program: &str| Agent {
            command: vec![program.to_owned()],
            ..fixture::agent(name, role)
        };
        let agents = [
            agent("claude-coder", Role::Coder, "claude"),
            agent("claude-judge", Role::Judge, "claude"),
            agent("security", Role::Reviewer, "/opt/codex"),
            agent("claude-next", Role::Reviewer, "other"),
            agent("rules", Role::Reviewer, "builtin:rules"),
        ];
        let full = |given, usual| full(&agents, given, usual).map_err(|error| error.render(false));
        for (given, usual, expected) in [
            ("claude", Some(Role::Coder), "claude-coder"),
            ("claude-j", None, "claude-judge"),
            ("codex", None, "security"),
            ("sec", Some(Role::Coder), "security"),
            ("builtin:rules", None, "rules"),
            ("claude", Some(Role::Aggregator), "claude"),
            ("nobody", None, "nobody"),
            ("", None, ""),
        ] {
            assert_eq!(full(given, usual).as_deref(), Ok(expected), "{given}");
        }
        let given = ["claude".to_owned(), "sec".to_owned(), "nobody".to_owned()];
        let found =
            full_of_any_role(&agents, &given, Role::Judge).map_err(|error| error.render(false));
        assert_eq!(
            found,
            Ok(["claude-judge", "security", "nobody"]
                .map(str::to_owned)
                .to_vec())
        );
        assert!(
            full_of_any_role(&agents, &given, Role::Aggregator).is_err(),
            "two agents match `claude`"
        );
        for (key, expected) in [
            ("agents.codex.focus", "agents.security.focus"),
            ("agents.claude-c.env", "agents.claude-coder.env"),
            ("agents.rules.role", "agents.rules.role"),
            ("agents.codex", "agents.security"),
            ("agents.nobody.role", "agents.nobody.role"),
            ("agents", "agents"),
            ("review.rounds", "review.rounds"),
        ] {
            assert_eq!(
                full_key(&agents, key)
                    .map_err(|error| error.render(false))
                    .as_deref(),
                Ok(expected)
            );
        }
        assert!(
            full_key(&agents, "agents.claude.role").is_err(),
            "two agents match `claude`"
        );
        insta::assert_snapshot!(full("claude", None).expect_err("two agents match"), @"
        error: `claude` matches several agents: `claude-coder`, `claude-judge`
        hint: write the full name of the agent
        ");
    }
}
