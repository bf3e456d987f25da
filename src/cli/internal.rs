//! Glee's re-executions of itself: hidden first arguments that never reach the command-line parser.

use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the internal program that `args` (without the program's own name) asks for, if it asks for one.
pub(super) fn dispatch(args: &[OsString]) -> Option<ExitCode> {
    let _name = args.first()?.to_str()?;
    None
}
