//! Glee executes itself again to run internal programs, such as the supervisor of an agent. A hidden first argument
//! selects the internal program and is handled before the command-line parser runs.

use std::ffi::OsString;
use std::io::Read as _;
use std::process::ExitCode;

use super::error::CommandResult;
use crate::cli::ui::stream;
use glee_agents::adapters::programs::replay;
use glee_agents::address::{message, process};
use glee_agents::process::supervisor::{self, orders};
use glee_builtin as builtin;
use glee_model::domain::ExitReason;

#[cfg(target_os = "linux")]
use glee_agents::process::sandbox;

/// `args` are the command-line arguments without the name of the executable.
pub(crate) fn dispatch(args: &[OsString]) -> Option<ExitCode> {
    let (name, args) = args.split_first()?;
    match name.to_str()? {
        orders::NAME => Some(supervisor::main(args)),
        #[cfg(target_os = "linux")]
        sandbox::PROBE => Some(sandbox::probe()),
        builtin::ARGUMENT => Some(embedded_agent(args)),
        message::ARGUMENT => Some(asks_server(args)),
        replay::ARGUMENT => Some(recorded_call(args)),
        _ => None,
    }
}

/// Runs an embedded agent on the tree in the working directory. Reads the request from stdin and writes the answer
/// to stdout.
fn embedded_agent(args: &[OsString]) -> ExitCode {
    match answer(args) {
        Ok(reason) => ExitCode::from(reason.code()),
        Err(error) => {
            stream::err(error.render(false));
            ExitCode::from(error.exit().code())
        }
    }
}

/// Asks a model's server. What the server says is on stdout, also if it is a failure.
fn asks_server(args: &[OsString]) -> ExitCode {
    process::main(args).unwrap_or_else(|error| {
        stream::err(format!("{error}\n"));
        ExitCode::FAILURE
    })
}

/// Replays a recorded call. The first item of `args` is the path of the recorded call, and stdin contains the
/// nonce of the new request.
fn recorded_call(args: &[OsString]) -> ExitCode {
    let mut nonce = String::new();
    let record = args
        .first()
        .map(std::path::PathBuf::from)
        .unwrap_or_default();
    let played = std::io::stdin()
        .lock()
        .read_to_string(&mut nonce)
        .and_then(|_| {
            replay::play(
                &record,
                &nonce,
                &mut std::io::stdout().lock(),
                &mut std::io::stderr().lock(),
            )
        });
    played.map_or_else(
        |error| {
            stream::err(format!("{}: {error}\n", record.display()));
            ExitCode::FAILURE
        },
        ExitCode::from,
    )
}

fn answer(args: &[OsString]) -> CommandResult {
    let name = args
        .first()
        .map(|name| name.to_string_lossy())
        .unwrap_or_default();
    let mut request = Vec::new();
    std::io::stdin().lock().read_to_end(&mut request)?;
    let answer = builtin::answer(&name, &request, &std::env::current_dir()?)?;
    stream::out(format!("{answer}\n"))?;
    Ok(ExitReason::Clean)
}
