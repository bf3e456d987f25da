//! `glee runs apply` and `glee runs drop`: bring over or forget the changes that a coder made in a worktree.

use crate::cli::commands::history::runs::chosen::ChosenChanges;
use crate::cli::commands::history::runs::lookup;
use crate::cli::commands::history::runs::undo::{self, Direction};
use crate::cli::context::{CommandError, CommandResult, Globals, RunArg, history, place, stream};
use crate::cli::style;
use glee_model::domain::event::RunEvent;
use glee_model::domain::{ExitReason, RunId, WorktreeState};
use glee_store::history::Journal;
use glee_workflows::review::recorded::{view, worktrees};
use glee_workspace::root::Workspace;
use glee_workspace::{Applied, Forced, UndoOptions};

/// Bring the changes that the coder made in a run's worktree into this tree
#[derive(clap::Args)]
#[command(after_help = "\
What you changed meanwhile is kept: Glee merges it with the coder's changes. If both changed the same lines of a \
file, no file is changed, and the exit code is 3. `glee runs undo` takes the applied changes back. A finding such as \
F12 stands for the changed files that it names.

Examples:
  glee runs apply                       apply all changes of the last run
  glee runs apply 5f3a91c2 src/ F12     apply the changes below src and in the files of F12
  glee runs apply --dry-run             list the effect on each file
  glee runs apply --force               prefer the coder's version of a file that cannot be merged")]
pub(crate) struct Args {
    #[command(flatten)]
    chosen: ChosenChanges,
    /// Take the coder's version of files in which both changed the same lines, and keep copies of your versions
    #[arg(long)]
    force: bool,
    /// List the effect on each file, and change no file
    #[arg(long)]
    dry_run: bool,
}

/// Forget the changes that the coder made in a run's worktree, and remove the worktree
#[derive(clap::Args)]
#[command(after_help = "\
Changes that were applied stay in your tree. A dropped run cannot be resumed; its findings and rulings remain.

Examples:
  glee runs drop
  glee runs drop 5f3a91c2")]
pub(crate) struct DropArgs {
    #[command(flatten)]
    run: RunArg,
}

/// A run that worked in a worktree, and on which no process works.
struct RunApart {
    workspace: Workspace,
    journal: Journal,
    run: RunId,
    changes: WorktreeState,
}

impl RunApart {
    fn find(globals: &Globals, text: &str) -> Result<Self, CommandError> {
        let (workspace, _, run) = lookup::find(globals, text)?;
        let journal = history::open(globals, &workspace)?;
        lookup::refuse_pruned(&journal, &run)?;
        let id = run.short();
        if journal.is_held(&run)? {
            return Err(
                CommandError::usage(format!("run {id} still works")).hint(format!(
                    "wait with `glee runs wait {id}`, or end it with `glee runs stop {id}`"
                )),
            );
        }
        let worktree = view::worktree(&journal.events(&run)?);
        let changes = worktree.map(|worktree| worktree.changes).ok_or_else(|| {
            CommandError::usage(format!("run {id} worked in your tree, not in a worktree"))
                .hint(format!("undo its changes with `glee runs undo {id}`"))
        })?;
        Ok(Self {
            workspace,
            journal,
            run,
            changes,
        })
    }
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let RunApart {
        workspace,
        mut journal,
        run,
        changes,
    } = RunApart::find(globals, args.chosen.run(globals)?.unwrap_or("last"))?;
    let id = run.short();
    match changes {
        WorktreeState::None => {
            stream::err(format!("The coder of run {id} changed nothing.\n"));
            return Ok(ExitReason::Clean);
        }
        WorktreeState::Dropped => {
            let message = format!("the changes of run {id} were dropped");
            return Err(CommandError::usage(message)
                .hint(format!("`glee runs diff {id}` still prints them")));
        }
        WorktreeState::NotApplied | WorktreeState::Applied => {}
    }
    let state_dir = place::state_dir()?;
    let only = args.chosen.paths(globals, &workspace, &run)?;
    let _lock = workspace.lock(&state_dir, &run)?;
    let forced = if args.force {
        Forced::All
    } else {
        Forced::None
    };
    let options = UndoOptions {
        forced,
        remove_new: false,
        only,
    };
    let plan = workspace.plan_apply(&run, &options, &state_dir)?;
    stream::out(undo::listing(
        globals.style(),
        Direction::Apply,
        &plan,
        &run,
    ))?;
    if args.dry_run {
        stream::out("No file was changed: this is a dry run.\n")?;
        return Ok(undo::exit(&plan.conflicts, &[]));
    }
    let Applied { done, left } = workspace.apply(&run, &options, &state_dir)?;
    if !done.conflicts.is_empty() {
        stream::out("No file was changed.\n")?;
        stream::err(format!(
            "hint: apply the other files by their paths (`glee runs apply {id} PATH`), or take the coder's versions with \
             `glee runs apply {id} --force` (copies of yours are kept)\n"
        ));
        return Ok(ExitReason::DisputeOpen);
    }
    let files = done.files;
    // A killed apply may have written the files and not the event.
    if files > 0 || changes != WorktreeState::Applied {
        journal.append(&run, RunEvent::RunApplied { files, left })?;
    }
    worktrees::remove_unneeded(&workspace, &journal, &run, &state_dir)?;
    stream::out(summary(done.files, done.merged, left))?;
    if left > 0 {
        stream::err(format!(
            "hint: to apply the rest: `glee runs apply {id}`; to forget it: `glee runs drop {id}`\n"
        ));
    }
    if files > 0 {
        stream::err(format!(
            "hint: to take the changes back: `glee runs undo {id}`\n"
        ));
    }
    Ok(ExitReason::Clean)
}

fn summary(files: u64, merged: u64, left: u64) -> String {
    let mut text = match files {
        0 => "Nothing is left to apply there.\n".to_owned(),
        files => format!(
            "Applied the coder's changes to {}.\n",
            style::count(files, "file")
        ),
    };
    if merged > 0 {
        let merged = style::count(merged, "file");
        text += &format!("Merged with your changes: {merged}.\n");
    }
    if left > 0 {
        let left = style::count(left, "file");
        text += &format!("Only in the worktree: {left}.\n");
    }
    text
}

pub(crate) fn forget(args: &DropArgs, globals: &Globals) -> CommandResult {
    let RunApart {
        workspace,
        mut journal,
        run,
        changes,
    } = RunApart::find(globals, &args.run.run)?;
    let state_dir = place::state_dir()?;
    let _held = journal.hold(&run)?;
    if changes != WorktreeState::Dropped {
        journal.append(&run, RunEvent::RunDropped)?;
    }
    workspace.remove_worktree(&run, &state_dir)?;
    // Beside the run, what killed processes left is cleared.
    worktrees::sweep(&workspace, &journal, &state_dir)?;
    globals.say(format!(
        "run {} has no worktree any more, and what was only there is forgotten",
        run.short()
    ));
    Ok(ExitReason::Clean)
}
