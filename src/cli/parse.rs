//! `glee parse`: print what glee reads in an agent's answer.

use super::Globals;
use super::error::{CommandError, CommandResult};

/// Arguments of `glee parse`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, _globals: &Globals) -> CommandResult {
    Err(CommandError::usage("`glee parse` is not built yet"))
}
