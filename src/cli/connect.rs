//! `glee connect`: connect an agent in a role.

use serde_json::{Map, Value, json};

use super::Globals;
use super::change::{Target, say};
use super::error::{CommandError, CommandResult};
use super::load::{self, Places};
use crate::agents::locate;
use crate::config::schema::{BUILTINS, KNOWN_PROGRAMS};
use crate::config::settings::Settings;
use crate::config::{self, edit};
use crate::domain::{ExitReason, Role};

/// Arguments of `glee connect`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  glee connect claude --role coder --domain backend,rust
  glee connect codex --role reviewer --focus security
  glee connect claude --role judge --model opus
  glee connect builtin:rules --role reviewer
  glee connect mine --role reviewer --command './my-reviewer.sh --fast'

Glee knows claude, codex, gemini, opencode, qwen and copilot, and brings builtin:rules (a reviewer),
builtin:fixer (a coder) and builtin:referee (a judge). Any other program is connected with --command:
it reads the prompt on stdin and answers in prose, or with --adapter json in JSON.")]
pub(crate) struct Args {
    /// A program that Glee knows, an embedded agent, or any name together with --command
    agent: String,
    /// What it is to do: coder, reviewer, judge or aggregator
    #[arg(long)]
    role: Option<String>,
    /// Its name, instead of AGENT-ROLE
    #[arg(long)]
    name: Option<String>,
    /// The code a coder is for: path globs, languages, path components
    #[arg(long, value_delimiter = ',', value_name = "WORDS")]
    domain: Vec<String>,
    /// What a reviewer looks for
    #[arg(long, value_delimiter = ',', value_name = "WORDS")]
    focus: Vec<String>,
    /// The model to ask for
    #[arg(long)]
    model: Option<String>,
    /// The program and its arguments
    #[arg(long)]
    command: Option<String>,
    /// How it is spoken to, instead of what its command suggests: text, json, acp, or a known program's name
    #[arg(long)]
    adapter: Option<String>,
    /// The longest that one call may take, such as 10m
    #[arg(long)]
    timeout: Option<String>,
    /// Write your own file, for all projects, instead of the project's
    #[arg(long)]
    user: bool,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let role = role(args)?;
    let command = command(args, role)?;
    let name = args.name.clone().unwrap_or_else(|| default_name(&args.agent, role));
    let entry = entry(args, &name, role, &command)?;
    let (places, loaded) = load::settings(globals, Vec::new())?;
    if loaded.settings.agents.iter().any(|agent| agent.name.0 == name) {
        return Err(CommandError::usage(format!("there is already an agent `{name}`")).hint(format!(
            "give this one another name with `--name <name>`, or remove that one: `glee disconnect {name}`"
        )));
    }
    let target = Target::of(&places, args.user)?;
    target.change(&places, globals, |text| edit::add_agent(text, &entry))?;
    say(globals, &format!("`{name}` is connected as {role} ({})", target.name));
    if let Some(tip) = specialise(args, &name, role) {
        say(globals, &tip);
    }
    let (_, loaded) = load::settings(globals, Vec::new())?;
    warn_if_missing(&places, globals, &loaded.settings, &name);
    say(globals, &next_step(&loaded.settings));
    Ok(ExitReason::Clean)
}

fn role(args: &Args) -> Result<Role, CommandError> {
    let words = Role::ALL.map(Role::as_str);
    let all = "roles: coder, reviewer, judge, aggregator";
    let Some(typed) = &args.role else {
        return Err(CommandError::usage(format!("`{}` needs a role", args.agent))
            .hint(format!("{all}; for example `glee connect {} --role reviewer`", args.agent)));
    };
    Role::ALL.into_iter().find(|role| role.as_str() == typed).ok_or_else(|| {
        CommandError::usage(format!("there is no role `{typed}`")).hint(match config::closest(typed, words) {
            Some(word) => format!("{all}; did you mean `{word}`?"),
            None => all.to_owned(),
        })
    })
}

/// The command as it is written down.
fn command(args: &Args, role: Role) -> Result<String, CommandError> {
    if let Some(command) = &args.command {
        return Ok(command.clone());
    }
    let agent = args.agent.as_str();
    if let Some(kind) = agent.strip_prefix("builtin:") {
        return match BUILTINS.iter().find(|(name, _)| *name == kind) {
            Some((_, its)) if *its == role => Ok(agent.to_owned()),
            Some((_, its)) => Err(CommandError::usage(format!("`{agent}` is a {its} and cannot be a {role}"))
                .hint(format!("`glee connect {agent} --role {its}`"))),
            None => {
                let hint = match config::closest(kind, BUILTINS.map(|(name, _)| name)) {
                    Some(name) => format!("did you mean `builtin:{name}`?"),
                    None => "embedded agents: builtin:rules, builtin:fixer, builtin:referee".to_owned(),
                };
                Err(CommandError::usage(format!("there is no embedded agent `{agent}`")).hint(hint))
            }
        };
    }
    if KNOWN_PROGRAMS.contains(&agent) {
        return Ok(agent.to_owned());
    }
    let known = KNOWN_PROGRAMS.into_iter().chain(BUILTINS.map(|(name, _)| name));
    let hint = match config::closest(agent, known) {
        Some(name) if BUILTINS.iter().any(|(builtin, _)| *builtin == name) => {
            format!("did you mean `builtin:{name}`?")
        }
        Some(name) => format!("did you mean `{name}`?"),
        None => format!(
            "give its command: `glee connect {agent} --role {role} --command '<program> <arguments>'`; \
             Glee knows {}",
            KNOWN_PROGRAMS.join(", ")
        ),
    };
    Err(CommandError::usage(format!("`{agent}` is not a program that Glee knows")).hint(hint))
}

/// The embedded agents bear their own name; of a known program there may be one for each role.
pub(super) fn default_name(agent: &str, role: Role) -> String {
    match agent.strip_prefix("builtin:") {
        Some(kind) => kind.to_owned(),
        None => format!("{agent}-{role}"),
    }
}

/// The agent's entry in the file, every value checked as if it were set alone.
fn entry(args: &Args, name: &str, role: Role, command: &str) -> Result<Map<String, Value>, CommandError> {
    let mut entry = Map::new();
    let mut add = |key: &str, text: &str| -> Result<(), CommandError> {
        entry.insert(key.to_owned(), config::typed(&format!("agents.{name}.{key}"), text)?);
        Ok(())
    };
    add("name", name)?;
    add("command", command)?;
    if let Some(adapter) = &args.adapter {
        add("adapter", adapter)?;
    }
    add("role", role.as_str())?;
    for (key, words) in [("domain", &args.domain), ("focus", &args.focus)] {
        let words: Vec<&str> = words.iter().map(|word| word.trim()).filter(|word| !word.is_empty()).collect();
        if !words.is_empty() {
            add(key, &config::flow(&json!(words)))?;
        }
    }
    for (key, value) in [("model", &args.model), ("timeout", &args.timeout)] {
        if let Some(value) = value {
            add(key, value)?;
        }
    }
    Ok(entry)
}

/// Agents are specialists (design rule 1): one line says how to make this one so.
fn specialise(args: &Args, name: &str, role: Role) -> Option<String> {
    match role {
        Role::Coder if args.domain.is_empty() => {
            Some(format!("tip: say what code it is for: `glee config set agents.{name}.domain backend,rust`"))
        }
        Role::Reviewer if args.focus.is_empty() => {
            Some(format!("tip: say what it looks for: `glee config set agents.{name}.focus security,performance`"))
        }
        Role::Coder | Role::Reviewer | Role::Judge | Role::Aggregator => None,
    }
}

fn warn_if_missing(places: &Places, globals: &Globals, settings: &Settings, name: &str) {
    let Some(agent) = settings.agents.iter().find(|agent| agent.name.0 == name) else { return };
    if agent.adapter == "builtin" {
        return;
    }
    if let Err(error) = locate::find(&agent.command, &places.root, std::env::var_os("PATH").as_deref()) {
        say(globals, &format!("warning: {error}"));
        if let Some(hint) = error.hint(name) {
            say(globals, &format!("hint: {hint}"));
        }
    }
}

/// What to do next with these agents.
pub(super) fn next_step(settings: &Settings) -> String {
    let has = |role: Role| settings.agents.iter().any(|agent| agent.role == role);
    if !has(Role::Reviewer) {
        "next: connect a reviewer: `glee connect <agent> --role reviewer`".to_owned()
    } else if !has(Role::Coder) {
        "next: `glee review`; to have findings fixed: `glee connect <agent> --role coder`".to_owned()
    } else {
        "next: `glee review`, or `glee review --arbitrate` to have findings fixed and disputes settled".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::kind::AdapterKind;

    #[test]
    fn the_configuration_knows_the_adapters_there_are() {
        for kind in AdapterKind::ALL {
            assert_eq!(config::typed("agents.a.adapter", kind.as_str()).ok(), Some(json!(kind.as_str())));
        }
        assert_eq!(KNOWN_PROGRAMS, AdapterKind::PROGRAMS.map(AdapterKind::as_str));
    }
}
