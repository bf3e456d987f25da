//! `glee disputes`: list, show, settle and verify disputes.

use super::Globals;
use super::error::{CommandError, CommandResult};

/// Arguments of `glee disputes`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, _globals: &Globals) -> CommandResult {
    Err(CommandError::usage("`glee disputes` is not built yet"))
}
