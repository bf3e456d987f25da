//! `glee runs prune`: the disk space of old runs.

use jiff::Timestamp;

use crate::cli::commands::history::disputes::common::since;
use crate::cli::commands::history::runs::lookup;
use crate::cli::context::globals::Globals;
use crate::cli::context::{history, place};
use crate::cli::error::CommandResult;
use crate::cli::style;
use crate::cli::ui::stream;
use crate::domain::{ExitReason, RunId};
use crate::history::queries::rows::RunRow;
use crate::workflows::review::{self, Pruned};

/// Arguments of `glee runs prune`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Removes what old runs kept of the code: the trees for `glee runs undo`, the code as it was reviewed, prompts and raw
answers. What was found, said and ruled stays, and rulings bind as before; such a run can no longer be undone, carried on
or decided again. Runs that can still be carried on, or whose disputes are open, are left alone.

Examples:
  glee runs prune --dry-run
  glee runs prune --before 7d
  glee runs prune --before 2026-11-01 --unfinished")]
pub(crate) struct Args {
    /// Only runs that began before a date (2026-11-01), a time, or an age (30d, 2h)
    #[arg(long, value_name = "WHEN", value_parser = since, default_value = "30d")]
    before: Timestamp,
    /// Also those that could still be carried on
    #[arg(long)]
    unfinished: bool,
    /// Only say which runs that would be
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
            stream::err("No run is that old.\n");
        } else {
            stream::out(&lookup::table(&due))?;
        }
        return Ok(ExitReason::Clean);
    }
    let runs: Vec<RunId> = due.into_iter().map(|row| row.run).collect();
    let state_dir = place::state_dir()?;
    let pruned = match runs.first() {
        None => Pruned { runs: 0, bytes: 0 },
        Some(first) => {
            // No coder may be at work on what is taken away.
            let _lock = workspace.lock(&state_dir, first)?;
            let mut journal = history::open(globals, &workspace)?;
            review::prune(&workspace, &state_dir, &mut journal, &runs, &others)?
        }
    };
    stream::out(&match pruned.runs {
        0 => "Nothing to prune.\n".to_owned(),
        runs => format!("Pruned {}: {} free.\n", style::count(runs, "run"), style::size(pruned.bytes)),
    })?;
    Ok(ExitReason::Clean)
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
