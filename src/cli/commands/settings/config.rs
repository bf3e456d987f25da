//! `glee config`: read and change settings.

use serde_json::{Map, Value, json};

use crate::cli::context::config_edit::{ConfigTarget, HEAD};
use crate::cli::context::globals::{Globals, say};
use crate::cli::context::settings::{self, Places};
use crate::cli::error::{CommandError, CommandResult};
use crate::cli::ui::dialogs::questions::{self, AskError};
use crate::cli::ui::stream;
use crate::config::files::edit;
use crate::config::schema::{self, renamed};
use crate::config::{self, Loaded, Origin, Setting};
use crate::domain::ExitReason;
use crate::protocol::secrets;

/// Arguments of `glee config`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  glee config set review.on_dispute.default judge
  glee config set agents.claude-coder.domain backend,rust
  glee config list --origin

A value comes from, the last one winning: the built-in default, your own file (--user), the project's
.glee/config.yml, a variable (review.max_file_size is GLEE_REVIEW_MAX_FILE_SIZE), the command line.")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Print a value, or every value of a section
    #[command(after_help = "Example:\n  glee config get review.on_dispute.default")]
    Get {
        /// A key such as `review.rounds` or `agents.<name>.role`, or a section such as `limits`
        key: String,
    },
    /// Set a value; comments, order and quoting of the file stay
    #[command(after_help = "\
Examples:
  glee config set review.on_dispute.default judge
  glee config set review.issues.mandatory HIGH,MEDIUM
  glee config set --user limits.call_timeout 45m")]
    Set {
        /// A key such as `review.rounds` or `agents.<name>.role`
        key: String,
        /// The value; a list with commas, or as `[a, b]`
        #[arg(allow_hyphen_values = true)]
        value: String,
        /// Write your own file instead of the project's
        #[arg(long)]
        user: bool,
    },
    /// Remove a value from the file, so that the default holds again
    #[command(after_help = "Example:\n  glee config unset review.rounds")]
    Unset {
        /// A key such as `review.rounds` or `agents.<name>.model`
        key: String,
        /// Change your own file instead of the project's
        #[arg(long)]
        user: bool,
    },
    /// Print every value
    #[command(after_help = "Example:\n  glee config list --origin")]
    List {
        /// Say where each value comes from
        #[arg(long)]
        origin: bool,
        /// Print JSON, with origins
        #[arg(long)]
        json: bool,
    },
    /// Open the file in your editor, and check what you wrote before it counts
    #[command(after_help = "Example:\n  EDITOR=nano glee config edit")]
    Edit {
        /// Edit your own file instead of the project's
        #[arg(long)]
        user: bool,
    },
    /// Print where the file lies
    #[command(after_help = "Example:\n  glee config path --user")]
    Path {
        /// Your own file instead of the project's
        #[arg(long)]
        user: bool,
    },
    /// Print the JSON Schema of the file
    #[command(after_help = "Example:\n  glee config schema > config.schema.json")]
    Schema,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    match &args.command {
        Command::Get { key } => get(globals, today(globals, key)),
        Command::Set { key, value, user } => set(globals, today(globals, key), value, *user),
        Command::Unset { key, user } => unset(globals, today(globals, key), *user),
        Command::List { json: true, .. } => list_json(globals),
        Command::List { origin, json: false } => list(globals, *origin),
        Command::Edit { user } => edit_file(globals, *user),
        Command::Path { user } => {
            let target = ConfigTarget::of(&Places::find(globals)?, *user)?;
            print(&format!("{}\n", target.path.display()))
        }
        Command::Schema => print(&format!("{:#}\n", schema::json_schema())),
    }
}

/// The key under its name of today.
fn today<'k>(globals: &Globals, key: &'k str) -> &'k str {
    let Some(today) = renamed::today(key) else { return key };
    say(globals, &renamed::notice(key, today));
    today
}

fn get(globals: &Globals, key: &str) -> CommandResult {
    let (_, loaded) = settings::settings(globals, Vec::new())?;
    if let Some(setting) = loaded.values.get(key) {
        return print(&format!("{}\n", plain(key, &setting.value)));
    }
    let inside = format!("{key}.");
    let lines: String = loaded
        .values
        .iter()
        .filter(|(name, _)| name.starts_with(&inside))
        .map(|(name, setting)| format!("{name} = {}\n", plain(name, &config::shown(name, &setting.value))))
        .collect();
    if lines.is_empty() {
        return Err(missing(&loaded, key));
    }
    print(&lines)
}

/// Why a key has no value.
fn missing(loaded: &Loaded, key: &str) -> CommandError {
    let agent = key.strip_prefix("agents.").map(|rest| rest.rsplit_once('.').unwrap_or((rest, "")));
    match agent {
        None if key == "agents" => CommandError::usage("no agent is connected")
            .hint("connect one with `glee connect <agent> --role coder|reviewer|judge|aggregator`"),
        None => config::unknown_key(key).into(),
        Some((name, last)) => {
            let agents = loaded.settings.agents.iter().map(|agent| agent.name.0.as_str());
            if loaded.settings.agents.iter().any(|agent| agent.name.0 == name) {
                match config::typed(key, "") {
                    Err(error @ config::ConfigError::UnknownKey { .. }) => error.into(),
                    _ => CommandError::usage(format!("`{key}` is not set"))
                        .hint(format!("set it with `glee config set {key} <value>`")),
                }
            } else {
                let name = if last.is_empty() { key.trim_start_matches("agents.") } else { name };
                CommandError::usage(format!("there is no agent `{name}`")).hint(
                    match config::closest(name, agents) {
                        Some(agent) => format!("did you mean `{agent}`?"),
                        None => "`glee agents` lists who is connected".to_owned(),
                    },
                )
            }
        }
    }
}

fn set(globals: &Globals, key: &str, text: &str, user: bool) -> CommandResult {
    let value = config::typed(key, text)?;
    let places = Places::find(globals)?;
    let target = ConfigTarget::of(&places, user)?;
    target.change(&places, globals, |text| edit::set(text, key, &value))?;
    say(globals, &format!("{key} = {} ({})", plain(key, &value), target.name));
    overridden(globals, key, &target)
}

fn unset(globals: &Globals, key: &str, user: bool) -> CommandResult {
    let places = Places::find(globals)?;
    let target = ConfigTarget::of(&places, user)?;
    if target.read()?.is_none() {
        return Err(CommandError::usage(format!("`{key}` is not set: there is no {}", target.name))
            .hint("`glee config list --origin` shows where every value comes from"));
    }
    target.change(&places, globals, |text| edit::unset(text, key))?;
    let (_, loaded) = settings::settings(globals, Vec::new())?;
    let now = loaded
        .values
        .get(key)
        .map(|setting| format!("; now {} ({})", plain(key, &setting.value), setting.origin.label()));
    say(globals, &format!("{key} is no longer set in {}{}", target.name, now.unwrap_or_default()));
    Ok(ExitReason::Clean)
}

/// Says so where a higher layer hides what was just set.
fn overridden(globals: &Globals, key: &str, target: &ConfigTarget) -> CommandResult {
    // Another source may be broken; the change itself is good.
    let Ok((_, loaded)) = settings::settings(globals, Vec::new()) else { return Ok(ExitReason::Clean) };
    if let Some(Setting { origin, value }) = loaded.values.get(key)
        && !matches!(origin, Origin::File { owner, .. } if *owner == target.owner)
    {
        say(globals, &format!("note: it stays {} here, because of {}", plain(key, value), origin.label()));
    }
    Ok(ExitReason::Clean)
}

fn list(globals: &Globals, origin: bool) -> CommandResult {
    let (_, loaded) = settings::settings(globals, Vec::new())?;
    let rows: Vec<(String, &Origin)> = loaded
        .values
        .iter()
        .map(|(key, setting)| {
            (format!("{key} = {}", plain(key, &config::shown(key, &setting.value))), &setting.origin)
        })
        .collect();
    // A long value does not push all origins out of sight.
    let lengths = rows.iter().map(|(row, _)| row.chars().count());
    let width = lengths.filter(|length| *length <= 72).max().unwrap_or_default();
    let lines: String = rows
        .iter()
        .map(|(row, from)| if origin { format!("{row:width$}  {}\n", from.label()) } else { format!("{row}\n") })
        .collect();
    print(&lines)
}

fn list_json(globals: &Globals) -> CommandResult {
    let (_, loaded) = settings::settings(globals, Vec::new())?;
    let rows: Map<String, Value> = loaded
        .values
        .iter()
        .map(|(key, setting)| {
            let mut row = json!({"value": config::shown(key, &setting.value), "origin": setting.origin.layer()});
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
    print(&format!("{:#}\n", Value::Object(rows)))
}

fn edit_file(globals: &Globals, user: bool) -> CommandResult {
    let places = Places::find(globals)?;
    let target = ConfigTarget::of(&places, user)?;
    let before = target.read()?.unwrap_or_else(|| HEAD.to_owned());
    // A copy is edited, so that nothing half-done ever counts.
    let mut draft = tempfile::Builder::new().prefix("glee-config-").suffix(".yml").tempfile()?;
    std::io::Write::write_all(&mut draft, before.as_bytes())?;
    loop {
        open_editor(draft.path())?;
        let text = std::fs::read_to_string(draft.path())?;
        if text == before {
            say(globals, &format!("{} is unchanged", target.name));
            return Ok(ExitReason::Clean);
        }
        let Err(error) = target.write(&places, globals, &text) else {
            say(globals, &format!("{} is written", target.name));
            return Ok(ExitReason::Clean);
        };
        if globals.interactive() {
            stream::err(&error.render(globals.color_stderr()));
            let color = globals.color_stderr();
            match questions::confirm(color, "Edit it again?", true) {
                Ok(true) => continue,
                Ok(false) | Err(AskError::Cancelled | AskError::Interrupted | AskError::Terminal(_)) => {}
            }
        }
        let (_, kept) = draft.keep().map_err(|error| error.error)?;
        return Err(error.hint(format!(
            "{} is as it was; what you wrote is kept in `{}`",
            target.name,
            kept.display()
        )));
    }
}

/// Runs `$VISUAL` or `$EDITOR` on a file and waits for it.
fn open_editor(path: &std::path::Path) -> Result<(), CommandError> {
    let words = ["VISUAL", "EDITOR"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.trim().is_empty()))
        .map_or_else(|| Some(vec!["vi".to_owned()]), |command| shlex::split(&command))
        .unwrap_or_default();
    let hint = "name your editor in the variable `EDITOR`";
    let Some((program, args)) = words.split_first() else {
        return Err(CommandError::usage("`EDITOR` is not a command").hint(hint));
    };
    let status =
        std::process::Command::new(program).args(args).arg(path).status().map_err(|error| {
            CommandError::caused(format!("cannot run the editor `{program}`"), error).hint(hint)
        })?;
    if status.success() {
        return Ok(());
    }
    Err(CommandError::usage(format!("the editor `{program}` failed ({status}); nothing is changed")))
}

/// A value as one would type it: text as it stands, commands as on a command line, lists as YAML on one line.
fn plain(key: &str, value: &Value) -> String {
    if key.starts_with("agents.") && key.ends_with(".command") {
        return config::command_line(value);
    }
    match value {
        Value::String(text) => text.clone(),
        Value::Array(commands) if key == "review.verify" => {
            config::flow(&commands.iter().map(config::command_line).collect())
        }
        Value::Array(_) | Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) => config::flow(value),
    }
}

fn print(text: &str) -> CommandResult {
    stream::out(&secrets::redact(text))?;
    Ok(ExitReason::Clean)
}
