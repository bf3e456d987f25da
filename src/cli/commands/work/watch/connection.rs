use std::path::PathBuf;

use crate::cli::context::globals::Globals;
use crate::cli::context::place;
use crate::cli::context::words::{FORMATS, one_of};
use crate::cli::error::CommandError;
use crate::cli::report::Format;
use crate::workflows::watch::socket::protocol::CommandReply;
use crate::workflows::watch::socket::{self, Client, SocketError};
use crate::workspace::root::Workspace;

#[derive(Debug, clap::Args)]
pub(crate) struct WatchConnection {
    /// Start these connected agents instead of those of `watch.agents`
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) agents: Option<Vec<String>>,
    /// What a started agent is to do whose program answers a prompt; may be given several times
    #[arg(long = "task", value_name = "NAME=TEXT")]
    pub(crate) tasks: Vec<String>,
    /// Have these review instead of those of `watch.reviewers`
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) reviewers: Option<Vec<String>>,
    /// Take in events from here too, a JSON object a line; `-`: standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,
    /// Go on when the last started agent has ended
    #[arg(long)]
    pub(crate) stay: bool,
    /// Begin anew: no pause, no issue and no event of an earlier watch counts
    #[arg(long)]
    pub(crate) fresh: bool,
    #[arg(long, hide = true, conflicts_with = "fresh")]
    pub(crate) afresh: bool,
    /// What is printed
    #[arg(long, value_parser = one_of(FORMATS), value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

pub(crate) fn address(workspace: &Workspace) -> Result<PathBuf, CommandError> {
    Ok(socket::address(&place::state_dir()?, workspace.root()))
}

/// Goes to the watch of this work tree, or to the one that started this program.
pub(crate) fn connect(globals: &Globals) -> Result<Result<Client, SocketError>, CommandError> {
    if let Some(path) = std::env::var_os(socket::VARIABLE).filter(|path| !path.is_empty()) {
        let path = PathBuf::from(path);
        return Ok(Client::connect(&path, &globals.directory()));
    }
    let workspace = place::workspace(globals)?;
    Ok(Client::connect(&address(&workspace)?, workspace.root()))
}

/// What a watch answered, unless it refused.
pub(crate) fn accepted(answer: Option<CommandReply>) -> Result<CommandReply, CommandError> {
    let answer = answer.ok_or_else(|| CommandError::usage("the watch ended before it answered"))?;
    match &answer.error {
        Some(error) => Err(CommandError::usage(crate::protocol::text::printable::line(error))),
        None => Ok(answer),
    }
}

/// A part of what a watch answered.
pub(crate) fn asked_for<T>(part: Option<T>) -> Result<T, CommandError> {
    part.ok_or_else(|| SocketError::Unreadable("what was asked for is missing".to_owned()).into())
}
