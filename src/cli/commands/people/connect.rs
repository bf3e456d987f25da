//! `glee connect`: connects an agent in a role.

use serde_json::{Map, Value, json};

use crate::cli::context::{
    CommandError, CommandResult, ConfigTarget, Globals, Places, UserFlag, names, settings,
};
use glee_agents::probe::locate;
use glee_agents::probe::login::{Login, login};
use glee_model::domain::{Advice as _, Agent, ExitReason, Role};
use glee_store::config;
use glee_store::config::files::edit::{self, EditError};
use glee_store::config::programs;
use glee_store::config::schema::BUILTINS;
use glee_store::config::schema::address::{self, ModelAddress};
use glee_store::config::settings::Settings;
use glee_workflows::review::plan;

/// Connect an agent in a role
#[derive(Clone, clap::Args)]
#[command(after_help = "\
Examples:
  glee connect claude --role coder --domain backend,rust
  glee connect codex --role reviewer --focus security
  glee connect claude --role judge --model opus
  glee connect builtin:rules --role reviewer
  glee connect http://127.0.0.1:11434/v1 --model qwen3-coder --role reviewer
  glee connect openai:gpt-5.2 --role judge
  glee connect mine --role reviewer --command './my-reviewer.sh --fast'
  glee connect mine --role reviewer --command 'mycoder -p {prompt}'

Glee supports claude, codex, gemini, opencode, qwen and copilot, knows the programs that `glee agents \
--known` lists, and includes builtin:rules (a reviewer), builtin:fixer (a coder) and builtin:referee \
(a judge). Connect any other program with --command. The program reads the prompt from stdin, or where \
its command has {prompt} or {prompt_file}, and answers in prose, or in JSON with --adapter json. A model \
needs no program: give the address of its server, or openai:, anthropic:, gemini: or ollama: and the \
model.")]
pub(crate) struct Args {
    /// The agent: a supported program, an embedded agent, the address of a model's server, a connected agent that gets
    /// another role, or a new name together with `--command`
    agent: String,
    /// The role of the agent: coder, reviewer, judge or aggregator
    #[arg(long)]
    role: Option<String>,
    /// The name of the agent [default: AGENT-ROLE]
    #[arg(long)]
    name: Option<String>,
    /// The code that a coder works on, as path globs, languages or path components
    #[arg(long, value_delimiter = ',', value_name = "WORDS")]
    domain: Vec<String>,
    /// The kinds of problems that a reviewer looks for
    #[arg(long, value_delimiter = ',', value_name = "WORDS")]
    focus: Vec<String>,
    /// The model that the agent uses
    #[arg(long)]
    model: Option<String>,
    /// The command line of the agent: a program and its arguments
    #[arg(long)]
    command: Option<String>,
    /// The adapter for the agent's program: text, json, acp, or the name of a supported program [default: derived
    /// from the command]
    #[arg(long)]
    adapter: Option<String>,
    /// The profile of the agent's program: the name of a known program, or of a file `profiles/NAME.yml` beside the
    /// configuration
    #[arg(long)]
    profile: Option<String>,
    /// The time limit of one call of the agent, such as 10m
    #[arg(long)]
    timeout: Option<String>,
    #[command(flatten)]
    file: UserFlag,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let role = role(args)?;
    let named = named(args, role)?;
    let args = named.as_ref().unwrap_or(args);
    let loaded = settings::load(globals)?;
    let agents = &loaded.settings.agents;
    let named = agents.iter().find(|agent| agent.name.0 == args.agent);
    // `glee connect mine --role reviewer --command ...` creates the agent `mine-reviewer`. A later command can use
    // the short name `mine`. For this short name, the variable `twin` is the agent `mine-reviewer`.
    let twin = named.or_else(|| {
        let is_program = programs::known(&args.agent).is_some();
        agents
            .iter()
            .find(|agent| !is_program && agent.name.0 == default_name(&args.agent, agent.role))
    });
    // If neither `--name` nor `--command` is given, and exactly one agent runs the program in this role, Glee
    // updates this agent.
    let mut same = agents
        .iter()
        .filter(|agent| agent.role == role && names::runs(agent, &args.agent));
    let same = same
        .next()
        .filter(|_| same.next().is_none() && args.command.is_none());
    let name = match (&args.name, twin) {
        (Some(name), _) => name.clone(),
        (None, Some(twin)) if twin.role == role => twin.name.0.clone(),
        (None, _) if let Some(same) = same => same.name.0.clone(),
        (None, _) => default_name(&args.agent, role),
    };
    let known = agents.iter().find(|agent| agent.name.0 == name);
    if let Some(other) = known.filter(|known| known.role != role) {
        let hint = format!(
            "choose another name with `--name <name>`, or remove the existing agent: `glee disconnect {name}`"
        );
        return Err(CommandError::usage(format!(
            "the agent `{name}` already exists and is a {}",
            other.role
        ))
        .hint(hint));
    }
    let target = ConfigTarget::find(globals, args.file.user)?;
    match known {
        Some(known) => {
            let update = update(args, known, role)?;
            if update.is_empty() {
                globals.say(format!(
                    "`{name}` is connected as {role} already; nothing to change"
                ));
                return Ok(ExitReason::Clean);
            }
            target.change(|text| changed(text, &name, &update))?;
            let changes = update
                .iter()
                .map(|(key, value)| format!("{key} = {}", config::flow(value)));
            let changes = changes.collect::<Vec<_>>().join(", ");
            globals.say(format!("`{name}` is updated ({}): {changes}", target.name));
        }
        None => {
            let entry = match twin.filter(|_| args.command.is_none()) {
                Some(twin) => further(args, twin, &name, role)?,
                None => entry(args, &name, role, &command(args, role)?)?,
            };
            target.change(|text| edit::add_agent(text, &entry))?;
            globals.say(format!("`{name}` is connected as {role} ({})", target.name));
        }
    }
    // Glee suggests a domain for a coder and a focus for a reviewer (design rule 1: agents are specialists).
    match role {
        Role::Coder if args.domain.is_empty() => globals.say(format!(
            "tip: name the code that the agent handles: `glee config set agents.{name}.domain backend,rust`"
        )),
        Role::Reviewer if args.focus.is_empty() => globals.say(format!(
            "tip: name the focus of the agent: `glee config set agents.{name}.focus security,performance`"
        )),
        Role::Coder | Role::Reviewer | Role::Judge | Role::Aggregator => {}
    }
    let loaded = settings::load(globals)?;
    if let Some(note) = other_judge(&loaded.settings, &name) {
        globals.say(&note);
    }
    warn_if_missing(&target.places, globals, &loaded.settings, &name);
    globals.say(next_step(&loaded.settings));
    Ok(ExitReason::Clean)
}

/// The new agent takes the adapter, the model and the environment variables from `twin`, unless `args` sets them.
fn further(
    args: &Args,
    twin: &Agent,
    name: &str,
    role: Role,
) -> Result<Map<String, Value>, CommandError> {
    let command = command_line(twin, role)?;
    let mut entry = entry(args, name, role, &command)?;
    let needs_adapter = config::typed("agents.a.command", &command).is_ok() && !twin.is_embedded();
    let kept = [
        ("adapter", needs_adapter.then(|| json!(twin.adapter))),
        ("model", twin.model.as_ref().map(|model| json!(model))),
        ("env", (!twin.env.is_empty()).then(|| json!(twin.env))),
        (
            "profile",
            twin.profile
                .as_ref()
                .map(|profile| programs::written(profile)),
        ),
    ];
    for (key, value) in kept {
        if let Some(value) = value {
            entry.entry(key).or_insert(value);
        }
    }
    Ok(entry)
}

fn command_line(agent: &Agent, role: Role) -> Result<String, CommandError> {
    if !agent.is_embedded() || agent.role == role {
        return Ok(shlex::try_join(agent.command.iter().map(String::as_str))
            .unwrap_or_else(|_| agent.command.join(" ")));
    }
    let name = &agent.name;
    Err(CommandError::usage(format!(
        "the embedded agent `{name}` is a {} and cannot be a {role}",
        agent.role
    ))
    .hint(format!(
        "connect a program instead: `glee connect <agent> --role {role}`"
    )))
}

/// Returns the keys whose values in `args` differ from the values in `known`.
fn update(args: &Args, known: &Agent, role: Role) -> Result<Map<String, Value>, CommandError> {
    let name = known.name.0.as_str();
    let mut update = entry(
        args,
        name,
        role,
        args.command.as_deref().unwrap_or("claude"),
    )?;
    for key in ["name", "role"] {
        update.remove(key);
    }
    if args.command.is_none() {
        update.remove("command");
    }
    update.retain(|key, value| match key.as_str() {
        "command" => value.as_str().and_then(shlex::split).as_ref() != Some(&known.command),
        "adapter" => *value != json!(known.adapter),
        "domain" => *value != json!(known.domain),
        "focus" => *value != json!(known.focus),
        "model" => *value != json!(known.model),
        _ => true,
    });
    Ok(update)
}

/// Writes the keys of `update` into the agent's entry in the configuration `text`. If the agent is defined in
/// another file, the function adds an entry to `text`.
fn changed(text: &str, name: &str, update: &Map<String, Value>) -> Result<String, EditError> {
    let changed = update
        .iter()
        .try_fold(text.to_owned(), |text, (key, value)| {
            edit::set(&text, &format!("agents.{name}.{key}"), value)
        });
    match changed {
        Err(EditError::NoAgent(_)) => {
            let mut entry = Map::from_iter([("name".to_owned(), json!(name))]);
            entry.extend(update.clone());
            edit::add_agent(text, &entry)
        }
        changed => changed,
    }
}

fn role(args: &Args) -> Result<Role, CommandError> {
    let words = Role::ALL.map(Role::as_str);
    let all = "roles: coder, reviewer, judge, aggregator";
    let Some(typed) = &args.role else {
        return Err(
            CommandError::usage(format!("`{}` needs a role", args.agent)).hint(format!(
                "{all}; for example `glee connect {} --role reviewer`",
                args.agent
            )),
        );
    };
    Role::ALL
        .into_iter()
        .find(|role| role.as_str() == typed)
        .ok_or_else(|| {
            CommandError::usage(format!("there is no role `{typed}`")).hint(
                match config::closest(typed, words) {
                    Some(word) => format!("{all}; did you mean `{word}`?"),
                    None => all.to_owned(),
                },
            )
        })
}

/// A model by its address is called by the name of the model: `glee connect ollama:qwen3` is
/// `glee connect qwen3 --command ollama: --model qwen3`. Returns `None` for every other agent.
fn named(args: &Args, role: Role) -> Result<Option<Args>, CommandError> {
    let given = args.command.as_ref().unwrap_or(&args.agent);
    let mut words = shlex::split(given).unwrap_or_default();
    let mut model = args.model.clone();
    match words.first_mut() {
        Some(word) if address::is_address(word) => {
            if let Some((prefix, own)) = address::split_model(word) {
                if let Some(other) = model.filter(|other| other != own) {
                    return Err(CommandError::usage(format!(
                        "`{word}` and `--model {other}` name two models"
                    ))
                    .hint(format!("name one: `{prefix}{other}`")));
                }
                model = Some(own.to_owned());
                *word = prefix.to_owned();
            }
        }
        _ => return Ok(None),
    }
    if let Err(error) = ModelAddress::check(&words, role, model.as_deref()) {
        let refused = CommandError::usage(error.to_string());
        return Err(match error.hint() {
            Some(hint) => refused.hint(hint),
            None => refused,
        });
    }
    let mut name = args.agent.clone();
    if args.command.is_none() {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let plain = model.iter().flat_map(|model| model.chars());
        let plain: String = plain.map(|c| if is_plain(c) { c } else { '-' }).collect();
        plain
            .trim_start_matches(['.', '_', '-'])
            .clone_into(&mut name);
    }
    Ok(Some(Args {
        agent: name,
        command: Some(words.join(" ")),
        model,
        ..args.clone()
    }))
}

fn command(args: &Args, role: Role) -> Result<String, CommandError> {
    if let Some(command) = &args.command {
        return Ok(command.clone());
    }
    let agent = args.agent.as_str();
    if let Some(kind) = agent.strip_prefix("builtin:") {
        return match BUILTINS.iter().find(|(name, _)| *name == kind) {
            Some((_, its)) if *its == role => Ok(agent.to_owned()),
            Some((_, its)) => Err(CommandError::usage(format!(
                "`{agent}` is a {its} and cannot be a {role}"
            ))
            .hint(format!("`glee connect {agent} --role {its}`"))),
            None => {
                let hint = match config::closest(kind, BUILTINS.map(|(name, _)| name)) {
                    Some(name) => format!("did you mean `builtin:{name}`?"),
                    None => "use an embedded agent: builtin:rules, builtin:fixer, builtin:referee"
                        .to_owned(),
                };
                Err(CommandError::usage(format!("there is no embedded agent `{agent}`")).hint(hint))
            }
        };
    }
    if programs::known(agent).is_some() {
        return Ok(agent.to_owned());
    }
    let names = programs::all().iter().map(|profile| profile.name.as_str());
    let known = names.chain(BUILTINS.map(|(name, _)| name));
    let hint = match config::closest(agent, known) {
        Some(name) if BUILTINS.iter().any(|(builtin, _)| *builtin == name) => {
            format!("did you mean `builtin:{name}`?")
        }
        Some(name) => format!("did you mean `{name}`?"),
        None => format!(
            "give its command: `glee connect {agent} --role {role} --command '<program> <arguments>'`; \
             `glee agents --known` lists the programs that Glee knows"
        ),
    };
    Err(CommandError::usage(format!("`{agent}` is not a supported program")).hint(hint))
}

/// Appends the role to the name of a program, because several agents can run the same program in different roles. A
/// name that says its role is kept.
pub(crate) fn default_name(agent: &str, role: Role) -> String {
    match agent.strip_prefix("builtin:") {
        Some(kind) => kind.to_owned(),
        None if agent.ends_with(role.as_str()) => agent.to_owned(),
        None => format!("{agent}-{role}"),
    }
}

fn entry(
    args: &Args,
    name: &str,
    role: Role,
    command: &str,
) -> Result<Map<String, Value>, CommandError> {
    let mut texts = vec![("name", name.to_owned()), ("command", command.to_owned())];
    texts.extend(args.adapter.clone().map(|adapter| ("adapter", adapter)));
    texts.push(("role", role.as_str().to_owned()));
    for (key, words) in [("domain", &args.domain), ("focus", &args.focus)] {
        let words: Vec<&str> = words
            .iter()
            .map(|word| word.trim())
            .filter(|word| !word.is_empty())
            .collect();
        if !words.is_empty() {
            texts.push((key, config::flow(&json!(words))));
        }
    }
    for (key, value) in [
        ("model", &args.model),
        ("timeout", &args.timeout),
        ("profile", &args.profile),
    ] {
        texts.extend(value.clone().map(|value| (key, value)));
    }
    let mut entry = Map::new();
    for (key, text) in texts {
        let value = config::typed(&format!("agents.{name}.{key}"), &text)?;
        entry.insert(key.to_owned(), value);
    }
    Ok(entry)
}

fn warn_if_missing(places: &Places, globals: &Globals, settings: &Settings, name: &str) {
    let Some(agent) = settings.agents.iter().find(|agent| agent.name.0 == name) else {
        return;
    };
    if agent.adapter == "builtin" {
        return;
    }
    if agent.adapter == "address" {
        if let Login::Missing(how) = login(agent) {
            globals.say(format!("warning: the key of `{name}` is not set"));
            globals.say(format!("hint: {how}"));
        }
        return;
    }
    if let Err(error) = locate::find(
        &agent.command,
        &places.root,
        std::env::var_os("PATH").as_deref(),
    ) {
        globals.say(format!("warning: {error}"));
        if let Some(hint) = error.hint(name) {
            globals.say(format!("hint: {hint}"));
        }
    }
}

/// Says that another judge still rules, if the connected judge rules on nothing.
fn other_judge(settings: &Settings, connected: &str) -> Option<String> {
    let is_judge = |agent: &&Agent| agent.role == Role::Judge && agent.name.0 == connected;
    settings.agents.iter().find(is_judge)?;
    let judges = plan::judges(settings).ok()?;
    let first = &judges.first()?.name.0;
    judges.iter().all(|judge| judge.name.0 != connected).then(|| {
        format!(
            "note: `{connected}` is not used: `{first}` was connected first, and rules. Have `{connected}` rule: `glee \
             disconnect {first}`; three judges can rule together: see `review.judge.panel`"
        )
    })
}

pub(crate) fn next_step(settings: &Settings) -> String {
    let has = |role: Role| settings.agents.iter().any(|agent| agent.role == role);
    if !has(Role::Reviewer) {
        "next: connect a reviewer: `glee connect <agent> --role reviewer`".to_owned()
    } else if !has(Role::Coder) {
        "next: `glee review`; to have findings fixed: `glee connect <agent> --role coder`"
            .to_owned()
    } else {
        "next: `glee review`, or `glee review --arbitrate` to have findings fixed and disputes settled".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glee_agents::adapters::registry::AdapterKind;

    #[test]
    fn the_configuration_knows_the_adapters_there_are() {
        for kind in AdapterKind::ALL {
            assert_eq!(
                config::typed("agents.a.adapter", kind.as_str()).ok(),
                Some(json!(kind.as_str()))
            );
        }
        assert_eq!(
            programs::KNOWN_PROGRAMS,
            AdapterKind::PROGRAMS.map(AdapterKind::as_str)
        );
    }
}
