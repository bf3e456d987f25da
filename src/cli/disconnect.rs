//! `glee disconnect`: remove a connected agent.

use super::Globals;
use super::error::{CommandError, CommandResult};

/// Arguments of `glee disconnect`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, _globals: &Globals) -> CommandResult {
    Err(CommandError::usage("`glee disconnect` is not built yet"))
}
