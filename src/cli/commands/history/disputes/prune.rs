//! `glee disputes prune`: ends the rulings whose code is gone.

use super::list;
use crate::cli::commands::history::disputes::common::{self, look};
use crate::cli::context::globals::Globals;
use crate::cli::context::{history, place};
use crate::cli::error::CommandResult;
use crate::cli::style;
use crate::cli::ui::stream;
use crate::domain::ExitReason;
use crate::history::queries::rows::{DisputeFilter, DisputeRow};

/// Arguments of `glee disputes prune`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A ruling ends if the block of code that it is about is found nowhere in the tree, in its file or in another. What was said
and ruled stays in the record, and `glee disputes reopen` brings a dispute back. Code that is only on another branch is
gone from this tree too: prune on the main branch.

Examples:
  glee disputes --gone
  glee disputes prune --dry-run
  glee disputes prune")]
pub(crate) struct Args {
    /// Only say which rulings that would be
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let workspace = place::workspace(globals)?;
    let due: Vec<DisputeRow> = match history::open_read(globals, &workspace)? {
        Some(journal) => {
            let gone = common::gone(globals, &journal)?;
            let rows = journal.disputes(&DisputeFilter::default())?;
            rows.into_iter().filter(|row| gone.contains(&row.number)).collect()
        }
        None => Vec::new(),
    };
    if due.is_empty() {
        stream::out("No ruling's code is gone.\n")?;
        return Ok(ExitReason::Clean);
    }
    if args.dry_run {
        stream::out(&list::table(&due, &[], look(globals)))?;
        return Ok(ExitReason::Clean);
    }
    let disputes: Vec<_> = due.into_iter().map(|row| (row.number, row.run)).collect();
    let ended = history::open(globals, &workspace)?.end_rulings(&disputes)?;
    stream::out(&format!("Ended {}.\n", style::count(ended, "ruling")))?;
    Ok(ExitReason::Clean)
}
