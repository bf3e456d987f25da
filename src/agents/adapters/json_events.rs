//! Programs that print their work as JSON, one event a line: what all of them have in common.
//!
//! A program has succeeded only if it ended with 0, said itself that it is done, flagged no error and left a text that
//! is not blank. Everything else is a failure of a kind, with what there was of the text kept beside it.

use serde_json::Value;

use crate::agents::adapters::interface::TELLING;
use crate::agents::adapters::invocation::{Invocation, Query};
use crate::agents::error::AgentError;
use crate::agents::process::environment::environment;
use crate::domain::FailureKind;

/// The command line of a program that takes its prompt on stdin, in the tree's root. `sees` are the variables it may
/// see beyond every agent's, `set` those that are set for it where the configuration does not.
pub(crate) fn invocation(
    query: &Query<'_>,
    args: Vec<String>,
    sees: &[&str],
    set: &[(&str, String)],
) -> Invocation {
    let sees: Vec<&str> = sees.iter().chain(&NETWORK).copied().collect();
    let mut env = environment(query.agent, query.request, &sees, std::env::vars_os());
    for (name, value) in set {
        if !query.agent.env.contains_key(*name) {
            env.insert(name.into(), value.into());
        }
    }
    let plain = Invocation::plain(&query.program.path, args, env, &query.request.root);
    Invocation { stdin: query.prompt.into(), streams: true, ..plain }
}

const NETWORK: [&str; 7] =
    ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy", "NODE_EXTRA_CA_CERTS"];

/// Refuses a prompt that is longer than a program takes. Some cut it silently.
pub(crate) fn fits(
    query: &Query<'_>,
    name: &str,
    length: usize,
    longest: usize,
    unit: &str,
) -> Result<(), AgentError> {
    if length <= longest {
        return Ok(());
    }
    let about = format!("the prompt for `{}` has {length} {unit}, `{name}` takes {longest}", query.agent.name);
    Err(AgentError::new(FailureKind::TooLong, about)
        .hint("review less at a time: `glee config set review.max_shard_size 64KiB`"))
}

/// The arguments of a configuration, which come after the adapter's own.
pub(crate) fn own_args<'a>(query: &'a Query<'_>) -> impl Iterator<Item = String> + 'a {
    query.agent.command.iter().skip(1).cloned()
}

pub(crate) fn option(flag: &str, value: Option<impl Into<String>>) -> impl Iterator<Item = String> {
    value.into_iter().flat_map(move |value| [flag.to_owned(), value.into()])
}

pub(crate) fn list(args: &[&str]) -> Vec<String> {
    args.iter().map(ToString::to_string).collect()
}

/// What a piece of written text tells: its last words, or only that something is written.
pub(crate) fn writing(text: &str) -> Option<String> {
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
    Some(if line.chars().count() < TELLING { "writing".to_owned() } else { line.to_owned() })
}

/// What the use of a tool tells: its name and what it is used on.
pub(crate) fn using(name: &str, input: &Value) -> String {
    const ABOUT: [&str; 9] =
        ["file_path", "path", "filePath", "absolute_path", "pattern", "command", "query", "url", "description"];
    let about = ABOUT.iter().find_map(|key| input.get(key)?.as_str()).unwrap_or_default();
    let about = about.lines().next().unwrap_or_default();
    format!("{name} {about}").trim().to_owned()
}
