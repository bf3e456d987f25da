//! `glee trust`: allow this project's configuration to run the programs it names.

use crate::cli::context::config_edit::ConfigTarget;
use crate::cli::context::globals::{Globals, say};
use crate::cli::context::settings::Places;
use crate::cli::error::{CommandError, CommandResult};
use crate::cli::ui::stream;
use crate::config::files::paths;
use crate::config::trust::Store;
use crate::config::{self, UntrustedConfig};
use crate::domain::ExitReason;
use crate::protocol::secrets;
use crate::protocol::text::printable;

/// Arguments of `glee trust`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  glee trust --show
  glee trust

A project's .glee/config.yml may name embedded agents and known programs as it likes. Whatever else it makes Glee run
or set (other commands, arguments, adapters, env, review.verify), the files of the tree that these commands name, and
the templates in .glee/prompts have to be trusted once; a change of any of them has to be trusted again. Rules under .glee
are data and need no trust. CI names the hash: `--trust blake3:...`")]
pub(crate) struct Args {
    /// Show what would be trusted, and its hash
    #[arg(long, group = "what")]
    show: bool,
    /// List everything that is trusted, in all projects
    #[arg(long, group = "what")]
    list: bool,
    /// Trust nothing of this project any more
    #[arg(long, group = "what")]
    revoke: bool,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let places = Places::find(globals)?;
    let store = Store::new(&places.state);
    if args.list {
        return list(&store);
    }
    if args.revoke {
        let count = store.revoke(&places.root)?;
        say(
            globals,
            if count == 0 { "nothing of this project was trusted" } else { "this project is no longer trusted" },
        );
        return Ok(ExitReason::Clean);
    }
    let Some(content) = content(&places, globals)? else {
        say(globals, &format!("{} runs nothing that needs trust", paths::PROJECT_FILE));
        return Ok(ExitReason::Clean);
    };
    let trusted = store.trusts(&places.root, &content.hash)?;
    if args.show {
        let state = if trusted { "trusted" } else { "not trusted" };
        let runs = content.runs.join("\n");
        stream::out(&format!("{}\n{} ({state})\n", secrets::redact(&runs), content.hash))?;
        return Ok(ExitReason::Clean);
    }
    store.trust(&places.root, &content)?;
    say(
        globals,
        &format!("trusted in {}:\n  {}\n{}", places.root.display(), content.runs.join("\n  "), content.hash),
    );
    say(globals, "next: glee review");
    Ok(ExitReason::Clean)
}

/// What this project's file needs trust for.
fn content(places: &Places, globals: &Globals) -> Result<Option<UntrustedConfig>, CommandError> {
    let target = ConfigTarget::of(places, false)?;
    let text = target.read()?.unwrap_or_default();
    Ok(config::check_text(&places.sources(globals), target.owner, Some(&target.name), &text)?)
}

fn list(store: &Store) -> CommandResult {
    for record in store.list()? {
        let project = printable::line(&record.project.display().to_string());
        let runs: String = record.runs.iter().map(|run| format!("  {}\n", printable::line(run))).collect();
        let runs = secrets::redact(&runs);
        stream::out(&format!("{project}\n{runs}  {} since {}\n", record.hash, record.at))?;
    }
    Ok(ExitReason::Clean)
}
