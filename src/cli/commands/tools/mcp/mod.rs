//! `glee mcp`: Glee as a server of the Model Context Protocol on standard input and output.
//!
//! The server starts detached runs by Glee's own commands. When the client closes the stream, the server ends the runs that
//! it started; they can be resumed. If the server is killed, its runs go on, and `glee runs` lists them.

mod commands;
mod forms;
mod server;

use std::time::Duration;

use rmcp::ServiceExt as _;
use rmcp::transport::stdio;

use crate::cli::context::{CommandError, CommandResult, Globals, execute, place};
use crate::cli::ui::terminal::Terminal;
use glee_model::domain::ExitReason;
use server::GleeServer;

/// Serve reviews to an agent by the Model Context Protocol (stdio)
#[derive(Debug, clap::Args)]
#[command(after_help = "\
An agent starts this command and calls the tools `review_start`, `review_wait`, `findings`, `answer`, `disputes` and \
`await_ruling`. They do what `glee review`, `glee runs wait`, `glee findings`, `glee answer` and `glee disputes` do. The agent \
does not review itself, choose the judge, change settings or rule. A person rules where the agent can show a \
question, and otherwise in a terminal.

Examples:
  claude mcp add glee -- glee mcp
  codex mcp add glee -- glee mcp")]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, globals: &Globals) -> CommandResult {
    let globals = &globals.silent_if(true);
    let person = place::workspace(globals)?.person().name;
    let server = GleeServer::new(globals, person);
    let terminal = Terminal::new(globals.screen());
    let (served, cause) = execute::drive(Duration::MAX, &terminal, None, |stop| async move {
        let served = tokio::select! {
            served = serve(server.clone()) => served,
            () = stop.stopped() => Ok(()),
        };
        server.stop_all().await;
        served
    })?;
    served?;
    Ok(cause.unwrap_or(ExitReason::Clean))
}

async fn serve(server: GleeServer) -> Result<(), CommandError> {
    let running = server.serve(stdio()).await.map_err(failed)?;
    running.waiting().await.map(drop).map_err(failed)
}

fn failed(error: impl ToString) -> CommandError {
    CommandError::usage(error.to_string()).hint("an agent starts `glee mcp` and speaks to it")
}
