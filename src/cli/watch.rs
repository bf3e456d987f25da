//! `glee watch`: supervises long-running agents, and what a person tells a watch that runs.

mod command;
mod run;

use std::path::PathBuf;

use super::Globals;
use super::error::{CommandError, CommandResult};
use super::sitting;
use super::words::{FORMATS, one_of};
use crate::report::Format;
use crate::watch::intake::Answer;
use crate::watch::socket::{self, Client, SocketError};
use crate::workspace::Workspace;

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
    watch: Watch,
}

#[derive(Debug, clap::Args)]
struct Watch {
    /// Start these connected agents instead of those of `watch.agents`
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    agents: Option<Vec<String>>,
    /// What a started agent is to do whose program answers a prompt; may be given several times
    #[arg(long = "task", value_name = "NAME=TEXT")]
    tasks: Vec<String>,
    /// Have these review instead of those of `watch.reviewers`
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    reviewers: Option<Vec<String>>,
    /// Take in events from here too, a JSON object a line; `-`: standard input
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
    /// Go on when the last started agent has ended
    #[arg(long)]
    stay: bool,
    /// Begin anew: no pause, no issue and no event of an earlier watch counts
    #[arg(long)]
    fresh: bool,
    #[arg(long, hide = true, conflicts_with = "fresh")]
    afresh: bool,
    /// What is printed
    #[arg(long, value_parser = one_of(FORMATS), value_name = "FORMAT", default_value = "text")]
    format: Format,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    match &args.command {
        None => run::run(&args.watch, globals),
        Some(command) => command::run(command, globals),
    }
}

pub(super) fn address(workspace: &Workspace) -> Result<PathBuf, CommandError> {
    Ok(socket::address(&sitting::state_dir()?, workspace.root()))
}

/// Goes to the watch of this work tree, or to the one that started this program.
pub(super) fn connect(globals: &Globals) -> Result<Result<Client, SocketError>, CommandError> {
    if let Some(path) = std::env::var_os(socket::VARIABLE).filter(|path| !path.is_empty()) {
        let path = PathBuf::from(path);
        return Ok(Client::connect(&path, &globals.directory()));
    }
    let workspace = sitting::workspace(globals)?;
    Ok(Client::connect(&address(&workspace)?, workspace.root()))
}

/// What a watch answered, unless it refused.
pub(super) fn accepted(answer: Option<Answer>) -> Result<Answer, CommandError> {
    let answer = answer.ok_or_else(|| CommandError::usage("the watch ended before it answered"))?;
    match &answer.error {
        Some(error) => Err(CommandError::usage(crate::protocol::printable::line(error))),
        None => Ok(answer),
    }
}

/// A part of what a watch answered.
pub(super) fn asked_for<T>(part: Option<T>) -> Result<T, CommandError> {
    part.ok_or_else(|| SocketError::Unreadable("what was asked for is missing".to_owned()).into())
}
