//! Subcommands that control a running watch, for example `glee watch pause`.

use crate::cli::commands::work::watch::connection::{accepted, address, connect, part};
use crate::cli::context::{
    CommandError, CommandResult, Globals, JsonFlag, ReasonFlag, history, number, place, stream,
};
use crate::cli::style::watch_status;
use glee_model::domain::event::{EventKind, WatchEvent};
use glee_model::domain::{ExitReason, RunId, WatchStatus};
use glee_store::history::store::Journal;
use glee_workflows::run::error::RunError;
use glee_workflows::watch::socket::protocol::{CommandReply, WatchCommand};
use glee_workflows::watch::socket::{SocketError, lock, own_name};
use glee_workflows::watch::status::WatchReport;
use glee_workflows::watch::{recorded, recorded_issues};

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Print the status of the watch
    Status(JsonFlag),
    /// Start a review of the agents' work now
    Review,
    /// Pause the work of the agents
    Pause(ReasonFlag),
    /// Resume the paused work of the agents
    Resume(ReasonFlag),
    /// List the issues that reviewers raised, or close an issue
    Issues {
        #[command(subcommand)]
        command: Option<Issues>,
        #[command(flatten)]
        output: JsonFlag,
    },
    /// Stop the watch until the next `glee watch`
    Stop,
}

#[derive(clap::Subcommand)]
pub(crate) enum Issues {
    /// List open and closed issues
    List(JsonFlag),
    /// Close an issue
    Close {
        /// The number of the issue
        #[arg(value_name = "NUMBER", value_parser = number::<u32>(1, u64::MAX))]
        issue: u32,
        #[command(flatten)]
        reason: ReasonFlag,
    },
}

pub(crate) fn run(command: &Command, globals: &Globals) -> CommandResult {
    let reason = |flag: &ReasonFlag| flag.reason.clone();
    match command {
        Command::Status(output) => {
            let (report, runs) = query(
                globals,
                &WatchCommand::Status,
                |reply| reply.standing,
                recorded,
            )?;
            output.print(&report, || {
                watch_status::text(globals.style(), &report, runs)
            })?;
            Ok(match report.status {
                WatchStatus::Running => ExitReason::Clean,
                WatchStatus::Paused => ExitReason::DisputeOpen,
            })
        }
        Command::Issues {
            command: Some(Issues::Close { issue, reason: why }),
            ..
        } => change(
            globals,
            &WatchCommand::Close {
                issue: *issue,
                reason: reason(why),
            },
        ),
        Command::Issues {
            command: Some(Issues::List(output)),
            ..
        }
        | Command::Issues {
            command: None,
            output,
        } => {
            let (issues, _) = query(
                globals,
                &WatchCommand::Issues,
                |reply| reply.issues,
                recorded_issues,
            )?;
            output.print(&issues, || watch_status::issues(globals.style(), &issues))
        }
        Command::Review => send(globals, &WatchCommand::Review),
        Command::Pause(why) => send(
            globals,
            &WatchCommand::Pause {
                reason: reason(why),
            },
        ),
        Command::Resume(why) => change(
            globals,
            &WatchCommand::Resume {
                reason: reason(why),
            },
        ),
        Command::Stop => send(globals, &WatchCommand::Stop),
    }
}

fn send(globals: &Globals, command: &WatchCommand) -> CommandResult {
    show_reply(globals, connect(globals)??.command(command)?)
}

fn show_reply(globals: &Globals, reply: Option<CommandReply>) -> CommandResult {
    Ok(show(globals, &part(accepted(reply)?.standing)?))
}

pub(super) fn show(globals: &Globals, report: &WatchReport) -> ExitReason {
    if !globals.quiet {
        stream::err(format!(
            "{}\n",
            watch_status::line(globals.screen().style(), report)
        ));
    }
    ExitReason::Clean
}

/// Queries the running watch. If no watch is running, reads the history instead. The returned boolean is true if a
/// watch is running.
fn query<T>(
    globals: &Globals,
    command: &WatchCommand,
    field: fn(CommandReply) -> Option<T>,
    recorded: fn(&Journal, &str) -> Result<Option<T>, RunError>,
) -> Result<(T, bool), CommandError> {
    match connect(globals)? {
        Ok(mut client) => Ok((part(field(accepted(client.command(command)?)?))?, true)),
        Err(error @ SocketError::NoWatch(_)) => {
            let workspace = place::workspace(globals)?;
            let journal = history::open_read(globals, &workspace)?;
            let root = workspace.root().to_string_lossy();
            let found = journal
                .map(|journal| recorded(&journal, &root))
                .transpose()?
                .flatten();
            Ok((found.ok_or(error)?, false))
        }
        Err(error) => Err(error.into()),
    }
}

/// Sends a command to the running watch. If no watch is running, the command is recorded in the history of the
/// last watch. For example, a person can close an issue while no watch is running.
fn change(globals: &Globals, command: &WatchCommand) -> CommandResult {
    let error = match connect(globals)? {
        Ok(mut client) => return show_reply(globals, client.command(command)?),
        Err(error @ SocketError::NoWatch(_)) => error,
        Err(error) => return Err(error.into()),
    };
    let workspace = place::workspace(globals)?;
    let root = workspace.root().to_string_lossy();
    // A watch can be running although its socket was removed. A running watch holds the lock. The command then
    // fails, and does not write to the history of the watch.
    let _lock = lock(&address(&workspace)?, workspace.root())?;
    let mut journal = history::open(globals, &workspace)?;
    let Some(last) = recorded(&journal, &root)? else {
        return Err(error.into());
    };
    let by = own_name().into();
    let event = match command {
        WatchCommand::Resume { .. } if last.status == WatchStatus::Running => {
            return Err(CommandError::usage("the work is not paused"));
        }
        WatchCommand::Resume { reason } => WatchEvent::WatchResumed {
            by,
            reason: reason.as_str().into(),
        },
        WatchCommand::Close { issue, .. }
            if last.issues.iter().all(|known| known.number != *issue) =>
        {
            return Err(
                CommandError::usage(format!("there is no open issue {issue}"))
                    .hint("`glee watch issues` lists the open issues"),
            );
        }
        WatchCommand::Close { issue, reason } => WatchEvent::IssueClosed {
            issue: *issue,
            by,
            reason: reason.as_str().into(),
        },
        _ => return Err(error.into()),
    };
    journal.append(&RunId(last.run), EventKind::Watch(event))?;
    Ok(recorded(&journal, &root)?.map_or(ExitReason::Clean, |report| show(globals, &report)))
}
