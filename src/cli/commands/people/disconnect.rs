//! `glee disconnect`: remove a connected agent.

use crate::cli::context::config_edit::ConfigTarget;
use crate::cli::context::globals::{Globals, say};
use crate::cli::context::settings::{self, Places};
use crate::cli::error::{CommandError, CommandResult};
use crate::config::files::edit::{self, EditError};
use crate::config::files::paths;
use crate::config::{self, Owner};
use crate::domain::ExitReason;

/// Arguments of `glee disconnect`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  glee disconnect claude-judge")]
pub(crate) struct Args {
    /// The agent's name, as `glee agents` lists it
    name: String,
    /// Remove it from your own file instead of the project's
    #[arg(long)]
    user: bool,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let places = Places::find(globals)?;
    let target = ConfigTarget::of(&places, args.user)?;
    let text = target.read()?.unwrap_or_default();
    let after = match edit::remove_agent(&text, &args.name) {
        Err(EditError::NoAgent(_)) => return Err(unknown(args, globals, &target)),
        other => other,
    };
    target.change(&places, globals, |_| after)?;
    say(globals, &format!("`{}` is no longer connected ({})", args.name, target.name));
    if let Ok((_, loaded)) = settings::settings(globals, Vec::new())
        && let Err(error) = config::check_names(&loaded.settings)
    {
        say(globals, &format!("note: {error}; `glee config set review.reviewers all`"));
    }
    Ok(ExitReason::Clean)
}

/// Names the agents that could have been meant, or the file that this one is in.
fn unknown(args: &Args, globals: &Globals, target: &ConfigTarget) -> CommandError {
    let error = CommandError::usage(format!("there is no agent `{}` in {}", args.name, target.name));
    let Ok((_, loaded)) = settings::settings(globals, Vec::new()) else { return error };
    let names: Vec<&str> = loaded.settings.agents.iter().map(|agent| agent.name.0.as_str()).collect();
    if names.contains(&args.name.as_str()) {
        return error.hint(match target.owner {
            Owner::Project => format!("it is in your own file: `glee disconnect --user {}`", args.name),
            Owner::User => format!("it is in {}: `glee disconnect {}`", paths::PROJECT_FILE, args.name),
        });
    }
    error.hint(match config::closest(&args.name, names) {
        Some(name) => format!("did you mean `{name}`?"),
        None => "`glee agents` lists who is connected".to_owned(),
    })
}
