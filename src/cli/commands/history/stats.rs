//! `glee stats`: counts over the history.

use crate::cli::context::globals::Globals;
use crate::cli::context::{history, place};
use crate::cli::error::CommandResult;
use crate::cli::report::stage as report;
use crate::cli::ui::stream;
use crate::domain::ExitReason;
use crate::workflows::consensus::stats;

/// Arguments of `glee stats`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// How often stages of `glee consensus` end in a deadlock, by stage and by agent
    Deadlocks(Deadlocks),
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
A deadlock is a conflict that only a person can end. The specification's bound is 5%.

Examples:
  glee stats deadlocks
  glee stats deadlocks --fail-above 5%")]
struct Deadlocks {
    /// End with exit code 1 if the rate is above this
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    fail_above: Option<f64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let Command::Deadlocks(args) = &args.command;
    let workspace = place::workspace(globals)?;
    let found = match history::open_read(globals, &workspace)? {
        Some(journal) => stats::deadlocks(&journal)?,
        None => stats::Deadlocks::default(),
    };
    let text = if args.json { report::deadlocks_json(&found) } else { report::deadlocks(&found) };
    stream::out(&text)?;
    Ok(match (found.all.rate(), args.fail_above) {
        (Some(rate), Some(bound)) if rate > bound => ExitReason::FindingsOpen,
        _ => ExitReason::Clean,
    })
}

/// A percentage as a share: `5%` and `5` are 0.05.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim().parse::<f64>().ok();
    number
        .filter(|number| (0.0..=100.0).contains(number))
        .map(|number| number / 100.0)
        .ok_or_else(|| "has to be a percentage from 0 to 100, such as `5%`".to_owned())
}
