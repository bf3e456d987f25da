//! `glee disconnect`: removes a connected agent.

use crate::cli::context::{CommandError, CommandResult, ConfigTarget, Globals, UserFlag, settings};
use glee_model::domain::ExitReason;
use glee_store::config::files::edit::{self, EditError};
use glee_store::config::files::paths;
use glee_store::config::{self, Owner};

/// Remove a connected agent
#[derive(clap::Args)]
#[command(after_help = "Example:\n  glee disconnect claude-judge")]
pub(crate) struct Args {
    /// The agent: its full name, its program, or the first letters of its name
    name: String,
    #[command(flatten)]
    file: UserFlag,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let target = ConfigTarget::find(globals, args.file.user)?;
    let text = target.read()?.unwrap_or_default();
    let name = settings::agent_name(globals, &args.name)?;
    let after = match edit::remove_agent(&text, &name) {
        Err(EditError::NoAgent(_)) => return Err(unknown(args, globals, &target)),
        other => other,
    };
    target.change(|_| after)?;
    globals.say(format!("`{name}` is no longer connected ({})", target.name));
    if let Ok(loaded) = settings::load(globals)
        && let Err(error) = config::check_names(&loaded.settings)
    {
        globals.say(format!(
            "note: {error}; `glee config set review.reviewers all`"
        ));
    }
    Ok(ExitReason::Clean)
}

fn unknown(args: &Args, globals: &Globals, target: &ConfigTarget<'_>) -> CommandError {
    let error = CommandError::usage(format!(
        "there is no agent `{}` in {}",
        args.name, target.name
    ));
    let Ok(loaded) = settings::load(globals) else {
        return error;
    };
    let names: Vec<&str> = loaded
        .settings
        .agents
        .iter()
        .map(|agent| agent.name.0.as_str())
        .collect();
    if names.contains(&args.name.as_str()) {
        return error.hint(match target.owner {
            Owner::Project => {
                format!(
                    "remove the agent from the user's configuration file: `glee disconnect --user {}`",
                    args.name
                )
            }
            Owner::User => {
                format!("remove the agent from {}: `glee disconnect {}`", paths::PROJECT_FILE, args.name)
            }
        });
    }
    error.hint(match config::closest(&args.name, names) {
        Some(name) => format!("did you mean `{name}`?"),
        None => "`glee agents` lists the connected agents".to_owned(),
    })
}
