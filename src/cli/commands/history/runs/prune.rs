//! `glee runs prune`: frees the disk space of old runs.

use jiff::Timestamp;

use crate::cli::commands::history::disputes::common::since;
use crate::cli::commands::history::runs::lookup;
use crate::cli::context::{CommandResult, Globals, history, place, print, stream};
use crate::cli::style;
use glee_model::domain::{ExitReason, RunId, WorktreeState};
use glee_store::history::queries::rows::{OtherRunRow, RunRow};
use glee_workflows::review::{self, Pruned};

/// Delete stored code and answers of old runs, but keep findings and rulings
#[derive(clap::Args)]
#[command(after_help = "\
Glee deletes the stored data of old runs: the trees for `glee runs undo`, the reviewed code, the prompts and \
the raw answers. Glee also deletes the prompts and raw answers of old stages and audits. Findings, parsed \
answers and rulings remain, and rulings apply as before. A pruned run can no longer be undone, resumed or \
replayed. Runs that can still be resumed, that have open disputes, or whose worktree has changes that were not \
applied, are not pruned.

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
    let (rows, others) = match history::open_read(globals, &workspace)? {
        Some(journal) => (
            lookup::of_this_machine(&journal)?,
            journal.unpruned_stages_and_audits()?,
        ),
        None => Default::default(),
    };
    let (due, kept): (Vec<RunRow>, Vec<RunRow>) = rows.into_iter().partition(|row| args.takes(row));
    let others: Vec<RunId> = others
        .into_iter()
        .filter(|row| args.takes_other(row))
        .map(|row| row.run)
        .collect();
    if args.dry_run {
        if due.is_empty() && others.is_empty() {
            stream::err("No run to prune.\n");
            return Ok(ExitReason::Clean);
        }
        let mut text = if due.is_empty() {
            String::new()
        } else {
            lookup::table(&due, globals.table_style())
        };
        if !others.is_empty() {
            let ids: Vec<&str> = others.iter().map(RunId::short).collect();
            let line = format!(
                "{}: {}",
                style::count(others.len(), "stage or audit run"),
                ids.join(", ")
            );
            style::paragraph(&mut text, globals.style(), "", &line);
        }
        return print(&text);
    }
    let runs: Vec<RunId> = due.into_iter().map(|row| row.run).collect();
    let state_dir = place::state_dir()?;
    let pruned = match runs.first().or(others.first()) {
        None => Pruned::default(),
        Some(first) => {
            // While this command holds the lock, no coder can start. A coder could otherwise read files that
            // this command deletes.
            let _lock = workspace.lock(&state_dir, first)?;
            let mut journal = history::open(globals, &workspace)?;
            let of_reviews = review::prune(&workspace, &state_dir, &mut journal, &runs, &kept)?;
            let of_others = review::prune_transcripts(&mut journal, &others)?;
            Pruned {
                runs: of_reviews.runs + of_others.runs,
                bytes: of_reviews.bytes + of_others.bytes,
            }
        }
    };
    print(match pruned.runs {
        0 => "Nothing to prune.\n".to_owned(),
        runs => format!(
            "Pruned {}: {} free.\n",
            style::count(runs, "run"),
            style::size(pruned.bytes)
        ),
    })
}

impl Args {
    fn takes(&self, row: &RunRow) -> bool {
        let finished = match row.exit {
            None | Some(ExitReason::AgentFailed) => false,
            Some(exit) => {
                let is_applied = row.worktree != Some(WorktreeState::NotApplied);
                !exit.is_unfinished() && row.open_disputes == 0 && is_applied
            }
        };
        row.started < self.before && (finished || self.unfinished)
    }

    /// Whether the command prunes this stage, checkpoint or audit. A stage with the exit reason
    /// [`ExitReason::DisputeOpen`] waits for a person, so it is not finished.
    fn takes_other(&self, row: &OtherRunRow) -> bool {
        let finished = match row.exit {
            None | Some(ExitReason::AgentFailed | ExitReason::DisputeOpen) => false,
            Some(exit) => !exit.is_unfinished(),
        };
        row.started < self.before && (finished || self.unfinished)
    }
}
