//! Runs a watch until the work is done, or until a command or a signal ends the watch.

use std::io::{BufRead as _, BufReader, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::json;
use tokio::sync::{oneshot, watch as channel};

use super::command::show;
use super::connection::address;
use crate::cli::context::{
    BasicFormat, CommandError, CommandResult, Globals, Input, ReportFormat, execute, history,
    names, place, pretty, settings, stream,
};
use crate::cli::ui::live::jsonl::JsonLines;
use crate::cli::ui::live::watch_view::{self, WatchView};
use crate::cli::ui::terminal::Terminal;
use glee_agents::process::own_process;
use glee_model::domain::{Agent, ExitReason, Job, Role};
use glee_workflows::run::ports::EventSink;
use glee_workflows::run::resources::RunSetup;
use glee_workflows::watch::setup::WatchSetup;
use glee_workflows::watch::socket::protocol::{self, Batch, Intake};
use glee_workflows::watch::socket::{Listener, own_name};
use glee_workflows::watch::{self, plan};

#[derive(clap::Args)]
pub(crate) struct WatchOptions {
    /// Start these connected agents instead of the agents in `watch.agents`
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    agents: Option<Vec<String>>,
    /// Start the agent NAME with the task TEXT (repeatable)
    #[arg(long = "task", value_name = "NAME=TEXT")]
    tasks: Vec<String>,
    /// Use these reviewers instead of the reviewers in `watch.reviewers`
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    reviewers: Option<Vec<String>>,
    /// Also read events from this file of JSON lines (`-`: standard input)
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
    /// Continue the watch after all started agents have ended
    #[arg(long)]
    stay: bool,
    /// Start a new run instead of resuming an earlier run
    #[arg(long)]
    fresh: bool,
    #[command(flatten)]
    report: ReportFormat,
}

/// The maximum number of event lines in a batch.
const BATCH: usize = 1_000;
/// The watch raises the limit of open files for this number of connections. The calculation counts each connection
/// as one agent.
const CONNECTIONS: usize = 64;
const UNLIMITED: Duration = Duration::MAX;

pub(crate) fn run(args: &WatchOptions, globals: &Globals) -> CommandResult {
    let workspace = place::workspace(globals)?;
    let lists = [
        ("watch.agents", &args.agents),
        ("watch.reviewers", &args.reviewers),
    ];
    let flags = lists
        .into_iter()
        .filter_map(|(key, names)| Some((key.to_owned(), json!(names.as_ref()?))));
    let fresh = args.fresh;
    let (places, settings) = settings::runnable(globals, flags.collect())?;
    execute::require_sandbox(&settings)?;
    let state_dir = place::state_dir()?;
    place::refuse_inside(&workspace, &state_dir)?;
    let plan = plan::plan(&settings, &workspace, jobs(&settings.agents, &args.tasks)?)?;
    let all: Vec<Agent> = plan
        .reviewers
        .iter()
        .chain(&plan.judge)
        .chain(&plan.agents)
        .cloned()
        .collect();
    let agents = execute::programs(&all, &plan.backups, workspace.root())?;
    let templates = places.root.join(".glee").join("prompts");
    let events = args
        .events
        .as_deref()
        .map(|path| Input::open(globals, Some(path)))
        .transpose()?;
    let journal = history::open(globals, &workspace)?;
    let path = address(&workspace)?;
    let terminal = Terminal::new(globals.screen());
    let sink: Box<dyn EventSink> = match args.report.format {
        BasicFormat::Jsonl => Box::new(JsonLines::default()),
        BasicFormat::Text | BasicFormat::Json => Box::new(WatchView::new(&terminal)),
    };
    let shows = globals.interactive() && args.report.format != BasicFormat::Jsonl;
    let root = workspace.root().to_owned();
    // If the limit of open files cannot be raised, the error is ignored. The watch then still works, but with
    // fewer connections.
    drop(own_process::provide_open_files(CONNECTIONS));
    let (ended, cause) = execute::drive(UNLIMITED, &terminal, None, |stop| {
        let terminal = terminal.clone();
        async move {
            // The listener requires a running Tokio runtime.
            let listener = Listener::bind(&path, &root).map_err(CommandError::from)?;
            let (intake, received) = protocol::intake();
            let all_answered = listener.all_answered();
            let serving = tokio::spawn(listener.serve(intake.clone()));
            let (status, shown) = channel::channel(Default::default());
            let (typed, typing) = channel::channel(String::new());
            let drawing =
                shows.then(|| tokio::spawn(watch_view::draw(terminal.clone(), shown, typing)));
            // With `--events`, no key presses are read, because `--events -` reads standard input.
            match events {
                Some(events) => read_events(events.reader, intake.clone()),
                None if shows => watch_view::keys(&terminal, intake.clone(), own_name(), typed),
                None => {}
            }
            let workspace = Arc::new(workspace);
            let setup = WatchSetup {
                run: RunSetup {
                    workspace,
                    state_dir,
                    journal,
                    agents,
                    settings,
                    sink,
                    stop,
                    queue: None,
                },
                templates,
                standing: status,
                intake,
                received,
                socket: Some(path),
                stay: args.stay,
            };
            let ended = watch::run(setup, plan, fresh)
                .await
                .map_err(CommandError::from);
            all_answered.await;
            serving.abort();
            if let Some(drawing) = drawing {
                // The watch has dropped the sender of the status channel, so the Tokio task `drawing` ends.
                drop(drawing.await);
            }
            ended
        }
    })?;
    let ended = ended?;
    if args.report.format == BasicFormat::Json {
        stream::out(pretty(&ended.standing))?;
    } else if args.report.format == BasicFormat::Text {
        show(globals, &ended.standing);
        globals.say("The watch has stopped; `glee watch` continues the watch");
    }
    Ok(if ended.by_command {
        ended.exit
    } else {
        ended.exit.strongest(cause.unwrap_or(ExitReason::Signal(2)))
    })
}

fn jobs(agents: &[Agent], tasks: &[String]) -> Result<Vec<Job>, CommandError> {
    tasks
        .iter()
        .map(|task| match task.split_once('=') {
            Some((name, text)) if !name.trim().is_empty() && !text.trim().is_empty() => Ok(Job {
                agent: names::full(agents, name.trim(), Some(Role::Coder))?
                    .as_str()
                    .into(),
                task: text.trim().to_owned(),
            }),
            _ => Err(CommandError::usage("`--task` requires the form NAME=TEXT")
                .hint("use `--task NAME='...'`")),
        })
        .collect()
}

/// Sends the lines of `source` to the watch from a separate thread. At the end of `source`, the watch continues
/// to run.
fn read_events(mut source: BufReader<Box<dyn Read + Send>>, intake: Intake) {
    let by = own_name();
    thread::spawn(move || {
        let mut ended = false;
        while !ended {
            let mut items = Vec::new();
            let mut line = Vec::new();
            // The thread waits only for the first line of a batch. Lines that are already in the buffer are
            // added to the batch.
            while items.is_empty() || items.len() < BATCH && source.buffer().contains(&b'\n') {
                line.clear();
                let limit = protocol::LONGEST as u64 + 1;
                match Read::take(&mut source, limit).read_until(b'\n', &mut line) {
                    Ok(0) | Err(_) => {
                        ended = true;
                        break;
                    }
                    Ok(_) if line.trim_ascii().is_empty() => {}
                    Ok(_) => {
                        items.push(protocol::for_agent(protocol::read(line.trim_ascii(), None)))
                    }
                }
            }
            let (answer, answered) = oneshot::channel();
            if intake
                .blocking_send(Batch {
                    items,
                    by: by.clone(),
                    answer: Some(answer),
                })
                .is_err()
                || answered.blocking_recv().is_err()
            {
                return;
            }
        }
    });
}
