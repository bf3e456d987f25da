//! `glee disputes prune`: ends the rulings whose code is gone.

use super::{list, look};
use crate::cli::error::CommandResult;
use crate::cli::{Globals, history, sitting};
use crate::domain::ExitReason;
use crate::draw;
use crate::journal::{DisputeFilter, DisputeRow};
use crate::ui::stream;

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
pub(super) struct Args {
    /// Only say which rulings that would be
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let workspace = sitting::workspace(globals)?;
    let due: Vec<DisputeRow> = match history::open_read(globals, &workspace)? {
        Some(journal) => {
            let gone = super::gone(globals, &journal)?;
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
    stream::out(&format!("Ended {}.\n", draw::count(ended, "ruling")))?;
    Ok(ExitReason::Clean)
}
