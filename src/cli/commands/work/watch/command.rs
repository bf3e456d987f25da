//! What a person tells a watch: how does it stand, review now, pause, resume, close an issue, stop.

use crate::cli::commands::work::watch::connection::{accepted, address, asked_for, connect};
use crate::cli::context::globals::Globals;
use crate::cli::context::{execute, history, place};
use crate::cli::error::{CommandError, CommandResult};
use crate::cli::report::json::pretty;
use crate::cli::style::watch_status as drawn;
use crate::cli::ui::stream;
use crate::domain::event::{EventKind, WatchEvent};
use crate::domain::{ExitReason, RunId, WatchStatus};
use crate::workflows::watch::issues::Issue;
use crate::workflows::watch::socket::protocol::{CommandReply, WatchCommand as Order};
use crate::workflows::watch::socket::{SocketError, lock, own_name};
use crate::workflows::watch::status::WatchReport;
use crate::workflows::watch::{recorded, recorded_issues};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Say how the watch stands
    Status {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Review now
    Review,
    /// Pause the work
    Pause(Why),
    /// Let the work go on, whatever paused it
    Resume(Why),
    /// List the issues that reviews raised, or close one
    Issues {
        #[command(subcommand)]
        command: Option<Issues>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// End the watch; started again, it stands where it stood
    Stop,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Issues {
    /// List them, the closed ones too
    List,
    /// Close one
    Close {
        /// Its number
        #[arg(value_name = "NUMBER")]
        issue: u32,
        #[command(flatten)]
        why: Why,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct Why {
    /// Why; recorded with who said it
    #[arg(long, value_name = "TEXT", default_value = "")]
    reason: String,
}

pub(crate) fn run(command: &Command, globals: &Globals) -> CommandResult {
    match command {
        Command::Status { json } => {
            let (standing, runs) = standing(globals)?;
            let look = execute::stdout_look(globals);
            stream::out(&if *json { pretty(&standing) } else { drawn::text(look, &standing, runs) })?;
            Ok(exit(&standing))
        }
        Command::Issues { command: Some(Issues::Close { issue, why }), .. } => {
            change(globals, &Order::Close { issue: *issue, reason: why.reason.clone() })
        }
        Command::Issues { json, .. } => issues(globals, *json),
        Command::Review => tell(globals, &Order::Review),
        Command::Pause(why) => tell(globals, &Order::Pause { reason: why.reason.clone() }),
        Command::Resume(why) => change(globals, &Order::Resume { reason: why.reason.clone() }),
        Command::Stop => tell(globals, &Order::Stop),
    }
}

fn exit(standing: &WatchReport) -> ExitReason {
    match standing.status {
        WatchStatus::Running => ExitReason::Clean,
        WatchStatus::Paused => ExitReason::DisputeOpen,
    }
}

/// Tells it to a watch that has to run.
fn tell(globals: &Globals, order: &Order) -> CommandResult {
    let mut client = connect(globals)??;
    said(globals, client.command(order)?)
}

fn said(globals: &Globals, answer: Option<CommandReply>) -> CommandResult {
    shown(globals, &asked_for(accepted(answer)?.standing)?)
}

fn shown(globals: &Globals, standing: &WatchReport) -> CommandResult {
    if !globals.quiet {
        stream::err(&format!("{}\n", drawn::line(execute::screen(globals).style(), standing)));
    }
    Ok(ExitReason::Clean)
}

/// How the watch stands, or stood when it ended; and whether it runs.
fn standing(globals: &Globals) -> Result<(WatchReport, bool), CommandError> {
    match connect(globals)? {
        Ok(mut client) => {
            let answer = accepted(client.command(&Order::Status)?)?;
            Ok((asked_for(answer.standing)?, true))
        }
        Err(error @ SocketError::NoWatch(_)) => {
            let workspace = place::workspace(globals)?;
            let journal = history::open_read(globals, &workspace)?;
            let root = workspace.root().to_string_lossy();
            let stood = journal.map(|journal| recorded(&journal, &root)).transpose()?.flatten();
            stood.map(|stood| (stood, false)).ok_or_else(|| error.into())
        }
        Err(error) => Err(error.into()),
    }
}

fn issues(globals: &Globals, as_json: bool) -> CommandResult {
    let issues: Vec<Issue> = match connect(globals)? {
        Ok(mut client) => {
            let answer = accepted(client.command(&Order::Issues)?)?;
            asked_for(answer.issues)?
        }
        Err(error @ SocketError::NoWatch(_)) => {
            let workspace = place::workspace(globals)?;
            let journal = history::open_read(globals, &workspace)?;
            let root = workspace.root().to_string_lossy();
            let listed = journal.map(|journal| recorded_issues(&journal, &root)).transpose()?.flatten();
            listed.ok_or(error)?
        }
        Err(error) => return Err(error.into()),
    };
    let look = execute::stdout_look(globals);
    stream::out(&if as_json { pretty(&issues) } else { drawn::issues(look, &issues) })?;
    Ok(ExitReason::Clean)
}

/// Tells it to the watch, or writes it into the record of one that does not run: a pause can always be lifted.
fn change(globals: &Globals, order: &Order) -> CommandResult {
    let error = match connect(globals)? {
        Ok(mut client) => return said(globals, client.command(order)?),
        Err(error @ SocketError::NoWatch(_)) => error,
        Err(error) => return Err(error.into()),
    };
    let workspace = place::workspace(globals)?;
    let root = workspace.root().to_string_lossy();
    // A watch that runs keeps its own record, even where its socket was removed.
    let _lock = lock(&address(&workspace)?, workspace.root())?;
    let mut journal = history::open(globals, &workspace)?;
    let Some(stood) = recorded(&journal, &root)? else { return Err(error.into()) };
    let by = own_name().into();
    let event = match order {
        Order::Resume { .. } if stood.status == WatchStatus::Running => {
            return Err(CommandError::usage("the work is not paused"));
        }
        Order::Resume { reason } => {
            EventKind::Watch(WatchEvent::WatchResumed { by, reason: reason.as_str().into() })
        }
        Order::Close { issue, .. } if stood.issues.iter().all(|known| known.number != *issue) => {
            return Err(CommandError::usage(format!("there is no open issue {issue}"))
                .hint("`glee watch issues` lists them"));
        }
        Order::Close { issue, reason } => {
            EventKind::Watch(WatchEvent::IssueClosed { issue: *issue, by, reason: reason.as_str().into() })
        }
        _ => return Err(error.into()),
    };
    journal.append(&RunId(stood.run), event)?;
    let now: Option<WatchReport> = recorded(&journal, &root)?;
    now.map_or(Ok(ExitReason::Clean), |standing| shown(globals, &standing))
}
