//! `glee emit`: sends events of an agent to the watch of the work tree.

use std::io;
use std::net::Shutdown;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use serde_json::json;

use crate::cli::commands::work::watch::connection;
use crate::cli::context::{
    CommandError, CommandResult, Globals, Input, names, number, settings, stream,
};
use crate::cli::style;
use glee_model::domain::{EventType, ExitReason, Role, Trigger, WatchStatus};
use glee_protocol::text::printable;
use glee_workflows::watch::socket::Client;
use glee_workflows::watch::socket::protocol::{self, KEY, WatchCommand};
use glee_workflows::watch::status::WatchReport;

/// Send an agent's event, such as a milestone or a blocker, to the watch
#[derive(clap::Args)]
#[command(after_help = "\
The events milestone, blocker and request_review start a review by the other agents. The review starts after a \
short delay, so that one review covers several events. The events note and done start no review. The event is \
on disk when the command ends. If the reviewers have questions for the agent, Glee prints the questions on \
stdout, with the command that answers them. With --wait, the command ends after the review, so that a hook \
can pass the questions to the agent.

Examples:
  glee emit milestone --agent claude --summary 'auth controller with JWT' --file src/auth.py
  glee emit blocker --agent codex --summary 'which of the two schemas is right?'
  glee emit note --agent claude --clarifies 3 --summary 'Argon2 it is'
  tail -f events.jsonl | glee emit --from -")]
pub(crate) struct Args {
    /// The type of the event
    #[arg(
        value_name = "TYPE",
        required_unless_present = "from",
        value_parser = PossibleValuesParser::new(EventType::ALL.map(EventType::as_str))
    )]
    kind: Option<String>,
    /// The agent that reports the event (the watch sets GLEE_AGENT for agents that it starts)
    #[arg(long, value_name = "NAME", env = "GLEE_AGENT")]
    agent: Option<String>,
    /// A summary of what happened
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
    /// A file that the event concerns (repeatable)
    #[arg(long = "file", value_name = "PATH")]
    files: Vec<String>,
    /// The number of the review cycle whose question the event answers
    #[arg(long, value_name = "CYCLE", allow_negative_numbers = true, value_parser = number::<u32>(1, u64::MAX))]
    clarifies: Option<u32>,
    /// Send the events in this file of JSON lines (`-`: standard input)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["kind", "summary", "files", "clarifies"])]
    from: Option<PathBuf>,
    /// Wait for the result of the review, and exit with code 3 if the work is paused
    #[arg(long, conflicts_with = "from")]
    wait: bool,
    /// If no watch is running, do nothing and exit with code 0
    #[arg(long)]
    if_running: bool,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let client = match connection::connect(globals)? {
        Ok(client) => client,
        Err(_) if args.if_running => return Ok(ExitReason::Clean),
        Err(error) => return Err(error.into()),
    };
    match (&args.from, &args.kind) {
        (Some(path), _) => all(client, path, globals),
        (None, Some(kind)) => one(client, args, kind, globals),
        (None, None) => Err(CommandError::usage("the event has no type")),
    }
}

fn one(mut client: Client, args: &Args, kind: &str, globals: &Globals) -> CommandResult {
    if kind != EventType::UserManual.as_str() && args.agent.is_none() {
        return Err(CommandError::usage("the event has no agent").hint("add `--agent NAME`"));
    }
    if let Some(name) = &args.agent {
        protocol::name(name).map_err(|_| {
            CommandError::usage(format!("invalid agent name `{}`", printable::line(name)))
                .hint("use up to 64 letters, digits, `.`, `_` and `-`")
        })?;
    }
    let agent = args
        .agent
        .as_deref()
        .map(|name| full_name(globals, name))
        .transpose()?;
    let key = client
        .key()
        .filter(|_| kind == EventType::UserManual.as_str());
    let line = json!({"type": kind, "agent": agent, "summary": args.summary, "files": args.files,
        "clarifies": args.clarifies, KEY: key});
    let answer = connection::accepted(client.ask(&line.to_string())?)?;
    let (asked, status) = if args.wait {
        let report = decided(&mut client)?;
        let asked = report.clarification.filter(|asked| {
            asked
                .waiting
                .iter()
                .any(|waiting| agent.as_ref() == Some(&waiting.0))
        });
        (
            asked.map(|asked| (asked.cycle, asked.prompt)),
            report.status,
        )
    } else {
        (
            answer.clarify.map(|asked| (asked.cycle, asked.prompt)),
            answer.status.unwrap_or_default(),
        )
    };
    if let Some((cycle, prompt)) = asked {
        let agent = printable::line(agent.as_deref().unwrap_or_default());
        stream::out(format!(
            "{}\nAnswer with: glee emit note --agent {agent} --clarifies {cycle} --summary '<your answer>'\n",
            printable::block(&prompt).trim_end()
        ))?;
    }
    let paused = status == WatchStatus::Paused;
    if paused {
        globals.say("note: the work is PAUSED");
    }
    Ok(if paused && args.wait {
        ExitReason::DisputeOpen
    } else {
        ExitReason::Clean
    })
}

/// Returns the full name of a connected agent. `name` is the agent's program or the beginning of the agent's
/// name, as in `codex` for `codex-coder`. If no connected agent matches, returns `name`, because a watch accepts
/// events from any agent.
fn full_name(globals: &Globals, name: &str) -> Result<String, CommandError> {
    let agents = settings::agents(globals);
    let prefix = format!("{name}-");
    if agents
        .iter()
        .any(|agent| names::runs(agent, name) || agent.name.0.starts_with(&prefix))
    {
        return names::full(&agents, name, Some(Role::Coder));
    }
    Ok(name.to_owned())
}

const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Waits until no review is running and none is about to start. While the work is paused, a review starts only
/// after a person's request or an agent's clarification.
fn decided(client: &mut Client) -> Result<WatchReport, CommandError> {
    loop {
        let answer = connection::accepted(client.command(&WatchCommand::Status)?)?;
        let report: WatchReport = connection::part(answer.standing)?;
        let by_person =
            |trigger: &Trigger| matches!(trigger, Trigger::UserManual | Trigger::Clarified);
        let begins = match report.status {
            WatchStatus::Running => !report.pending.is_empty(),
            WatchStatus::Paused => report.pending.iter().any(by_person),
        };
        if !report.in_cycle && !begins {
            return Ok(report);
        }
        thread::sleep(POLL_INTERVAL);
    }
}

fn cut_off(recorded: u64) -> CommandError {
    CommandError::ending(
        ExitReason::AgentFailed,
        "the watch ended before Glee had sent all events",
    )
    .hint(format!(
        "the watch recorded {}; start the watch again with `glee watch`, then send the remaining events",
        style::count(recorded, "event")
    ))
}

/// Sends the lines of a file to the watch, and concurrently reads the watch's answers.
fn all(mut client: Client, path: &Path, globals: &Globals) -> CommandResult {
    let mut source = Input::open(globals, Some(path))?.reader;
    // The watch closes a new connection if no message arrives in time. The first line of the file can arrive too
    // late. Glee therefore sends a status query first.
    connection::accepted(client.command(&WatchCommand::Status)?)?;
    let mut writer = client.speaker()?;
    // The sending thread sets `sent_all` and then shuts down the writer. The watch then closes the connection,
    // which ends the loop below. After the loop, the main thread reads `sent_all`.
    let sent_all = Arc::new(AtomicBool::new(false));
    let is_sent = Arc::clone(&sent_all);
    let sending = thread::spawn(move || {
        let copied = io::copy(&mut source, &mut writer);
        is_sent.store(true, Ordering::Release);
        // The shutdown sends end-of-file to the watch. The result of `writer.shutdown` is ignored, because the
        // call fails if the watch has already ended.
        drop(writer.shutdown(Shutdown::Write));
        copied
    });
    let mut recorded = 0_u64;
    let mut refused = 0_u64;
    let mut last = String::new();
    loop {
        match client.answer()? {
            Some(answer) if answer.ok => recorded += 1,
            Some(answer) => {
                refused += 1;
                last = answer.error.unwrap_or_default();
            }
            None => break,
        }
    }
    // If the watch ended early, the sending thread could still be waiting for input. The main thread therefore
    // does not join the sending thread.
    if !sent_all.load(Ordering::Acquire) {
        return Err(cut_off(recorded));
    }
    match sending
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Err(cut_off(recorded)),
        copied => copied?,
    };
    stream::err(format!("{} recorded\n", style::count(recorded, "event")));
    if refused > 0 {
        let last = printable::line(&last);
        let lines = match refused {
            1 => "1 line is not a valid event".to_owned(),
            many => format!("{many} lines are not valid events; the last error"),
        };
        return Err(CommandError::usage(format!("{lines}: {last}"))
            .hint("docs/watch.md describes the format of a line"));
    }
    Ok(ExitReason::Clean)
}
