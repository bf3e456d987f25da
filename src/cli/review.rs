//! `glee review`: review code, hand the findings to the coder, settle disputes.

use super::Globals;
use super::error::{CommandError, CommandResult};

/// Arguments of `glee review`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, _globals: &Globals) -> CommandResult {
    Err(CommandError::usage("`glee review` is not built yet"))
}
