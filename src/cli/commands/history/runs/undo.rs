//! `glee runs undo`: undoes the changes that the coder made in a run. `glee runs undo --redo` restores these
//! changes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::cli::commands::history::runs::lookup;
use crate::cli::context::{CommandError, CommandResult, Globals, RunArg, history, place, print, stream};
use crate::cli::style;
use crate::cli::ui::dialogs::questions;
use crate::domain::event::{EventKind, ReviewEvent, RunEvent};
use crate::domain::{ExitReason, RunId};
use crate::history::store::{self, Journal};
use crate::protocol::text::printable;
use crate::workspace::root::Workspace;
use crate::workspace::{Forced, Kept, TreeId, UndoConflict, UndoOptions, Undone};

/// Undo the changes of a run's coder, file by file
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A file that the coder wrote last is restored to its version before the run. If you changed the file since, your \
changes are kept if they can be merged; otherwise the file stays unchanged and is listed, and the exit code is 3. On \
a terminal you are asked about each such file. Other files, the index, commits and branches are not touched.

Replaced versions are kept: `--redo` restores them by the same rule. A second undo changes nothing.

If Glee was killed while the coder worked, the coder's changes are not known: every file that existed before \
the run is restored, and new files are listed; `--remove-new` deletes those too.

Examples:
  glee runs undo                     undo the last run
  glee runs undo 5f3a91c2 --force    discard your later changes that cannot be merged
  glee runs undo --redo              restore what was undone
  glee runs undo --to old            write the tree before the run into the folder `old`")]
pub(crate) struct Args {
    #[command(flatten)]
    run: RunArg,
    /// Write the tree from before the run into this folder, which must be new or empty; change nothing else
    #[arg(long, value_name = "DIR", conflicts_with_all = ["force", "remove_new", "redo"])]
    to: Option<PathBuf>,
    /// Restore a file even if your later changes cannot be merged; a copy of your version is kept
    #[arg(long)]
    force: bool,
    /// Also delete new files that the coder may not have created
    #[arg(long, conflicts_with = "redo")]
    remove_new: bool,
    /// Reverse the earlier undos of this run
    #[arg(long)]
    redo: bool,
}

struct Found {
    workspace: Workspace,
    journal: Journal,
    run: RunId,
    kept_as: Option<String>,
    left: Option<TreeId>,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let found = Found::new(globals, &args.run.run)?;
    match &args.to {
        Some(folder) => restore(globals, &found, folder),
        None => undo(args, globals, found),
    }
}

fn undo(args: &Args, globals: &Globals, found: Found) -> CommandResult {
    let Found { workspace, mut journal, run, kept_as, left } = found;
    let state_dir = place::state_dir()?;
    let _lock = workspace.lock(&state_dir, &run)?;
    let Some(kept_as) = kept_as else {
        stream::err(&format!("Run {} changed nothing: it called no coder. Nothing to undo.\n", run.short()));
        return Ok(ExitReason::Clean);
    };
    let kept = Kept { kept_as: &kept_as, left: left.as_ref() };
    let was_undone = workspace.is_undone(&run, &state_dir);
    let forced = if args.force { Forced::All } else { Forced::None };
    let mut decided = UndoOptions { forced, remove_new: args.remove_new };
    let once = |decided: &UndoOptions| match args.redo {
        true => workspace.redo(&run, &kept, decided, &state_dir),
        false => workspace.undo(&run, &kept, decided, &state_dir),
    };
    let mut undone = once(&decided)?;
    if let Some(chosen) = chosen(globals, &undone.conflicts, args.redo) {
        decided.forced = chosen;
        let more = once(&decided)?;
        undone = Undone { files: undone.files + more.files, merged: undone.merged + more.merged, ..more };
    }
    let (files, is_whole) = (undone.files, undone.conflicts.is_empty());
    match args.redo {
        true if files > 0 => journal.append(&run, RunEvent::RunRedone { files }).map(drop),
        false if files > 0 || (is_whole && !was_undone) => {
            journal.append(&run, RunEvent::RunUndone { files }).map(drop)
        }
        _ => Ok(()),
    }?;
    stream::out(&summary(args, &undone, was_undone))?;
    stream::err(&remaining(args, &undone, &run));
    Ok(if is_whole && undone.new.is_empty() { ExitReason::Clean } else { ExitReason::DisputeOpen })
}

/// Asks the user about each conflict that `--force` would override. Returns `None` if there is no terminal, or if
/// the user confirms no conflict.
fn chosen(globals: &Globals, conflicts: &[UndoConflict], redo: bool) -> Option<Forced> {
    if !globals.interactive() {
        return None;
    }
    let color = globals.color_stderr();
    let mut chosen = BTreeSet::new();
    for conflict in conflicts.iter().filter(|conflict| conflict.clash.can_be_forced()) {
        let name = printable::line(&conflict.name());
        let wanted = if redo { "the coder's version" } else { "the version before the run" };
        let question = format!("{name}: {}. Restore {wanted}? (a copy of yours is kept)", conflict.clash.words());
        match questions::confirm(color, &question, false) {
            Ok(true) => drop(chosen.insert(conflict.path.clone())),
            Ok(false) => {}
            Err(_) => break,
        }
    }
    (!chosen.is_empty()).then_some(Forced::Only(chosen))
}

fn summary(args: &Args, undone: &Undone, was_undone: bool) -> String {
    let count = |files: u64| style::count(files, "file");
    let rest = undone.conflicts.len() + undone.new.len();
    let mut text = match (args.redo, undone.files) {
        (true, 0) if rest == 0 => "Nothing is left to restore.\n".to_owned(),
        (false, 0) if rest == 0 && was_undone => "Nothing is left to undo.\n".to_owned(),
        (false, 0) if rest == 0 => "Every file is as it was before the run.\n".to_owned(),
        (_, 0) => "No file was changed.\n".to_owned(),
        (true, files) => format!("Restored the coder's changes in {}.\n", count(files)),
        (false, files) => format!("Undid the coder's changes in {}.\n", count(files)),
    };
    if undone.merged > 0 {
        text.push_str(&format!("Merged with later changes: {}.\n", count(undone.merged)));
    }
    text
}

fn remaining(args: &Args, undone: &Undone, run: &RunId) -> String {
    let mut text = String::new();
    let mut list = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            text.push_str(&format!("{title}\n"));
            lines.iter().for_each(|line| text.push_str(&format!("  {line}\n")));
        }
    };
    let conflicts = undone.conflicts.iter();
    let conflicts = conflicts.map(|it| format!("{}: {}", printable::line(&it.name()), it.clash.words())).collect();
    let names = |names: &[String]| names.iter().map(String::as_str).map(printable::line).collect();
    list("Not changed:", conflicts);
    list("New since the start of the run, and possibly not the coder's:", names(&undone.new));
    if undone.files > 0 {
        list(
            "Not changed, because they were ignored before the run and no version was kept:",
            names(&undone.ignored),
        );
    }
    let (run, redo) = (run.short(), if args.redo { " --redo" } else { "" });
    if undone.conflicts.iter().any(|conflict| conflict.clash.can_be_forced()) {
        text.push_str(&format!(
            "hint: to discard your changes to these files: `glee runs undo {run}{redo} --force` (copies are kept); to compare: \
             `glee runs undo {run} --to <new folder>`\n"
        ));
    }
    if !undone.new.is_empty() {
        text.push_str(&format!("hint: to delete the new files: `glee runs undo {run} --remove-new`\n"));
    }
    text
}

fn restore(globals: &Globals, found: &Found, folder: &Path) -> CommandResult {
    let Found { workspace, run, kept_as, left, .. } = found;
    let Some(kept_as) = kept_as else {
        let message = format!("run {} kept no tree: it called no coder", run.short());
        return Err(CommandError::usage(message).hint("`glee runs` lists the runs"));
    };
    let into = globals.directory().join(folder);
    let kept = Kept { kept_as, left: left.as_ref() };
    let files = style::count(workspace.restore(run, &kept, &place::state_dir()?, &into)?, "file");
    let place = printable::line(&into.to_string_lossy());
    print(&format!("Wrote {files} as they were before the run to {place}.\n"))
}

impl Found {
    fn new(globals: &Globals, text: &str) -> Result<Self, CommandError> {
        let (workspace, journal, run) = match lookup::find(globals, text) {
            Ok((workspace, _, run)) => {
                let journal = history::open(globals, &workspace)?;
                (workspace, journal, run)
            }
            Err(error) => {
                let workspace = place::workspace(globals)?;
                let (journal, run) = Self::elsewhere(globals, &workspace, text)?.ok_or(error)?;
                (workspace, journal, run)
            }
        };
        lookup::refuse_pruned(&journal, &run)?;
        let (mut kept_as, mut left) = (None, None);
        for event in journal.events(&run)? {
            match event.kind {
                EventKind::Review(ReviewEvent::BeforeImage { kept_as: place, .. }) if kept_as.is_none() => {
                    kept_as = Some(place)
                }
                EventKind::Review(ReviewEvent::TreeChanged { tree, .. }) => left = Some(TreeId(tree)),
                _ => {}
            }
        }
        Ok(Self { workspace, journal, run, kept_as, left })
    }

    /// Finds a run that was recorded before the tree was moved. The history of the tree's former path contains this
    /// run.
    fn elsewhere(
        globals: &Globals,
        workspace: &Workspace,
        text: &str,
    ) -> Result<Option<(Journal, RunId)>, CommandError> {
        if globals.history.is_some() {
            return Ok(None);
        }
        let state_dir = place::state_dir()?;
        for (own, key) in workspace.runs_of_moved_tree(&state_dir)? {
            let path = store::path_for(&state_dir, &key);
            let Some(history) = Journal::open_read(&path)? else { continue };
            let run = if text == "last" { Ok(own) } else { history.find_run(text) };
            if let Ok(run) = run {
                return Ok(Some((Journal::open(&path)?, run)));
            }
        }
        Ok(None)
    }
}
