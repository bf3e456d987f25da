//! `glee disputes`: lists, shows, settles, shares and verifies disputes.

mod check;
pub(crate) mod common;
pub(crate) mod decision;
pub(crate) mod list;
mod prune;
mod reopen;
mod resolve;
mod share;
mod show;
mod verify;

use crate::cli::context::{CommandResult, Globals};

/// List, show, settle and verify disputes
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  glee disputes --recent 10
  glee disputes --open
  glee disputes --all --recent 10       of all repositories on the server
  glee disputes --ruling dismiss --reviewer codex --since 3d
  glee disputes show 7
  glee disputes resolve 7 dismiss --as deferred --ref issue-12 --reason 'after the release'
  glee disputes share 7                 write a ruling file for other clones and for CI"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    list: list::Filters,
}

#[derive(clap::Subcommand)]
enum Command {
    /// List disputes (the default command)
    List(list::Filters),
    Show(show::Args),
    Resolve(resolve::Args),
    Reopen(reopen::Args),
    Prune(prune::Args),
    Share(share::Args),
    Check(check::Args),
    Verify(verify::Args),
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    match &args.command {
        None => list::run(&args.list, globals),
        Some(Command::List(args)) => list::run(args, globals),
        Some(Command::Show(args)) => show::run(args, globals),
        Some(Command::Resolve(args)) => resolve::run(args, globals),
        Some(Command::Reopen(args)) => reopen::run(args, globals),
        Some(Command::Prune(args)) => prune::run(args, globals),
        Some(Command::Share(args)) => share::run(args, globals),
        Some(Command::Check(args)) => check::run(args, globals),
        Some(Command::Verify(args)) => verify::run(args, globals),
    }
}
