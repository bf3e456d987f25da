//! `glee watch`: supervises long-running agents, and what a person tells a watch that runs.

mod command;
pub(crate) mod connection;
mod run;

use crate::cli::commands::work::watch::connection::WatchConnection;
use crate::cli::context::globals::Globals;
use crate::cli::error::CommandResult;

/// Arguments of `glee watch`.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Agents tell what they do: those of `watch.agents` on their stdout, others by `glee emit` from hooks
and scripts. A milestone, a blocker, a request, you, or 15 quiet minutes begin a review by the
connected reviewers. Any blocker stops the work, two concerns pause it, one is put on the list.
Started again, a watch stands where it stood. docs/watch.md tells all of it.

Examples:
  glee watch
  glee watch --agents claude --task claude='hash the passwords'
  glee watch status
  glee watch resume --reason 'checked by hand'"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<command::Command>,
    #[command(flatten)]
    watch: WatchConnection,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    match &args.command {
        None => run::run(&args.watch, globals),
        Some(command) => command::run(command, globals),
    }
}
