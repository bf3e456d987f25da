//! `glee consensus`: asks several agents to agree on a plan before a coder writes code.

mod ask;
mod list;
mod resolve;
mod run;

use crate::cli::context::{CommandResult, Globals};

/// Have several agents agree on a plan before code is written
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Several agents answer the same request in parallel. An agent with the role aggregator summarises the answers \
and lists agreements and conflicts. An arbiter (an agent with the role judge) decides the conflicts, or you \
decide them. The decision is binding. Without a subcommand, Glee lists the recorded stages.

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

#[derive(clap::Subcommand)]
enum Command {
    /// List the recorded stages (the default command)
    List(list::StageFilters),
    Ask(ask::Args),
    Run(run::Args),
    Resolve(resolve::Args),
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    match &args.command {
        None => list::run(&args.list, globals),
        Some(Command::List(args)) => list::run(args, globals),
        Some(Command::Ask(args)) => ask::run(args, globals),
        Some(Command::Run(args)) => run::run(args, globals),
        Some(Command::Resolve(args)) => resolve::run(args, globals),
    }
}
