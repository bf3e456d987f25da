//! `glee pr`: publishes reviews on pull requests, and settles disputes in the conversations of pull requests.

mod apply;
mod arbitrate;
pub(crate) mod change;
mod connection;
mod conversation;
mod publish;
mod session;

use clap::Subcommand;

use crate::cli::context::{CommandResult, Globals};

pub(crate) use publish::{publish_review, reported_exit};

/// Publish reviews on pull requests, rule on replies
#[derive(clap::Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Review a pull request with `glee review --pr N`. If a command is interrupted, run the same command again: Glee \
recognises its comments in the conversation, and publishes only missing comments.

Examples:
  glee review --pr 7 --publish     review, rule on replies, and publish
  glee pr publish --dry-run        print the planned publication of the last review
  glee pr arbitrate 7              have the judge rule on new replies"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: PrCommand,
}

#[derive(Subcommand)]
enum PrCommand {
    Publish(publish::Args),
    Arbitrate(arbitrate::Args),
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    match &args.command {
        PrCommand::Publish(args) => publish::run(args, globals),
        PrCommand::Arbitrate(args) => arbitrate::run(args, globals),
    }
}
