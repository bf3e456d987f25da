//! The worktree in which a run works instead of the user's tree (`--worktree`).

use std::sync::Arc;

use super::globals::Globals;
use super::place::{refuse_inside, state_dir};
use super::{execute, history, stream};
use crate::cli::error::CommandError;
use glee_agents::Agents;
use glee_model::domain::RunId;
use glee_model::domain::event::{Event, Plan};
use glee_protocol::text::printable;
use glee_store::history::{HeldRun, Journal};
use glee_workflows::review::recorded::worktrees;
use glee_workspace::root::Workspace;

/// The tree in which a run works: its worktree, or the user's tree.
pub(crate) struct RunTree {
    pub(crate) workspace: Arc<Workspace>,
    /// Keeps other processes from removing the worktree until the run itself is held.
    _held: Option<HeldRun>,
}

impl RunTree {
    pub(crate) fn of_user(workspace: Arc<Workspace>) -> Self {
        Self {
            workspace,
            _held: None,
        }
    }

    /// Records the worktree in the plan of a new run. Returns the agents of the run: a command of the project runs in a
    /// checkout that takes the place of the tree.
    pub(crate) fn agents(&self, plan: &mut Plan, agents: Agents) -> Result<Agents, CommandError> {
        if !self.workspace.has_home() {
            return Ok(agents);
        }
        plan.worktree = Some(self.workspace.root().display().to_string());
        execute::programs_of(plan, &[], &self.workspace)
    }

    /// Creates the worktree of a new run, and removes worktrees that nothing needs any more.
    pub(crate) fn new(
        globals: &Globals,
        home: Arc<Workspace>,
        run: &RunId,
    ) -> Result<Self, CommandError> {
        refuse_inside(&home, &state_dir()?)?;
        let journal = history::open(globals, &home)?;
        worktrees::sweep(&home, &journal, &state_dir()?)?;
        let held = journal.hold(run)?;
        Self::add(globals, &home, run, held)
    }

    /// Opens the tree of a recorded run.
    pub(crate) fn of_run(
        globals: &Globals,
        home: Arc<Workspace>,
        journal: &Journal,
        run: &RunId,
        plan: &Plan,
        events: &[Event],
    ) -> Result<Self, CommandError> {
        if plan.worktree.is_none() {
            return Ok(Self::of_user(home));
        }
        let held = journal.hold(run)?;
        match home.worktree(run, &state_dir()?)? {
            Some(tree) => Ok(Self {
                workspace: Arc::new(tree),
                _held: Some(held),
            }),
            None if worktrees::is_renewable(events) => Self::add(globals, &home, run, held),
            None => {
                Err(glee_workspace::WorkspaceError::WorktreeGone(run.short().to_owned()).into())
            }
        }
    }

    /// The tree in which a dispute of a run is judged.
    pub(crate) fn of_dispute(home: Arc<Workspace>, run: &RunId) -> Result<Self, CommandError> {
        let tree = home.worktree(run, &state_dir()?)?;
        Ok(Self::of_user(tree.map_or(home, Arc::new)))
    }

    fn add(
        globals: &Globals,
        home: &Arc<Workspace>,
        run: &RunId,
        held: HeldRun,
    ) -> Result<Self, CommandError> {
        let added = home.add_worktree(run, &state_dir()?);
        let (tree, nested) = match added {
            Ok(added) => added,
            Err(error) => {
                home.remove_worktree(run, &state_dir()?)?;
                return Err(error.into());
            }
        };
        for folder in nested {
            globals.say(format!(
                "note: `{}` is a repository of its own, and empty in the worktree",
                printable::line(&folder)
            ));
        }
        Ok(Self {
            workspace: Arc::new(tree),
            _held: Some(held),
        })
    }

    /// Removes the worktree if nothing in it is needed.
    pub(crate) fn leave(&self, globals: &Globals, run: &RunId) {
        let home = self.workspace.home();
        if !self.workspace.has_home() {
            return;
        }
        let removed = history::open_read(globals, home).and_then(|journal| {
            match journal {
                Some(journal) => {
                    worktrees::remove_unneeded(home, &journal, run, &state_dir()?)?;
                }
                None => home.remove_worktree(run, &state_dir()?)?,
            }
            Ok(())
        });
        if let Err(error) = removed {
            stream::err(format!("warning: {}\n", error.message()));
        }
    }
}
