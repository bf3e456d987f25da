//! The watch itself: settings, plan, socket, screen, and the loop until somebody ends it.

use std::io::{self, BufRead as _, BufReader};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::{oneshot, watch as channel};

use crate::agents::process::own_process;
use crate::cli::commands::work::watch::connection::{WatchConnection, address};
use crate::cli::context::config_edit::is_earlier;
use crate::cli::context::globals::Globals;
use crate::cli::context::input::Input;
use crate::cli::context::{execute, history, place, settings};
use crate::cli::error::{CommandError, CommandResult};
use crate::cli::report::Format;
use crate::cli::report::json::pretty;
use crate::cli::style::watch_status as drawn;
use crate::cli::ui::live::jsonl::JsonLines;
use crate::cli::ui::live::watch_view::{self, WatchView};
use crate::cli::ui::stream;
use crate::cli::ui::terminal::Terminal;
use crate::domain::{Agent, ExitReason, Job};
use crate::workflows::run::ports::EventSink;
use crate::workflows::run::runner::RunSetup;
use crate::workflows::watch::setup::WatchSetup;
use crate::workflows::watch::socket::protocol::{self, Batch, Intake};
use crate::workflows::watch::socket::{Listener, own_name};
use crate::workflows::watch::{self, plan};

/// The lines of a file that are handed over at a time.
const PIECE: usize = 1_000;
/// What the connections of a watch count for when files are provided, in agents.
const CONNECTIONS: usize = 64;
/// Nobody bounds the wall time of a watch.
const FOR_EVER: Duration = Duration::MAX;

pub(crate) fn run(args: &WatchConnection, globals: &Globals) -> CommandResult {
    let workspace = place::workspace(globals)?;
    let mut flags = Vec::new();
    let mut list = |key: &str, names: &Option<Vec<String>>| {
        flags.extend(names.as_ref().map(|names| (key.to_owned(), json!(names))));
    };
    list("watch.agents", &args.agents);
    list("watch.reviewers", &args.reviewers);
    let fresh = args.fresh | is_earlier(globals, args.afresh, "--afresh", "--fresh");
    let settings = settings::runnable(globals, flags, None)?.1.settings;
    execute::require_sandbox(&settings)?;
    let state_dir = place::state_dir()?;
    place::refuse_inside(&workspace, &state_dir)?;
    let plan = plan::plan(&settings, &workspace, jobs(&args.tasks)?)?;
    let all: Vec<Agent> = plan.reviewers.iter().chain(&plan.judge).chain(&plan.agents).cloned().collect();
    let agents = execute::programs(&all, &plan.backups, workspace.root())?;
    let templates = settings::Places::find(globals)?.root.join(".glee").join("prompts");
    let events = args.events.as_deref().map(|path| Input::open(globals, Some(path))).transpose()?;
    let journal = history::open(globals, &workspace)?;
    let path = address(&workspace)?;
    let terminal = Terminal::new(execute::screen(globals));
    let sink: Box<dyn EventSink> = match args.format {
        Format::Jsonl => Box::new(JsonLines::default()),
        Format::Text | Format::Json => Box::new(WatchView::new(&terminal)),
    };
    let shows = globals.interactive() && args.format != Format::Jsonl;
    let root = workspace.root().to_owned();
    // Connections take them; with fewer, fewer are served.
    drop(own_process::provide_open_files(CONNECTIONS));
    let (ended, cause) = execute::attend(FOR_EVER, &terminal, None, |stop| {
        let terminal = terminal.clone();
        async move {
            // In the runtime, which it belongs to.
            let listener = Listener::bind(&path, &root).map_err(CommandError::from)?;
            let (intake, received) = protocol::intake();
            let all_answered = listener.all_answered();
            let serving = tokio::spawn(listener.serve(intake.clone()));
            let (standing, stands) = channel::channel(Default::default());
            let (typed, typing) = channel::channel(String::new());
            let drawing = shows.then(|| tokio::spawn(watch_view::draw(terminal.clone(), stands, typing)));
            // Standard input is either events or keys.
            match events {
                Some(events) => read_in(events.reader, intake.clone()),
                None if shows => watch_view::keys(&terminal, intake.clone(), own_name(), typed),
                None => {}
            }
            let workspace = Arc::new(workspace);
            let setup = WatchSetup {
                run: RunSetup { workspace, state_dir, journal, agents, settings, sink, stop },
                templates,
                standing,
                intake,
                received,
                socket: Some(path),
                stay: args.stay,
            };
            let ended = watch::run(setup, plan, fresh).await.map_err(CommandError::from);
            all_answered.await;
            serving.abort();
            if let Some(drawing) = drawing {
                // The sender is gone with the watch.
                drop(drawing.await);
            }
            ended
        }
    })?;
    let ended = ended?;
    if args.format == Format::Json {
        stream::out(&pretty(&ended.standing))?;
    } else if args.format == Format::Text && !globals.quiet {
        stream::err(&format!("{}\n", drawn::line(execute::screen(globals).style(), &ended.standing)));
        stream::err("Stopped; `glee watch` goes on from here\n");
    }
    Ok(if ended.by_command { ended.exit } else { ended.exit.strongest(cause.unwrap_or(ExitReason::Signal(2))) })
}

/// The tasks that were given, each behind the name of its agent.
fn jobs(tasks: &[String]) -> Result<Vec<Job>, CommandError> {
    let job = |task: &String| match task.split_once('=') {
        Some((name, text)) if !name.trim().is_empty() && !text.trim().is_empty() => {
            Ok(Job { agent: name.trim().into(), task: text.trim().to_owned() })
        }
        _ => {
            Err(CommandError::usage("`--task` names no agent, or nothing to do").hint("write `--task NAME='...'`"))
        }
    };
    tasks.iter().map(job).collect()
}

/// Hands over the lines of a file or of standard input, in a thread of its own; at its end the watch goes on.
fn read_in(mut source: BufReader<Box<dyn io::Read + Send>>, intake: Intake) {
    let by = own_name();
    std::thread::spawn(move || {
        let mut ended = false;
        while !ended {
            let mut items = Vec::new();
            let mut line = Vec::new();
            // What is there already goes together; no line waits for the next one.
            while items.is_empty() || items.len() < PIECE && source.buffer().contains(&b'\n') {
                line.clear();
                let limit = protocol::LONGEST as u64 + 1;
                match io::Read::take(&mut source, limit).read_until(b'\n', &mut line) {
                    Ok(0) | Err(_) => {
                        ended = true;
                        break;
                    }
                    Ok(_) if line.trim_ascii().is_empty() => {}
                    Ok(_) => items.push(protocol::for_agent(protocol::read(line.trim_ascii(), None))),
                }
            }
            let (answer, answered) = oneshot::channel();
            if intake.blocking_send(Batch { items, by: by.clone(), answer: Some(answer) }).is_err()
                || answered.blocking_recv().is_err()
            {
                return;
            }
        }
    });
}
