//! `glee connect`: connect an agent in a role.

use super::Globals;
use super::error::{CommandError, CommandResult};

/// Arguments of `glee connect`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, _globals: &Globals) -> CommandResult {
    Err(CommandError::usage("`glee connect` is not built yet"))
}
