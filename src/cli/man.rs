//! `glee man`: print the manual page.

use super::Globals;
use super::error::{CommandError, CommandResult};

/// Arguments of `glee man`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, _globals: &Globals) -> CommandResult {
    Err(CommandError::usage("`glee man` is not built yet"))
}
