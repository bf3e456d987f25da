//! `glee config`: reads and changes settings.

use std::path::Path;
use std::process;

use serde_json::{Map, Value, json};

use crate::cli::context::{
    CommandError, CommandResult, ConfigTarget, Globals, HEAD, JsonFlag, UserFlag, names, pretty,
    print, settings, stream,
};
use crate::cli::style;
use crate::cli::ui::dialogs::questions;
use glee_agents::adapters::registry;
use glee_model::domain::ExitReason;
use glee_protocol::secrets;
use glee_store::config::files::edit;
use glee_store::config::presets::Preset;
use glee_store::config::schema::{self, SettingKey};
use glee_store::config::{self, Loaded, Origin, Setting, opposite_lists, tags_without};

/// Read and change settings
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  glee config set review.on_dispute.default judge
  glee config set agents.claude-coder.domain backend,rust
  glee config list --origin

Glee reads each value from these sources, and uses the last source that sets the value: the built-in default, \
the user's file (--user), the project's .glee/config.yml, an environment variable (such as \
GLEE_REVIEW_MAX_FILE_SIZE for review.max_file_size), and the command line.")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Print the value of a key, or all values of a section
    #[command(after_help = "Example:\n  glee config get review.on_dispute.default")]
    Get {
        /// A key such as `review.rounds` or `agents.<name>.role`, or a section such as `limits`
        key: String,
        #[command(flatten)]
        output: JsonFlag,
    },
    /// Show a key: its value, its source, what it means, and which values it takes
    #[command(after_help = "Example:\n  glee config show review.on_dispute.default")]
    Show {
        /// A key such as `review.rounds` or `agents.<name>.role`, or a section such as `limits`
        key: String,
        #[command(flatten)]
        output: JsonFlag,
    },
    /// Set the value of a key, and keep the comments, the order and the quoting of the file
    #[command(after_help = "\
Examples:
  glee config set review.on_dispute.default judge
  glee config set review.issues.mandatory HIGH,MEDIUM
  glee config set --user limits.call_timeout 45m")]
    Set {
        /// A key such as `review.rounds` or `agents.<name>.role`
        key: String,
        /// The new value (a list is written as `a,b` or `[a, b]`)
        #[arg(allow_hyphen_values = true)]
        value: String,
        #[command(flatten)]
        file: UserFlag,
    },
    /// Remove a key from the configuration file, so that the default applies
    #[command(after_help = "Example:\n  glee config unset review.rounds")]
    Unset {
        /// A key such as `review.rounds` or `agents.<name>.model`
        key: String,
        #[command(flatten)]
        file: UserFlag,
    },
    /// Print the values of all keys and what they mean, and mark what differs from the default
    #[command(after_help = "Example:\n  glee config list --origin")]
    List {
        /// Print the source of each value instead of its meaning
        #[arg(long)]
        origin: bool,
        #[command(flatten)]
        output: JsonFlag,
    },
    /// Edit the configuration file in your editor, and save the edited file if the new content is valid
    #[command(after_help = "Example:\n  EDITOR=nano glee config edit")]
    Edit(UserFlag),
    /// Print the path of the configuration file
    #[command(after_help = "Example:\n  glee config path --user")]
    Path {
        #[command(flatten)]
        file: UserFlag,
        #[command(flatten)]
        output: JsonFlag,
    },
    /// Print the JSON Schema of the configuration file
    #[command(after_help = "Example:\n  glee config schema > config.schema.json")]
    Schema,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    match &args.command {
        Command::Get { key, output } => get(globals, &full_key(globals, key)?, output),
        Command::Show { key, output } => show(globals, &full_key(globals, key)?, output),
        Command::Set { key, value, file } => {
            set(globals, &full_key(globals, key)?, value, file.user)
        }
        Command::Unset { key, file } => unset(globals, &full_key(globals, key)?, file.user),
        Command::List { output, .. } if output.json => list_json(globals, None),
        Command::List { origin, .. } => list(globals, *origin),
        Command::Edit(file) => edit_file(globals, file.user),
        Command::Path { file, output } => path(globals, file.user, output),
        Command::Schema => redacted(format!("{:#}\n", schema::json_schema())),
    }
}

/// Returns the full key, in which an abbreviated agent name becomes a full name.
fn full_key(globals: &Globals, key: &str) -> Result<String, CommandError> {
    names::full_key(&settings::agents(globals), key)
}

fn path(globals: &Globals, user: bool, output: &JsonFlag) -> CommandResult {
    let path = ConfigTarget::find(globals, user)?.path;
    redacted(if output.json {
        pretty(&json!({ "path": path.display().to_string(), "exists": path.exists() }))
    } else {
        format!("{}\n", path.display())
    })
}

fn get(globals: &Globals, key: &str, output: &JsonFlag) -> CommandResult {
    let loaded = settings::load(globals)?;
    require(&loaded, key)?;
    if output.json {
        return list_json(globals, Some(key));
    }
    if let Some(setting) = loaded.values.get(key) {
        return redacted(format!("{}\n", plain(key, &setting.value)));
    }
    let settings = loaded.values.iter();
    let settings = settings.filter(|(name, _)| is_within(name, key));
    redacted(
        settings
            .map(|(name, setting)| assigned(name, setting) + "\n")
            .collect::<String>(),
    )
}

/// Fails if there is neither the key nor a section of this name.
fn require(loaded: &Loaded, key: &str) -> Result<(), CommandError> {
    if loaded.values.keys().any(|name| is_within(name, key)) {
        Ok(())
    } else {
        Err(missing(loaded, key))
    }
}

/// Whether a name is the key, or a key of the section.
fn is_within(name: &str, key: &str) -> bool {
    let rest = name.strip_prefix(key);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// A line of the form `key = value`.
fn assigned(key: &str, setting: &Setting) -> String {
    format!(
        "{key} = {}",
        plain(key, &config::shown(key, &setting.value))
    )
}

fn show(globals: &Globals, key: &str, output: &JsonFlag) -> CommandResult {
    let loaded = settings::load(globals)?;
    require(&loaded, key)?;
    if output.json {
        return list_json(globals, Some(key));
    }
    let style = globals.table_style();
    let mut shown = String::new();
    let settings = loaded.values.iter();
    for (name, setting) in settings.filter(|(name, _)| is_within(name, key)) {
        let gap = if shown.is_empty() { "" } else { "\n" };
        let head = style.strong(assigned(name, setting));
        shown += &format!("{gap}{head}  {}\n", style.faint(setting.origin.label()));
        let Some(known) = schema::of_setting(name) else {
            continue;
        };
        let mut facts = vec![known.meaning()];
        let words = known.words();
        if !words.is_empty() {
            facts.push(format!("One of: {}", words.join(", ")));
        }
        if !known.default.is_null() {
            facts.push(format!("Default: {}", plain(name, &known.default)));
            facts.push(format!("Variable: {}", schema::variable(name)));
        }
        for fact in facts
            .iter()
            .flat_map(|fact| style::wrap(fact, style.width.saturating_sub(2)))
        {
            shown += &format!("  {fact}\n");
        }
    }
    redacted(&shown)
}

fn missing(loaded: &Loaded, key: &str) -> CommandError {
    if key == "agents" {
        return CommandError::usage("no agent is connected").hint(
            "connect an agent with `glee connect <agent> --role coder|reviewer|judge|aggregator`",
        );
    }
    let Some(rest) = key.strip_prefix("agents.") else {
        return config::unknown_key(key).into();
    };
    let (name, field) = rest.rsplit_once('.').unwrap_or((rest, ""));
    let agents = loaded
        .settings
        .agents
        .iter()
        .map(|agent| agent.name.0.as_str());
    if agents.clone().any(|agent| agent == name) {
        return match config::typed(key, "") {
            Err(error @ config::ConfigError::UnknownKey { .. }) => error.into(),
            _ => CommandError::usage(format!("`{key}` is not set"))
                .hint(format!("set the key with `glee config set {key} <value>`")),
        };
    }
    let name = if field.is_empty() { rest } else { name };
    CommandError::usage(format!("there is no agent `{name}`")).hint(
        match config::closest(name, agents) {
            Some(agent) => format!("did you mean `{agent}`?"),
            None => "`glee agents` lists the connected agents".to_owned(),
        },
    )
}

fn set(globals: &Globals, key: &str, text: &str, user: bool) -> CommandResult {
    let value = config::typed(key, text)?;
    check_effort(globals, key, &value)?;
    let target = ConfigTarget::find(globals, user)?;
    let others = lists_without(globals, key, &value, &target);
    target.change(|text| {
        let mut text = text.to_owned();
        for (other, rest) in &others {
            text = edit::set(&text, other, rest)?;
        }
        edit::set(&text, key, &value)
    })?;
    for (key, value) in others.iter().chain([&(key.to_owned(), value)]) {
        globals.say(format!("{key} = {} ({})", plain(key, value), target.name));
    }
    overridden(globals, key, &target)
}

/// A tag is mandatory or optional. Returns the lists of the same file that lose tags to the new value of `key`.
fn lists_without(
    globals: &Globals,
    key: &str,
    value: &Value,
    target: &ConfigTarget<'_>,
) -> Vec<(String, Value)> {
    let lists = opposite_lists(key);
    let (false, Ok(loaded)) = (lists.is_empty(), settings::load(globals)) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for list in lists {
        let Some(Setting {
            origin,
            value: known,
        }) = loaded.values.get(*list)
        else {
            continue;
        };
        let rest = json!(tags_without(known, value));
        let is_of_file = matches!(origin, Origin::File { owner, .. } if *owner == target.owner);
        if is_of_file && rest != *known {
            found.push(((*list).to_owned(), rest));
        }
    }
    found
}

/// Fails if the value is an effort of a known agent whose program takes none: a review would refuse it.
fn check_effort(globals: &Globals, key: &str, value: &Value) -> Result<(), CommandError> {
    let name = key
        .strip_prefix("agents.")
        .and_then(|key| key.strip_suffix(".effort"));
    let (Some(name), Ok(loaded)) = (name, settings::load(globals)) else {
        return Ok(());
    };
    let mut agents = loaded.settings.agents.into_iter();
    let Some(mut agent) = agents.find(|agent| agent.name.0 == name) else {
        return Ok(());
    };
    agent.effort = serde_json::from_value(value.clone()).ok();
    Ok(registry::check_effort(&agent)?)
}

fn unset(globals: &Globals, key: &str, user: bool) -> CommandResult {
    let target = ConfigTarget::find(globals, user)?;
    if target.read()?.is_none() {
        return Err(CommandError::usage(format!(
            "`{key}` is not set: there is no {}",
            target.name
        ))
        .hint("`glee config list --origin` shows the source of every value"));
    }
    target.change(|text| edit::unset(text, key))?;
    let loaded = settings::load(globals)?;
    let now = loaded.values.get(key).map(|setting| {
        format!(
            "; now {} ({})",
            plain(key, &setting.value),
            setting.origin.label()
        )
    });
    globals.say(format!(
        "{key} is no longer set in {}{}",
        target.name,
        now.unwrap_or_default()
    ));
    Ok(ExitReason::Clean)
}

/// Prints a note if a source with higher precedence sets the same key. The new value then has no effect.
fn overridden(globals: &Globals, key: &str, target: &ConfigTarget<'_>) -> CommandResult {
    // An error of `settings::load` is ignored. The changed file is valid, so the error comes from another file or
    // an environment variable.
    if let Ok(loaded) = settings::load(globals)
        && let Some(Setting { origin, value }) = loaded.values.get(key)
        && !matches!(origin, Origin::File { owner, .. } if *owner == target.owner)
    {
        globals.say(format!(
            "note: the value remains {} here, because of {}",
            plain(key, value),
            origin.label()
        ));
    }
    Ok(ExitReason::Clean)
}

fn list(globals: &Globals, origin: bool) -> CommandResult {
    let loaded = settings::load(globals)?;
    let style = globals.table_style();
    // Cells with more than 48 characters do not widen the first column. Otherwise the second column would not fit on the
    // screen.
    let lengths = loaded.values.iter();
    let lengths = lengths.map(|(key, setting)| assigned(key, setting).chars().count());
    let width = lengths.filter(|length| *length <= 48).max();
    let width = width.unwrap_or_default();
    let mut lines = String::new();
    let mut section = "";
    for (key, setting) in &loaded.values {
        let of = key.split('.').next().unwrap_or_default();
        if !lines.is_empty() && of != section {
            lines.push('\n');
        }
        section = of;
        // A value that a file repeats differs from nothing.
        let default = schema::of_setting(key).map(|known| &known.default);
        let mark = if setting.origin == Origin::Default || default == Some(&setting.value) {
            ' '
        } else {
            '*'
        };
        let about = if origin {
            setting.origin.label()
        } else {
            let meaning = schema::of_setting(key).map(SettingKey::meaning);
            let meaning = meaning.unwrap_or_default();
            let first = meaning.split(". ").next();
            first.unwrap_or_default().trim_end_matches('.').to_owned()
        };
        let head = format!("{:width$} {mark} ", assigned(key, setting));
        let row = format!("{head}{about}");
        if style::columns(row.trim_end()) <= style.width {
            lines += &format!("{}\n", row.trim_end());
            continue;
        }
        lines += &format!("{}\n", style.cut(head.trim_end(), style.width));
        for line in style::wrap(&about, style.width.saturating_sub(4)) {
            lines += &format!("    {line}\n");
        }
    }
    let mut notes =
        "\n* differs from the default; `glee config show KEY` shows a key in full\n".to_owned();
    for preset in Preset::ALL.iter() {
        notes += &format!("`glee review {}` sets {}\n", preset.flag, preset.sentence());
    }
    redacted(&(lines + &style::fit(&notes, style.width)))
}

/// Prints the values and the origins of the keys, or of one key or section.
fn list_json(globals: &Globals, only: Option<&str>) -> CommandResult {
    let loaded = settings::load(globals)?;
    let rows: Map<String, Value> = loaded
        .values
        .iter()
        .filter(|(key, _)| only.is_none_or(|only| is_within(key, only)))
        .map(|(key, setting)| {
            let mut row = json!({"value": config::shown(key, &setting.value), "origin": setting.origin.layer()});
            if let Some(known) = schema::of_setting(key) {
                row["meaning"] = json!(known.meaning());
            }
            match &setting.origin {
                Origin::File { name, at, .. } => {
                    row["file"] = json!(name);
                    row["line"] = json!(at.map(|at| at.line));
                }
                Origin::Variable(name) => row["variable"] = json!(name),
                Origin::Default | Origin::Flag => {}
            }
            (key.clone(), row)
        })
        .collect();
    redacted(format!("{:#}\n", Value::Object(rows)))
}

fn edit_file(globals: &Globals, user: bool) -> CommandResult {
    let target = ConfigTarget::find(globals, user)?;
    let before = target.read()?.unwrap_or_else(|| HEAD.to_owned());
    // The editor opens a copy of the file, so that no Glee process reads a half-edited configuration.
    let mut draft = tempfile::Builder::new()
        .prefix("glee-config-")
        .suffix(".yml")
        .tempfile()?;
    std::io::Write::write_all(&mut draft, before.as_bytes())?;
    loop {
        open_editor(draft.path())?;
        let text = std::fs::read_to_string(draft.path())?;
        if text == before {
            globals.say(format!("{} is unchanged", target.name));
            return Ok(ExitReason::Clean);
        }
        let Err(error) = target.write(&text) else {
            globals.say(format!("{} is written", target.name));
            return Ok(ExitReason::Clean);
        };
        if globals.interactive() {
            let color = globals.color_stderr();
            stream::err(error.render(color));
            if questions::confirm(color, "Edit it again?", true).is_ok_and(|again| again) {
                continue;
            }
        }
        let (_, kept) = draft.keep().map_err(|error| error.error)?;
        let kept = kept.display();
        return Err(error.hint(format!(
            "correct the edited copy `{kept}`; {} is unchanged",
            target.name
        )));
    }
}

fn open_editor(path: &Path) -> Result<(), CommandError> {
    let words = ["VISUAL", "EDITOR"]
        .iter()
        .find_map(|name| {
            std::env::var(name)
                .ok()
                .filter(|value| !value.trim().is_empty())
        })
        .map_or_else(
            || Some(vec!["vi".to_owned()]),
            |command| shlex::split(&command),
        )
        .unwrap_or_default();
    let hint = "set the variable `EDITOR` to the command of your editor";
    let Some((program, args)) = words.split_first() else {
        return Err(CommandError::usage("`EDITOR` is not a valid command line").hint(hint));
    };
    let status = process::Command::new(program)
        .args(args)
        .arg(path)
        .status()
        .map_err(|error| {
            CommandError::caused(format!("cannot run the editor `{program}`"), error).hint(hint)
        })?;
    if status.success() {
        return Ok(());
    }
    Err(CommandError::usage(format!(
        "the editor `{program}` failed ({status}); the file is unchanged"
    )))
}

/// Formats a value in the form that a user types: text without quotes, a command as a command line, and a list as
/// YAML.
fn plain(key: &str, value: &Value) -> String {
    if key.starts_with("agents.") && key.ends_with(".command") {
        return config::command_line(value);
    }
    match value {
        Value::String(text) => text.clone(),
        Value::Array(commands) if key == "review.verify" => {
            config::flow(&commands.iter().map(config::command_line).collect())
        }
        Value::Array(_) | Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {
            config::flow(value)
        }
    }
}

fn redacted(text: impl AsRef<str>) -> CommandResult {
    print(secrets::redact(text.as_ref()))
}
