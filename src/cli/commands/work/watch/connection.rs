//! Connects a command to the watch of the work tree.

use std::path::PathBuf;

use crate::cli::context::{CommandError, Globals, place};
use glee_protocol::text::printable;
use glee_workflows::watch::socket::protocol::CommandReply;
use glee_workflows::watch::socket::{self, Client, SocketError};
use glee_workspace::root::Workspace;

pub(crate) fn address(workspace: &Workspace) -> Result<PathBuf, CommandError> {
    Ok(socket::address(&place::state_dir()?, workspace.root()))
}

/// Connects to the watch that started this process. If no watch started this process, connects to the watch of
/// the work tree.
pub(crate) fn connect(globals: &Globals) -> Result<Result<Client, SocketError>, CommandError> {
    if let Some(path) = std::env::var_os(socket::VARIABLE).filter(|path| !path.is_empty()) {
        return Ok(Client::connect(&PathBuf::from(path), &globals.directory()));
    }
    let workspace = place::workspace(globals)?;
    Ok(Client::connect(&address(&workspace)?, workspace.root()))
}

pub(crate) fn accepted(reply: Option<CommandReply>) -> Result<CommandReply, CommandError> {
    let reply = reply.ok_or_else(|| CommandError::usage("the watch ended without an answer"))?;
    match &reply.error {
        Some(error) => Err(CommandError::usage(printable::line(error))),
        None => Ok(reply),
    }
}

pub(crate) fn part<T>(part: Option<T>) -> Result<T, CommandError> {
    part.ok_or_else(|| SocketError::Unreadable("the requested part is missing".to_owned()).into())
}
