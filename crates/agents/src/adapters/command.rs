//! Builds the command line of an agent program from the program's [`Profile`] and a [`Call`](crate::Call).

use crate::process::environment::environment;
use crate::{AgentError, Call, Invocation, Profile};
use glee_model::domain::{Effort, FailureKind};
use glee_protocol::calls::kind::JsonForm;
use glee_protocol::request::Task;

/// Builds a command that runs in the root of the tree and reads the prompt from stdin. The arguments in `last` come
/// after all other arguments.
pub fn assemble(
    profile: &Profile,
    call: &Call,
    mut args: Vec<String>,
    last: Vec<String>,
) -> Result<Invocation, AgentError> {
    let Call {
        agent,
        program,
        request,
        prompt,
        ..
    } = call;
    if let Some((longest, unit)) = profile.longest_prompt {
        let length = if unit == "bytes" {
            prompt.len()
        } else {
            prompt.chars().count()
        };
        if length > longest {
            let name = profile.name;
            let kind = FailureKind::TooLong;
            let message = format!(
                "the prompt for `{}` has {length} {unit}, `{name}` takes {longest}",
                agent.name
            );
            return Err(AgentError {
                kind,
                message,
                hint: profile.hint(kind),
            });
        }
    }
    program.need(profile.required)?;
    let form = whole(&request.task).filter(|_| program.names(profile.schema));
    args.extend(option(profile.schema, form.map(|form| form.argument())));
    args.extend(option(profile.resume, call.session_id()));
    args.extend(option(profile.effort, effort(profile, call)?));
    args.extend(option(profile.model, agent.model.as_deref()));
    args.extend(agent.command.iter().skip(1).cloned());
    args.extend(last);
    let mut set: Vec<(&str, String)> = profile
        .sets
        .iter()
        .map(|(name, value)| (*name, (*value).to_owned()))
        .collect();
    let mut files = Vec::new();
    if let Some((name, content)) = profile.defaults {
        let path = call
            .folder()
            .join(format!("{}-defaults.json", profile.name));
        set.push((name, path.to_string_lossy().into_owned()));
        files.push((path, content.to_owned()));
    }
    let mut env = environment(agent, request, profile.sees, std::env::vars_os());
    set.retain(|(name, _)| !agent.env.contains_key(*name));
    env.extend(
        set.into_iter()
            .map(|(name, value)| (name.into(), value.into())),
    );
    let plain = Invocation::plain(&program.path, args, env, &request.root);
    Ok(Invocation {
        stdin: prompt.as_bytes().to_vec(),
        streams: true,
        files,
        ..plain
    })
}

fn effort(profile: &Profile, call: &Call) -> Result<Option<&'static str>, AgentError> {
    let Call {
        agent,
        program,
        request,
        ..
    } = call;
    let Some(effort) = agent.effort else {
        let raised =
            profile.raises_effort && request.task.wants_effort() && program.names(profile.effort);
        return Ok(profile
            .effort_name
            .filter(|_| raised)
            .map(|name| name(Effort::High)));
    };
    if !profile.effort.is_empty() && !program.may_have(profile.effort) {
        let message = format!(
            "{program} has no `{}`, which `agents.{}.effort` needs",
            profile.effort, agent.name
        );
        return Err(AgentError::new(FailureKind::BadFlags, message).hint(format!(
            "update the agent's program, or remove the effort: `glee config unset agents.{}.effort`",
            agent.name
        )));
    }
    Ok(profile.effort_name.map(|name| name(effort)))
}

/// The form that the agent's whole answer must have; `None` if the answer can be prose.
pub fn whole(task: &Task) -> Option<JsonForm> {
    task.about().form.filter(|form| form.is_whole)
}

fn option(flag: &str, value: Option<impl Into<String>>) -> Vec<String> {
    match value.map(Into::into) {
        Some(value) if flag.ends_with('=') => vec![format!("{flag}{value}")],
        Some(value) if !flag.is_empty() => vec![flag.to_owned(), value],
        _ => Vec::new(),
    }
}

pub fn list(args: &[&str]) -> Vec<String> {
    args.iter().map(ToString::to_string).collect()
}
