//! `glee trust`: allow this project's configuration to run the programs it names.

use super::Globals;
use super::error::{CommandError, CommandResult};

/// Arguments of `glee trust`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, _globals: &Globals) -> CommandResult {
    Err(CommandError::usage("`glee trust` is not built yet"))
}
