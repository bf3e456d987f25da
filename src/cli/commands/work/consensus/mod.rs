//! `glee consensus`: have several agents agree before code.

mod ask;
mod list;
mod resolve;
mod run;

use crate::cli::context::globals::Globals;
use crate::cli::error::CommandResult;

/// Arguments of `glee consensus`.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Several agents answer the same request side by side. The aggregator (an agent with that role)
synthesises their answers and names agreements and conflicts; conflicts are decided by an arbiter
(a judge), whose decision binds, or by you.

Examples:
  glee consensus ask 'How should orders be retried?'
  glee consensus ask --stage plan --id SPEC-25 --file docs/spec.md
  glee consensus resolve SPEC-25 claude --reason 'no second store'
  glee consensus run pipeline.yml --id SPEC-25"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    list: list::StageFilters,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Ask several agents the same thing and settle what they disagree on
    Ask(ask::Args),
    /// Run a pipeline of stages and checkpoints; what was agreed is not asked again
    Run(run::Args),
    /// End a deadlock by your own decision
    Resolve(resolve::Args),
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    match &args.command {
        None => list::run(&args.list, globals),
        Some(Command::Ask(args)) => ask::run(args, globals),
        Some(Command::Run(args)) => run::run(args, globals),
        Some(Command::Resolve(args)) => resolve::run(args, globals),
    }
}
