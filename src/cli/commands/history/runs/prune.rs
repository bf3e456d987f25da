//! `glee runs prune`: frees the disk space of old runs.

use jiff::Timestamp;

use crate::cli::commands::history::disputes::common::since;
use crate::cli::commands::history::runs::lookup;
use crate::cli::context::{CommandResult, Globals, history, place, print, stream};
use crate::cli::style;
use crate::domain::{ExitReason, RunId};
use crate::history::queries::rows::RunRow;
use crate::workflows::review::{self, Pruned};

/// Delete stored code and answers of old runs, but keep findings and rulings
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Glee deletes the stored code of old runs: the trees for `glee runs undo`, the reviewed code, prompts and raw \
answers. Glee keeps findings, parsed answers and rulings, and the rulings apply as before. A pruned run can no \
longer be undone, resumed or replayed. Glee does not prune runs that can still be resumed or that have open \
disputes.

Examples:
  glee runs prune --dry-run
  glee runs prune --before 7d
  glee runs prune --before 2026-11-01 --unfinished")]
pub(crate) struct Args {
    /// Prune only runs that started before this date (2026-11-01) or time, or that are older than this period (30d,
    /// 2h)
    #[arg(long, value_name = "WHEN", value_parser = since, default_value = "30d")]
    before: Timestamp,
    /// Also prune runs that can still be resumed
    #[arg(long)]
    unfinished: bool,
    /// List the runs without deleting anything
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let workspace = place::workspace(globals)?;
    let rows = match history::open_read(globals, &workspace)? {
        Some(journal) => journal.runs(None)?,
        None => Vec::new(),
    };
    let (due, others): (Vec<RunRow>, Vec<RunRow>) = rows.into_iter().partition(|row| args.takes(row));
    if args.dry_run {
        if due.is_empty() {
            stream::err("No run is old enough to be pruned.\n");
            return Ok(ExitReason::Clean);
        }
        return print(&lookup::table(&due, globals.table_style()));
    }
    let runs: Vec<RunId> = due.into_iter().map(|row| row.run).collect();
    let state_dir = place::state_dir()?;
    let pruned = match runs.first() {
        None => Pruned { runs: 0, bytes: 0 },
        Some(first) => {
            // The lock prevents coders from running, because a coder could read files that this command deletes.
            let _lock = workspace.lock(&state_dir, first)?;
            let mut journal = history::open(globals, &workspace)?;
            review::prune(&workspace, &state_dir, &mut journal, &runs, &others)?
        }
    };
    print(&match pruned.runs {
        0 => "Nothing to prune.\n".to_owned(),
        runs => format!("Pruned {}: {} free.\n", style::count(runs, "run"), style::size(pruned.bytes)),
    })
}

impl Args {
    fn takes(&self, row: &RunRow) -> bool {
        let finished = match row.exit {
            None | Some(ExitReason::Budget | ExitReason::AgentFailed | ExitReason::Signal(_)) => false,
            Some(_) => row.open_disputes == 0,
        };
        row.started < self.before && (finished || self.unfinished)
    }
}
