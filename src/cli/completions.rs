//! `glee completions`: print shell completions.

use super::Globals;
use super::error::{CommandError, CommandResult};

/// Arguments of `glee completions`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, _globals: &Globals) -> CommandResult {
    Err(CommandError::usage("`glee completions` is not built yet"))
}
