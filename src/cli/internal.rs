//! Glee's re-executions of itself: hidden first arguments that never reach the command-line parser.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::agents::supervise;

/// Runs the internal program that `args` (without the program's own name) asks for, if it asks for one.
pub(super) fn dispatch(args: &[OsString]) -> Option<ExitCode> {
    let (name, args) = args.split_first()?;
    match name.to_str()? {
        supervise::NAME => Some(supervise::main(args)),
        _ => None,
    }
}
