//! `glee config`: read and change settings.

use super::Globals;
use super::error::{CommandError, CommandResult};

/// Arguments of `glee config`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, _globals: &Globals) -> CommandResult {
    Err(CommandError::usage("`glee config` is not built yet"))
}
