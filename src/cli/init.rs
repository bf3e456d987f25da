//! `glee init`: set glee up in this project: find installed agents and connect them.

use super::Globals;
use super::error::{CommandError, CommandResult};

/// Arguments of `glee init`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, _globals: &Globals) -> CommandResult {
    Err(CommandError::usage("`glee init` is not built yet"))
}
