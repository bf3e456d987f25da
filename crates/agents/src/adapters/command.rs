//! Builds the command line of an agent program from the program's [`Profile`] and a [`Call`].

use std::path::PathBuf;

use crate::adapters::profile;
use crate::process::environment::environment;
use crate::{AgentError, Call, Invocation, Profile};
use glee_model::domain::{Effort, FailureKind, PromptForm, PromptLength};
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
    if let Some(longest) = profile.longest_prompt {
        let (length, unit) = match longest {
            PromptLength::Bytes(_) => (prompt.len(), "bytes"),
            PromptLength::Characters(_) => (prompt.chars().count(), "characters"),
        };
        let most = longest.most();
        if length > most {
            let name = &profile.name;
            let message = format!(
                "the prompt for `{}` has {length} {unit}, `{name}` takes {most}",
                agent.name
            );
            let kind = FailureKind::TooLong;
            return Err(AgentError {
                kind,
                message,
                hint: profile::hint(profile, kind),
            });
        }
    }
    program.need(&profile.required)?;
    let form = whole(&request.task).filter(|_| program.names(&profile.schema));
    args.extend(option(&profile.schema, form.map(|form| form.argument())));
    args.extend(option(&profile.resume, call.session_id()));
    args.extend(option(&profile.effort, effort(profile, call)?));
    args.extend(option(&profile.model, agent.model.as_deref()));
    args.extend(agent.command.iter().skip(1).cloned());
    args.extend(last);
    let PromptPlace {
        args,
        stdin,
        mut files,
    } = place_prompt(profile, call, args)?;
    let mut set = profile.set.clone();
    for (name, content) in &profile.settings {
        let path = call
            .folder()
            .join(format!("{}-defaults.json", profile.name));
        set.insert(name.clone(), path.to_string_lossy().into_owned());
        files.push((path, content.clone()));
    }
    let pass: Vec<&str> = profile.pass.iter().map(String::as_str).collect();
    let mut env = environment(agent, request, &pass, std::env::vars_os());
    set.retain(|name, _| !agent.env.contains_key(name));
    env.extend(
        set.into_iter()
            .map(|(name, value)| (name.into(), value.into())),
    );
    let plain = Invocation::plain(&program.path, args, env, &request.root);
    Ok(Invocation {
        stdin,
        // How soon a program prints is known only of a program with an adapter.
        streams: agent.profile.is_none(),
        files,
        ..plain
    })
}

/// Where the prompt goes: into an argument, into a file, or else to stdin.
#[derive(Debug, Default)]
pub(super) struct PromptPlace {
    pub args: Vec<String>,
    pub stdin: Vec<u8>,
    pub files: Vec<(PathBuf, String)>,
}

/// Replaces `{prompt}`, `{prompt_file}`, `{model}` and `{session}` in the arguments. Without a model or a session, the
/// argument is left out, together with an option before it. Fails if the prompt is longer than an argument can be.
pub(super) fn place_prompt(
    profile: &Profile,
    call: &Call,
    mut args: Vec<String>,
) -> Result<PromptPlace, AgentError> {
    let contains = |args: &[String], text: &str| args.iter().any(|word| word.contains(text));
    let stands_for = match profile.prompt {
        Some(PromptForm::Argument) => Some(Profile::PROMPT),
        Some(PromptForm::File) => Some(Profile::PROMPT_FILE),
        Some(PromptForm::Stdin) | None => None,
    };
    args.extend(
        stands_for
            .filter(|text| !contains(&args, text))
            .map(str::to_owned),
    );
    // The record of the call has the prompt in the same file.
    let file = call.files.stdout.with_extension("prompt");
    let mut place = PromptPlace::default();
    let is_file = contains(&args, Profile::PROMPT_FILE);
    if is_file {
        place.files.push((file.clone(), call.prompt.to_string()));
    } else if !contains(&args, Profile::PROMPT) {
        place.stdin = call.prompt.as_bytes().to_vec();
    }
    let file = file.to_string_lossy();
    let optional = [
        (Profile::MODEL, call.agent.model.as_deref()),
        (Profile::SESSION, call.session_id()),
    ];
    for word in args {
        let lacks = |(text, value): &(&str, Option<&str>)| value.is_none() && word.contains(text);
        if optional.iter().any(lacks) {
            // The option whose value is left out.
            if optional.iter().any(|(text, _)| *text == word) {
                place.args.pop_if(|option| option.starts_with('-'));
            }
            continue;
        }
        // The prompt comes last, because it can contain the other texts.
        let mut filled = word;
        for (text, value) in optional {
            filled = filled.replace(text, value.unwrap_or_default());
        }
        filled = filled.replace(Profile::PROMPT_FILE, &file);
        filled = filled.replace(Profile::PROMPT, &call.prompt);
        if filled.len() > Profile::LONGEST_ARGUMENT {
            let message = format!(
                "the prompt for `{}` has {} bytes, an argument takes {}",
                call.agent.name,
                call.prompt.len(),
                Profile::LONGEST_ARGUMENT
            );
            return Err(AgentError::new(FailureKind::TooLong, message).hint(
                "let the program read the prompt from a file, with `{prompt_file}` in its arguments, or send less code \
                 in one call: `glee config set review.max_shard_size 16KiB`",
            ));
        }
        // An argument ends at a zero byte.
        place.args.push(filled.replace('\0', "\u{fffd}"));
    }
    Ok(place)
}

fn effort<'a>(profile: &'a Profile, call: &Call) -> Result<Option<&'a str>, AgentError> {
    let Call {
        agent,
        program,
        request,
        ..
    } = call;
    let Some(effort) = agent.effort else {
        let raised =
            profile.raises_effort && request.task.wants_effort() && program.names(&profile.effort);
        return Ok(profile.effort_name(Effort::High).filter(|_| raised));
    };
    if !profile.effort.is_empty() && !program.may_have(&profile.effort) {
        let message = format!(
            "{program} has no `{}`, which `agents.{}.effort` needs",
            profile.effort, agent.name
        );
        return Err(AgentError::new(FailureKind::BadFlags, message).hint(format!(
            "update the agent's program, or remove the effort: `glee config unset agents.{}.effort`",
            agent.name
        )));
    }
    Ok(profile.effort_name(effort))
}

/// The form that the agent's whole answer must have; `None` if the answer can be prose.
pub fn whole(task: &Task) -> Option<JsonForm> {
    task.form().filter(|form| form.is_whole)
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
