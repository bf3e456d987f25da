//! `glee disputes prune`: ends rulings on code that no longer exists.

use super::{common, list};
use crate::cli::context::{CommandResult, Globals, history, place, print, tell};
use crate::cli::style;
use glee_store::history::queries::rows::{DisputeFilter, DisputeRow};

/// End rulings on code that was removed from the tree
#[derive(clap::Args)]
#[command(after_help = "\
Glee ends each ruling whose code is no longer in any file of the tree. The history keeps the ruling, and `glee \
disputes reopen` opens the dispute again. Run this command on the main branch, because on another branch Glee \
would also end rulings on code that exists only on the main branch.

Examples:
  glee disputes --gone
  glee disputes prune --dry-run
  glee disputes prune")]
pub(crate) struct Args {
    /// List the rulings that would end, and end none
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let workspace = place::workspace(globals)?;
    let due: Vec<DisputeRow> = match history::open_read(globals, &workspace)? {
        Some(journal) => {
            let gone = common::gone(globals, &journal)?;
            let rows = journal.disputes(&DisputeFilter::default())?;
            rows.into_iter()
                .filter(|row| gone.contains(&row.number))
                .collect()
        }
        None => Vec::new(),
    };
    if due.is_empty() {
        return tell(globals, "No ruling in force concerns removed code.\n");
    }
    if args.dry_run {
        return print(list::table(&due, &[], globals.table_style()));
    }
    let disputes: Vec<_> = due.into_iter().map(|row| (row.number, row.run)).collect();
    let ended = history::open(globals, &workspace)?.end_rulings(&disputes)?;
    print(format!("Ended {}.\n", style::count(ended, "ruling")))
}
