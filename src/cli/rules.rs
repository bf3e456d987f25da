//! `glee rules`: list and test the embedded reviewer's rules.

use super::Globals;
use super::error::{CommandError, CommandResult};

/// Arguments of `glee rules`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, _globals: &Globals) -> CommandResult {
    Err(CommandError::usage("`glee rules` is not built yet"))
}
