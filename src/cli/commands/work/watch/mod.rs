//! `glee watch`: starts reviews of the work of long-running agents. The subcommands control a running watch.

mod command;
pub(crate) mod connection;
mod run;

use crate::cli::context::{CommandResult, Globals};

/// Review the work of running agents when the agents report events
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Agents in `watch.agents` report events on stdout. Other agents report events with `glee emit` from hooks and \
scripts. Glee starts a review by the connected reviewers at a milestone, a blocker or a review request, after \
`glee watch review`, and after 15 minutes without events. If one reviewer reports a blocker, the work stops. If \
two reviewers report concerns, the work pauses. The concerns of a single reviewer become an issue. If a watch \
was stopped or killed, the next `glee watch` in the same tree continues this watch. See docs/watch.md for \
details.

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
    watch: run::WatchOptions,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    match &args.command {
        None => run::run(&args.watch, globals),
        Some(command) => command::run(command, globals),
    }
}
