//! `glee runs`: list runs; show, diff, undo or resume one.

use super::Globals;
use super::error::{CommandError, CommandResult};

/// Arguments of `glee runs`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, _globals: &Globals) -> CommandResult {
    Err(CommandError::usage("`glee runs` is not built yet"))
}
