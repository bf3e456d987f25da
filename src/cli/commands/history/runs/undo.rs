//! `glee runs undo`: lists and undoes the changes that the coder made in a run. `glee runs undo --redo` restores
//! the changes that an undo reverted.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::cli::commands::history::runs::chosen::ChosenChanges;
use crate::cli::commands::history::runs::lookup;
use crate::cli::context::{CommandError, CommandResult, Globals, history, place, print, stream};
use crate::cli::style::{self, Style, columns};
use crate::cli::ui::dialogs::questions::{self, AskError};
use glee_model::domain::event::{EventKind, ReviewEvent, RunEvent};
use glee_model::domain::{ExitReason, RunId};
use glee_protocol::text::printable;
use glee_store::history::store::{self, Journal};
use glee_workflows::review::recorded::view;
use glee_workspace::root::Workspace;
use glee_workspace::{Forced, UndoConflict, UndoEffect, UndoOptions, UndoPlan, Undone};

/// Undo the changes that the coder made in a run
#[derive(clap::Args)]
#[command(after_help = "\
Glee first lists the effect of the undo on each file. For each file that the coder changed, Glee restores the \
version from before the run. If you changed the file after the coder, Glee keeps your changes and removes only \
the coder's changes. If Glee cannot merge your changes, Glee does not change the file, and the exit code is 3. \
On a terminal, Glee first asks you whether to discard your changes to the file. Other files, the index, commits \
and branches stay unchanged.

Glee stores the versions that an undo replaces. `--redo` restores the stored versions, and also keeps your \
later changes. A second undo of the same run changes nothing.

If the run was killed while the coder worked, Glee cannot distinguish the coder's changes from other changes, \
and restores every file that existed before the run. Glee lists the files that were created since the start of \
the run, and deletes these files only with `--remove-new`.

Examples:
  glee runs undo --dry-run           list the effect of an undo of the last run
  glee runs undo                     undo the last run that changed something
  glee runs undo F12 src/db.py       undo its changes in the files of F12 and in src/db.py
  glee runs undo 5f3a91c2 --force    discard your later changes that cannot be merged
  glee runs undo --redo              restore the undone changes
  glee runs undo --to old            write the tree from before the run into the folder `old`")]
pub(crate) struct Args {
    #[command(flatten)]
    chosen: ChosenChanges,
    /// Write the tree, as it was before the run, into this new or empty folder, and change no other file
    #[arg(long, value_name = "DIR", conflicts_with_all = ["force", "remove_new", "redo"])]
    to: Option<PathBuf>,
    /// Restore files even if your later changes cannot be merged, and keep copies of your versions
    #[arg(long)]
    force: bool,
    /// Also delete new files that Glee cannot attribute to the coder
    #[arg(long, conflicts_with = "redo")]
    remove_new: bool,
    /// Restore the changes that earlier undos of this run reverted
    #[arg(long)]
    redo: bool,
    /// Keep your changes that cannot be merged, without asking
    #[arg(short, long)]
    yes: bool,
    /// List the effect on each file, and change no file
    #[arg(long, conflicts_with = "to")]
    dry_run: bool,
}

struct Found {
    workspace: Workspace,
    journal: Journal,
    run: RunId,
    called_coder: bool,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let found = match args.chosen.run(globals)? {
        Some(run) => Found::new(globals, run)?,
        None => Found::newest(globals)?,
    };
    match &args.to {
        Some(folder) => restore(globals, &found, folder),
        None => undo(args, globals, found),
    }
}

fn undo(args: &Args, globals: &Globals, found: Found) -> CommandResult {
    let Found {
        workspace,
        mut journal,
        run,
        called_coder,
    } = found;
    let state_dir = place::state_dir()?;
    let _lock = workspace.lock(&state_dir, &run)?;
    if !called_coder {
        stream::err(format!(
            "Run {} changed nothing: it called no coder. Nothing to undo.\n",
            run.short()
        ));
        return Ok(ExitReason::Clean);
    }
    if view::is_never_applied(&journal.events(&run)?) {
        stream::err(format!(
            "The changes of run {0} are only in its worktree. Nothing to undo; `glee runs drop {0}` forgets them.\n",
            run.short()
        ));
        return Ok(ExitReason::Clean);
    }
    let was_undone = workspace.is_undone(&run, &state_dir);
    let forced = if args.force {
        Forced::All
    } else {
        Forced::None
    };
    let mut options = UndoOptions {
        forced,
        remove_new: args.remove_new,
        only: args.chosen.paths(globals, &workspace, &run)?,
    };
    let direction = if args.redo {
        Direction::Redo
    } else {
        Direction::Undo
    };
    let planned = if args.redo {
        Workspace::plan_redo
    } else {
        Workspace::plan_undo
    };
    let plan = planned(&workspace, &run, &options, &state_dir)?;
    stream::out(listing(globals.style(), direction, &plan, &run))?;
    if args.dry_run {
        stream::out(format!(
            "{}No file was changed: this is a dry run.\n",
            nothing(args.redo, &plan, was_undone)
        ))?;
        return Ok(exit(&plan.conflicts, &plan.new));
    }
    if globals.interactive() && !args.yes {
        match decide(globals, &plan, &mut options) {
            Ok(()) => {}
            Err(AskError::Interrupted) => return Ok(ExitReason::Signal(2)),
            Err(error) => {
                return Err(CommandError::new(ExitReason::Usage, error)
                    .hint("run the command again; no file was changed"));
            }
        }
    }
    // What the person decided about conflicts changes the files.
    let decided = planned(&workspace, &run, &options, &state_dir)?;
    let names: Vec<String> = decided.files.into_iter().map(|(name, _)| name).collect();
    let undone = if args.redo {
        workspace.redo(&run, &options, &state_dir)?
    } else {
        workspace.undo(&run, &options, &state_dir)?
    };
    let has_changed = undone.files > 0;
    if args.redo && has_changed {
        journal.append(&run, RunEvent::RunRedone { files: names })?;
    } else if !args.redo && (has_changed || undone.conflicts.is_empty() && !was_undone) {
        let rest = workspace.plan_undo(&run, &UndoOptions::default(), &state_dir)?;
        let left = match &options.only {
            Some(_) => rest.files.len() + rest.conflicts.len(),
            None => 0,
        };
        let left = left as u64;
        journal.append(&run, RunEvent::RunUndone { files: names, left })?;
    }
    let text = summary(args.redo, &undone);
    stream::out(if text.is_empty() {
        nothing(args.redo, &plan, was_undone)
    } else {
        &text
    })?;
    stream::err(hints(args.redo, &undone, &run));
    Ok(exit(&undone.conflicts, &undone.new))
}

pub(super) fn exit(conflicts: &[UndoConflict], new: &[String]) -> ExitReason {
    if conflicts.is_empty() && new.is_empty() {
        ExitReason::Clean
    } else {
        ExitReason::DisputeOpen
    }
}

/// Which way the changes of a coder go.
#[derive(Clone, Copy)]
pub(super) enum Direction {
    Undo,
    Redo,
    /// From the worktree into the user's tree.
    Apply,
}

/// Lists each file with the planned change, or with the reason why Glee keeps the file as it is.
pub(super) fn listing(style: Style, direction: Direction, plan: &UndoPlan, run: &RunId) -> String {
    let mut rows: Vec<(&str, String, &str)> = Vec::new();
    for (path, effect) in &plan.files {
        let (word, why) = match (effect, direction) {
            (UndoEffect::Restored, Direction::Undo) => ("restore", ""),
            (UndoEffect::Restored, Direction::Redo) => ("restore", "the coder's version"),
            (UndoEffect::Restored, Direction::Apply) => ("change", ""),
            (UndoEffect::Removed, Direction::Undo) => ("remove", "created by the coder"),
            (UndoEffect::Removed, _) => ("remove", "removed by the coder"),
            (UndoEffect::Returned, Direction::Undo) => ("bring back", "removed by the coder"),
            (UndoEffect::Returned, Direction::Redo) => ("bring back", "created by the coder"),
            (UndoEffect::Returned, Direction::Apply) => ("create", ""),
            (UndoEffect::Merged, Direction::Apply) => ("merge", "your changes are kept"),
            (UndoEffect::Merged, _) => ("merge", "your later changes are kept"),
            (UndoEffect::Forced, Direction::Apply) => {
                ("replace", "your changes are discarded; a copy is kept")
            }
            (UndoEffect::Forced, _) => (
                "restore",
                "your later changes are discarded; a copy is kept",
            ),
        };
        rows.push((word, path.clone(), why));
    }
    for conflict in &plan.conflicts {
        let why = match direction {
            Direction::Undo => conflict.clash.words(),
            Direction::Redo | Direction::Apply => conflict.clash.words_of_redo(),
        };
        rows.push(("keep", conflict.name(), why));
    }
    for name in &plan.new {
        let why = "new since the run began; its creator is unknown";
        rows.push(("keep", name.clone(), why));
    }
    // Ignored files are listed only if there are files to restore.
    for name in plan.ignored.iter().filter(|_| !plan.files.is_empty()) {
        let why = "ignored before the run, so no version was kept";
        rows.push(("keep", name.clone(), why));
    }
    if rows.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "{} of run {}:\n",
        match direction {
            Direction::Undo => "Undo",
            Direction::Redo => "Redo",
            Direction::Apply => "Changes",
        },
        run.short()
    );
    for (word, name, why) in rows {
        let line = format!("  {} {}", style::pad(word, 10), printable::line(&name));
        text += &line;
        if columns(&line) + columns(why) + 2 > style.width {
            for part in style::wrap(why, style.width.saturating_sub(15)) {
                text += &format!("\n{:15}{}", "", style.faint(part));
            }
        } else if !why.is_empty() {
            text += &format!("  {}", style.faint(why));
        }
        text.push('\n');
    }
    text
}

/// Asks the user what to do with new files, and with files that have conflicts. Stores the answers in
/// `options.forced` and `options.remove_new`.
fn decide(globals: &Globals, plan: &UndoPlan, options: &mut UndoOptions) -> Result<(), AskError> {
    let color = globals.color_stderr();
    let mut chosen = BTreeSet::new();
    for conflict in plan
        .conflicts
        .iter()
        .filter(|conflict| conflict.clash.can_be_forced())
    {
        let question = format!(
            "Discard your changes to {}? (a copy is kept)",
            printable::line(&conflict.name())
        );
        if questions::confirm(color, &question, false)? {
            chosen.insert(conflict.path.clone());
        }
    }
    if !chosen.is_empty() {
        options.forced = Forced::Only(chosen);
    }
    if !plan.new.is_empty() {
        let files = style::count(plan.new.len(), "new file");
        let question =
            format!("Delete {files} that the coder or somebody else created? (copies are kept)");
        options.remove_new = questions::confirm(color, &question, false)?;
    }
    Ok(())
}

/// Returns a message if the undo has nothing to do, and otherwise an empty text.
fn nothing(redo: bool, plan: &UndoPlan, was_undone: bool) -> &'static str {
    match (redo, was_undone) {
        _ if !(plan.files.is_empty() && plan.conflicts.is_empty() && plan.new.is_empty()) => "",
        (true, _) => "Nothing is left to restore.\n",
        (false, true) => "Nothing is left to undo.\n",
        (false, false) => "Every file is as it was before the run.\n",
    }
}

/// Describes which files the undo changed. Returns an empty text if the undo changed no file.
fn summary(redo: bool, undone: &Undone) -> String {
    let left = undone.conflicts.len() + undone.new.len();
    let changed = style::count(undone.files, "file");
    let mut text = match undone.files {
        0 if left == 0 => return String::new(),
        0 => "No file was changed.\n".to_owned(),
        _ if redo => format!("Restored the coder's changes in {changed}.\n"),
        _ => format!("Undid the coder's changes in {changed}.\n"),
    };
    if undone.merged > 0 {
        let merged = style::count(undone.merged, "file");
        text += &format!("Merged with later changes: {merged}.\n");
    }
    if left > 0 {
        text += &format!("Kept as it is: {}.\n", style::count(left, "file"));
    }
    text
}

fn hints(redo: bool, undone: &Undone, run: &RunId) -> String {
    let mut text = String::new();
    let run = run.short();
    let again = if redo { " --redo" } else { "" };
    if undone
        .conflicts
        .iter()
        .any(|conflict| conflict.clash.can_be_forced())
    {
        text += &format!(
            "hint: to discard your changes to these files: `glee runs undo {run}{again} --force` (copies are kept); to compare: \
             `glee runs undo {run} --to <new folder>`\n"
        );
    }
    if !undone.new.is_empty() {
        text += &format!("hint: to delete the new files: `glee runs undo {run} --remove-new`\n");
    }
    match (undone.files, redo) {
        (0, _) => {}
        (_, false) => text.push_str(&format!(
            "hint: to restore the changes: `glee runs undo {run} --redo`\n"
        )),
        (_, true) => text.push_str(&format!(
            "hint: to undo the changes again: `glee runs undo {run}`\n"
        )),
    }
    text
}

fn restore(globals: &Globals, found: &Found, folder: &Path) -> CommandResult {
    let Found {
        workspace,
        run,
        called_coder,
        ..
    } = found;
    if !called_coder {
        let message = format!("run {} kept no tree: it called no coder", run.short());
        return Err(CommandError::usage(message).hint("`glee runs` lists the runs"));
    }
    let into = globals.directory().join(folder);
    let files = style::count(workspace.restore(run, &place::state_dir()?, &into)?, "file");
    let place = printable::line(&into.to_string_lossy());
    print(format!(
        "Wrote {files} as they were before the run to {place}.\n"
    ))
}

impl Found {
    /// The newest run that changed something, or the newest run.
    fn newest(globals: &Globals) -> Result<Self, CommandError> {
        let changed = lookup::open(globals).and_then(|(_, journal)| Ok(journal.newest_changed()?));
        let run = changed.ok().flatten();
        Self::new(globals, run.as_ref().map_or("last", |run| run.0.as_str()))
    }

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
        let called_coder = journal.events(&run)?.iter().any(|event| {
            matches!(
                event.kind,
                EventKind::Review(ReviewEvent::BeforeImage { .. })
            )
        });
        Ok(Self {
            workspace,
            journal,
            run,
            called_coder,
        })
    }

    /// Finds a run that was recorded before the user moved the work tree to its current path. The run is in the
    /// history that belongs to the earlier path.
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
            let Some(history) = Journal::open_read(&path)? else {
                continue;
            };
            let run = if text == "last" {
                Ok(own)
            } else {
                history.find_run(text)
            };
            if let Ok(run) = run {
                return Ok(Some((Journal::open(&path)?, run)));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glee_workspace::Clash;

    #[test]
    fn the_list_fits_into_narrow_terminals() {
        let plan = UndoPlan {
            files: vec![
                ("src/app.rs".to_owned(), UndoEffect::Restored),
                ("src/b.rs".to_owned(), UndoEffect::Merged),
            ],
            conflicts: vec![UndoConflict {
                path: b"src/c.rs".to_vec(),
                clash: Clash::Lines,
            }],
            new: vec!["src/d\u{1b}.rs".to_owned()],
            ignored: vec!["src/e.rs".to_owned()],
        };
        let list = |width| {
            let style = Style {
                color: false,
                unicode: true,
                width,
            };
            let text = listing(
                style,
                Direction::Undo,
                &plan,
                &RunId("01a00000-0000-7000-8000-000000000001".to_owned()),
            );
            assert!(text.lines().all(|line| columns(line) <= width), "{text}");
            text
        };
        insta::assert_snapshot!(list(50), @r"
        Undo of run 00000001:
          restore    src/app.rs
          merge      src/b.rs  your later changes are kept
          keep       src/c.rs
                       the lines that the coder changed
                       were changed since
          keep       src/d\u{1b}.rs
                       new since the run began; its
                       creator is unknown
          keep       src/e.rs
                       ignored before the run, so no
                       version was kept
        ");
        insta::assert_snapshot!(list(80), @r"
        Undo of run 00000001:
          restore    src/app.rs
          merge      src/b.rs  your later changes are kept
          keep       src/c.rs  the lines that the coder changed were changed since
          keep       src/d\u{1b}.rs  new since the run began; its creator is unknown
          keep       src/e.rs  ignored before the run, so no version was kept
        ");
        assert_eq!(list(80), list(120));
    }
}
