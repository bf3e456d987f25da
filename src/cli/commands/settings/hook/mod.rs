//! `glee hook`: installs, removes, lists and runs the hooks of git that review commits and pushes, and runs the hook of an
//! agent that ends its turn.

pub(crate) mod agent;
mod host;
mod install;
mod list;
mod managers;
mod options;
mod run;
mod script;

use clap::Subcommand;

use crate::cli::context::{CommandResult, Globals, JsonFlag};

/// Let a hook of git review each commit or push, or a hook of an agent each turn
#[derive(clap::Args)]
#[command(after_help = "\
The hook `pre-commit` reviews the staged changes quickly, with one reviewer and one round. The hook `post-commit` \
reviews the new commits in the background, and `glee findings` lists what came of it. The hook `pre-push` \
reviews the commits that the push adds to branches of the remote. A hook asks no questions, ends at a time \
limit, and does nothing if `glee` is not on the PATH. In the mode `warn`, a hook prints the report and lets git \
continue.

Examples:
  glee hook install pre-commit                 print a report at each commit
  glee hook install post-commit                review each commit in the background
  glee hook install pre-push --mode block      refuse a push with open mandatory findings
  glee hook uninstall pre-push                 restore the earlier hook
  git commit --no-verify                       skip the hook `pre-commit` once
  glee hook print claude                       print the hook of an agent that ends its turn")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Install(install::Args),
    Uninstall(install::UninstallArgs),
    /// List the hooks of this repository
    List(JsonFlag),
    Run(run::Args),
    Agent(agent::Args),
    Print(agent::PrintArgs),
}

impl Args {
    pub(crate) fn runs_agents(&self) -> bool {
        matches!(self.command, Command::Run(_))
    }
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    match &args.command {
        Command::Install(args) => install::install(args, globals),
        Command::Uninstall(args) => install::uninstall(args, globals),
        Command::List(output) => list::run(output, globals),
        Command::Run(args) => run::run(args, globals),
        Command::Agent(args) => agent::run(args, globals),
        Command::Print(args) => agent::print_settings(args, globals),
    }
}
