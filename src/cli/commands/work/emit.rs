//! `glee emit`: tells the watch of this work tree what an agent does.

use std::io;
use std::net::Shutdown;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use serde_json::json;

use crate::cli::commands::work::watch::connection;
use crate::cli::context::config_edit::is_earlier;
use crate::cli::context::globals::Globals;
use crate::cli::context::input::Input;
use crate::cli::error::{CommandError, CommandResult};
use crate::cli::ui::stream;
use crate::domain::{AgentName, EventType, ExitReason, Trigger, WatchStatus};
use crate::protocol::text::printable;
use crate::workflows::watch::socket::Client;
use crate::workflows::watch::socket::protocol::{self, KEY, WatchCommand as Order};
use crate::workflows::watch::status::WatchReport;

/// Arguments of `glee emit`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A milestone, a blocker or a request_review begins a review by the other agents once a burst of
events has settled; note and done tell only. When the command returns, the event is on the disk.
What reviewers want cleared up is printed on stdout, with the command that answers it. With --wait
the command returns when the review has been decided, so that a hook can hand the question on.

Examples:
  glee emit milestone --agent claude --summary 'auth controller with JWT' --file src/auth.py
  glee emit blocker --agent codex --summary 'which of the two schemas is right?'
  glee emit note --agent claude --clarifies 3 --summary 'Argon2 it is'
  tail -f events.jsonl | glee emit --from -")]
pub(crate) struct Args {
    /// What the event is about
    #[arg(
        value_name = "TYPE",
        required_unless_present = "from",
        value_parser = PossibleValuesParser::new(EventType::ALL.map(EventType::as_str))
    )]
    kind: Option<String>,
    /// Who tells; an agent that a watch started need not say it
    #[arg(long, value_name = "NAME", env = "GLEE_AGENT")]
    agent: Option<String>,
    /// What there is to say
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
    /// A file it is about; may be given several times
    #[arg(long = "file", value_name = "PATH")]
    files: Vec<String>,
    /// The cycle whose clarification it answers
    #[arg(long, value_name = "CYCLE")]
    clarifies: Option<u32>,
    /// Tell many events, a JSON object a line; `-`: standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["kind", "summary", "files", "clarifies"])]
    from: Option<PathBuf>,
    /// Wait until the review that follows is decided; exit code 3 while the work is PAUSED
    #[arg(long, conflicts_with = "from")]
    wait: bool,
    /// End quietly with 0 where no watch runs: for hooks
    #[arg(long)]
    if_running: bool,
    #[arg(long, hide = true, conflicts_with = "if_running")]
    if_watched: bool,
}

pub(crate) fn run(args: &Args, globals: &Globals) -> CommandResult {
    let if_running = args.if_running | is_earlier(globals, args.if_watched, "--if-watched", "--if-running");
    let client = match connection::connect(globals)? {
        Ok(client) => client,
        Err(_) if if_running => return Ok(ExitReason::Clean),
        Err(error) => return Err(error.into()),
    };
    match (&args.from, &args.kind) {
        (Some(path), _) => all(client, path, globals),
        (None, Some(kind)) => one(client, args, kind, globals),
        (None, None) => Err(CommandError::usage("nothing is told")),
    }
}

fn one(mut client: Client, args: &Args, kind: &str, globals: &Globals) -> CommandResult {
    if kind != EventType::UserManual.as_str() && args.agent.is_none() {
        return Err(CommandError::usage("nobody tells it").hint("name the agent: `--agent NAME`"));
    }
    if let Some(name) = &args.agent {
        protocol::name(name).map_err(|_| {
            let shown = printable::line(name);
            CommandError::usage(format!("`{shown}` is no name of an agent"))
                .hint("a name has up to 64 letters, digits, `.`, `_` and `-`")
        })?;
    }
    let key = client.key().filter(|_| kind == EventType::UserManual.as_str());
    let line = json!({"type": kind, "agent": args.agent, "summary": args.summary, "files": args.files,
        "clarifies": args.clarifies, KEY: key});
    let answer = client.ask(&line.to_string())?;
    let answer = connection::accepted(answer)?;
    let own = |waiting: &AgentName| args.agent.as_ref() == Some(&waiting.0);
    let (asked, status) = if args.wait {
        let standing = decided(&mut client)?;
        let asked = standing.clarification.filter(|asked| asked.waiting.iter().any(own));
        (asked.map(|asked| (asked.cycle, asked.prompt)), standing.status)
    } else {
        (answer.clarify.map(|asked| (asked.cycle, asked.prompt)), answer.status.unwrap_or_default())
    };
    if let Some((cycle, prompt)) = asked {
        let agent = printable::line(args.agent.as_deref().unwrap_or_default());
        stream::out(&format!(
            "{}\nAnswer with: glee emit note --agent {agent} --clarifies {cycle} --summary '<your answer>'\n",
            printable::block(&prompt).trim_end()
        ))?;
    }
    let paused = status == WatchStatus::Paused;
    if paused && !globals.quiet {
        stream::err("note: the work is PAUSED\n");
    }
    Ok(if paused && args.wait { ExitReason::DisputeOpen } else { ExitReason::Clean })
}

/// How often a watch is asked how it stands.
const ASK_AGAIN: Duration = Duration::from_millis(100);

/// How the watch stands when no review is at work or about to begin. Nothing begins by itself while the work is paused.
fn decided(client: &mut Client) -> Result<WatchReport, CommandError> {
    loop {
        let answer = connection::accepted(client.command(&Order::Status)?)?;
        let standing: WatchReport = connection::asked_for(answer.standing)?;
        let by_person = |trigger: &Trigger| matches!(trigger, Trigger::UserManual | Trigger::Clarified);
        let begins = match standing.status {
            WatchStatus::Running => !standing.pending.is_empty(),
            WatchStatus::Paused => standing.pending.iter().any(by_person),
        };
        if !standing.in_cycle && !begins {
            return Ok(standing);
        }
        std::thread::sleep(ASK_AGAIN);
    }
}

/// Tells every line of a file; the watch answers while it is still read.
fn all(mut client: Client, path: &Path, globals: &Globals) -> CommandResult {
    let mut source = Input::open(globals, Some(path))?.reader;
    // A connection that says nothing for long is closed; the first line may be long in coming.
    connection::accepted(client.command(&Order::Status)?)?;
    let mut speaker = client.speaker()?;
    // The last answer comes after the last line, and the end after it.
    let told_all = Arc::new(AtomicBool::new(false));
    let is_told = Arc::clone(&told_all);
    let telling = std::thread::spawn(move || {
        let copied = io::copy(&mut source, &mut speaker);
        is_told.store(true, Ordering::Release);
        // Signals the end of the input; the error of a watch that has exited is ignored.
        drop(speaker.shutdown(Shutdown::Write));
        copied
    });
    let (mut taken, mut refused, mut last) = (0_u64, 0_u64, String::new());
    loop {
        match client.answer()? {
            Some(answer) if answer.ok => taken += 1,
            Some(answer) => {
                refused += 1;
                last = answer.error.unwrap_or_default();
            }
            None => break,
        }
    }
    let cut_off = || {
        CommandError::new(ExitReason::AgentFailed, anyhow::anyhow!("the watch ended meanwhile"))
            .hint(format!("{taken} events were recorded; tell the rest when it runs again"))
    };
    // The thread may wait for lines that nobody takes any more.
    if !told_all.load(Ordering::Acquire) {
        return Err(cut_off());
    }
    match telling.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Err(cut_off()),
        copied => copied?,
    };
    stream::err(&format!(
        "{} recorded\n",
        crate::cli::style::count(usize::try_from(taken).unwrap_or(usize::MAX), "event")
    ));
    if refused > 0 {
        let shown = printable::line(&last);
        return Err(CommandError::usage(format!("{refused} lines were no events; the last one: {shown}"))
            .hint("docs/watch.md shows what a line looks like"));
    }
    Ok(ExitReason::Clean)
}
