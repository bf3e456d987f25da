//! `glee agents`: list connected agents: is the program there, which version.

use super::Globals;
use super::error::{CommandError, CommandResult};

/// Arguments of `glee agents`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, _globals: &Globals) -> CommandResult {
    Err(CommandError::usage("`glee agents` is not built yet"))
}
