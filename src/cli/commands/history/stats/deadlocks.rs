//! `glee stats deadlocks`: prints how often stages end in a deadlock.

use crate::cli::context::{CommandResult, Globals, JsonFlag, history, place, print};
use crate::cli::report::stage as report;
use glee_model::domain::ExitReason;
use glee_workflows::consensus::stats;

/// Print how often stages of `glee consensus` end in a deadlock, by stage and by agent
#[derive(clap::Args)]
#[command(after_help = "\
A deadlock is a conflict that only a person can end. Glee's specification allows a deadlock rate of at most 5%.

Examples:
  glee stats deadlocks
  glee stats deadlocks --fail-above 5%")]
pub(crate) struct Args {
    /// Exit with code 1 if the rate of deadlocks is above PERCENT
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    fail_above: Option<f64>,
    #[command(flatten)]
    output: JsonFlag,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let workspace = place::workspace(globals)?;
    let found = match history::open_read(globals, &workspace)? {
        Some(journal) => stats::deadlocks(&journal)?,
        None => stats::Deadlocks::default(),
    };
    print(if args.output.json {
        report::deadlocks_json(&found)
    } else {
        report::deadlocks(&found, globals.table_style())
    })?;
    Ok(match (found.all.rate(), args.fail_above) {
        (Some(rate), Some(bound)) if rate > bound => ExitReason::FindingsOpen,
        _ => ExitReason::Clean,
    })
}

/// Parses a percentage into a fraction: both `5%` and `5` become 0.05.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim().parse::<f64>().ok();
    number
        .filter(|number| (0.0..=100.0).contains(number))
        .map(|number| number / 100.0)
        .ok_or_else(|| "give a percentage from 0 to 100, such as `5%`".to_owned())
}
